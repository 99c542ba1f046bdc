// SPDX-License-Identifier: Apache-2.0
//
// MergingIterator with range tombstones is compared with a list of all entries that no tombstone
// hides, with random runs, snapshots, bounds and moves; and the number of moves of hidden runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/iterator/merging_iterator.h"
#include "table/iterator/run_tombstones.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Moves {
  int seeks = 0;
  int steps = 0;
};

// A sorted run in memory that counts its moves.
class CountedRun final : public InternalIterator {
 public:
  CountedRun(const InternalKeyComparator& icmp, std::vector<std::string> keys, Moves* moves)
      : icmp_(icmp), keys_(std::move(keys)), moves_(moves) {
    const auto before = [&](const std::string& a, const std::string& b) {
      return icmp_.Compare(a, b) < 0;
    };
    std::sort(keys_.begin(), keys_.end(), before);
  }

  void SeekToFirst() override { Sought(0); }
  void SeekToLast() override { Sought(keys_.size() - 1); }
  void Seek(const Slice& target) override {
    Sought(FirstWhere([&](const Slice& key) { return icmp_.Compare(key, target) >= 0; }));
  }
  void SeekForPrev(const Slice& target) override {
    Sought(FirstWhere([&](const Slice& key) { return icmp_.Compare(key, target) > 0; }) - 1);
  }

 private:
  template <typename Condition>
  size_t FirstWhere(const Condition& holds) const {
    return static_cast<size_t>(std::find_if(keys_.begin(), keys_.end(), holds) - keys_.begin());
  }
  void NextSlow() override { Stepped(at_ + 1); }
  void PrevSlow() override { Stepped(at_ - 1); }
  void Sought(size_t at) {
    moves_->seeks++;
    Show(at);
  }
  void Stepped(size_t at) {
    moves_->steps++;
    Show(at);
  }
  void Show(size_t at) {
    at_ = at;
    valid_ = at < keys_.size();
    if (valid_) key_ = keys_[at];
  }

  const InternalKeyComparator icmp_;
  std::vector<std::string> keys_;
  Moves* const moves_;
  size_t at_ = 0;
};

// Tombstones that are known only after the run was moved, as those of the files of a level.
class LateTombstones final : public RunTombstones {
 public:
  LateTombstones(std::shared_ptr<const FragmentedTombstones> tombstones, SequenceNumber upper_seqno)
      : walk_(std::move(tombstones), upper_seqno, /*callback=*/nullptr, /*upper_stamp=*/nullptr) {}

  void Meet() {
    if (is_met_) return;
    is_met_ = true;
    watcher_->OnTombstonesMet();
  }
  void Restart() override { walk_.Restart(); }
  Stretch StretchFrom(const KeyPosition& from) override {
    return is_met_ ? walk_.StretchFrom(from) : Stretch();
  }
  Stretch StretchBefore(const KeyPosition& before) override {
    return is_met_ ? walk_.StretchBefore(before) : Stretch();
  }
  bool HasAny() const override { return is_met_; }
  void Watch(TombstoneWatcher* watcher) override { watcher_ = watcher; }
  std::string DebugString() const override { return is_met_ ? walk_.DebugString() : "not met"; }

 private:
  FragmentWalk walk_;
  bool is_met_ = false;
  TombstoneWatcher* watcher_ = nullptr;
};

// A run that adds its tombstones when it is first moved.
class MeetingRun final : public InternalIterator {
 public:
  MeetingRun(InternalIterator* inner, LateTombstones* tombstones)
      : inner_(inner), tombstones_(tombstones) {}

  void SeekToFirst() override { inner_->SeekToFirst(), Mirror(); }
  void SeekToLast() override { inner_->SeekToLast(), Mirror(); }
  void Seek(const Slice& target) override { inner_->Seek(target), Mirror(); }
  void SeekForPrev(const Slice& target) override { inner_->SeekForPrev(target), Mirror(); }

 private:
  void NextSlow() override { inner_->Next(), Mirror(); }
  void PrevSlow() override { inner_->Prev(), Mirror(); }
  void Mirror() {
    tombstones_->Meet();
    valid_ = inner_->Valid();
    if (valid_) key_ = inner_->key();
  }

