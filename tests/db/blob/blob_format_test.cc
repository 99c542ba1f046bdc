// SPDX-License-Identifier: Apache-2.0
//
// Blob files that the reference engine wrote (tests/data/vectors/blob.txt) are read as it lists
// them, and the same records make the same bytes; damage is told.
#include "db/blob/blob_format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "table/format/compression.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Vector {
  std::string description;
  std::string bytes;
  std::string expected;
};

// "000068: 02 00*7 66"
void AppendHexLine(const std::string& line, std::string* bytes) {
  std::istringstream in(line.substr(line.find(':') + 1));
  for (std::string token; in >> token;) {
    const char byte = static_cast<char>(std::stoi(token.substr(0, 2), nullptr, 16));
    bytes->append(token.size() > 2 ? std::stoul(token.substr(3)) : 1, byte);
  }
}

// Those of whole files.
std::vector<Vector> LoadFileVectors() {
  std::ifstream in(SourcePath("tests/data/vectors/blob.txt"));
  std::vector<Vector> vectors(1);
  bool is_file = false, in_expect = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("====")) {
      if (is_file) vectors.emplace_back();
      vectors.back() = Vector();
      is_file = in_expect = false;
    } else if (line.starts_with("desc: ")) {
      vectors.back().description = line.substr(6);
    } else if (line == "kind: blobfile") {
      is_file = true;
    } else if (line == "expect:") {
      in_expect = true;
    } else if (in_expect) {
      vectors.back().expected += line + "\n";
    } else if (line.size() > 7 && line[6] == ':') {
      AppendHexLine(line, &vectors.back().bytes);
    }
  }
  if (!is_file) vectors.pop_back();
  return vectors;
}

std::string Quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    static const char* const kHex = "0123456789abcdef";
    if (byte > ' ' && byte < 0x7f && c != '"' && c != '\\') {
      text += c;
    } else {
      text += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    }
  }
  return text + "\"";
}

// A whole file as the vectors list it; *rewritten is made of what was read.
std::string Describe(const std::string& file, std::string* rewritten) {
  std::string text;
  BlobFileHeader header;
  EXPECT_OK(header.DecodeFrom(Slice(file.data(), kBlobHeaderBytes)));
  header.AppendTo(rewritten);
  StrAppend(&text, "@0 header cf=", header.family_id,
            " flags=0 comp=", static_cast<int>(header.compression), " exp=0..0\n");
  size_t offset = kBlobHeaderBytes;
  const size_t end = file.size() - kBlobFooterBytes;
  while (offset < end) {
    BlobRecordHeader record;
    EXPECT_OK(record.DecodeFrom(Slice(file.data() + offset, kBlobRecordHeaderBytes)));
    const Slice key(file.data() + offset + kBlobRecordHeaderBytes, record.key_bytes);
    const Slice stored(key.data() + key.size(), record.value_bytes);
    EXPECT_OK(
        CheckBlobRecord(Slice(file.data() + offset, BlobRecordBytes(key.size(), stored.size())),
                        key, stored.size()));
    std::string value;
    EXPECT_OK(UncompressToString(header.compression, stored, nullptr, &value));
    StrAppend(&text, "@", offset, " record key=", Quoted(key.ToString()), " value@",
              offset + kBlobRecordHeaderBytes + key.size(), " size=", stored.size(), " exp=0 ",
              Quoted(value), "\n");
    record.AppendTo(rewritten);
    rewritten->append(key.data(), key.size() + stored.size());
    EXPECT_EQ(MaskedBodyCrc(key, stored), record.masked_body_crc);
    offset += BlobRecordBytes(key.size(), stored.size());
  }
  BlobFileFooter footer;
  EXPECT_OK(footer.DecodeFrom(Slice(file.data() + end, kBlobFooterBytes)));
  footer.AppendTo(rewritten);
  StrAppend(&text, "footer count=", footer.blob_count,
            " exp=0..0 (records: ", end - kBlobHeaderBytes, " bytes)\n");
  return text;
}

// The value that a record of the vectors with compression shows may be its stored form.
std::string WithoutValues(const std::string& text) {
  std::string result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    result += line.substr(0, line.find(" exp=0")) + "\n";
  }
  return result;
}

