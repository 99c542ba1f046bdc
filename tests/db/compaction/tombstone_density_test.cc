// SPDX-License-Identifier: Apache-2.0
//
// Tables with many consecutive point tombstones are compacted downwards automatically until a scan
// has no tombstones to step over, and no further.
#include <mutex>

#include "ashlar/listener.h"
#include "ashlar/perf_context.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 20000;

std::string DenseKey(int i) { return StrCat("key", 100000 + i); }

// Releases a snapshot when a compaction has begun.
class Releaser : public EventListener {
 public:
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    last_reason = info.compaction_reason;
    if (snapshot != nullptr) db->ReleaseSnapshot(snapshot);
    snapshot = nullptr;
  }

  DB* db = nullptr;
  const Snapshot* snapshot = nullptr;
  CompactionReason last_reason = CompactionReason::kUnknown;
};

class TombstoneDensityTest : public DbTest {
 protected:
  TombstoneDensityTest() {
    options_.listeners = {releaser_};
    options_.compression = kNoCompression;
    Open();
    for (int i = 0; i < kKeys; ++i) Put(DenseKey(i), "value");
    Compact();
  }
  // The snapshot is released while automatic compactions are disabled, so none starts before the
  // close.
  void Reopen(const Snapshot* snapshot = nullptr) {
    if (snapshot != nullptr) {
      ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
      db_->ReleaseSnapshot(snapshot);
    }
    Open();
  }
  void Delete(int from, int to, int step = 1) {
    for (int i = from; i < to; i += step) DbTest::Delete(DenseKey(i));
  }
  void FlushAndSettle() {
    Flush();
    WaitForJobs();
  }
  // How many hidden entries a full scan steps over.
  uint64_t SkippedByAScan(int* rows) {
    get_perf_context()->Reset();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    *rows = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++*rows;
    EXPECT_OK(it->status());
    return get_perf_context()->internal_delete_skipped_count +
           get_perf_context()->internal_key_skipped_count;
  }
  // Point and range tombstones in all tables.
  uint64_t Tombstones(ColumnFamilyHandle* family = nullptr) {
    TablePropertiesCollection tables;
    if (family == nullptr) family = db_->DefaultColumnFamily();
    EXPECT_OK(db_->GetPropertiesOfAllTables(family, &tables));
    uint64_t count = 0;
    for (const auto& [name, table] : tables) count += table->num_deletions;
    return count;
  }
  // The names of all tables, which must be on the last level.
  std::vector<std::string> LastLevel() {
    const std::vector<std::string> names = TableNames(6);
    EXPECT_EQ(names.size(), Tables().size());
    return names;
  }

  const std::shared_ptr<Releaser> releaser_ = std::make_shared<Releaser>();
};

TEST_F(TombstoneDensityTest, AScanBehindManyDeletionsStepsOverNoneOnceCompactionHasSettled) {
  Delete(2000, 18000);
  int rows = 0;
  EXPECT_GE(SkippedByAScan(&rows), 16000u);
  EXPECT_EQ(rows, 4000);
  FlushAndSettle();
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, 4000);
  EXPECT_EQ(TableCount(0), 0);
}

// Scattered deletions wait for the other reasons of compactions.
TEST_F(TombstoneDensityTest, ScatteredDeletionsAreNoReasonToCompact) {
  for (int i = 0; i < kKeys; i += 2) {
    DbTest::Delete(DenseKey(i));
    Put(DenseKey(i + 1), "new");
  }
  FlushAndSettle();
  EXPECT_EQ(TableCount(0), 1);
}

// Tombstones, of points and of ranges, that a snapshot kept on the last level are dropped after the
// release of the snapshot, whichever of several snapshots kept them.
TEST_F(TombstoneDensityTest, WhatASnapshotKeptGoesWithIt) {
  const Snapshot* const oldest = db_->GetSnapshot();
  Put("z", "z");
  const Snapshot* const middle = db_->GetSnapshot();
  Delete(2000, 2100);
  DeleteRange(DenseKey(5000), DenseKey(5100));
  Put("z", "zz");
  const Snapshot* const newest = db_->GetSnapshot();
  Compact();
  WaitForJobs();
  EXPECT_EQ(Tombstones(), 101u);
  db_->ReleaseSnapshot(oldest);
  WaitForJobs();
  EXPECT_EQ(Tombstones(), 101u) << "the next snapshot needs them too";
  int rows = 0;
  EXPECT_GE(SkippedByAScan(&rows), 100u);
  db_->ReleaseSnapshot(middle);
  WaitForJobs();
  EXPECT_EQ(Tombstones(), 0u);
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, kKeys - 200 + 1);
  const std::vector<std::string> names = LastLevel();
  db_->ReleaseSnapshot(newest);
  WaitForJobs();
  EXPECT_EQ(LastLevel(), names) << "no rewrite";
}

