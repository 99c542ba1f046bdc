// SPDX-License-Identifier: Apache-2.0
//
// Version edits: the golden records of tests/data/vectors/manifest.txt, every field there and back,
// fields nobody knows, and damaged records.
#include "db/manifest/version_edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "db/manifest/manifest_reader.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Vector {
  std::string description, kind, bytes;
  std::vector<std::vector<std::string>> edits;  // expected lines of each, sorted
};

void AppendHexLine(const std::string& line, std::string* bytes) {
  std::istringstream in(line.substr(line.find(':') + 1));
  for (std::string token; in >> token;) {
    const char byte = static_cast<char>(std::stoi(token.substr(0, 2), nullptr, 16));
    bytes->append(token.size() > 2 ? std::stoul(token.substr(3)) : 1, byte);
  }
}

std::vector<Vector> LoadVectors() {
  std::ifstream in(SourcePath("tests/data/vectors/manifest.txt"));
  std::vector<Vector> vectors(1);
  bool in_expect = false;
  for (std::string line; std::getline(in, line);) {
    Vector& vector = vectors.back();
    const size_t indent = line.find_first_not_of(' ');
    if (line.starts_with("====")) {
      vectors.emplace_back();
      in_expect = false;
    } else if (line.starts_with("desc: ")) {
      vector.description = line.substr(6);
    } else if (line.starts_with("kind: ")) {
      vector.kind = line.substr(6);
    } else if (line == "expect:") {
      in_expect = true;
    } else if (!in_expect && line.size() > 7 && line[6] == ':') {
      AppendHexLine(line, &vector.bytes);
    } else if (in_expect && indent != std::string::npos && line[0] != '@') {
      if (line.substr(indent) == "edit") {
        vector.edits.emplace_back();
      } else if (line.find("min_log_to_keep=") == std::string::npos) {
        // That field of a file is about the edit, where it shows as MinLogToKeep.
        vector.edits.back().push_back(line.substr(indent));
      }
    }
  }
  for (Vector& vector : vectors) {
    for (auto& lines : vector.edits) std::sort(lines.begin(), lines.end());
  }
  return vectors;
}