TEST(BlobVectors, AreReadAndWrittenByteForByte) {
  const std::vector<Vector> vectors = LoadFileVectors();
  ASSERT_GE(vectors.size(), 3u);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.description);
    std::string rewritten;
    const std::string text = Describe(vector.bytes, &rewritten);
    EXPECT_EQ(WithoutValues(text), WithoutValues(vector.expected));
    EXPECT_EQ(rewritten, vector.bytes);
  }
}

std::string Record(const std::string& key, const std::string& value) {
  std::string record;
  BlobRecordHeader{.key_bytes = key.size(),
                   .value_bytes = value.size(),
                   .masked_body_crc = MaskedBodyCrc(key, value)}
      .AppendTo(&record);
  return record + key + value;
}

TEST(BlobFormat, EachFlippedBitOfARecordIsFound) {
  const std::string record = Record("key", "some value");
  ASSERT_OK(CheckBlobRecord(record, "key", 10));
  for (size_t bit = 0; bit < 8 * record.size(); bit++) {
    std::string damaged = record;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(CheckBlobRecord(damaged, "key", 10).IsCorruption()) << bit;
  }
}

TEST(BlobFormat, ARecordOfAnotherKeyOrSizeIsRefused) {
  EXPECT_TRUE(CheckBlobRecord(Record("kez", "some value"), "key", 10).IsCorruption());
  EXPECT_TRUE(CheckBlobRecord(Record("ke", "ysome value"), "key", 10).IsCorruption());
}

TEST(BlobFormat, EachFlippedBitOfAFooterIsFound) {
  std::string footer;
  BlobFileFooter{.blob_count = 7}.AppendTo(&footer);
  BlobFileFooter read;
  ASSERT_OK(read.DecodeFrom(footer));
  EXPECT_EQ(read.blob_count, 7u);
  for (size_t bit = 0; bit < 8 * footer.size(); bit++) {
    std::string damaged = footer;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(read.DecodeFrom(damaged).ok()) << bit;
  }
}

TEST(BlobFormat, HeadersOfOtherFilesAreRefused) {
  std::string header;
  BlobFileHeader{.family_id = 3, .compression = kZSTD}.AppendTo(&header);
  BlobFileHeader read;
  ASSERT_OK(read.DecodeFrom(header));
  EXPECT_EQ(read.family_id, 3u);
  EXPECT_EQ(read.compression, kZSTD);
  for (const size_t offset : {0u, 3u, 4u, 7u, 12u, 14u, 22u, 29u}) {  // no family, no compression
    std::string damaged = header;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 1);
    EXPECT_FALSE(read.DecodeFrom(damaged).ok()) << offset;
  }
}

TEST(BlobIndex, ReadsWhatItWrote) {
  const BlobIndex index{
      .file = FileNumber{300}, .offset = 1 << 20, .size = 77, .compression = kLZ4Compression};
  std::string bytes;
  index.AppendTo(&bytes);
  BlobIndex read;
  ASSERT_OK(read.DecodeFrom(bytes));
  EXPECT_EQ(read.DebugString(), index.DebugString());
  EXPECT_EQ(read.DebugString(), "blob file 300, offset 1048576, 77 bytes, compression 4");
}

TEST(BlobIndex, RefusesWhatIsNoReferenceToAFile) {
  std::string good;
  BlobIndex{.file = FileNumber{9}, .offset = 100, .size = 5}.AppendTo(&good);
  BlobIndex read;
  for (size_t n = 0; n < good.size(); n++) {
    EXPECT_TRUE(read.DecodeFrom(Slice(good.data(), n)).IsCorruption()) << n;
  }
  EXPECT_TRUE(read.DecodeFrom(good + "x").IsCorruption());
  for (const char kind : {0, 2, 3, -1}) {
    EXPECT_TRUE(read.DecodeFrom(kind + good.substr(1)).IsCorruption()) << int{kind};
  }
  std::string zero = good;
  zero[1] = 0;  // the number of the file
  EXPECT_TRUE(read.DecodeFrom(zero).IsCorruption());
}

}  // namespace
}  // namespace ashlar
