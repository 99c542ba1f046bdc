// SPDX-License-Identifier: Apache-2.0
//
// How the files of tables are read and written: with direct I/O, through mappings, with a rate
// limiter, and with synced ranges.
#include <array>
#include <atomic>

#include "ashlar/rate_limiter.h"
#include "tests/support/direct_files.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 500;

// Counts bytes by priority and direction, without waits.
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

// Stores how the last table was opened for writing.
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

class TableIoTest : public DbTest {
 protected:
  TableIoTest() {
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.no_block_cache = true;  // so that every read goes to the file
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  void FillTable(int round) {
    for (int i = 0; i < kKeys; i++) Put(Key(i), StrCat("value ", round, " ", i));
    Flush();
  }
  void ExpectAll(int round) {
    EXPECT_EQ(Get(Key(7)), StrCat("value ", round, " 7"));
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
};

class DirectTablesTest : public TableIoTest {
 protected:
  DirectTablesTest() { UseFiles(files_); }

  const std::shared_ptr<DirectFiles> files_ = std::make_shared<DirectFiles>(memory_);
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
  CompactAndRewrite();
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
  EXPECT_TRUE(TryOpen().IsNotSupported());
  files_->refuses = false;
  Open();
  EXPECT_EQ(FilesOnDisk(".dbtmp"), 0);
}

TEST_F(TableIoTest, MappedTablesAreRead) {
  dir_ = FreshTempDir("mapped_tables");
  UseFiles(FileSystem::Default());
  options_.allow_mmap_reads = true;
  options_.compression = kNoCompression;
  Open();
  FillTable(1);
  FillTable(2);
  ExpectAll(2);
  CompactAndRewrite();
  Open();
  ExpectAll(2);
  options_.use_direct_reads = true;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
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
  CompactAndRewrite();
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
  const std::string value = Get(Key(7));
  EXPECT_EQ(limiter->reads[Env::IO_USER], 0);
  EXPECT_EQ(Get(Key(7), paced), value);
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
  TestDb test(files);
  test.options().create_if_missing = true;
  test.Open();
  for (const bool is_strict : {true, false}) {
    ASSERT_OK(test.db()->SetDBOptions({{"strict_bytes_per_sync", is_strict ? "true" : "false"}}));
    test.Put("key");
    test.Flush();
    EXPECT_EQ(files->is_strict, is_strict);
  }
}

}  // namespace ashlar
