// SPDX-License-Identifier: Apache-2.0
//
// A key with a great many versions costs an iterator a few steps and a seek, wherever it comes from
// and whichever version it shows. Steps are counted, not timed.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kVersions = 5000;
// Steps over versions that a move may make: the default of max_sequential_skip_in_iterations, on
// both sides of a seek, and the entries where it turns.
constexpr uint64_t kFewSteps = 24;

class IteratorReseekTest : public testing::Test {
 protected:
  IteratorReseekTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.statistics = statistics_;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Overwrite(const std::string& key) {
    for (int i = 0; i < kVersions; ++i) Put(key, StrCat(i));
  }
  // What one move passes over.
  template <typename Move>
  uint64_t StepsOf(const Move& move) {
    PerfContext& context = *get_perf_context();
    context.Reset();
    move();
    return context.internal_key_skipped_count + context.internal_recent_skipped_count +
           context.internal_delete_skipped_count;
  }
  uint64_t Reseeks() const { return statistics_->getTickerCount(NUMBER_OF_RESEEKS_IN_ITERATION); }
  static std::string At(const Iterator& it) {
    if (!it.Valid()) return it.status().ok() ? "end" : it.status().ToString();
    return it.key().ToString() + "=" + it.value().ToString();
  }
  // Every move around the key "m", which shows `shown`; an empty one means that it is hidden.
  void ExpectFewSteps(const ReadOptions& read, const std::string& shown);

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  Options options_;
  std::unique_ptr<DB> db_;
};

void IteratorReseekTest::ExpectFewSteps(const ReadOptions& read, const std::string& shown) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  struct Step {
    const char* name;
    void (*move)(Iterator*);
    std::string expected;
  };
  const std::string m = "m=" + shown;
  const bool is_shown = !shown.empty();
  const auto next = [](Iterator* i) { i->Next(); };
  const auto prev = [](Iterator* i) { i->Prev(); };
  const std::vector<Step> steps = {
      {"Seek", [](Iterator* i) { i->Seek("m"); }, is_shown ? m : "z=z"},
      {"SeekForPrev", [](Iterator* i) { i->SeekForPrev("m"); }, is_shown ? m : "a=a"},
      {"Seek in front of it", [](Iterator* i) { i->Seek("b"); }, is_shown ? m : "z=z"},
      {"SeekForPrev behind it", [](Iterator* i) { i->SeekForPrev("n"); }, is_shown ? m : "a=a"},
      {"Seek to a", [](Iterator* i) { i->Seek("a"); }, "a=a"},
      {"Next", next, is_shown ? m : "z=z"},
      {"Next again", next, is_shown ? "z=z" : "end"},
      {"Seek to z", [](Iterator* i) { i->Seek("z"); }, "z=z"},
      {"Prev", prev, is_shown ? m : "a=a"},
      {"Next after Prev", next, "z=z"},
      {"Prev after Next", prev, is_shown ? m : "a=a"},
      {"SeekToFirst", [](Iterator* i) { i->SeekToFirst(); }, "a=a"},
      {"Next from the first", next, is_shown ? m : "z=z"},
      {"Prev to the first", prev, "a=a"},
      {"SeekToLast", [](Iterator* i) { i->SeekToLast(); }, "z=z"},
  };
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    EXPECT_LE(StepsOf([&] { step.move(it.get()); }), kFewSteps);
    EXPECT_EQ(At(*it), step.expected);
    if (step.expected == "end") continue;
    ASSERT_TRUE(it->Valid());
  }
}

// In the memtable, in tables, and in both.
TEST_F(IteratorReseekTest, AKeyOverwrittenManyTimesCostsAFewSteps) {
  Put("a", "a");
  Put("z", "z");
  Overwrite("m");
  ExpectFewSteps(ReadOptions(), StrCat(kVersions - 1));
  EXPECT_GT(Reseeks(), 0u);
  const Snapshot* const keeps_one = db_->GetSnapshot();
  Overwrite("m");
  Put("m", "last");
  ExpectFewSteps(ReadOptions(), "last");
  db_->ReleaseSnapshot(keeps_one);
}

