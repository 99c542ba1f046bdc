// SPDX-License-Identifier: Apache-2.0
//
// Table properties: conversion between struct and block, and the rules for global sequence numbers
// and the compression property.
#include "table/format/properties.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/plain_block.h"
#include "table/format/table_property_names.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// A key/value block in which every key is stored completely.
std::string MakeBlock(const Entries& entries) {
  std::string block;
  for (const auto& [key, value] : entries) {
    PutVarint32(&block, 0);
    PutVarint32(&block, static_cast<uint32_t>(key.size()));
    PutVarint32(&block, static_cast<uint32_t>(value.size()));
    block += key + value;
  }
  PutFixed32(&block, 0);
  PutFixed32(&block, 1);
  return block;
}
std::string MakeBlock(const EncodedProperties& properties) {
  return MakeBlock(Entries(properties.begin(), properties.end()));
}

TableProperties ParseOk(const std::string& block) {
  Result<TableProperties> result = ParsePropertiesBlock(block, 1000, "file.sst");
  EXPECT_OK(result);
  return result.ok() ? result.Take() : TableProperties();
}

std::string Varint(uint64_t value) {
  std::string bytes;
  PutVarint64(&bytes, value);
  return bytes;
}

TableProperties SomeProperties() {
  TableProperties p;
  p.orig_file_number = 9;
  p.data_size = 123456789012;
  p.num_entries = 77;
  p.num_deletions = 5;
  p.index_partitions = 3;
  p.top_level_index_size = 30;
  p.key_largest_seqno = 0;
  p.file_creation_time = 1795236155;
  p.user_defined_timestamps_persisted = 0;
  p.db_id = "id";
  p.compression_name = "LZ4";
  p.comparator_name = "leveldb.BytewiseComparator";
  p.user_collected_properties = {{"mine", std::string("\0\x01", 2)}, {"zz", ""}};
  return p;
}

TEST(TablePropertiesBlock, KeepsEveryField) {
  const TableProperties p = SomeProperties();
  const EncodedProperties encoded = EncodeProperties(p);
  const TableProperties q = ParseOk(MakeBlock(encoded));
  EXPECT_EQ(EncodeProperties(q), encoded);
  EXPECT_EQ(q.orig_file_number, 9u);
  EXPECT_EQ(q.data_size, 123456789012u);
  EXPECT_EQ(q.top_level_index_size, 30u);
  EXPECT_EQ(q.key_largest_seqno, 0u);
  EXPECT_FALSE(q.HasKeySmallestSeqno());
  EXPECT_EQ(q.user_defined_timestamps_persisted, 0u);
  EXPECT_EQ(q.compression_name, "LZ4");
  EXPECT_EQ(q.user_collected_properties.at("mine"), std::string("\0\x01", 2));
}

TEST(TablePropertiesBlock, AViewHasWhatTheWholeHas) {
  TableProperties p = SomeProperties();
  p.db_session_id = "session";
  p.prefix_extractor_name = "rocksdb.FixedPrefix.4";
  p.num_range_deletions = 2;
  p.num_data_blocks = 11;
  p.raw_key_size = 1000;
  p.raw_value_size = 2000;
  p.oldest_key_time = 17;
  p.index_key_is_user_key = 1;
  p.index_value_is_delta_encoded = 1;
  p.user_collected_properties = {{std::string(kIndexTypeProperty), std::string("\2\0\0\0", 4)},
                                 {std::string(kWholeKeyFilteringProperty), "1"},
                                 {std::string(kPrefixFilteringProperty), "0"},
                                 {std::string(kExternalVersionProperty), "version"},
                                 {std::string(kGlobalSeqnoProperty), ""},
                                 {"mine", "value"}};
  const std::string block = MakeBlock(EncodeProperties(p));
  const PropertiesView view = ViewProperties(block, 1000, "file.sst").Take();
  EXPECT_EQ(view.db_id, p.db_id);
  EXPECT_EQ(view.db_session_id, p.db_session_id);
  EXPECT_EQ(view.comparator_name, p.comparator_name);
  EXPECT_EQ(view.prefix_extractor_name, p.prefix_extractor_name);
  EXPECT_EQ(view.compression_name, p.compression_name);
  EXPECT_EQ(view.orig_file_number, p.orig_file_number);
  EXPECT_EQ(view.num_entries, p.num_entries);
  EXPECT_EQ(view.num_deletions, p.num_deletions);
  EXPECT_EQ(view.num_range_deletions, p.num_range_deletions);
  EXPECT_EQ(view.num_data_blocks, p.num_data_blocks);
  EXPECT_EQ(view.data_size, p.data_size);
  EXPECT_EQ(view.raw_key_size, p.raw_key_size);
  EXPECT_EQ(view.raw_value_size, p.raw_value_size);
  EXPECT_EQ(view.oldest_key_time, p.oldest_key_time);
  EXPECT_EQ(view.index_key_is_user_key, 1u);
  EXPECT_EQ(view.index_value_is_delta_encoded, 1u);
  EXPECT_EQ(view.user_defined_timestamps_persisted, 0u);
  EXPECT_EQ(view.index_type, std::string_view("\2\0\0\0", 4));
  EXPECT_EQ(view.whole_key_filtering, "1");
  EXPECT_EQ(view.prefix_filtering, "0");
  EXPECT_EQ(view.external_version, "version");
  EXPECT_NE(view.global_seqno.data(), nullptr) << "there, and empty";

  const std::string empty = MakeBlock(Entries{});
  const PropertiesView nothing = ViewProperties(empty, 1000, "file.sst").Take();
  EXPECT_EQ(nothing.index_type.data(), nullptr);
  EXPECT_EQ(nothing.user_defined_timestamps_persisted, 1u);
}

