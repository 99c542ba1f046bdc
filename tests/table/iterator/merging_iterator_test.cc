// SPDX-License-Identifier: Apache-2.0
//
// MergingIterator is compared with one sorted vector of all entries, with random moves in both
// directions; children with and without cursors; errors of children.
#include "table/iterator/merging_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/block/block_builder.h"
#include "util/random.h"

namespace ashlar {
namespace {

struct Entry {
  std::string key;
  std::string value;
};

// A run in memory that fails when it is moved to a given key.
class VectorIterator final : public InternalIterator {
 public:
  VectorIterator(const InternalKeyComparator* icmp, std::vector<Entry> entries,
                 std::string fail_at = "")
      : icmp_(*icmp), entries_(std::move(entries)), fail_at_(std::move(fail_at)) {}

  void SeekToFirst() override { Go(0); }
  void SeekToLast() override { Go(entries_.size() - 1); }
  void Seek(const Slice& target) override {
    size_t i = 0;
    while (i < entries_.size() && icmp_.Compare(entries_[i].key, target) < 0) ++i;
    Go(i);
  }
  void SeekForPrev(const Slice& target) override {
    size_t i = entries_.size();
    while (i > 0 && icmp_.Compare(entries_[i - 1].key, target) > 0) --i;
    Go(i - 1);
  }

 private:
  void NextSlow() override { Go(at_ + 1); }
  void PrevSlow() override { Go(at_ - 1); }
  void Go(size_t i) {
    at_ = i;
    valid_ = i < entries_.size();
    status_ = Status::OK();
    if (!valid_) return;
    if (entries_[i].key == fail_at_) {
      valid_ = false;
      status_ = Status::IOError("planted");
      return;
    }
    key_ = entries_[i].key;
    value_ = entries_[i].value;
  }

  const InternalKeyComparator icmp_;
  const std::vector<Entry> entries_;
  const std::string fail_at_;
  size_t at_ = 0;
};

// A run of one block, whose cursor is moved by the base class.
class OneBlockIterator final : public InternalIterator {
 public:
  OneBlockIterator(const InternalKeyComparator* icmp, const std::vector<Entry>& entries)
      : icmp_(*icmp) {
    BlockBuilder builder({.restart_interval = 4});
    for (const Entry& entry : entries) builder.Add(entry.key, entry.value);
    bytes_ = builder.Finish().ToString();
    status_ = Block::Parse(bytes_, &block_);
  }

  void SeekToFirst() override { valid_ = Attach()->First(&key_, &value_); }
  void SeekToLast() override { valid_ = Attach()->Last(&key_, &value_); }
  void Seek(const Slice& target) override {
    valid_ = Attach()->Seek(icmp_, SeekTarget(target), &key_, &value_);
  }
  void SeekForPrev(const Slice& target) override {
    Seek(target);
    if (valid_ && icmp_.Compare(key_, target) == 0) return;
    valid_ = valid_ ? cursor_->Prev(&key_, &value_) : cursor_->Last(&key_, &value_);
  }

 private:
  void NextSlow() override { valid_ = false; }
  void PrevSlow() override { valid_ = false; }
  BlockCursor* Attach() {
    block_cursor_.Attach(&block_, BlockKeyFormat());
    return cursor_ = &block_cursor_;
  }

  const InternalKeyComparator icmp_;
  std::string bytes_;
  Block block_;
  BlockCursor block_cursor_;
};

struct Shape {
  const Comparator* comparator;
  size_t children;
};

class MergingIteratorModel : public testing::TestWithParam<Shape> {
 protected:
  MergingIteratorModel() : icmp_(GetParam().comparator) {}