TEST_F(IteratorReseekTest, VersionsAboveASnapshotCostAFewSteps) {
  Put("a", "a");
  Put("z", "z");
  Put("m", "old");
  ReadOptions read;
  read.snapshot = db_->GetSnapshot();
  Overwrite("m");
  ExpectFewSteps(read, "old");
  Overwrite("m");
  ExpectFewSteps(read, "old");
  ASSERT_OK(db_->Flush(FlushOptions()));
  ExpectFewSteps(read, "old");
  db_->ReleaseSnapshot(read.snapshot);
}

TEST_F(IteratorReseekTest, AKeyThatASnapshotDoesNotSeeAtAllCostsAFewSteps) {
  Put("a", "a");
  Put("z", "z");
  ReadOptions read;
  read.snapshot = db_->GetSnapshot();
  Overwrite("m");
  ExpectFewSteps(read, "");
  db_->ReleaseSnapshot(read.snapshot);
}

TEST_F(IteratorReseekTest, ADeletedKeyWithManyVersionsCostsAFewSteps) {
  Put("a", "a");
  Put("z", "z");
  Overwrite("m");
  ASSERT_OK(db_->Delete(WriteOptions(), "m"));
  ExpectFewSteps(ReadOptions(), "");
  ReadOptions read;
  read.snapshot = db_->GetSnapshot();
  Overwrite("m");
  ExpectFewSteps(read, "");
  db_->ReleaseSnapshot(read.snapshot);
}

// Many keys that a snapshot does not see, with a version each: there is nothing to seek over.
TEST_F(IteratorReseekTest, ManyKeysAboveASnapshotAreNotSoughtOneByOne) {
  Put("a", "a");
  Put("z", "z");
  {
    ReadOptions read;
    read.snapshot = db_->GetSnapshot();
    for (int i = 0; i < 1000; ++i) Put(StrCat("m", i), "new");
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->Seek("a");
    EXPECT_EQ(StepsOf([&] { it->Next(); }), 1000u);
    EXPECT_EQ(At(*it), "z=z");
    EXPECT_EQ(StepsOf([&] { it->Prev(); }), 1000u);
    EXPECT_EQ(At(*it), "a=a");
    db_->ReleaseSnapshot(read.snapshot);
  }
  EXPECT_EQ(Reseeks(), 0u);
}

// However soon it seeks, an iterator shows the same.
TEST_F(IteratorReseekTest, TheLimitChangesNothingThatIsShown) {
  Random64 random(17);
  std::vector<const Snapshot*> snapshots = {nullptr};
  for (int i = 0; i < 3000; ++i) {
    const std::string key = random.Letters(1);
    if (random.OneIn(4)) {
      ASSERT_OK(db_->Delete(WriteOptions(), key));
    } else {
      Put(key, StrCat(i));
    }
    if (i % 700 == 350) snapshots.push_back(db_->GetSnapshot());
    if (i % 1000 == 500) {
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  for (const Snapshot* const snapshot : snapshots) {
    std::vector<std::unique_ptr<Iterator>> iterators;
    for (const char* limit : {"1000000", "0", "1", "3", "8"}) {
      ASSERT_OK(db_->SetOptions({{"max_sequential_skip_in_iterations", limit}}));
      ReadOptions read;
      read.snapshot = snapshot;
      iterators.emplace_back(db_->NewIterator(read));
    }
    for (int step = 0; step < 2000; ++step) {
      const uint64_t move = random.Uniform(iterators[0]->Valid() ? 12 : 4);
      const std::string target = random.Letters(1);
      for (const auto& it : iterators) {
        if (move == 0) it->Seek(target);
        if (move == 1) it->SeekForPrev(target);
        if (move == 2) it->SeekToFirst();
        if (move == 3) it->SeekToLast();
        if (move >= 4 && move < 8) it->Next();
        if (move >= 8) it->Prev();
        ASSERT_EQ(At(*it), At(*iterators[0])) << "step " << step << ", move " << move;
      }
    }
  }
  for (const Snapshot* const snapshot : snapshots) {
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
  }
}

TEST_F(IteratorReseekTest, TooManySkippedEntriesAreStillTold) {
  Put("a", "a");
  for (int i = 0; i < 100; ++i) {
    Put(StrCat("m", i), "x");
    ASSERT_OK(db_->Delete(WriteOptions(), StrCat("m", i)));
  }
  Put("z", "z");
  ReadOptions read;
  read.max_skippable_internal_keys = 50;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek("a");
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIncomplete());
  it->Seek("z");
  EXPECT_EQ(At(*it), "z=z");
}

}  // namespace
}  // namespace ashlar