TEST(TablePropertiesBlock, WritesConditionalOnesOnlyWhenTheySaySomething) {
  const EncodedProperties encoded = EncodeProperties(TableProperties());
  for (const char* name :
       {"rocksdb.index.partitions", "rocksdb.file.creation.time", "rocksdb.key.largest.seqno",
        "rocksdb.user.defined.timestamps.persisted", "rocksdb.creating.db.identity",
        "rocksdb.num.data.blocks.compression.rejected"}) {
    EXPECT_EQ(encoded.count(name), 0u) << name;
  }
  for (const char* name : {"rocksdb.num.entries", "rocksdb.fixed.key.length",
                           "rocksdb.tail.start.offset", "rocksdb.column.family.id"}) {
    EXPECT_EQ(encoded.count(name), 1u) << name;
  }
}

TEST(TablePropertiesBlock, UserPropertyCannotReplaceAnEngineOne) {
  TableProperties p;
  p.num_entries = 7;
  p.user_collected_properties["rocksdb.num.entries"] = Varint(8);
  EXPECT_EQ(EncodeProperties(p).at("rocksdb.num.entries"), Varint(7));
}

TEST(TablePropertiesBlock, SkipsMalformedNumbersAndKeepsUnknownNames) {
  const TableProperties p = ParseOk(MakeBlock(
      Entries{{"rocksdb.future.feature", "x"}, {"rocksdb.num.entries", std::string(11, '\xff')}}));
  EXPECT_EQ(p.num_entries, 0u);
  EXPECT_EQ(p.user_collected_properties.at("rocksdb.future.feature"), "x");
}

TEST(TablePropertiesBlock, RefusesWrongOrder) {
  for (const Entries& entries : {Entries{{"b", ""}, {"a", ""}}, Entries{{"a", ""}, {"a", ""}}}) {
    EXPECT_TRUE(ParsePropertiesBlock(MakeBlock(entries), 0, "file.sst").status().IsCorruption());
  }
}

TEST(TablePropertiesBlock, SurvivesBeingCutOff) {
  const std::string block = MakeBlock(EncodeProperties(SomeProperties()));
  for (size_t n = 0; n < block.size(); ++n) {
    IgnoreError(ParsePropertiesBlock(block.substr(0, n), 0, "file.sst").status(),
                "any answer is fine");
  }
}

TEST(PlainBlockParser, RefusesUnknownFlagsAndTooManyRestarts) {
  for (const uint32_t packed : {0x80000001u, 0x10000001u, 3u}) {
    std::string block(4, '\0');
    PutFixed32(&block, packed);
    PlainBlockParser parser(block);
    EXPECT_FALSE(parser.Next());
    EXPECT_TRUE(parser.status().IsCorruption()) << packed;
  }
}

TEST(PlainBlockParser, AcceptsEmptyBlocks) {
  for (const std::string& block : {std::string("\0\0\0\0\1\0\0\0", 8), std::string(4, '\0')}) {
    PlainBlockParser parser(block);
    EXPECT_FALSE(parser.Next());
    EXPECT_OK(parser.status());
  }
}

// A properties block with a global sequence number, followed by its trailer.
struct SealedBlock {
  std::string bytes;
  size_t seqno_offset;
  BlockHandle handle;
  static constexpr ChecksumContext kContext{kXXH3, 0x13579bdf};

  explicit SealedBlock(uint64_t offset)
      : bytes(MakeBlock(
            Entries{{std::string(kGlobalSeqnoProperty), std::string(8, '\0')},
                    {std::string(kExternalVersionProperty), std::string("\2\0\0\0", 4)}})),
        handle{offset, bytes.size()} {
    PlainBlockParser parser(bytes);
    EXPECT_TRUE(parser.Next());
    seqno_offset = parser.value_offset();
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer(kContext, offset, bytes, kNoCompression, trailer);
    bytes.append(trailer, sizeof(trailer));
  }
  Status Verify() const {
    return VerifyPropertiesBlock(kContext, handle, bytes.data(), "file.sst");
  }
};