  const std::unique_ptr<InternalIterator> inner_;
  LateTombstones* const tombstones_;
};

struct Tombstone {
  std::string begin;
  std::string end;
  SequenceNumber seqno;
};

struct RunText {
  std::vector<std::string> keys;  // internal
  std::vector<Tombstone> tombstones;
  std::string smallest, largest;  // to which the tombstones are cut; none if both are empty
};

// The runs of a merge, and the entries that the merge must return.
class Runs {
 public:
  explicit Runs(const Comparator* comparator) : icmp_(comparator) {}

  const InternalKeyComparator& icmp() const { return icmp_; }
  std::vector<RunText>& texts() { return texts_; }
  Moves& moves(size_t run) { return *moves_[run]; }

  std::unique_ptr<MergingIterator> Merge(SequenceNumber upper_seqno, bool meets_late = false,
                                         const Slice* lower = nullptr,
                                         const Slice* upper = nullptr) {
    SortedRuns runs{.runs = {}, .lower_bound = lower, .upper_bound = upper};
    moves_.clear();
    for (const RunText& text : texts_) {
      moves_.push_back(std::make_unique<Moves>());
      auto* const points = new CountedRun(icmp_, text.keys, moves_.back().get());
      const auto list = Fragments(text);
      if (list->empty()) {
        runs.runs.emplace_back(points);
      } else if (meets_late && moves_.size() % 2 == 0) {
        auto* const late = new LateTombstones(list, upper_seqno);
        runs.runs.emplace_back(new MeetingRun(points, late), late);
      } else {
        runs.runs.emplace_back(points, new ListTombstones(list, upper_seqno));
      }
    }
    return std::make_unique<MergingIterator>(&icmp_, std::move(runs));
  }

  // All entries that no tombstone at or below `upper_seqno` hides, in order.
  std::vector<std::string> Shown(SequenceNumber upper_seqno) const {
    std::vector<std::string> shown;
    for (const RunText& text : texts_) {
      for (const std::string& key : text.keys) {
        if (!IsHidden(key, upper_seqno)) shown.push_back(key);
      }
    }
    std::sort(shown.begin(), shown.end(),
              [&](const std::string& a, const std::string& b) { return icmp_.Compare(a, b) < 0; });
    return shown;
  }

 private:
  std::shared_ptr<const FragmentedTombstones> Fragments(const RunText& text) const {
    std::vector<RangeTombstone> list;
    for (const Tombstone& t : text.tombstones) list.push_back({t.begin, t.end, t.seqno});
    const FragmentedTombstones::Border border{text.smallest, text.largest, true};
    const bool is_cut = !text.largest.empty();
    return std::make_shared<const FragmentedTombstones>(icmp_, list, is_cut ? &border : nullptr);
  }
  bool IsHidden(const std::string& key, SequenceNumber upper_seqno) const {
    const Slice user_key = ExtractUserKey(key);
    const auto order = [&](const Slice& a, const Slice& b) {
      return icmp_.OrderWithoutTimestamp(a, b);
    };
    for (const RunText& text : texts_) {
      if (!text.largest.empty() &&
          (order(user_key, text.smallest) < 0 || order(user_key, text.largest) > 0)) {
        continue;
      }
      for (const Tombstone& t : text.tombstones) {
        if (t.seqno <= upper_seqno && t.seqno > TrailerSeqno(ExtractTrailer(key)) &&
            order(t.begin, user_key) <= 0 && order(user_key, t.end) < 0) {
          return true;
        }
      }
    }
    return false;
  }

  const InternalKeyComparator icmp_;
  std::vector<RunText> texts_;
  std::vector<std::unique_ptr<Moves>> moves_;
};

struct TombstoneShape {
  const Comparator* comparator;
  uint64_t seed;
};

