// SPDX-License-Identifier: Apache-2.0
//
// Tables with many point tombstones in a row are merged downwards by themselves, until a scan has
// nothing to step over; and no further.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/perf_context.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 20000;

std::string KeyAt(int i) { return StrCat("key", 100000 + i); }

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

class TombstoneDensityTest : public testing::Test {
 protected:
  TombstoneDensityTest() {
    options_.env = env_.get();
    options_.listeners = {releaser_};
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
    for (int i = 0; i < kKeys; ++i) EXPECT_OK(db_->Put(WriteOptions(), KeyAt(i), "value"));
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  }
  // Without auto compactions a release takes nothing up: the snapshot goes at the last moment.
  void Reopen(const Snapshot* snapshot = nullptr) {
    if (snapshot != nullptr) {
      ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
      db_->ReleaseSnapshot(snapshot);
    }
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Delete(int from, int to, int step = 1) {
    for (int i = from; i < to; i += step) ASSERT_OK(db_->Delete(WriteOptions(), KeyAt(i)));
  }
  void FlushAndSettle() {
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  // Entries that a scan of everything steps over.
  uint64_t SkippedByAScan(int* rows) {
    get_perf_context()->Reset();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    *rows = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++*rows;
    EXPECT_OK(it->status());
    return get_perf_context()->internal_delete_skipped_count +
           get_perf_context()->internal_key_skipped_count;
  }
  // In all tables, points and ranges.
  uint64_t Tombstones(ColumnFamilyHandle* family = nullptr) {
    TablePropertiesCollection tables;
    if (family == nullptr) family = db_->DefaultColumnFamily();
    EXPECT_OK(db_->GetPropertiesOfAllTables(family, &tables));
    uint64_t count = 0;
    for (const auto& [name, table] : tables) count += table->num_deletions;
    return count;
  }
  int Level0Files() {
    std::string count;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &count));
    return std::stoi(count);
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Releaser> releaser_ = std::make_shared<Releaser>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(TombstoneDensityTest, AScanBehindManyDeletionsStepsOverNoneOnceCompactionHasSettled) {
  Delete(2000, 18000);
  int rows = 0;
  EXPECT_GE(SkippedByAScan(&rows), 16000u);
  EXPECT_EQ(rows, 4000);
  FlushAndSettle();
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, 4000);
  EXPECT_EQ(Level0Files(), 0);
}

// What is deleted here and there waits for the usual reasons.
TEST_F(TombstoneDensityTest, ScatteredDeletionsAreNoReasonToCompact) {
  for (int i = 0; i < kKeys; i += 2) {
    ASSERT_OK(db_->Delete(WriteOptions(), KeyAt(i)));
    ASSERT_OK(db_->Put(WriteOptions(), KeyAt(i + 1), "new"));
  }
  FlushAndSettle();
  EXPECT_EQ(Level0Files(), 1);
}

// What a snapshot kept at the bottom goes when the snapshot has gone, whichever of several is the
// one that kept it; points and ranges.
TEST_F(TombstoneDensityTest, WhatASnapshotKeptGoesWithIt) {
  const Snapshot* const oldest = db_->GetSnapshot();
  ASSERT_OK(db_->Put(WriteOptions(), "z", "z"));
  const Snapshot* const middle = db_->GetSnapshot();
  Delete(2000, 2100);
  ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyAt(5000), KeyAt(5100)));
  ASSERT_OK(db_->Put(WriteOptions(), "z", "zz"));
  const Snapshot* const newest = db_->GetSnapshot();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(), 101u);
  db_->ReleaseSnapshot(oldest);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(), 101u) << "the next one needs them too";
  int rows = 0;
  EXPECT_GE(SkippedByAScan(&rows), 100u);
  db_->ReleaseSnapshot(middle);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(), 0u);
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, kKeys - 200 + 1);
  std::vector<LiveFileMetaData> files, after;
  db_->GetLiveFilesMetaData(&files);
  db_->ReleaseSnapshot(newest);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  db_->GetLiveFilesMetaData(&after);
  ASSERT_EQ(files.size(), after.size());
  for (size_t i = 0; i < files.size(); i++) EXPECT_EQ(files[i].name, after[i].name) << "no rewrite";
}

// Level 0 has its own order, and its own compactions.
TEST_F(TombstoneDensityTest, WhatWasMovedToLevel0IsLeftToThatLevel) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  CompactRangeOptions up;
  up.change_level = true;
  up.target_level = 0;
  ASSERT_OK(db_->CompactRange(up, nullptr, nullptr));
  const int files = Level0Files();
  EXPECT_GT(files, 0);
  db_->ReleaseSnapshot(snapshot);
  FlushAndSettle();
  EXPECT_EQ(Level0Files(), files);
  int rows = 0;
  SkippedByAScan(&rows);
  EXPECT_EQ(rows, kKeys - 100);
}

