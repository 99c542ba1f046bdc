// SPDX-License-Identifier: Apache-2.0
//
// How the files of tables are read and written: past the page cache, through mappings, paced,
// with their ranges synced.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "env/env_adaptors.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/direct_files.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 500;

std::string Key(int i) { return StrCat("key", 1000 + i); }

// Counts by priority and direction; nobody waits.
class CountingLimiter final : public RateLimiter {
 public:
  CountingLimiter() : RateLimiter(Mode::kAllIo) {}
  using RateLimiter::Request;
  void SetBytesPerSecond(int64_t) override {}
  void Request(int64_t bytes, Env::IOPriority priority, Statistics*, OpType type) override {
    (type == OpType::kRead ? reads : writes)[priority] += bytes;
  }
  int64_t GetSingleBurstBytes() const override { return 1 << 20; }
  int64_t GetTotalBytesThrough(Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(Env::IOPriority) const override { return 0; }
  int64_t GetBytesPerSecond() const override { return 1 << 20; }

  std::array<std::atomic<int64_t>, Env::IO_TOTAL> reads{}, writes{};
};

// Remembers how the last table was opened for writing.
class OptionsWatch final : public FileSystemWrapper {
 public:
  OptionsWatch() : FileSystemWrapper(std::make_shared<MemoryFileSystem>()) {}
  const char* Name() const override { return "OptionsWatch"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    if (name.ends_with(".sst")) is_strict = options.strict_bytes_per_sync;
    return FileSystemWrapper::NewWritableFile(name, options, file, dbg);
  }
  std::atomic<bool> is_strict{false};
};

class TableIoTest : public testing::Test {
 protected:
  explicit TableIoTest(const std::shared_ptr<FileSystem>& fs = std::make_shared<MemoryFileSystem>())
      : env_(NewCompositeEnv(fs)) {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.no_block_cache = true;  // so that every read is one of the file
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, dir_, &db_));
  }
  void FillTable(int round) {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), Key(i), StrCat("value ", round, " ", i)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void Compact() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  }
  void ExpectAll(int round) {
    PinnableSlice found;
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(7), &found));
    EXPECT_EQ(found, Slice(StrCat("value ", round, " 7")));
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
      ASSERT_EQ(it->key(), Slice(Key(i)));
      ASSERT_EQ(it->value(), Slice(StrCat("value ", round, " ", i)));
    }
    ASSERT_OK(it->status());
    EXPECT_EQ(i, kKeys);
    EXPECT_OK(db_->VerifyChecksum(ReadOptions()));
  }

  const std::unique_ptr<Env> env_;
  std::string dir_ = "/db";
  Options options_;
  std::unique_ptr<DB> db_;
};

class DirectTablesTest : public TableIoTest {
 protected:
  DirectTablesTest() : DirectTablesTest(std::make_shared<DirectFiles>(memory())) {}
  explicit DirectTablesTest(const std::shared_ptr<DirectFiles>& files)
      : TableIoTest(files), files_(files) {}
  static std::shared_ptr<MemoryFileSystem> memory() { return std::make_shared<MemoryFileSystem>(); }

  const std::shared_ptr<DirectFiles> files_;
};

}  // namespace

TEST_F(DirectTablesTest, AreWrittenAndReadPastThePageCache) {
  options_.use_direct_reads = true;
  options_.use_direct_io_for_flush_and_compaction = true;
  Open();
  FillTable(1);
  FillTable(2);
  EXPECT_GE(files_->writes, 2);
  ExpectAll(2);
  const int writes = files_->writes;
  Compact();
  EXPECT_GT(files_->writes, writes);
  Open();
  files_->reads = 0;
  ExpectAll(2);
  EXPECT_GT(files_->reads, 0);
}

TEST_F(DirectTablesTest, AreWhatOthersAreToo) {
  options_.use_direct_io_for_flush_and_compaction = true;
  Open();
  FillTable(1);
  EXPECT_EQ(files_->reads, 0);
  options_.use_direct_io_for_flush_and_compaction = false;
  options_.use_direct_reads = true;
  Open();
  const int writes = files_->writes;
  FillTable(2);
  EXPECT_EQ(files_->writes, writes);
  ExpectAll(2);
  EXPECT_GT(files_->reads, 0);
}