class MergeUnderTombstones : public testing::TestWithParam<TombstoneShape> {
 protected:
  std::string UserKey() {
    std::string key = random_.OneIn(3) ? "common-prefix" : "";
    key += static_cast<char>('a' + random_.Uniform(letters_));
    if (random_.OneIn(4)) key += static_cast<char>('a' + random_.Uniform(3));
    return key;
  }
  Tombstone NewTombstone(SequenceNumber seqno) {
    Tombstone t{UserKey(), UserKey(), seqno};
    if (runs_.icmp().OrderWithoutTimestamp(t.begin, t.end) > 0) std::swap(t.begin, t.end);
    return t;
  }
  // Sequence numbers decrease from run to run, as in a tree.
  void MakeRuns() {
    letters_ = 3 + random_.Uniform(20);
    runs_.texts().assign(1 + random_.Uniform(6), RunText());
    SequenceNumber seqno = 1000;
    for (RunText& text : runs_.texts()) {
      const uint64_t count = random_.Uniform(25);
      const uint64_t tombstones_in = random_.Uniform(5);
      for (uint64_t i = 0; i < count; ++i) {
        seqno--;
        if (random_.Uniform(8) < tombstones_in) {
          text.tombstones.push_back(NewTombstone(seqno));
        } else {
          text.keys.push_back(
              MakeInternalKey(UserKey(), seqno, random_.OneIn(4) ? kTypeDeletion : kTypeValue));
        }
      }
      if (random_.OneIn(3)) CutToBorder(&text);
    }
    newest_ = 1000;
    oldest_ = seqno;
  }
  // A file contains only what is between its boundary keys.
  void CutToBorder(RunText* text) {
    text->smallest = UserKey();
    text->largest = UserKey();
    const auto order = [&](const Slice& a, const Slice& b) {
      return runs_.icmp().OrderWithoutTimestamp(a, b);
    };
    if (order(text->smallest, text->largest) > 0) std::swap(text->smallest, text->largest);
    std::erase_if(text->keys, [&](const std::string& key) {
      const Slice user_key = ExtractUserKey(key);
      return order(user_key, text->smallest) < 0 || order(user_key, text->largest) > 0;
    });
  }

  size_t FirstAtOrAfter(const std::string& target) const {
    size_t at = 0;
    while (at < shown_.size() && runs_.icmp().Compare(shown_[at], target) < 0) ++at;
    return at;
  }
  size_t LastAtOrBefore(const std::string& target) const {
    size_t at = shown_.size();
    while (at > 0 && runs_.icmp().Compare(shown_[at - 1], target) > 0) --at;
    return at == 0 ? shown_.size() : at - 1;
  }
  // Moves the merge and returns the position that it must have then.
  size_t Move(MergingIterator* merged, size_t at, uint64_t move) {
    if (move == 0) {
      merged->SeekToFirst();
      return 0;
    }
    if (move == 1) {
      merged->SeekToLast();
      return shown_.empty() ? 0 : shown_.size() - 1;
    }
    if (move <= 3) {
      const SequenceNumber seqno = random_.OneIn(2) ? kMaxSequenceNumber : random_.Uniform(1001);
      const std::string target = MakeInternalKey(UserKey(), seqno, kValueTypeForSeek);
      move == 2 ? merged->Seek(target) : merged->SeekForPrev(target);
      return move == 2 ? FirstAtOrAfter(target) : LastAtOrBefore(target);
    }
    if (move <= 10) {
      merged->Next();
      return at + 1;
    }
    merged->Prev();
    return at == 0 ? shown_.size() : at - 1;
  }

  Random64 random_{GetParam().seed};
  Runs runs_{GetParam().comparator};
  uint64_t letters_ = 0;
  SequenceNumber newest_ = 0, oldest_ = 0;
  std::vector<std::string> shown_;
};

TEST_P(MergeUnderTombstones, RandomMovesShowWhatNoTombstoneHides) {
  for (int round = 0; round < 3000 && !HasFatalFailure(); ++round) {
    MakeRuns();
    for (int reader = 0; reader < 3 && !HasFatalFailure(); ++reader) {
      const SequenceNumber upper_seqno =
          reader == 0 ? newest_ : oldest_ + random_.Uniform(newest_ - oldest_ + 1);
      shown_ = runs_.Shown(upper_seqno);
      const auto merged = runs_.Merge(upper_seqno, /*meets_late=*/random_.OneIn(2));
      size_t at = shown_.size();
      for (int step = 0; step < 25; ++step) {
        const bool turns_rarely = random_.OneIn(2);
        const uint64_t move = random_.Uniform(at >= shown_.size() ? 4 : turns_rarely ? 11 : 18);
        at = Move(merged.get(), at, move);
        ASSERT_TRUE(merged->status().ok());
        ASSERT_EQ(merged->Valid(), at < shown_.size())
            << "round " << round << ", move " << move << "\n"
            << merged->DebugString();
        if (at >= shown_.size()) continue;
        ASSERT_EQ(merged->key().ToString(true), Slice(shown_[at]).ToString(true))
            << "round " << round << ", move " << move << "\n"
            << merged->DebugString();
      }
    }
  }
}

