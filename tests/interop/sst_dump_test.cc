// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's sst_dump reads the tables that we write. Skipped if it is not installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/format/unique_id.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool HasSstDump() { return HasProgram("sst_dump"); }

struct Case {
  uint32_t version;
  ChecksumType checksum;
  CompressionType compression;
  const char* layout;  // see Configure
};

class SstDump : public testing::TestWithParam<Case> {
 protected:
  static constexpr int kEntryCount = 1200;

  SstDump() : icmp_(BytewiseComparator()) {}

  void SetUp() override {
    if (!HasSstDump()) return SkipAsMissing("sst_dump of RocksDB");
    if (!IsCompressionSupported(GetParam().compression)) return SkipAsMissing("compression");
    Configure(GetParam().layout);
    Write();
  }

  void Configure(const std::string& layout) {
    table_.format_version = GetParam().version;
    table_.checksum = GetParam().checksum;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.compression = GetParam().compression;
    if (layout == "hash") {
      table_.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
    } else if (layout == "intervals") {
      table_.index_block_restart_interval = 7;
      table_.block_restart_interval = 3;
    } else if (layout == "prefixes") {
      prefix_.reset(NewFixedPrefixTransform(4));
      options_.prefix_extractor = prefix_.get();
    } else if (layout == "whole keys") {
      table_.use_delta_encoding = false;
    }
  }

  // Versions, deletions, empty and long values.
  void Write() {
    options_.icmp = &icmp_;
    options_.table = &table_;
    options_.db_id = "some database";
    options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    options_.file_number = 12;
    options_.column_family_id = 0;
    options_.column_family_name = "default";
    std::string contents;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&contents);
    TableBuilder builder(options_, writer.get());
    for (int i = 0; i < kEntryCount; ++i) {
      char key[16];
      std::snprintf(key, sizeof(key), "key%05d", i / 3);
      const ValueType type = i % 3 == 1 ? kTypeDeletion : kTypeValue;
      const std::string value =
          type == kTypeDeletion ? "" : std::string(static_cast<size_t>(i % 90), 'v');
      const std::string internal_key =
          MakeInternalKey(key, static_cast<uint64_t>(10 - i % 3), type);
      ASSERT_OK(builder.Add(internal_key, value));
      expected_lines_.push_back(StrCat("'", HexBytes(key), "' seq:", 10 - i % 3,
                                       ", type:", int{type}, " => ", HexBytes(value), "\n"));
    }
    ASSERT_OK(builder.Finish());
    path_ = FreshTempDir("sst_dump") + "/000012.sst";
    FILE* file = fopen(path_.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(fwrite(contents.data(), 1, contents.size(), file), contents.size());
    ASSERT_EQ(fclose(file), 0);
  }

  InternalKeyComparator icmp_;
  BlockBasedTableOptions table_;
  std::unique_ptr<const SliceTransform> prefix_;
  TableBuilderOptions options_;
  std::string path_;
  std::vector<std::string> expected_lines_;
};

TEST_P(SstDump, VerifiesChecksums) {
  const std::string output = RunCommand("sst_dump --command=verify --file=" + path_);
  EXPECT_NE(output.find("The file is ok"), std::string::npos) << output;
}

TEST_P(SstDump, ListsEveryEntry) {
  const std::string output = RunCommand("sst_dump --command=scan --output_hex --file=" + path_);
  size_t position = 0;
  for (const std::string& line : expected_lines_) {
    position = output.find(line, position);
    ASSERT_NE(position, std::string::npos) << line << " is missing in\n" << output;
  }
}

TEST_P(SstDump, CountsAsTheProperties) {
  const std::string output =
      RunCommand("sst_dump --command=check --show_properties --file=" + path_);
  EXPECT_NE(output.find(StrCat("# entries: ", kEntryCount)), std::string::npos) << output;
  EXPECT_NE(output.find(StrCat("# deletions: ", kEntryCount / 3)), std::string::npos) << output;
  EXPECT_NE(output.find("# entries for filter: "), std::string::npos) << output;
  const std::string id = PublicUniqueId(
      MakeInternalUniqueId({options_.db_id, options_.db_session_id, options_.file_number}).value(),
      UniqueIdForm::kStandard);
  EXPECT_NE(
      output.find(StrCat("unique ID: ", HexBytes(id.substr(0, 8)), "-", HexBytes(id.substr(8)))),
      std::string::npos)
      << output;
}

// Up to format_version 5, which every installed release can read.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (uint32_t version = 2; version <= 5; ++version) {
    for (const ChecksumType checksum : {kNoChecksum, kCRC32c, kxxHash, kxxHash64, kXXH3}) {
      cases.push_back({version, checksum, kNoCompression, "plain"});
    }
    for (const char* layout : {"hash", "intervals", "prefixes", "whole keys"}) {
      cases.push_back({version, kXXH3, kNoCompression, layout});
    }
  }
  for (const CompressionType compression : {kSnappyCompression, kZlibCompression, kBZip2Compression,
                                            kLZ4Compression, kLZ4HCCompression, kZSTD}) {
    cases.push_back({2, kXXH3, compression, "plain"});
    cases.push_back({5, kXXH3, compression, "plain"});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Formats, SstDump, testing::ValuesIn(Cases()));

}  // namespace
}  // namespace ashlar