TEST(GlobalSeqno, WrittenIntoTheBlockDoesNotBreakItsChecksum) {
  SealedBlock block(4000);
  EXPECT_OK(block.Verify());
  EncodeFixed64(block.bytes.data() + block.seqno_offset, 12345);
  EXPECT_OK(block.Verify());
  const TableProperties p = ParsePropertiesBlock(Slice(block.bytes.data(), block.handle.size),
                                                 block.handle.offset, "file.sst")
                                .Take();
  EXPECT_EQ(p.external_sst_file_global_seqno_offset, 4000 + block.seqno_offset);
  const PropertiesView view =
      ViewProperties(Slice(block.bytes.data(), block.handle.size), block.handle.offset, "file.sst")
          .Take();
  EXPECT_EQ(FindGlobalSeqno(view, kMaxSequenceNumber, "file.sst").value(), 12345u);
}

TEST(GlobalSeqno, OtherDamageIsStillNoticed) {
  SealedBlock block(4000);
  block.bytes[block.seqno_offset - 1] = '!';
  EXPECT_TRUE(block.Verify().IsCorruption());
}

TEST(GlobalSeqno, FollowsTheManifestRules) {
  struct Case {
    const char* name;
    int version;      // 0: no property
    int64_t written;  // -1: no property
    uint64_t manifest;
    bool is_ok;
    uint64_t expected;
  };
  constexpr uint64_t kUnknown = kMaxSequenceNumber;
  constexpr Case kCases[] = {
      {"of the engine's own files", 0, -1, 900, true, kNoGlobalSeqno},
      {"without version", 0, 5, 5, false, 0},
      {"version 1", 1, -1, 900, true, kNoGlobalSeqno},
      {"version 1 with a number", 1, 0, 900, false, 0},
      {"version 3", 3, 0, 900, false, 0},
      {"only in the MANIFEST", 2, 0, 6, true, 6},
      {"only in the MANIFEST, property missing", 2, -1, 6, true, 6},
      {"in both", 2, 6, 6, true, 6},
      {"in both, different", 2, 7, 6, false, 0},
      {"without MANIFEST", 2, 7, kUnknown, true, 7},
      {"ingested as 0", 2, 0, 0, true, kNoGlobalSeqno},
      {"not ingested yet", 2, 0, kUnknown, true, kNoGlobalSeqno},
  };
  for (const Case& c : kCases) {
    std::string version, written;
    PropertiesView p;
    if (c.version != 0) {
      PutFixed32(&version, static_cast<uint32_t>(c.version));
      p.external_version = version;
    }
    if (c.written >= 0) {
      PutFixed64(&written, static_cast<uint64_t>(c.written));
      p.global_seqno = written;
    }
    const Result<SequenceNumber> result = FindGlobalSeqno(p, c.manifest, "file.sst");
    EXPECT_EQ(result.ok(), c.is_ok) << c.name;
    if (result.ok()) {
      EXPECT_EQ(result.value(), c.expected) << c.name;
    }
  }
}

TEST(CompressionProperty, ParsesBothForms) {
  struct Case {
    const char* value;
    uint32_t format_version;
    bool is_ok, is_none;
  };
  constexpr Case kCases[] = {
      {"NoCompression", 5, true, true},
      {"ZSTD", 5, true, false},
      {"ZSTDNotFinal", 5, true, false},
      {"Brotli", 5, false, false},
      {"BuiltinV2;04;", 7, true, false},
      {"BuiltinV2;;", 7, true, false},
      {";;", 7, true, true},
      {"BuiltinV2;0407;later", 7, true, false},
      {"Mine;04;", 7, false, false},
      {"BuiltinV2;04", 7, false, false},
      {"BuiltinV2;4;", 7, false, false},
      {"BuiltinV2;00;", 7, false, false},
      {"BuiltinV2;FF;", 7, false, false},
      {"LZ4", 7, false, false},
      {"", 7, true, false},
  };
  for (const Case& c : kCases) {
    const auto result = ParseCompressionProperty(c.value, c.format_version, "file.sst");
    EXPECT_EQ(result.ok(), c.is_ok) << c.value;
    if (result.ok()) {
      EXPECT_EQ(result.value().is_none, c.is_none) << c.value;
    }
  }
}

TEST(CompressionProperty, EncodesBothForms) {
  EXPECT_EQ(EncodeCompressionProperty(kLZ4Compression, 0, 6), "LZ4");
  EXPECT_EQ(EncodeCompressionProperty(kNoCompression, 0, 6), "NoCompression");
  EXPECT_EQ(EncodeCompressionProperty(kNoCompression, 0, 7), ";;");
  EXPECT_EQ(EncodeCompressionProperty(kZSTD, 0, 7), "BuiltinV2;;");
  EXPECT_EQ(EncodeCompressionProperty(kZSTD, 1u << 7, 7), "BuiltinV2;07;");
}

}  // namespace
}  // namespace ashlar