// Within its bounds a merge returns the same entries as without bounds. Beyond them it may end
// anywhere.
TEST_P(MergeUnderTombstones, BoundsEndAWalkNotTooEarly) {
  for (int round = 0; round < 2000 && !HasFatalFailure(); ++round) {
    MakeRuns();
    std::string low = UserKey(), high = UserKey();
    const auto order = [&](const Slice& a, const Slice& b) {
      return runs_.icmp().OrderWithoutTimestamp(a, b);
    };
    if (order(low, high) > 0) std::swap(low, high);
    const Slice lower = low, upper = high;
    const auto merged = runs_.Merge(newest_, false, &lower, &upper);
    std::vector<std::string> expected, forwards, backwards;
    for (const std::string& key : runs_.Shown(newest_)) {
      const Slice user_key = ExtractUserKey(key);
      if (order(user_key, lower) >= 0 && order(user_key, upper) < 0) expected.push_back(key);
    }
    merged->Seek(MakeInternalKey(low, kMaxSequenceNumber, kValueTypeForSeek));
    for (; merged->Valid() && order(ExtractUserKey(merged->key()), upper) < 0; merged->Next()) {
      forwards.push_back(merged->key().ToString());
    }
    merged->SeekForPrev(MakeInternalKey(high, kMaxSequenceNumber, kMaxValue));
    for (; merged->Valid() && order(ExtractUserKey(merged->key()), lower) >= 0; merged->Prev()) {
      backwards.insert(backwards.begin(), merged->key().ToString());
    }
    ASSERT_EQ(forwards, expected);
    ASSERT_EQ(backwards, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MergeUnderTombstones,
                         testing::Values(TombstoneShape{BytewiseComparator(), 1},
                                         TombstoneShape{BytewiseComparator(), 2},
                                         TombstoneShape{ReverseBytewiseComparator(), 3}));

// The following tests check which runs are moved, and how often.
class ParkedRuns : public testing::Test {
 protected:
  // A point entry for each of the letters.
  static std::vector<std::string> Points(const std::string& letters, SequenceNumber seqno) {
    std::vector<std::string> keys;
    for (const char letter : letters) {
      keys.push_back(MakeInternalKey(std::string(1, letter), seqno, kTypeValue));
    }
    return keys;
  }
  static std::string Target(const std::string& user_key) {
    return MakeInternalKey(user_key, kMaxSequenceNumber, kValueTypeForSeek);
  }
  std::string Walk(bool forwards = true) {
    std::string text;
    for (; merged_->Valid(); forwards ? merged_->Next() : merged_->Prev()) {
      text += ExtractUserKey(merged_->key()).ToString();
      text += std::to_string(TrailerSeqno(ExtractTrailer(merged_->key()))) + " ";
    }
    EXPECT_TRUE(merged_->status().ok());
    return text;
  }
  void Forget() {
    for (size_t i = 0; i < runs_.texts().size(); ++i) runs_.moves(i) = Moves();
  }

  Runs runs_{BytewiseComparator()};
  std::unique_ptr<MergingIterator> merged_;
};

constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz";

TEST_F(ParkedRuns, ARunThatIsHiddenAtASeekIsMovedOnlyWhenItIsSeenAgain) {
  runs_.texts() = {{Points("b", 9), {{"a", "y", 8}}, "", ""}, {Points(kAlphabet, 2), {}, "", ""}};
  merged_ = runs_.Merge(100);
  merged_->Seek(Target("b"));
  ASSERT_TRUE(merged_->Valid());
  EXPECT_EQ(runs_.moves(1).seeks, 0);
  EXPECT_EQ(Walk(), "b9 y2 z2 ");
  EXPECT_EQ(runs_.moves(1).seeks, 1);
  EXPECT_EQ(runs_.moves(1).steps, 2);
  Forget();
  merged_->SeekForPrev(Target("x"));
  EXPECT_EQ(runs_.moves(1).seeks, 0);
  EXPECT_EQ(Walk(/*forwards=*/false), "b9 ");
  EXPECT_EQ(runs_.moves(1).seeks, 1);
  EXPECT_EQ(runs_.moves(1).steps, 0);
}

// The tombstones are [b, j) in the first run, [h, q) in the second, and [p, y) in the first again.
// The third run is moved only once for all of them.
TEST_F(ParkedRuns, TombstonesThatFollowEachOtherCostOneSeek) {
  runs_.texts() = {{{}, {{"b", "j", 30}, {"p", "y", 31}}, "", ""},
                   {Points("k", 25), {{"h", "q", 20}}, "", ""},
                   {Points(kAlphabet, 2), {}, "", ""}};
  merged_ = runs_.Merge(100);
  merged_->SeekToFirst();
  Forget();
  EXPECT_EQ(Walk(), "a2 k25 y2 z2 ");
  EXPECT_EQ(runs_.moves(2).seeks, 1);
  EXPECT_LE(runs_.moves(2).steps, 15);
  merged_->SeekToLast();
  Forget();
  EXPECT_EQ(Walk(/*forwards=*/false), "z2 y2 k25 a2 ");
  EXPECT_EQ(runs_.moves(2).seeks, 1);
  EXPECT_LE(runs_.moves(2).steps, 15);
}

// A few hidden entries are skipped by single steps.
TEST_F(ParkedRuns, ANarrowTombstoneCostsNoSeek) {
  runs_.texts() = {{{}, {{"c", "f", 30}, {"m", "o", 31}}, "", ""},
                   {Points(kAlphabet, 2), {}, "", ""}};
  merged_ = runs_.Merge(100);
  merged_->SeekToFirst();
  Forget();
  EXPECT_EQ(Walk(), "a2 b2 f2 g2 h2 i2 j2 k2 l2 o2 p2 q2 r2 s2 t2 u2 v2 w2 x2 y2 z2 ");
  EXPECT_EQ(runs_.moves(1).seeks, 0);
}

TEST_F(ParkedRuns, ATombstoneHidesOlderEntriesOfItsOwnRunOnly) {
  std::vector<std::string> own = Points("bd", 9);
  own.push_back(MakeInternalKey("b", 3, kTypeValue));
  own.push_back(MakeInternalKey("c", 3, kTypeValue));
  runs_.texts() = {{Points("c", 40), {}, "", ""}, {own, {{"b", "d", 8}}, "", ""}};
  merged_ = runs_.Merge(100);
  merged_->SeekToFirst();
  EXPECT_EQ(Walk(), "b9 c40 d9 ");
  merged_ = runs_.Merge(7);  // a snapshot that does not see it
  merged_->SeekToFirst();
  EXPECT_EQ(Walk(), "b9 b3 c40 c3 d9 ");
}

// Behind the upper bound no run is moved.
TEST_F(ParkedRuns, BeyondABoundNobodyIsMoved) {
  runs_.texts() = {{Points("c", 40), {{"b", "m", 39}}, "", ""}, {Points(kAlphabet, 2), {}, "", ""}};
  const Slice lower = "e", upper = "k";
  merged_ = runs_.Merge(100, false, &lower, &upper);
  merged_->Seek(Target("e"));
  EXPECT_FALSE(merged_->Valid());
  merged_->SeekForPrev(Target("k"));
  if (merged_->Valid()) {
    EXPECT_EQ(ExtractUserKey(merged_->key()), Slice("c"));
  }
  EXPECT_EQ(runs_.moves(1).seeks, 0);
}

TEST_F(ParkedRuns, SaysInWhichSlabItStands) {
  runs_.texts() = {{Points("c", 40), {{"b", "m", 39}}, "", ""}, {Points("ad", 2), {}, "", ""}};
  merged_ = runs_.Merge(100);
  merged_->Seek(Target("b"));
  EXPECT_EQ(merged_->DebugString(),
            "2 runs, forwards, valid\n"
            "  covered by run 0 at 39, until '6D'\n"
            "  run 0 at '63' seq:40, type:1\n");
}

}  // namespace
}  // namespace ashlar