std::string Quoted(const Slice& text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\' || c < 0x20 || c > 0x7e) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", c);
      out += escaped;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

std::string Lower(std::string hex) {
  std::transform(hex.begin(), hex.end(), hex.begin(), [](char c) { return std::tolower(c); });
  return hex;
}
std::string Hex(const Slice& bytes) { return Lower(bytes.ToString(/*hex=*/true)); }

std::string Boundary(const Slice& key) {
  const uint64_t trailer = ExtractTrailer(key);
  return StrCat(Quoted(ExtractUserKey(key)), ":", trailer >> 8, ":", trailer & 0xff);
}

using Lines = std::vector<std::string>;

void DescribeFile(const VersionEdit::NewFile& file, Lines* lines) {
  const FileMetadata& meta = file.meta;
  lines->push_back(StrCat("AddFile L", file.level, " #", meta.number, " size=", meta.file_size, " ",
                          Boundary(meta.smallest), " .. ", Boundary(meta.largest),
                          " seq=", meta.smallest_seqno, "..", meta.largest_seqno));
  lines->push_back(StrCat("oldest_ancestor_time=", meta.oldest_ancestor_time));
  lines->push_back(StrCat("creation_time=", meta.file_creation_time));
  if (meta.epoch_number != 0) lines->push_back(StrCat("epoch=", meta.epoch_number));
  if (meta.has_file_checksum) {
    lines->push_back("checksum=" + Hex(meta.file_checksum));
    lines->push_back("checksum_func=" + Quoted(meta.file_checksum_function));
  }
  if (!meta.unique_id.empty()) lines->push_back("unique_id=" + Hex(meta.unique_id));
  if (meta.tail_bytes != 0) lines->push_back(StrCat("tail_size=", meta.tail_bytes));
  if (meta.oldest_blob_file_number != 0) {
    lines->push_back(StrCat("oldest_blob=", meta.oldest_blob_file_number));
  }
  if (!meta.timestamps_persisted) lines->push_back("udt_persisted=0");
  if (!meta.min_timestamp.empty()) lines->push_back("min_ts=" + Hex(meta.min_timestamp));
  if (!meta.max_timestamp.empty()) lines->push_back("max_ts=" + Hex(meta.max_timestamp));
}

// In the words of the vectors.
Lines Describe(const VersionEdit& edit) {
  Lines lines;
  const auto number = [&lines](const char* name, const auto& value) {
    if (value) lines.push_back(StrCat(name, " ", *value));
  };
  if (edit.db_id) lines.push_back("DbId " + Quoted(*edit.db_id));
  if (edit.comparator) lines.push_back("Comparator " + Quoted(*edit.comparator));
  number("LogNumber", edit.log_number);
  number("PrevLog", edit.prev_log_number);
  number("NextFile", edit.next_file_number);
  number("MaxColumnFamily", edit.max_column_family);
  number("MinLogToKeep", edit.min_log_number_to_keep);
  number("LastSeq", edit.last_sequence);
  number("LastCompactedManifestFileSize", edit.last_compacted_manifest_bytes);
  for (const auto& cursor : edit.compact_cursors) {
    lines.push_back(StrCat("CompactCursor L", cursor.level, " ", Boundary(cursor.key)));
  }
  for (const auto& file : edit.deleted_files) {
    lines.push_back(StrCat("DeleteFile L", file.level, " #", file.number));
  }
  for (const auto& file : edit.new_files) DescribeFile(file, &lines);
  for (const auto& blob : edit.blob_additions) {
    lines.push_back(StrCat("BlobFileAddition #", blob.number, " count=", blob.blob_count,
                           " bytes=", blob.blob_bytes, " method=", Quoted(blob.checksum_method),
                           " value=", Hex(blob.checksum_value)));
  }
  for (const auto& garbage : edit.blob_garbage) {
    lines.push_back(StrCat("BlobFileGarbage #", garbage.number, " count=", garbage.garbage_count,
                           " bytes=", garbage.garbage_bytes));
  }
  for (const auto& wal : edit.wal_additions) {
    lines.push_back(StrCat("WalAddition log=", wal.log_number, " synced=",
                           wal.synced_bytes ? StrCat(*wal.synced_bytes) : std::string("none")));
  }
  if (edit.wal_deletion) lines.push_back(StrCat("WalDeletion before=", *edit.wal_deletion));
  if (edit.column_family != 0) lines.push_back(StrCat("ColumnFamily ", edit.column_family));
  if (edit.added_family) lines.push_back("ColumnFamilyAdd " + Quoted(*edit.added_family));
  if (edit.is_family_drop) lines.push_back("ColumnFamilyDrop");
  if (edit.atomic_group_remaining) {
    lines.push_back(StrCat("InAtomicGroup remaining=", *edit.atomic_group_remaining));
  }
  if (edit.full_history_ts_low)
    lines.push_back("FullHistoryTsLow " + Hex(*edit.full_history_ts_low));
  if (edit.persist_user_defined_timestamps) {
    lines.push_back(StrCat("PersistUdt ", *edit.persist_user_defined_timestamps ? 1 : 0));
  }
  for (const auto& [tag, body] : edit.unknown_fields) lines.push_back(StrCat("Unknown ", tag));
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string Encode(const VersionEdit& edit) {
  std::string bytes;
  edit.EncodeTo(&bytes);
  return bytes;
}

VersionEdit Decode(const std::string& bytes) {
  VersionEdit edit;
  EXPECT_OK(edit.DecodeFrom(bytes));
  return edit;
}

// A field of the kinds that carry their length.
std::string Tagged(uint32_t tag, const Slice& body) {
  std::string bytes;
  PutVarint32(&bytes, tag);
  PutLengthPrefixedSlice(&bytes, body);
  return bytes;
}

FileMetadata FullMetadata() {
  FileMetadata meta;
  meta.number = 300;
  meta.file_size = 123456789;
  meta.smallest = MakeInternalKey("apple", 7, kTypeValue);
  meta.largest = MakeInternalKey("pear", 900, kTypeDeletion);
  meta.smallest_seqno = 7;
  meta.largest_seqno = 900;
  meta.epoch_number = 77;
  meta.oldest_ancestor_time = 1700000000;
  meta.file_creation_time = 1700000001;
  meta.oldest_blob_file_number = 12;
  meta.compensated_range_deletion_bytes = 4096;
  meta.tail_bytes = 1500;
  meta.path_id = 2;
  meta.temperature = 4;
  meta.marked_for_compaction = true;
  meta.timestamps_persisted = false;
  meta.has_file_checksum = true;
  meta.file_checksum = std::string("\0\1\2\3", 4);
  meta.file_checksum_function = "FileChecksumCrc32c";
  meta.unique_id = "0123456789abcdef";
  meta.min_timestamp = "tttttttt";
  meta.max_timestamp = "uuuuuuuu";
  meta.unknown_fields = {{40, "later"}};
  return meta;
}

VersionEdit FullEdit() {
  VersionEdit edit;
  edit.db_id = "6a3b-db";
  edit.comparator = "leveldb.BytewiseComparator";
  edit.log_number = FileNumber{9};
  edit.prev_log_number = FileNumber{0};
  edit.next_file_number = FileNumber{301};
  edit.max_column_family = 5;
  edit.min_log_number_to_keep = FileNumber{8};
  edit.last_sequence = kMaxSequenceNumber - 1;
  edit.compact_cursors = {{3, MakeInternalKey("cursor", 4, kTypeValue)}};
  edit.deleted_files = {{0, 4}, {6, uint64_t{1} << 40}};
  edit.AddFile(2, FullMetadata());
  edit.blob_additions = {{10, 20, 30, "crc", "abcd"}};
  edit.blob_garbage = {{10, 1, 2}};
  edit.wal_additions = {{6, std::nullopt}, {7, 4711}};
  edit.wal_deletion = FileNumber{6};
  edit.column_family = 5;
  edit.added_family = "fruit";
  edit.atomic_group_remaining = 3;
  edit.full_history_ts_low = "tttttttt";
  edit.persist_user_defined_timestamps = false;
  edit.last_compacted_manifest_bytes = 99;
  edit.logs = {{.number = 6, .first_seqno = 1000, .synced_bytes = 300, .end_bytes = 305},
               {.number = 7, .first_seqno = 1001}};
  edit.forgotten_logs_end = FileNumber{31};
  edit.initial_records = 12;
  edit.unknown_fields = {{8192 + 500, "later"}};
  return edit;
}

}  // namespace

TEST(VersionEditVectors, ManifestsAndEditsReadAsTheReferenceEnginePrintsThem) {
  const std::vector<Vector> vectors = LoadVectors();
  ASSERT_EQ(vectors.size(), 12u);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.description);
    std::vector<Lines> edits;
    if (vector.kind == "edit") {
      edits.push_back(Describe(Decode(vector.bytes)));
    } else {
      MemoryFileSystem fs;
      ASSERT_OK(fs.CreateDirIfMissing("/v", IOOptions(), nullptr));
      ASSERT_OK(WriteFileAtomically(&fs, "/v", "tmp", "MANIFEST-000001", vector.bytes));
      auto reader = ManifestReader::Open(&fs, "/v/MANIFEST-000001");
      ASSERT_OK(reader);
      VersionEdit edit;
      while (reader.value()->Next(&edit)) edits.push_back(Describe(edit));
      EXPECT_OK(reader.value()->status());
      EXPECT_EQ(reader.value()->torn_tail_bytes(), 0u);
    }
    EXPECT_EQ(edits, vector.edits);
  }
}

