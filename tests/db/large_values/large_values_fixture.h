// SPDX-License-Identifier: Apache-2.0
//
// The fixture of this folder: a database in memory whose values of at least 20 bytes are in blob
// files. Threads: one at a time.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/test_db.h"

namespace ashlar {

class Joiner : public MergeOperator {
 public:
  const char* Name() const override { return "Joiner"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::string joined = in.existing_value == nullptr ? "-" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) joined += "." + operand.ToString();
    out->new_value = joined;
    return true;
  }
};

inline std::string Large(char c, size_t bytes = 40) { return std::string(bytes, c); }

class LargeValuesTest : public DbTest {
 protected:
  LargeValuesTest() {
    UseFiles(fs_);
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.enable_blob_files = true;
    options_.min_blob_size = 20;
    options_.merge_operator = std::make_shared<Joiner>();
    options_.statistics = CreateDBStatistics();
  }
  void SetUp() override { Open(); }

  void Compact(CompactRangeOptions options = {}) {
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    DbTest::Compact(options);
  }
  uint64_t Number(const std::string& property) { return DbTest::Number("rocksdb." + property); }
  // Names of the blob files of the directory, ascending.
  std::vector<std::string> BlobFilesOnDisk() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".blob"); });
    std::sort(names.begin(), names.end());
    return names;
  }
  ColumnFamilyMetaData MetaData() {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    return metadata;
  }
  const std::shared_ptr<FaultFileSystem> fs_ = std::make_shared<FaultFileSystem>(memory_);
};

}  // namespace ashlar
