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
#include "ashlar/perf_context.h"
#include "tests/support/status_matchers.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 20000;

std::string KeyAt(int i) { return StrCat("key", 100000 + i); }

class TombstoneDensityTest : public testing::Test {
 protected:
  TombstoneDensityTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
    for (int i = 0; i < kKeys; ++i) EXPECT_OK(db_->Put(WriteOptions(), KeyAt(i), "value"));
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
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
  int Level0Files() {
    std::string count;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &count));
    return std::stoi(count);
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
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