TEST(VersionEdit, EveryFieldSurvivesEncoding) {
  const std::string bytes = Encode(FullEdit());
  const VersionEdit decoded = Decode(bytes);
  EXPECT_EQ(Describe(decoded), Describe(FullEdit()));
  EXPECT_EQ(Encode(decoded), bytes);
  const FileMetadata& meta = decoded.new_files.at(0).meta;
  const FileMetadata expected = FullMetadata();
  EXPECT_EQ(meta.path_id, expected.path_id);
  EXPECT_EQ(meta.temperature, expected.temperature);
  EXPECT_EQ(meta.marked_for_compaction, expected.marked_for_compaction);
  EXPECT_EQ(meta.compensated_range_deletion_bytes, expected.compensated_range_deletion_bytes);
  EXPECT_EQ(meta.unknown_fields, expected.unknown_fields);
  EXPECT_EQ(decoded.unknown_fields, FullEdit().unknown_fields);
}

TEST(VersionEdit, OwnFieldsAreMarkedIgnorableAndCarryTheirLength) {
  VersionEdit edit;
  edit.logs = {{.number = 6, .first_seqno = 1000, .synced_bytes = 300, .end_bytes = 305}};
  edit.initial_records = 12;
  EXPECT_EQ(Hex(Encode(edit)), "f3c2010706e807ac02b102f4c201010c");
  EXPECT_EQ(edit.DebugString(/*hex=*/true),
            "VersionEdit {\n"
            "  ColumnFamily: 0\n"
            "  Log: log_number: 6 first_sequence: 1000 synced_size_in_bytes: 300 end: 305\n"
            "  InitialRecords: 12\n"
            "}\n");
  // A later version may say more about a log.
  const VersionEdit longer = Decode(Tagged(0x6173, std::string("\x06\x01\x02\x03\x7f", 5)));
  ASSERT_EQ(longer.logs.size(), 1u);
  EXPECT_EQ(longer.logs[0].end_bytes, 3u);
}

