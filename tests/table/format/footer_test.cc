// SPDX-License-Identifier: Apache-2.0
//
// Footers are compared with those of RocksDB's footer builder (tests/data/vectors/footers.json).
#include "table/format/footer.h"

#include <gtest/gtest.h>

#include <string>

#include "ashlar/table.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

struct Sample {
  Footer footer;
  uint64_t offset = 0;
  std::string bytes;
};

std::vector<Sample> Samples() {
  const Json json = Json::ParseFile(SourcePath("tests/data/vectors/footers.json"));
  std::vector<Sample> samples;
  for (const Json& v : json["vectors"].elements()) {
    Sample s;
    s.footer.format_version = static_cast<uint32_t>(v["format_version"].number());
    s.footer.checksum.type = static_cast<ChecksumType>(v["checksum_type"].number());
    s.footer.metaindex = {v["metaindex_offset"].number(), v["metaindex_size"].number()};
    if (v.Has("index_offset")) {
      s.footer.index = {v["index_offset"].number(), v["index_size"].number()};
    }
    if (v.Has("base_context_checksum")) {
      s.footer.checksum.base =
          static_cast<uint32_t>(std::stoul(v["base_context_checksum"].text(), nullptr, 16));
    }
    s.offset = v["footer_offset"].number();
    s.bytes = FromHex(v["hex"].text());
    samples.push_back(s);
  }
  return samples;
}

Result<Footer> Decode(const std::string& bytes, uint64_t offset) {
  return DecodeFooter(bytes, offset + kFooterBytes, "file.sst");
}

TEST(Footer, EncodesLikeVectors) {
  const std::vector<Sample> samples = Samples();
  ASSERT_GT(samples.size(), 20u);
  for (const Sample& sample : samples) {
    std::string bytes;
    AppendFooter(sample.footer, sample.offset, &bytes);
    EXPECT_EQ(bytes, sample.bytes) << sample.footer.DebugString();
  }
}

TEST(Footer, DecodesVectors) {
  for (const Sample& sample : Samples()) {
    const Result<Footer> footer = Decode(sample.bytes, sample.offset);
    ASSERT_OK(footer);
    EXPECT_EQ(footer.value().DebugString(), sample.footer.DebugString());
  }
}

TEST(Footer, FromVersion6OnNoticesEveryChangedByte) {
  for (const Sample& sample : Samples()) {
    if (sample.footer.format_version < 6 || sample.footer.checksum.type == kNoChecksum) continue;
    for (size_t i = 0; i < kFooterBytes; ++i) {
      std::string damaged = sample.bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
      EXPECT_FALSE(Decode(damaged, sample.offset).ok()) << "byte " << i;
    }
  }
}

TEST(Footer, FromVersion6OnNoticesAnotherOffset) {
  for (const Sample& sample : Samples()) {
    if (sample.footer.format_version < 6) continue;
    EXPECT_TRUE(Decode(sample.bytes, sample.offset + 1).status().IsCorruption());
  }
}

TEST(Footer, RefusesHandlesOutsideTheFile) {
  for (const Sample& sample : Samples()) {
    if (sample.footer.format_version >= 6) continue;
    EXPECT_TRUE(Decode(sample.bytes, 100).status().IsCorruption());
  }
}

TEST(Footer, RefusesOtherMagicNumbers) {
  struct Case {
    const char* name;
    uint64_t magic;
    bool is_known;
  };
  constexpr Case kCases[] = {{"version 0", 0xdb4775248b80fb57ull, true},
                             {"plain table", 0x8242229663bf9564ull, true},
                             {"old plain table", 0x4f3418eb7a8f13b8ull, true},
                             {"cuckoo table", 0x926789d0c5f17873ull, true},
                             {"anything", 0x0123456789abcdefull, false}};
  for (const Case& c : kCases) {
    std::string bytes = Samples().front().bytes;
    EncodeFixed64(bytes.data() + bytes.size() - 8, c.magic);
    const Status status = Decode(bytes, 1000).status();
    EXPECT_EQ(status.IsNotSupported(), c.is_known) << c.name << ": " << status.ToString();
    EXPECT_EQ(status.IsCorruption(), !c.is_known) << c.name << ": " << status.ToString();
  }
}

TEST(Footer, RefusesVersionsOutside2To7) {
  for (const uint32_t version : {0u, 1u, 8u, 0xffffffffu}) {
    std::string bytes = Samples().front().bytes;
    EncodeFixed32(bytes.data() + 41, version);
    EXPECT_TRUE(Decode(bytes, 1000).status().IsNotSupported()) << version;
  }
}

TEST(Footer, RefusesShortFiles) {
  const std::string bytes = Samples().front().bytes;
  for (size_t n = 0; n < kFooterBytes; ++n) {
    const std::string tail = bytes.substr(kFooterBytes - n);
    EXPECT_TRUE(DecodeFooter(tail, n, "file.sst").status().IsCorruption()) << n;
  }
}

TEST(BlockHandle, FitsOnlyWithItsTrailer) {
  EXPECT_TRUE((BlockHandle{10, 20}.FitsBefore(35)));
  EXPECT_FALSE((BlockHandle{10, 20}.FitsBefore(34)));
  EXPECT_FALSE((BlockHandle{UINT64_MAX - 3, 20}.FitsBefore(1000)));
  EXPECT_FALSE((BlockHandle{10, UINT64_MAX - 3}.FitsBefore(1000)));
  EXPECT_FALSE((BlockHandle{0, 0}.FitsBefore(4)));
}

}  // namespace
}  // namespace ashlar
