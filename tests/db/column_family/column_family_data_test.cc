// SPDX-License-Identifier: Apache-2.0
//
// A family's memtables on their way to tables: in which order flushes take and return them, which
// logs they need meanwhile, and that readers see the same memtables as writers.
#include "db/column_family/column_family_data.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/column_family/family_set.h"
#include "env/io_rule.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ColumnFamilyTest : public testing::Test, private FamilyHost {
 protected:
  ColumnFamilyTest() {
    VersionSetOptions options;
    options.fs = &fs_;
    options.dir = "/db";
    options.preallocate_bytes = 0;
    EXPECT_OK(fs_.CreateDir("/db", IOOptions(), nullptr));
    EXPECT_OK(VersionSet::CreateNew(options, "the-id"));
    versions_ = std::make_unique<VersionSet>(options);
    TableCacheOptions tables(comparator_);
    tables.fs = &fs_;
    tables.paths = {"/db"};
    std::vector<FamilyRequest> requests, missing;
    requests.emplace_back("default", comparator_);
    requests.back().tables = std::make_unique<TableCache>(tables);
    MutexLock lock(&mutex_);
    const IoUnderDbMutex nobody_waits;
    EXPECT_OK(versions_->Recover(std::move(requests), /*allow_subset=*/false, &missing));
    FamilyRef family = FamilyRef::Adopt(
        new ColumnFamilyData(versions_->Family(0), std::make_shared<const ColumnFamilyOptions>(),
                             versions_.get(), this));
    family->PublishSuperVersion();
    families_.Add(std::move(family));
  }
  ~ColumnFamilyTest() override {
    {
      MutexLock lock(&mutex_);
      families_.Clear();
    }
    EpochDrain();
  }

  ColumnFamilyData& family() { return *families_.default_family(); }
  void Add(SequenceNumber seqno) {
    InsertHint hint;
    ASSERT_OK(family().mem()->Add(seqno, kTypeValue, "k", "v", &hint));
    family().mem()->AddCounters(&hint);
  }
  // What is written to log `log`, and then the memtable is sealed.
  void FillAndSeal(SequenceNumber seqno, FileNumber next_log) REQUIRES(db_mutex) {
    Add(seqno);
    family().SwitchMemTable(next_log);
  }

  DbMutex mutex_;
  const std::shared_ptr<SpareBlocks> spare_ = std::make_shared<SpareBlocks>();

 private:
  SequenceNumber VisibleSeqno() const override { return kMaxSequenceNumber; }
  SuperVersion* HeldBy(const Snapshot*, const ReadViewSource&) override { return nullptr; }
  void OnViewReleased(Purge) override {}
  void OnFamilyGone(Purge) override {}
  std::shared_ptr<WriteBufferManager> MemoryManager() override { return nullptr; }
  const std::shared_ptr<SpareBlocks>& SpareMemory() override { return spare_; }
  SystemClock* Clock() override { return nullptr; }

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<VersionSet> versions_;
  FamilySet families_;
};

TEST_F(ColumnFamilyTest, AFlushTakesAllSealedMemTablesAndLaterOnesWaitForIt) {
  MutexLock lock(&mutex_);
  FillAndSeal(1, /*next_log=*/10);
  FillAndSeal(2, /*next_log=*/11);
  const std::vector<MemTable*> taken = family().TakeForFlush();
  ASSERT_EQ(taken.size(), 2u);
  FillAndSeal(3, /*next_log=*/12);
  EXPECT_TRUE(family().TakeForFlush().empty());
  EXPECT_EQ(family().DebugString(),
            "family 0 default\n"
            "memtable 4: 0 entries\n"
            "memtable 3: 1 entries, ends before log 12\n"
            "memtable 2: 1 entries, ends before log 11, flushing\n"
            "memtable 1: 1 entries, ends before log 10, flushing\n");
  EXPECT_OK(family().CheckInvariants());
}

TEST_F(ColumnFamilyTest, WhatAFlushReturnsIsTakenAgainWithWhatCameMeanwhile) {
  MutexLock lock(&mutex_);
  FillAndSeal(1, /*next_log=*/10);
  const std::vector<MemTable*> taken = family().TakeForFlush();
  FillAndSeal(2, /*next_log=*/11);
  family().ReturnFromFlush(taken);
  EXPECT_EQ(family().TakeForFlush().size(), 2u);
}

TEST_F(ColumnFamilyTest, WhatIsFlushedLeavesForWritersAndReadersAlike) {
  MutexLock lock(&mutex_);
  FillAndSeal(1, /*next_log=*/10);
  const std::vector<MemTable*> taken = family().TakeForFlush();
  FillAndSeal(2, /*next_log=*/11);
  EXPECT_EQ(family().super_version()->immutables().size(), 2u);
  family().RemoveFlushed(taken);
  EXPECT_EQ(family().immutables().size(), 1u);
  EXPECT_EQ(family().super_version()->immutables().size(), 1u);
  EXPECT_OK(family().CheckInvariants());
}