TEST(VersionEdit, ForgettingLogsIsAFieldOfItsOwn) {
  VersionEdit edit;
  edit.forgotten_logs_end = FileNumber{31};
  EXPECT_EQ(Hex(Encode(edit)), "f6c201011f");
  EXPECT_EQ(Decode(Encode(edit)).forgotten_logs_end->value(), 31u);
}

TEST(VersionEdit, TextNamesEveryField) {
  const std::string text = FullEdit().DebugString(/*hex=*/false);
  // clang-format off
  for (const char* part :
       {"6a3b-db", "leveldb.BytewiseComparator", "LogNumber: 9", "PrevLogNumber: 0",
        "NextFileNumber: 301", "MaxColumnFamily: 5", "MinLogNumberToKeep: 8", "LastSeq: ",
        "CompactCursor: 3", "DeleteFile: 6", "AddFile: 2 300 123456789", "epoch_number:77",
        "oldest_ancester_time:1700000000", "file_creation_time:1700000001", "blob_file:12",
        "compensated_range_deletion_size:4096", "tail_size:1500", "path_id:2", "temperature: 4",
        "marked_for_compaction:1", "timestamps persisted: false", "file_checksum:00010203",
        "FileChecksumCrc32c", "unique_id(internal): {3", "min_timestamp:7474",
        "max_timestamp:7575", "unknown field 40",
        "BlobFileAddition: blob_file_number: 10 total_blob_count: 20 total_blob_bytes: 30",
        "BlobFileGarbage: blob_file_number: 10 garbage_blob_count: 1",
        "WalAddition: log_number: 6 synced_size_in_bytes: unknown",
        "WalAddition: log_number: 7 synced_size_in_bytes: 4711", "WalDeletion: log_number: 6",
        "ColumnFamily: 5", "ColumnFamilyAdd: fruit", "AtomicGroup: 3", "FullHistoryTsLow: 7474",
        "PersistUserDefinedTimestamps: false", "LastCompactedManifestFileSize: 99",
        "ForgottenLogsEnd: 31", "Log: log_number: 7 first_sequence: 1001", "InitialRecords: 12",
        "Unknown field 8692"}) {
    // clang-format on
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  VersionEdit first;
  first.change_begin = 4096;
  EXPECT_EQ(first.DebugString(false), "VersionEdit {\n  ColumnFamily: 0\n  ChangeBegin: 4096\n}\n");
}

TEST(VersionEdit, AnEmptyEditIsAnEmptyRecord) {
  EXPECT_EQ(Encode(VersionEdit()), "");
  EXPECT_EQ(Encode(Decode("")), "");
}

TEST(VersionEdit, DecodingReplacesWhatWasThere) {
  VersionEdit edit = FullEdit();
  ASSERT_OK(edit.DecodeFrom(""));
  EXPECT_EQ(Encode(edit), "");
}

TEST(VersionEdit, OldFileRecordsAreRead) {
  const std::string smallest = MakeInternalKey("a", 3, kTypeValue);
  const std::string largest = MakeInternalKey("b", 2, kTypeValue);
  for (const uint32_t tag : {7u, 100u, 102u}) {
    std::string bytes;
    PutVarint32(&bytes, tag);
    PutVarint32(&bytes, 4);
    PutVarint64(&bytes, 55);
    if (tag == 102) PutVarint32(&bytes, 3);
    PutVarint64(&bytes, 1000);
    PutLengthPrefixedSlice(&bytes, smallest);
    PutLengthPrefixedSlice(&bytes, largest);
    if (tag != 7) {
      PutVarint64(&bytes, 2);
      PutVarint64(&bytes, 3);
    }
    const VersionEdit edit = Decode(bytes);
    ASSERT_EQ(edit.new_files.size(), 1u) << tag;
    const FileMetadata& meta = edit.new_files[0].meta;
    EXPECT_EQ(edit.new_files[0].level, 4);
    EXPECT_EQ(meta.number.value(), 55u);
    EXPECT_EQ(meta.file_size, 1000u);
    EXPECT_EQ(meta.path_id, tag == 102 ? 3u : 0u);
    EXPECT_EQ(meta.largest_seqno, tag == 7 ? 0u : 3u);
    EXPECT_EQ(meta.largest, largest);
  }
}

TEST(VersionEdit, UnknownIgnorableFieldsAreKept) {
  const std::string field = Tagged(8192 + 77, "whatever");
  const VersionEdit edit = Decode(Tagged(8192 + 77, "whatever") + Encode(FullEdit()));
  ASSERT_EQ(edit.unknown_fields.size(), 2u);
  EXPECT_EQ(edit.unknown_fields[0].first, 8192u + 77);
  EXPECT_NE(Encode(edit).find(field), std::string::npos);
}

TEST(VersionEdit, UnknownRequiredFieldsAreRefusedByNumber) {
  VersionEdit edit;
  Status status = edit.DecodeFrom(Tagged(555, "body"));
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("555"), std::string::npos);

  VersionEdit with_file;
  FileMetadata meta = FullMetadata();
  meta.unknown_fields = {{64 + 30, "must understand"}};
  with_file.AddFile(1, meta);
  status = edit.DecodeFrom(Encode(with_file));
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("94"), std::string::npos);
}

