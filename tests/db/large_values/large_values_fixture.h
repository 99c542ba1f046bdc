// SPDX-License-Identifier: Apache-2.0
//
// A database in memory whose values from 20 bytes on lie in blob files, and what the tests ask of
// it. Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

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

class LargeValuesTest : public testing::Test {
 protected:
  LargeValuesTest() : fs_(std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>())) {
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.enable_blob_files = true;
    options_.min_blob_size = 20;
    options_.merge_operator = std::make_shared<Joiner>();
    options_.statistics = CreateDBStatistics();
  }
  void SetUp() override { Open(); }
  void TearDown() override { db_.reset(); }

  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Reopen() {
    ASSERT_OK(db_->Close());
    db_.reset();
    Open();
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void Compact(CompactRangeOptions options = {}) {
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
  }
  std::string Get(const std::string& key, const ReadOptions& options = {}) {
    std::string value;
    const Status status = db_->Get(options, key, &value);
    return status.ok() ? value : status.ToString();
  }
  uint64_t Number(const std::string& property) {
    uint64_t value = UINT64_MAX;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb." + property, &value)) << property;
    return value;
  }
  // The files of the directory that end in .blob.
  std::vector<std::string> BlobFilesOnDisk() {
    std::vector<std::string> names, blobs;
    EXPECT_OK(env_->GetChildren("/db", &names));
    for (const std::string& name : names) {
      if (name.ends_with(".blob")) blobs.push_back(name);
    }
    std::sort(blobs.begin(), blobs.end());
    return blobs;
  }
  ColumnFamilyMetaData MetaData() {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    return metadata;
  }
  std::string Scan(bool is_forward, const ReadOptions& options = {}) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    std::string text;
    for (is_forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         is_forward ? it->Next() : it->Prev()) {
      if (options.allow_unprepared_value && !it->PrepareValue()) break;
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    if (!it->status().ok()) text += it->status().ToString();
    return text;
  }

  const std::shared_ptr<FaultFileSystem> fs_;
  std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