TEST_F(ColumnFamilyTest, AFlushLeavesItsMemoryToTheNextMemTableIfThereAreWriters) {
  if (kHeapIsWatched) GTEST_SKIP() << "sanitizers watch memory that is freed";
  const auto flush_large_memtable = [this](SequenceNumber seqno, FileNumber next_log,
                                           bool somebody_writes) {
    MutexLock lock(&mutex_);
    const std::string value(8 << 10, 'v');
    for (int i = 0; i < 1000; ++i) {
      ASSERT_OK(family().mem()->Add(seqno + i, kTypeValue, "k", value));
    }
    FillAndSeal(seqno + 1000, next_log);
    if (somebody_writes) {
      for (int i = 1001; i < 1500; ++i) {
        ASSERT_OK(family().mem()->Add(seqno + i, kTypeValue, "k", value));
      }
    }
    family().RemoveFlushed(family().TakeForFlush());
  };
  flush_large_memtable(1, /*next_log=*/10, /*somebody_writes=*/true);
  EpochDrain();
  EXPECT_GE(spare_->bytes(), 2 * Arena::kHugePageBytes);
  flush_large_memtable(2000, /*next_log=*/11, /*somebody_writes=*/false);
  EpochDrain();
  EXPECT_EQ(spare_->bytes(), 0u);
}

TEST_F(ColumnFamilyTest, AFilterDoesNotHoldWritersBackDuringAFlush) {
  MutexLock lock(&mutex_);
  ColumnFamilyOptions options;
  options.write_buffer_size = 64 << 20;
  options.max_write_buffer_number = 2;
  options.memtable_prefix_bloom_size_ratio = 0.25;
  options.memtable_whole_key_filtering = true;
  family().SetOptions(std::make_shared<const ColumnFamilyOptions>(options));
  FillAndSeal(1, /*next_log=*/10);
  ASSERT_EQ(family().TakeForFlush().size(), 1u);
  family().NoteFlushProgress(0);
  ASSERT_GE(family().mem()->ApproximateMemoryUsage(), options.write_buffer_size / 8);
  EXPECT_LT(family().mem()->ApproximateMemoryUsage(), family().paced_bytes());
  EXPECT_LT(family().paced_bytes(), options.write_buffer_size / 2) << "they keep pace with it";
}

TEST_F(ColumnFamilyTest, AnEmptyFamilyNeedsTheCurrentLogOnly) {
  MutexLock lock(&mutex_);
  EXPECT_EQ(family().OldestLogNeeded(/*current_log=*/7).value(), 7u);
  Add(1);
  EXPECT_EQ(family().OldestLogNeeded(/*current_log=*/9), family().versions()->log_number);
}

TEST_F(ColumnFamilyTest, AFlushLetsLogsGoUpToTheNextOneOfItsYoungestMemTable) {
  MutexLock lock(&mutex_);
  FillAndSeal(1, /*next_log=*/10);
  FillAndSeal(2, /*next_log=*/11);
  EXPECT_EQ(family().LogNumberAfter(family().TakeForFlush()).value(), 11u);
}

TEST_F(ColumnFamilyTest, TheOldestLogThatIsNotOnItsWayOutIsThatOfMemTablesThatWait) {
  MutexLock lock(&mutex_);
  ColumnFamilyOptions options;
  options.max_write_buffer_number = 4;
  options.min_write_buffer_number_to_merge = 2;
  family().SetOptions(std::make_shared<const ColumnFamilyOptions>(options));
  EXPECT_EQ(family().OldestLogNotDue(), FileNumber::None());
  Add(1);
  EXPECT_EQ(family().OldestLogNotDue(), family().active_log());
  family().SwitchMemTable(10, FlushReason::kWriteBufferFull);
  EXPECT_FALSE(family().is_flush_due());
  EXPECT_EQ(family().OldestLogNotDue().value(), 0u);
  Add(2);
  EXPECT_EQ(family().OldestLogNotDue().value(), 0u);
  family().RequireFlush();
  EXPECT_TRUE(family().is_flush_due());
  EXPECT_EQ(family().OldestLogNotDue().value(), 10u);
  ASSERT_EQ(family().TakeForFlush().size(), 1u);
  EXPECT_FALSE(family().is_flush_due());
  family().SwitchMemTable(11, FlushReason::kWriteBufferFull);
  EXPECT_FALSE(family().is_flush_due());
  EXPECT_EQ(family().OldestLogNotDue().value(), 10u);
}

TEST_F(ColumnFamilyTest, AMemTableSealedBeforeAnEarlierLogThanTheOneBeforeItIsNoticed) {
  MutexLock lock(&mutex_);
  FillAndSeal(1, /*next_log=*/10);
#if !ASHLAR_INVARIANTS  // there the next line stops the program
  FillAndSeal(2, /*next_log=*/9);
  EXPECT_TRUE(family().CheckInvariants().IsCorruption());
#endif
}

}  // namespace
}  // namespace ashlar