// Level 0 has rules of its own for compactions.
TEST_F(TombstoneDensityTest, WhatWasMovedToLevel0IsLeftToThatLevel) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  Compact();
  CompactRangeOptions up;
  up.change_level = true;
  up.target_level = 0;
  Compact(up);
  const int files = TableCount(0);
  EXPECT_GT(files, 0);
  db_->ReleaseSnapshot(snapshot);
  FlushAndSettle();
  EXPECT_EQ(TableCount(0), files);
  int rows = 0;
  SkippedByAScan(&rows);
  EXPECT_EQ(rows, kKeys - 100);
}

// No tombstone shows that older versions exist.
TEST_F(TombstoneDensityTest, OlderVersionsThatASnapshotKeptGoWithIt) {
  const auto entries = [this] {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    uint64_t count = 0;
    for (const auto& [name, table] : tables) count += table->num_entries;
    return count;
  };
  const Snapshot* snapshot = db_->GetSnapshot();
  for (int i = 100; i < 300; ++i) Put(DenseKey(i), "new");
  Compact();
  EXPECT_EQ(entries(), kKeys + 200u);
  db_->ReleaseSnapshot(snapshot);
  WaitForJobs();
  EXPECT_EQ(entries(), uint64_t{kKeys});
  EXPECT_EQ(releaser_->last_reason, CompactionReason::kBottommostFiles);
  // After an open there are no snapshots.
  snapshot = db_->GetSnapshot();
  for (int i = 100; i < 300; ++i) Put(DenseKey(i), "newer");
  Compact();
  EXPECT_EQ(entries(), kKeys + 200u);
  Reopen(snapshot);
  WaitForJobs();
  EXPECT_EQ(entries(), uint64_t{kKeys});
}

TEST_F(TombstoneDensityTest, WhatWasKeptIsNotedOnceHoweverOftenOptionsChange) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  Compact();
  options_.disable_auto_compactions = true;  // so that the tables stay as they are
  Reopen(snapshot);
  const auto noted = [this] {
    const std::string state = Property("ashlar.state");
    const size_t begin = state.find("tombstones kept of #");
    return begin == std::string::npos ? "" : state.substr(begin, state.find('\n', begin) - begin);
  };
  const std::string before = noted();
  EXPECT_NE(before, "");
  ASSERT_OK(db_->SetDBOptions({{"max_background_jobs", "3"}}));
  EXPECT_EQ(noted(), before);
}

// The process ends together with the snapshot; the next one drops the kept entries, once.
TEST_F(TombstoneDensityTest, WhatASnapshotKeptGoesAfterReopening) {
  for (const bool dynamic_levels : {true, false}) {
    options_.level_compaction_dynamic_level_bytes = dynamic_levels;
    Reopen();
    const Snapshot* const snapshot = db_->GetSnapshot();
    const int first = dynamic_levels ? 100 : 300;
    Delete(first, first + 100);
    DeleteRange(DenseKey(first + 100), DenseKey(first + 200));
    Compact();
    WaitForJobs();
    EXPECT_EQ(Tombstones(), 101u);
    db_->ReleaseSnapshot(nullptr);
    options_.disable_auto_compactions = true;
    Reopen(snapshot);
    EXPECT_EQ(Tombstones(), 101u);
    options_.disable_auto_compactions = false;
    Reopen();
    WaitForJobs();
    EXPECT_EQ(Tombstones(), 0u);
    const auto files = Tables();
    Reopen();
    WaitForJobs();
    const auto after = Tables();
    ASSERT_EQ(files.size(), after.size());
    for (size_t i = 0; i < files.size(); i++) EXPECT_EQ(files[i].name, after[i].name) << "once";
  }
}

