// SPDX-License-Identifier: Apache-2.0
//
// Tables are read back before they take effect: paranoid_file_checks, verify_output_flags.
#include "db/output/output_check.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

using Flags = VerifyOutputFlags;

std::string TextOf(const OutputChecks& checks) {
  return std::string(checks.blocks ? "blocks " : "") + (checks.entries ? "entries " : "") +
         (checks.checksum ? "checksum " : "");
}

TEST(OutputChecks, FollowFromTheOptions) {
  ColumnFamilyOptions options;
  EXPECT_EQ(TextOf(OutputChecksFor(options, true)), "");
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "");
  options.verify_output_flags = Flags::kVerifyBlockChecksum | Flags::kVerifyFileChecksum;
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "");
  options.verify_output_flags |= Flags::kEnableForRemoteCompaction;
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "");
  options.verify_output_flags |= Flags::kEnableForLocalCompaction;
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "blocks checksum ");
  EXPECT_EQ(TextOf(OutputChecksFor(options, true)), "");
  options.verify_output_flags = Flags::kVerifyAll;
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "blocks entries checksum ");
  options.verify_output_flags = Flags::kVerifyNone;
  options.paranoid_file_checks = true;
  EXPECT_EQ(TextOf(OutputChecksFor(options, true)), "entries ");
  EXPECT_EQ(TextOf(OutputChecksFor(options, false)), "entries ");
}

class OutputCheckTest : public testing::Test {
 protected:
  OutputCheckTest() {
    EXPECT_OK(fs_.CreateDir("/db", IOOptions(), nullptr));
    context_.fs = &fs_;
    context_.checksum_factory = GetFileChecksumGenCrc32cFactory();
    options_.context = &context_;
    options_.family_options = std::make_shared<const ColumnFamilyOptions>();
    options_.comparator = &comparator_;
    options_.dir = "/db";
    options_.file_number = 7;
    options_.epoch_number = 1;
    auto output = TableOutput::Create(options_);
    EXPECT_OK(output.status());
    for (const char* key : {"a", "b", "c"}) {
      const std::string internal_key = MakeInternalKey(key, 3, kTypeValue);
      EXPECT_OK((*output)->Add(internal_key, "value"));
      written_.Add(internal_key, "value");
    }
    EXPECT_OK((*output)->Finish(&meta_));
  }
  Status Check(const OutputChecks& checks, const EntriesHash& written) {
    return CheckOutput(checks, options_, meta_, written);
  }

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  TableOutputContext context_;
  TableOutputOptions options_;
  FileMetadata meta_;
  EntriesHash written_;
};

TEST_F(OutputCheckTest, WhatWasWrittenPasses) {
  EXPECT_OK(Check({.blocks = true, .entries = true, .checksum = true}, written_));
}

TEST_F(OutputCheckTest, OtherEntriesAreNoticed) {
  EntriesHash others;
  for (const char* key : {"a", "c", "b"}) others.Add(MakeInternalKey(key, 3, kTypeValue), "value");
  const Status status = Check({.entries = true}, others);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("/db/000007.sst"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("expected 3 entries"), std::string::npos) << status.ToString();
  EXPECT_OK(Check({.blocks = true, .checksum = true}, others));
}

TEST_F(OutputCheckTest, DamageIsNoticedByEachCheck) {
  std::string bytes = fs_.AllFiles().at("/db/000007.sst");
  bytes[3] = static_cast<char>(bytes[3] ^ 1);
  fs_.PutFile("/db/000007.sst", bytes);
  EXPECT_TRUE(Check({.blocks = true}, written_).IsCorruption());
  EXPECT_TRUE(Check({.entries = true}, written_).IsCorruption());
  EXPECT_TRUE(Check({.checksum = true}, written_).IsCorruption());
}

// A database whose tables are damaged on their way to the disk.
class ReadBackTest : public testing::Test {
 protected:
  ReadBackTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    fault_->SetHook([this](const FileCall& call, bool is_before) {
      if (is_before || !damages_ || call.kind != CallKind::kClose) return;
      if (call.path.find(".sst") == std::string::npos) return;
      std::string bytes = memory_->AllFiles().at(call.path);
      bytes[3] = static_cast<char>(bytes[3] ^ 1);
      memory_->PutFile(call.path, bytes);
    });
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> fault_ = std::make_shared<FaultFileSystem>(memory_);
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fault_);
  std::atomic<bool> damages_{false};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(ReadBackTest, ADamagedFlushFailsAndIsMadeUpFor) {
  options_.paranoid_file_checks = true;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  damages_ = true;
  const Status status = db_->Flush(FlushOptions());
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  damages_ = false;
  for (const auto& [path, bytes] : memory_->AllFiles()) {
    EXPECT_EQ(path.find(".sst"), std::string::npos) << path;
  }
  EXPECT_EQ(Get("a"), "1");
  db_.reset();
  Open();
  EXPECT_EQ(Get("a"), "1");
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(ReadBackTest, ADamagedCompactionLeavesItsInputs) {
  options_.verify_output_flags = Flags::kVerifyIteration | Flags::kEnableForLocalCompaction;
  Open();
  for (const char* value : {"1", "2"}) {
    ASSERT_OK(db_->Put(WriteOptions(), "a", value));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  damages_ = true;
  const Status status = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  damages_ = false;
  EXPECT_EQ(Get("a"), "2");
  db_.reset();
  Open();
  EXPECT_EQ(Get("a"), "2");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Get("a"), "2");
}

TEST_F(ReadBackTest, TheOptionMayBeSetWhileTheDatabaseIsOpen) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  damages_ = true;
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->SetOptions({{"paranoid_file_checks", "true"}}));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "1"));
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsCorruption());
}

}  // namespace
}  // namespace ashlar
