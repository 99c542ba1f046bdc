// SPDX-License-Identifier: Apache-2.0
//
// max_open_files: no more tables stay open than it allows, whoever opens them, and a read that may
// use memory alone opens none.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Counts the files that are open for reading.
class CountingFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CountingFileSystem"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, &file, debug);
    if (!status.ok()) return status;
    opened_.fetch_add(1);
    *result = std::make_unique<File>(std::move(file), this);
    return status;
  }
  int open_count() const { return opened_ - closed_; }
  int opened_count() const { return opened_; }

 private:
  class File final : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile>&& file, CountingFileSystem* owner)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), owner_(owner) {}
    ~File() override { owner_->closed_.fetch_add(1); }

   private:
    CountingFileSystem* const owner_;
  };
  std::atomic<int> opened_{0}, closed_{0};
};

std::string Key(int i) { return "key" + std::to_string(1000 + i); }

class OpenTablesTest : public testing::Test {
 protected:
  static constexpr int kTables = 60;
  // What DBOptions::max_open_files = 20 leaves for tables.
  static constexpr int kLimit = 20;

  OpenTablesTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.max_open_files = 20;
    options_.statistics = CreateDBStatistics();
    Open();
    for (int i = 0; i < kTables; i++) {
      EXPECT_OK(db_->Put(WriteOptions(), Key(i), "v"));
      EXPECT_OK(db_->Flush(FlushOptions()));
    }
  }
  void Open() { EXPECT_OK(DB::Open(options_, "/db", &db_)); }
  int OpenCount() {
    EpochDrain();
    return fs_->open_count();
  }

  std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  std::shared_ptr<CountingFileSystem> fs_ =
      std::make_shared<CountingFileSystem>(memory_->GetFileSystem());
  std::unique_ptr<Env> env_{NewCompositeEnv(fs_)};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(OpenTablesTest, GetsAndScansStayWithinTheLimit) {
  std::string value;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kTables; i++) {
      ASSERT_OK(db_->Get(ReadOptions(), Key(i * 7 % kTables), &value));
      ASSERT_LE(OpenCount(), kLimit);
    }
  }
  TablePropertiesCollection all;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&all));
  EXPECT_EQ(all.size(), size_t{kTables});
  EXPECT_LE(OpenCount(), kLimit);
  ASSERT_OK(db_->VerifyChecksum(ReadOptions()));
  EXPECT_LE(OpenCount(), kLimit);
}

TEST_F(OpenTablesTest, TheLimitMayBeLowered) {
  const auto get_all = [&] {
    std::string value;
    for (int i = 0; i < kTables; i++) EXPECT_OK(db_->Get(ReadOptions(), Key(i), &value));
  };
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "50"}}));
  get_all();
  EXPECT_EQ(OpenCount(), 40);
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "25"}}));
  get_all();
  EXPECT_LE(OpenCount(), kLimit);
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "-1"}}));
  get_all();
  EXPECT_EQ(OpenCount(), kTables);
}

// What was opened without a limit stays: somebody may use it uncounted. A limit holds for the rest.
TEST_F(OpenTablesTest, ALimitThatComesLaterHoldsForTablesOpenedLater) {
  options_.max_open_files = -1;
  db_.reset();
  Open();
  std::string value;
  for (int i = 0; i < 30; i++) ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
  const int before = OpenCount();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(Key(5));
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "20"}}));
  for (int i = kTables; i < 2 * kTables; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  for (int i = 0; i < 2 * kTables; i++) ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
  it->Next();
  EXPECT_TRUE(it->Valid());
  EXPECT_OK(it->status());
  it.reset();
  EXPECT_LE(OpenCount(), std::max(before, kTables) + kLimit);
  EXPECT_GE(OpenCount(), before);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_LE(OpenCount(), kLimit);
}

// Blob files of a family: a tenth of it, at least 8. They may be closed at any time.
TEST_F(OpenTablesTest, ALimitThatComesLaterHoldsForBlobFiles) {
  constexpr int kBlobFiles = 30, kLeastOpen = 8;
  options_.max_open_files = -1;
  options_.enable_blob_files = true;
  db_.reset();
  Open();
  const auto write_and_read = [&](int i) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), "in a blob file"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    std::string value;
    ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
    EXPECT_EQ(value, "in a blob file");
  };
  for (int i = 0; i < kBlobFiles; i++) write_and_read(i);
  const int before = OpenCount();
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "20"}}));
  write_and_read(kBlobFiles);  // one table more
  EXPECT_LE(OpenCount(), before + 1 - (kBlobFiles - kLeastOpen));
}

TEST_F(OpenTablesTest, OpeningStaysWithinTheLimit) {
  db_.reset();
  Open();
  EXPECT_LE(OpenCount(), kLimit);
}

// An iterator over all of them needs them all, and gives them back.
TEST_F(OpenTablesTest, WhatAnIteratorHoldsIsClosedAfterIt) {
  {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    EXPECT_EQ(count, kTables);
    EXPECT_OK(it->status());
  }
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), Key(0), &value));
  ASSERT_OK(db_->Get(ReadOptions(), Key(1), &value));
  for (int i = 0; i < kTables; i++) ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
  EXPECT_LE(OpenCount(), kLimit);
}

TEST_F(OpenTablesTest, AReadOfTheBlockCacheAloneOpensNoTable) {
  std::string value;
  for (int i = 0; i < kTables; i++) ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
  const int opened = fs_->opened_count();
  ReadOptions read;
  read.read_tier = kBlockCacheTier;
  int found = 0, incomplete = 0;
  for (int i = 0; i < kTables; i++) {
    const Status status = db_->Get(read, Key(i), &value);
    found += status.ok();
    incomplete += status.IsIncomplete();
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(incomplete, 0);
  EXPECT_EQ(found + incomplete, kTables);
  EXPECT_EQ(options_.statistics->getTickerCount(MEMTABLE_HIT), 0u);
  const std::vector<Slice> keys = {"key1000", "key1030"};
  std::vector<std::string> values;
  for (const Status& status : db_->MultiGet(read, keys, &values)) {
    EXPECT_TRUE(status.ok() || status.IsIncomplete());
  }
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIncomplete());
  EXPECT_EQ(fs_->opened_count(), opened);
}

}  // namespace
}  // namespace ashlar