  // Two children may have entries with the same internal key; these come in the order of the
  // children.
  void Build() {
    all_.clear();
    std::vector<std::vector<Entry>> runs(GetParam().children);
    for (size_t i = 0; i < 60 * runs.size(); ++i) {
      std::string user_key = random_.OneIn(2) ? "shared-prefix-" : "";
      user_key += random_.Letters(random_.Uniform(3));
      const size_t child = random_.Skewed(3) % runs.size();
      runs[child].push_back({MakeInternalKey(user_key, random_.Uniform(20), kTypeValue), ""});
    }
    std::vector<SortedRun> children;
    for (size_t child = 0; child < runs.size(); ++child) {
      auto& run = runs[child];
      const auto before = [&](const Entry& a, const Entry& b) {
        return icmp_.Compare(a.key, b.key) < 0;
      };
      std::sort(run.begin(), run.end(), before);
      const auto same = [&](const Entry& a, const Entry& b) { return a.key == b.key; };
      run.erase(std::unique(run.begin(), run.end(), same), run.end());
      for (size_t i = 0; i < run.size(); ++i) {
        run[i].value = std::to_string(child) + ":" + std::to_string(i);
        all_.push_back(run[i]);
      }
      if (child % 2 == 0) {
        children.push_back(new VectorIterator(&icmp_, run));
      } else {
        children.push_back(new OneBlockIterator(&icmp_, run));
      }
    }
    std::stable_sort(all_.begin(), all_.end(), [&](const Entry& a, const Entry& b) {
      return icmp_.Compare(a.key, b.key) < 0;
    });
    merged_ = std::make_unique<MergingIterator>(&icmp_, SortedRuns{.runs = children});
  }

  void Expect(size_t i) {
    ASSERT_TRUE(merged_->status().ok());
    ASSERT_EQ(merged_->Valid(), i < all_.size());
    if (i >= all_.size()) return;
    ASSERT_EQ(merged_->key().ToString(true), Slice(all_[i].key).ToString(true));
    ASSERT_EQ(merged_->value().ToString(), all_[i].value);
  }

