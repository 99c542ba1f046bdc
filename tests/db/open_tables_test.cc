// SPDX-License-Identifier: Apache-2.0
//
// max_open_files limits the tables that stay open, for all operations that open tables, and a read
// that may only use memory opens none.
#include <algorithm>
#include <atomic>
#include <utility>

#include "ashlar/file_system.h"
#include "tests/support/test_db.h"
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

class OpenTablesTest : public DbTest {
 protected:
  static constexpr int kTables = 60;
  // How many tables may stay open with DBOptions::max_open_files = 20.
  static constexpr int kLimit = 20;

  OpenTablesTest() {
    UseFiles(fs_);
    options_.disable_auto_compactions = true;
    options_.max_open_files = 20;
    options_.statistics = CreateDBStatistics();
    Open();
    for (int i = 0; i < kTables; i++) {
      Put(Key(i), "v");
      Flush();
    }
  }
  void GetAll(int count = kTables) {
    for (int i = 0; i < count; i++) EXPECT_EQ(Get(Key(i)), "v");
  }
  int OpenCount() {
    EpochDrain();
    return fs_->open_count();
  }

  const std::shared_ptr<CountingFileSystem> fs_ = std::make_shared<CountingFileSystem>(memory_);
};

TEST_F(OpenTablesTest, GetsAndScansStayWithinTheLimit) {
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kTables; i++) {
      EXPECT_EQ(Get(Key(i * 7 % kTables)), "v");
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
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "50"}}));
  GetAll();
  EXPECT_EQ(OpenCount(), 40);
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "25"}}));
  GetAll();
  EXPECT_LE(OpenCount(), kLimit);
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "-1"}}));
  GetAll();
  EXPECT_EQ(OpenCount(), kTables);
}

// Tables that were opened without a limit stay open, because readers may use them without a
// reference. The limit holds for the others.
TEST_F(OpenTablesTest, ALimitThatComesLaterHoldsForTablesOpenedLater) {
  options_.max_open_files = -1;
  Reopen();
  GetAll(30);
  const int before = OpenCount();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(Key(5));
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "20"}}));
  for (int i = kTables; i < 2 * kTables; i++) {
    Put(Key(i), "v");
    Flush();
  }
  GetAll(2 * kTables);
  it->Next();
  EXPECT_TRUE(it->Valid());
  EXPECT_OK(it->status());
  it.reset();
  EXPECT_LE(OpenCount(), std::max(before, kTables) + kLimit);
  EXPECT_GE(OpenCount(), before);
  Compact();
  EXPECT_LE(OpenCount(), kLimit);
}

// Of the blob files of a family a tenth of the limit may stay open, but at least 8. They may be
// closed at any time.
TEST_F(OpenTablesTest, ALimitThatComesLaterHoldsForBlobFiles) {
  constexpr int kBlobFiles = 30, kLeastOpen = 8;
  options_.max_open_files = -1;
  options_.enable_blob_files = true;
  Reopen();
  const auto write_and_read = [&](int i) {
    Put(Key(i), "in a blob file");
    Flush();
    EXPECT_EQ(Get(Key(i)), "in a blob file");
  };
  for (int i = 0; i < kBlobFiles; i++) write_and_read(i);
  const int before = OpenCount();
  ASSERT_OK(db_->SetDBOptions({{"max_open_files", "20"}}));
  write_and_read(kBlobFiles);  // one table more
  EXPECT_LE(OpenCount(), before + 1 - (kBlobFiles - kLeastOpen));
}

TEST_F(OpenTablesTest, OpeningStaysWithinTheLimit) {
  Reopen();
  EXPECT_LE(OpenCount(), kLimit);
}

// An iterator over all tables needs them open at once, and releases them when it ends.
TEST_F(OpenTablesTest, WhatAnIteratorHoldsIsClosedAfterIt) {
  {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    EXPECT_EQ(count, kTables);
    EXPECT_OK(it->status());
  }
  GetAll();
  EXPECT_LE(OpenCount(), kLimit);
}

TEST_F(OpenTablesTest, AReadOfTheBlockCacheAloneOpensNoTable) {
  GetAll();
  const int opened = fs_->opened_count();
  ReadOptions read;
  read.read_tier = kBlockCacheTier;
  int found = 0, incomplete = 0;
  std::string value;
  for (int i = 0; i < kTables; i++) {
    const Status status = db_->Get(read, Key(i), &value);
    found += status.ok();
    incomplete += status.IsIncomplete();
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(incomplete, 0);
  EXPECT_EQ(found + incomplete, kTables);
  EXPECT_EQ(options_.statistics->getTickerCount(MEMTABLE_HIT), 0u);
  const std::string names[] = {Key(0), Key(30)};
  std::vector<std::string> values;
  for (const Status& status : db_->MultiGet(read, {names[0], names[1]}, &values)) {
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