// The snapshot is released while the compaction runs that keeps the tombstones.
TEST_F(TombstoneDensityTest, ASnapshotMayGoBeforeItsTombstonesAreWritten) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  FlushAndSettle();  // no compaction is due after this
  releaser_->snapshot = snapshot;
  releaser_->db = db_.get();
  Compact();
  EXPECT_EQ(releaser_->snapshot, nullptr);
  WaitForJobs();
  EXPECT_EQ(Tombstones(), 0u);
}

// Each family drops the tombstones that its own snapshots kept.
TEST_F(TombstoneDensityTest, FamiliesWaitForTheirOwnTombstones) {
  ColumnFamilyHandle* const other = CreateFamily("other");
  Put(other, "a", "1");
  const Snapshot* const first = db_->GetSnapshot();
  DbTest::Delete(other, "a");
  const Snapshot* const second = db_->GetSnapshot();
  Delete(0, 10);
  Compact(other);
  Compact();
  EXPECT_EQ(Tombstones(other), 1u);
  EXPECT_EQ(Tombstones(), 10u);
  db_->ReleaseSnapshot(first);
  WaitForJobs();
  EXPECT_EQ(Tombstones(other), 0u);
  EXPECT_EQ(Tombstones(), 10u);
  db_->ReleaseSnapshot(second);
  WaitForJobs();
  EXPECT_EQ(Tombstones(), 0u);
}

// Tombstones that a snapshot keeps are compacted once, not again and again.
TEST_F(TombstoneDensityTest, ASnapshotThatKeepsThemEndsIt) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 18000);
  FlushAndSettle();
  EXPECT_EQ(TableCount(0), 0);
  const size_t before = Tables().size();
  Put("z", "z");
  FlushAndSettle();
  EXPECT_EQ(Tables().size(), before + 1);
  int rows = 0;
  SkippedByAScan(&rows);
  EXPECT_EQ(rows, 4001);
  db_->ReleaseSnapshot(snapshot);
}

// A flush of deletions of absent keys alone leaves no tombstones.
TEST_F(TombstoneDensityTest, TombstonesOverNothingAreNotMovedButDropped) {
  for (int i = 0; i < 5000; ++i) DbTest::Delete(StrCat("z", 100000 + i));
  FlushAndSettle();
  int rows = 0;
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, kKeys);
}

}  // namespace
namespace {

// Keeps the path of the first input of the first compaction.
class FirstInput final : public EventListener {
 public:
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (path_.empty()) path_ = info.input_files.front();
  }
  std::string Path() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return path_;
  }

 private:
  std::mutex mutex_;
  std::string path_;
};

}  // namespace

TEST(CompensatedSize, CountsTheTombstonesOfTablesThatWereThereBefore) {
  const auto first = std::make_shared<FirstInput>();
  TestDb db;
  db.options().compaction_pri = kByCompensatedSize;
  db.options().compression = kNoCompression;
  db.options().level_compaction_dynamic_level_bytes = false;
  db.options().num_levels = 3;
  db.options().max_compaction_bytes = 1;  // no more inputs than necessary
  db.options().disable_auto_compactions = true;
  db.Open();
  const auto flush_into_level1 = [&db] {
    db.Flush();
    ASSERT_OK(db.db()->CompactFiles(CompactionOptions(), db.TableNames(0), 1));
  };
  db.Fill(200);
  CompactRangeOptions into_last;
  into_last.change_level = true;
  into_last.target_level = 2;
  db.Compact(into_last);
  for (int i = 0; i < 50; i++) db.Put(db.Key(i), std::string(100, 'w'));
  flush_into_level1();
  for (int i = 100; i < 150; i++) db.Delete(db.Key(i));
  flush_into_level1();
  ASSERT_EQ(db.TableCount(1), 2);
  const std::string tombstones = db.TableNames(1).back();
  db.Close();
  db.options().disable_auto_compactions = false;
  db.options().max_bytes_for_level_base = 1000;
  db.options().listeners = {first};
  db.Open();
  db.WaitForJobs();
  EXPECT_NE(first->Path().find(tombstones), std::string::npos) << first->Path() << tombstones;
}

}  // namespace ashlar