// No tombstone tells of them.
TEST_F(TombstoneDensityTest, OlderVersionsThatASnapshotKeptGoWithIt) {
  const auto entries = [this] {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    uint64_t count = 0;
    for (const auto& [name, table] : tables) count += table->num_entries;
    return count;
  };
  const Snapshot* snapshot = db_->GetSnapshot();
  for (int i = 100; i < 300; ++i) ASSERT_OK(db_->Put(WriteOptions(), KeyAt(i), "new"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(entries(), kKeys + 200u);
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(entries(), uint64_t{kKeys});
  EXPECT_EQ(releaser_->last_reason, CompactionReason::kBottommostFiles);
  // And whoever opens the database has no snapshot.
  snapshot = db_->GetSnapshot();
  for (int i = 100; i < 300; ++i) ASSERT_OK(db_->Put(WriteOptions(), KeyAt(i), "newer"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(entries(), kKeys + 200u);
  Reopen(snapshot);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(entries(), uint64_t{kKeys});
}

TEST_F(TombstoneDensityTest, WhatWasKeptIsNotedOnceHoweverOftenOptionsChange) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  options_.disable_auto_compactions = true;  // so that it stays as it is
  Reopen(snapshot);
  const auto noted = [this] {
    std::string state;
    EXPECT_TRUE(db_->GetProperty("ashlar.state", &state));
    const size_t begin = state.find("tombstones kept of #");
    return begin == std::string::npos ? "" : state.substr(begin, state.find('\n', begin) - begin);
  };
  const std::string before = noted();
  EXPECT_NE(before, "");
  ASSERT_OK(db_->SetDBOptions({{"max_background_jobs", "3"}}));
  EXPECT_EQ(noted(), before);
}

// The process ends with the snapshot: the next one takes up what it kept, once.
TEST_F(TombstoneDensityTest, WhatASnapshotKeptGoesAfterReopening) {
  for (const bool dynamic_levels : {true, false}) {
    options_.level_compaction_dynamic_level_bytes = dynamic_levels;
    Reopen();
    const Snapshot* const snapshot = db_->GetSnapshot();
    const int first = dynamic_levels ? 100 : 300;
    Delete(first, first + 100);
    ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyAt(first + 100), KeyAt(first + 200)));
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EXPECT_EQ(Tombstones(), 101u);
    db_->ReleaseSnapshot(nullptr);
    options_.disable_auto_compactions = true;
    Reopen(snapshot);
    EXPECT_EQ(Tombstones(), 101u);
    options_.disable_auto_compactions = false;
    Reopen();
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EXPECT_EQ(Tombstones(), 0u);
    std::vector<LiveFileMetaData> files, after;
    db_->GetLiveFilesMetaData(&files);
    Reopen();
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    db_->GetLiveFilesMetaData(&after);
    ASSERT_EQ(files.size(), after.size());
    for (size_t i = 0; i < files.size(); i++) EXPECT_EQ(files[i].name, after[i].name) << "once";
  }
}

// Released while the compaction runs that keeps them, or before anybody compacts at all.
TEST_F(TombstoneDensityTest, ASnapshotMayGoBeforeItsTombstonesAreWritten) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 2100);
  FlushAndSettle();  // nobody has asked for a compaction that is still to come
  releaser_->snapshot = snapshot;
  releaser_->db = db_.get();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(releaser_->snapshot, nullptr);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(), 0u);
}

// The bottom of the tree moves: what came to lie below a table is no reason to give up, nor to
// rewrite it where it is.
TEST_F(TombstoneDensityTest, FamiliesWaitForTheirOwnTombstones) {
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  ASSERT_OK(db_->Put(WriteOptions(), other, "a", "1"));
  const Snapshot* const first = db_->GetSnapshot();
  ASSERT_OK(db_->Delete(WriteOptions(), other, "a"));
  const Snapshot* const second = db_->GetSnapshot();
  Delete(0, 10);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), other, nullptr, nullptr));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Tombstones(other), 1u);
  EXPECT_EQ(Tombstones(), 10u);
  db_->ReleaseSnapshot(first);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(other), 0u);
  EXPECT_EQ(Tombstones(), 10u);
  db_->ReleaseSnapshot(second);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tombstones(), 0u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

// Tombstones that a snapshot keeps are merged once, not for ever.
TEST_F(TombstoneDensityTest, ASnapshotThatKeepsThemEndsIt) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  Delete(2000, 18000);
  FlushAndSettle();
  EXPECT_EQ(Level0Files(), 0);
  std::vector<LiveFileMetaData> before, after;
  db_->GetLiveFilesMetaData(&before);
  ASSERT_OK(db_->Put(WriteOptions(), "z", "z"));
  FlushAndSettle();
  db_->GetLiveFilesMetaData(&after);
  EXPECT_EQ(after.size(), before.size() + 1);
  int rows = 0;
  SkippedByAScan(&rows);
  EXPECT_EQ(rows, 4001);
  db_->ReleaseSnapshot(snapshot);
}

// A flush of nothing but deletions of what is not there leaves nothing behind.
TEST_F(TombstoneDensityTest, TombstonesOverNothingAreNotMovedButDropped) {
  for (int i = 0; i < 5000; ++i) ASSERT_OK(db_->Delete(WriteOptions(), StrCat("z", 100000 + i)));
  FlushAndSettle();
  int rows = 0;
  EXPECT_EQ(SkippedByAScan(&rows), 0u);
  EXPECT_EQ(rows, kKeys);
}

}  // namespace
}  // namespace ashlar
