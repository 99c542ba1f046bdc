// SPDX-License-Identifier: Apache-2.0
//
// A key with many versions costs an iterator a few steps and one seek, for every move and for every
// version that it shows. The tests count steps.
#include <cstdint>

#include "ashlar/perf_context.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kVersions = 5000;
// The most steps over versions that a move may make: the default of
// max_sequential_skip_in_iterations before and after a seek, and the entries where the direction
// changes.
constexpr uint64_t kFewSteps = 24;

class IteratorReseekTest : public DbTest {
 protected:
  IteratorReseekTest() {
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    Open();
  }

  void Overwrite(const std::string& key) {
    for (int i = 0; i < kVersions; ++i) Put(key, StrCat(i));
  }
  // How many entries one move steps over.
  template <typename Move>
  uint64_t StepsOf(const Move& move) {
    PerfContext& context = *get_perf_context();
    context.Reset();
    move();
    return context.internal_key_skipped_count + context.internal_recent_skipped_count +
           context.internal_delete_skipped_count;
  }
  uint64_t Reseeks() const { return Ticks(NUMBER_OF_RESEEKS_IN_ITERATION); }
  // Makes every move around the key "m", whose value is `shown`; empty: the key is hidden.
  void ExpectFewSteps(const ReadOptions& read, const std::string& shown);
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
      {"Seek before it", [](Iterator* i) { i->Seek("b"); }, is_shown ? m : "z=z"},
      {"SeekForPrev after it", [](Iterator* i) { i->SeekForPrev("n"); }, is_shown ? m : "a=a"},
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
    EXPECT_EQ(RowAt(*it), step.expected);
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
  Flush();
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
  Delete("m");
  ExpectFewSteps(ReadOptions(), "");
  ReadOptions read;
  read.snapshot = db_->GetSnapshot();
  Overwrite("m");
  ExpectFewSteps(read, "");
  db_->ReleaseSnapshot(read.snapshot);
}

// Many keys that a snapshot does not see, with one version each: a seek would gain nothing.
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
    EXPECT_EQ(RowAt(*it), "z=z");
    EXPECT_EQ(StepsOf([&] { it->Prev(); }), 1000u);
    EXPECT_EQ(RowAt(*it), "a=a");
    db_->ReleaseSnapshot(read.snapshot);
  }
  EXPECT_EQ(Reseeks(), 0u);
}

// An iterator shows the same rows whenever it seeks.
TEST_F(IteratorReseekTest, TheLimitChangesNothingThatIsShown) {
  Random64 random(17);
  std::vector<const Snapshot*> snapshots = {nullptr};
  for (int i = 0; i < 3000; ++i) {
    const std::string key = random.Letters(1);
    if (random.OneIn(4)) {
      Delete(key);
    } else {
      Put(key, StrCat(i));
    }
    if (i % 700 == 350) snapshots.push_back(db_->GetSnapshot());
    if (i % 1000 == 500) Flush();
  }
  for (const Snapshot* const snapshot : snapshots) {
    std::vector<std::unique_ptr<Iterator>> iterators;
    for (const char* limit : {"1000000", "0", "1", "3", "8"}) {
      ASSERT_OK(db_->SetOptions({{"max_sequential_skip_in_iterations", limit}}));
      iterators.emplace_back(db_->NewIterator(AsOf(snapshot)));
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
        ASSERT_EQ(RowAt(*it), RowAt(*iterators[0])) << "step " << step << ", move " << move;
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
    Delete(StrCat("m", i));
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
  EXPECT_EQ(RowAt(*it), "z=z");
}

// Each version that is not shown counts once, in both directions.
TEST_F(IteratorReseekTest, OverwrittenVersionsCountAsSkipped) {
  ASSERT_OK(db_->SetOptions({{"max_sequential_skip_in_iterations", "1000"}}));
  Put("a", "a");
  for (int i = 0; i < 100; ++i) Put("m", StrCat(i));
  Put("z", "z");
  const auto walk = [this](const char* from, uint64_t limit) {
    ReadOptions read;
    read.max_skippable_internal_keys = limit;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    const bool is_forward = std::string(from) != "z";
    it->Seek(from);
    EXPECT_TRUE(it->Valid());
    is_forward ? it->Next() : it->Prev();
    return it->status().IsIncomplete() ? "incomplete" : RowAt(*it);
  };
  EXPECT_EQ(walk("m", 99), "z=z");
  EXPECT_EQ(walk("m", 98), "incomplete");
  EXPECT_EQ(walk("z", 99), "m=99");
  EXPECT_EQ(walk("z", 98), "incomplete");
  Delete("m");
  EXPECT_EQ(walk("a", 101), "z=z");
  EXPECT_EQ(walk("a", 100), "incomplete");
  EXPECT_EQ(walk("z", 101), "a=a");
  EXPECT_EQ(walk("z", 100), "incomplete");
}

}  // namespace
}  // namespace ashlar