  Random64 random_{5};
  InternalKeyComparator icmp_;
  std::vector<Entry> all_;
  std::unique_ptr<MergingIterator> merged_;
};

TEST_P(MergingIteratorModel, RandomMovesAgreeWithTheModel) {
  for (int round = 0; round < 10; ++round) {
    Build();
    size_t at = all_.size();
    for (int step = 0; step < 2000 && !HasFatalFailure(); ++step) {
      const uint64_t move = random_.Uniform(at < all_.size() ? 14 : 4);
      if (move == 0) {
        merged_->SeekToFirst();
        at = 0;
      } else if (move == 1) {
        merged_->SeekToLast();
        at = all_.size() - 1;
      } else if (move <= 3) {
        const std::string target = random_.OneIn(2)
                                       ? all_[random_.Uniform(all_.size())].key
                                       : MakeInternalKey(random_.Letters(random_.Uniform(4)),
                                                         random_.Uniform(20), kTypeValue);
        at = 0;
        while (at < all_.size() && icmp_.Compare(all_[at].key, target) < 0) ++at;
        if (move == 2) {
          merged_->Seek(target);
        } else {
          while (at < all_.size() && icmp_.Compare(all_[at].key, target) == 0) ++at;
          merged_->SeekForPrev(target);
          at = at == 0 ? all_.size() : at - 1;
        }
      } else if (move <= 9) {
        merged_->Next();
        ++at;
      } else {
        merged_->Prev();
        at = at == 0 ? all_.size() : at - 1;
      }
      Expect(at);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MergingIteratorModel,
                         testing::Values(Shape{BytewiseComparator(), 1},
                                         Shape{BytewiseComparator(), 2},
                                         Shape{BytewiseComparator(), 3},
                                         Shape{BytewiseComparator(), 9},
                                         Shape{ReverseBytewiseComparator(), 4}));

TEST(MergingIterator, WithoutChildrenIsEmpty) {
  const InternalKeyComparator icmp(BytewiseComparator());
  MergingIterator merged(&icmp, {.runs = {}});
  merged.SeekToFirst();
  EXPECT_FALSE(merged.Valid());
  merged.SeekToLast();
  EXPECT_FALSE(merged.Valid());
  EXPECT_TRUE(merged.status().ok());
}

TEST(MergingIterator, EmptyChildrenAreSkipped) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const std::string key = MakeInternalKey("k", 1, kTypeValue);
  MergingIterator merged(
      &icmp, {.runs = {new VectorIterator(&icmp, {}), new VectorIterator(&icmp, {{key, "v"}}),
                       NewEmptyInternalIterator(nullptr)}});
  merged.SeekToFirst();
  ASSERT_TRUE(merged.Valid());
  EXPECT_EQ(merged.key(), Slice(key));
  EXPECT_EQ(merged.child(), 1u);
  merged.Next();
  EXPECT_FALSE(merged.Valid());
}

// Whichever move finds it, the error of one child ends the whole iteration. Otherwise the entries
// of the other children would look complete.
TEST(MergingIterator, AnErrorOfAnyChildEndsTheIteration) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const auto key = [](const char* user_key) { return MakeInternalKey(user_key, 1, kTypeValue); };
  const std::vector<Entry> even = {{key("a"), ""}, {key("c"), ""}, {key("e"), ""}};
  const std::vector<Entry> odd = {{key("b"), ""}, {key("d"), ""}, {key("f"), ""}};
  for (const bool forwards : {true, false}) {
    for (const size_t failing : {0u, 1u}) {
      const std::string fail_at = failing == 0 ? key("c") : key("d");
      MergingIterator merged(
          &icmp, {.runs = {new VectorIterator(&icmp, even, failing == 0 ? fail_at : ""),
                           new VectorIterator(&icmp, odd, failing == 1 ? fail_at : "")}});
      size_t seen = 0;
      for (forwards ? merged.SeekToFirst() : merged.SeekToLast(); merged.Valid();
           forwards ? merged.Next() : merged.Prev()) {
        EXPECT_NE(merged.key(), Slice(fail_at));
        ++seen;
      }
      EXPECT_TRUE(merged.status().IsIOError());
      EXPECT_GT(seen, 0u);
      EXPECT_LT(seen, 5u);
      merged.Seek(key("e"));  // a new start forgets it
      EXPECT_TRUE(merged.Valid() && merged.status().ok());
      if (failing == 1 || !forwards) continue;
      merged.Prev();  // turning round meets "c" or passes "d"
      merged.Valid() ? merged.Prev() : void();
      EXPECT_FALSE(merged.Valid());
      EXPECT_TRUE(merged.status().IsIOError());
    }
  }
}

TEST(MergingIterator, SaysWhereItsRunsStand) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const auto key = [](const char* user_key) { return MakeInternalKey(user_key, 5, kTypeValue); };
  MergingIterator merged(&icmp,
                         {.runs = {new VectorIterator(&icmp, {{key("a"), ""}, {key("c"), ""}}),
                                   new VectorIterator(&icmp, {{key("b"), ""}})}});
  merged.SeekToFirst();
  EXPECT_EQ(merged.DebugString(),
            "2 runs, forwards, valid\n"
            "  run 0 at '61' seq:5, type:1\n"
            "  run 1 at '62' seq:5, type:1\n");
  merged.SeekToLast();
  merged.Prev();
  EXPECT_EQ(merged.DebugString(),
            "2 runs, backwards, valid\n"
            "  run 1 at '62' seq:5, type:1\n"
            "  run 0 at '61' seq:5, type:1\n");
  merged.Prev();
  merged.Prev();
  EXPECT_EQ(merged.DebugString(), "2 runs, backwards, at an end\n");
}

TEST(MergingIterator, NewErrorIteratorCarriesItsStatus) {
  const InternalKeyComparator icmp(BytewiseComparator());
  MergingIterator merged(&icmp,
                         {.runs = {NewEmptyInternalIterator(nullptr, Status::Corruption("bad"))}});
  merged.SeekToFirst();
  EXPECT_FALSE(merged.Valid());
  EXPECT_TRUE(merged.status().IsCorruption());
}

}  // namespace
}  // namespace ashlar