TEST(VersionEdit, ValuesOutOfRangeAreCorruption) {
  const auto is_refused = [](VersionEdit edit) {
    VersionEdit decoded;
    return decoded.DecodeFrom(Encode(edit)).IsCorruption();
  };
  VersionEdit edit;
  edit.DeleteFile(1 << 20, 4);
  EXPECT_TRUE(is_refused(edit));
  const auto with_file = [](auto change) {
    FileMetadata meta = FullMetadata();
    change(&meta);
    VersionEdit result;
    result.AddFile(1, meta);
    return result;
  };
  EXPECT_FALSE(is_refused(with_file([](FileMetadata*) {})));
  EXPECT_TRUE(is_refused(with_file([](FileMetadata* m) { m->path_id = 4; })));
  EXPECT_TRUE(is_refused(with_file([](FileMetadata* m) { m->unique_id = "short"; })));
  EXPECT_TRUE(is_refused(with_file([](FileMetadata* m) { m->smallest = "7 bytes"; })));
}

// As the format has it: other programs may write an id that they do not know.
TEST(VersionEdit, AnIdOfZerosIsNone) {
  FileMetadata meta = FullMetadata();
  meta.unique_id.assign(16, '\0');
  VersionEdit edit, decoded;
  edit.AddFile(1, meta);
  std::string record;
  edit.EncodeTo(&record);
  ASSERT_OK(decoded.DecodeFrom(record));
  ASSERT_EQ(decoded.new_files.size(), 1u);
  EXPECT_EQ(decoded.new_files[0].meta.unique_id, "");
}

// A cut either falls between two fields, and then what is left is a record, or it is noticed.
TEST(VersionEdit, TruncationAtEveryLengthIsCorruptionOrAShorterRecord) {
  const std::string bytes = Encode(FullEdit());
  size_t whole = 0;
  for (size_t length = 0; length < bytes.size(); length++) {
    VersionEdit edit;
    const Status status = edit.DecodeFrom(Slice(bytes.data(), length));
    if (status.ok()) {
      whole++;
      EXPECT_EQ(Encode(edit), bytes.substr(0, length));
    } else {
      EXPECT_TRUE(status.IsCorruption()) << length << ": " << status.ToString();
    }
  }
  EXPECT_EQ(whole, 28u);  // one boundary before each of its fields
}

TEST(VersionEdit, FlippedBitsNeverCrashAndDecodedEditsEncodeToAFixedPoint) {
  const std::string bytes = Encode(FullEdit());
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    VersionEdit edit;
    const Status status = edit.DecodeFrom(damaged);
    if (!status.ok()) {
      refused++;
      continue;
    }
    EXPECT_NE(edit.DebugString(/*hex=*/true), "");
    const std::string again = Encode(edit);
    EXPECT_EQ(Encode(Decode(again)), again) << "bit " << bit;
  }
  EXPECT_GT(refused, bytes.size());
}

}  // namespace ashlar