TEST_F(DirectTablesTest, AreRefusedAtOpeningWhereTheFileSystemDoes) {
  options_.use_direct_io_for_flush_and_compaction = true;
  files_->refuses = true;
  EXPECT_TRUE(DB::Open(options_, dir_, &db_).IsNotSupported());
  files_->refuses = false;
  Open();
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren(dir_, &names));
  for (const std::string& name : names) EXPECT_FALSE(name.ends_with(".dbtmp")) << name;
}

TEST_F(TableIoTest, MappedTablesAreRead) {
  dir_ = FreshTempDir("mapped_tables");
  options_.env = Env::Default();
  options_.allow_mmap_reads = true;
  options_.compression = kNoCompression;
  Open();
  FillTable(1);
  FillTable(2);
  ExpectAll(2);
  Compact();
  Open();
  ExpectAll(2);
  options_.use_direct_reads = true;
  db_.reset();
  EXPECT_TRUE(DB::Open(options_, dir_, &db_).IsInvalidArgument());
}

TEST_F(TableIoTest, FlushesArePacedBeforeCompactions) {
  const auto limiter = std::make_shared<CountingLimiter>();
  options_.rate_limiter = limiter;
  Open();
  FillTable(1);
  EXPECT_GT(limiter->writes[Env::IO_HIGH], 0);
  EXPECT_EQ(limiter->writes[Env::IO_LOW], 0);
  FillTable(2);
  const int64_t flushed = limiter->writes[Env::IO_HIGH];
  EXPECT_EQ(limiter->reads[Env::IO_LOW], 0);
  Compact();
  EXPECT_EQ(limiter->writes[Env::IO_HIGH], flushed);
  EXPECT_GT(limiter->writes[Env::IO_LOW], 0);
  EXPECT_GT(limiter->reads[Env::IO_LOW], 0);
  EXPECT_EQ(limiter->reads[Env::IO_USER] + limiter->writes[Env::IO_USER], 0);
}

TEST_F(TableIoTest, UsersArePacedIfTheyAsk) {
  const auto limiter = std::make_shared<CountingLimiter>();
  options_.rate_limiter = limiter;
  Open();
  FillTable(1);
  ReadOptions paced;
  paced.rate_limiter_priority = Env::IO_USER;
  PinnableSlice found;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(7), &found));
  EXPECT_EQ(limiter->reads[Env::IO_USER], 0);
  ASSERT_OK(db_->Get(paced, db_->DefaultColumnFamily(), Key(7), &found));
  const int64_t of_get = limiter->reads[Env::IO_USER];
  EXPECT_GT(of_get, 0);
  const std::unique_ptr<Iterator> it(db_->NewIterator(paced));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  const int64_t of_scan = limiter->reads[Env::IO_USER];
  EXPECT_GT(of_scan, of_get);
  ASSERT_OK(db_->VerifyChecksum(paced));
  EXPECT_GT(limiter->reads[Env::IO_USER], of_scan);

  WriteOptions write;
  ASSERT_OK(db_->Put(write, "key", "value"));
  EXPECT_EQ(limiter->writes[Env::IO_USER], 0);
  write.rate_limiter_priority = Env::IO_USER;
  ASSERT_OK(db_->Put(write, "key", std::string(1000, 'v')));
  EXPECT_GE(limiter->writes[Env::IO_USER], 1000);
}

TEST_F(TableIoTest, OnlyWritesOfALogCanBePaced) {
  Open();
  WriteOptions write;
  write.rate_limiter_priority = Env::IO_LOW;
  EXPECT_TRUE(db_->Put(write, "key", "value").IsInvalidArgument());
  write.rate_limiter_priority = Env::IO_USER;
  EXPECT_OK(db_->Put(write, "key", "value"));  // without a limiter there is nothing to wait for
  write.disableWAL = true;
  EXPECT_TRUE(db_->Put(write, "key", "value").IsInvalidArgument());
  write.disableWAL = false;
  options_.manual_wal_flush = true;
  Open();
  EXPECT_TRUE(db_->Put(write, "key", "value").IsInvalidArgument());
}

TEST(SyncedRanges, AreWaitedForIfAskedTo) {
  const auto files = std::make_shared<OptionsWatch>();
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  Options options;
  options.create_if_missing = true;
  options.env = env.get();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (const bool is_strict : {true, false}) {
    ASSERT_OK(db->SetDBOptions({{"strict_bytes_per_sync", is_strict ? "true" : "false"}}));
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
    EXPECT_EQ(files->is_strict, is_strict);
  }
}

}  // namespace ashlar
