// SPDX-License-Identifier: Apache-2.0
//
// How versions are built and asked, and the index they search with.
#include "db/version/version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "db/manifest/version_edit.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version_builder.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/invariants.h"
#include "util/keys/internal_key.h"
#include "util/keys/key_head_index.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Shortest keys first: an order that is none of the two bytewise ones.
class ShortLexComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.ShortLex"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

FileMetadata File(uint64_t number, const std::string& smallest, const std::string& largest,
                  SequenceNumber newest = 100, SequenceNumber oldest = 1) {
  FileMetadata meta;
  meta.number = FileNumber{number};
  meta.file_size = 1000;
  meta.smallest = MakeInternalKey(smallest, newest, kTypeValue);
  meta.largest = MakeInternalKey(largest, oldest, kTypeValue);
  meta.smallest_seqno = oldest;
  meta.largest_seqno = newest;
  meta.epoch_number = number;
  return meta;
}

// Bytewise, but the engine does not know: every comparison comes here.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    count++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  mutable uint64_t count = 0;
};

// Disjoint ranges in the order of `number`.
FileMetadata NumberedFile(uint64_t number) {
  char key[16];
  std::snprintf(key, sizeof(key), "%08llu", static_cast<unsigned long long>(number));
  return File(number, StrCat(key, "a"), StrCat(key, "z"));
}

class VersionTest : public testing::Test {
 protected:
  static constexpr int kLevels = 4;

  VersionTest() {
    TableCacheOptions options(comparator_);
    options.fs = &fs_;
    options.paths = {"/db"};
    tables_ = std::make_unique<TableCache>(options);
  }

  VersionBuilder Builder(const Version* base = nullptr) {
    return VersionBuilder(comparator_, tables_.get(), base, kLevels);
  }
  std::unique_ptr<Version> Build(const VersionEdit& edit, const Version* base = nullptr) {
    VersionBuilder builder = Builder(base);
    EXPECT_OK(builder.Apply(edit));
    BuiltVersion built;
    EXPECT_OK(builder.Build(&built));
    for (auto& file : built.added) files_.push_back(std::move(file));
    return std::move(built.version);
  }
  Status BuildStatus(const VersionEdit& edit) {
    VersionBuilder builder = Builder();
    RETURN_IF_ERROR(builder.Apply(edit));
    BuiltVersion built;
    return builder.Build(&built);
  }
  static std::string Numbers(const std::vector<TableFile*>& files) {
    std::string text;
    for (const TableFile* file : files)
      StrAppend(&text, text.empty() ? "" : " ", file->meta.number);
    return text;
  }
  static std::string Overlapping(const Version& version, Level level, const char* begin,
                                 const char* end, bool expand = false) {
    const Slice low(begin == nullptr ? "" : begin), high(end == nullptr ? "" : end);
    return Numbers(version
                       .Overlapping(level, begin == nullptr ? nullptr : &low,
                                    end == nullptr ? nullptr : &high, expand)
                       .files);
  }

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<TableCache> tables_;
  std::vector<std::unique_ptr<TableFile>> files_;  // of all versions
};

}  // namespace

TEST_F(VersionTest, DeletionOnTheWrongLevelIsRefused) {
  VersionEdit edit;
  edit.AddFile(1, File(5, "a", "b"));
  const auto base = Build(edit);
  VersionEdit wrong;
  wrong.DeleteFile(2, 5);
  EXPECT_TRUE(Builder(base.get()).Apply(wrong).IsCorruption());
  VersionEdit missing;
  missing.DeleteFile(1, 6);
  EXPECT_TRUE(Builder(base.get()).Apply(missing).IsCorruption());
  VersionEdit right;
  right.DeleteFile(1, 5);
  EXPECT_EQ(Build(right, base.get())->file_count(), 0u);
}

// The Rust binding has a test whose comparator ends the process when it is called.
TEST_F(VersionTest, ATableWithOneKeyNeedsNoComparison) {
  const CountingComparator counting;
  const InternalKeyComparator order(&counting);
  VersionEdit edit;
  edit.AddFile(0, File(5, "a", "a", 7, 7));
  VersionBuilder builder(order, tables_.get(), /*base=*/nullptr, kLevels);
  EXPECT_OK(builder.Apply(edit));
  EXPECT_EQ(counting.count, 0u);
}

TEST_F(VersionTest, AFileIsAddedOnce) {
  VersionEdit edit;
  edit.AddFile(1, File(5, "a", "b"));
  VersionBuilder builder = Builder();
  ASSERT_OK(builder.Apply(edit));
  EXPECT_TRUE(builder.Apply(edit).IsCorruption());
}

TEST_F(VersionTest, AMovedFileKeepsItsObject) {
  VersionEdit edit;
  edit.AddFile(0, File(5, "a", "b"));
  const auto base = Build(edit);
  VersionEdit move;
  move.DeleteFile(0, 5);
  move.AddFile(2, File(5, "a", "b"));
  const auto moved = Build(move, base.get());
  ASSERT_EQ(moved->files(2).size(), 1u);
  EXPECT_EQ(moved->files(2)[0], base->files(0)[0]);
  EXPECT_EQ(moved->deepest_level(), 2);
}

TEST_F(VersionTest, OverlapBelowLevel0IsRefused) {
  VersionEdit edit;
  edit.AddFile(1, File(5, "a", "m"));
  edit.AddFile(1, File(6, "l", "z"));
  EXPECT_TRUE(BuildStatus(edit).IsCorruption());
}

TEST_F(VersionTest, NeighboursMayShareAUserKeyIfTheNewerVersionsComeFirst) {
  VersionEdit good;
  good.AddFile(1, File(5, "a", "m", 100, 50));
  good.AddFile(1, File(6, "m", "z", 49, 1));
  EXPECT_OK(BuildStatus(good));
  VersionEdit bad;
  bad.AddFile(1, File(5, "a", "m", 100, 50));
  bad.AddFile(1, File(6, "m", "z", 50, 1));
  EXPECT_TRUE(BuildStatus(bad).IsCorruption());
}

TEST_F(VersionTest, ASmallestKeyBehindTheLargestIsRefused) {
  VersionEdit edit;
  edit.AddFile(1, File(5, "m", "a"));
  EXPECT_TRUE(BuildStatus(edit).IsCorruption());
}

TEST_F(VersionTest, ATreeDeeperThanTheOptionsIsRefusedWithAdvice) {
  VersionEdit edit;
  edit.AddFile(kLevels, File(5, "a", "b"));
  const Status status = BuildStatus(edit);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("num_levels"), std::string::npos);
}

TEST_F(VersionTest, Level0IsOrderedByEpochThenSequence) {
  VersionEdit edit;
  FileMetadata low_epoch = File(9, "a", "z", 900, 800);
  low_epoch.epoch_number = 1;
  FileMetadata old_in_epoch = File(8, "a", "z", 20, 10);
  old_in_epoch.epoch_number = 2;
  FileMetadata new_in_epoch = File(7, "a", "z", 40, 30);
  new_in_epoch.epoch_number = 2;
  edit.AddFile(0, low_epoch);
  edit.AddFile(0, old_in_epoch);
  edit.AddFile(0, new_in_epoch);
  EXPECT_EQ(Numbers(Build(edit)->files(0)), "7 8 9");
}

TEST_F(VersionTest, FilesWithoutEpochsGetThemFromTheBottomUp) {
  VersionEdit edit;
  const auto add = [&edit](Level level, FileMetadata meta) {
    meta.epoch_number = 0;
    edit.AddFile(level, std::move(meta));
  };
  add(3, File(1, "a", "b", 10, 1));
  add(3, File(2, "c", "d", 10, 1));
  add(1, File(3, "a", "d", 20, 11));
  add(0, File(5, "a", "d", 60, 51));
  add(0, File(4, "a", "d", 90, 81));
  const auto version = Build(edit);
  const auto epoch = [&](Level level, size_t i) {
    return version->files(level)[i]->meta.epoch_number;
  };
  EXPECT_EQ(epoch(3, 0), 1u);
  EXPECT_EQ(epoch(3, 1), 1u);
  EXPECT_EQ(epoch(1, 0), 2u);
  EXPECT_EQ(Numbers(version->files(0)), "4 5");
  EXPECT_EQ(epoch(0, 1), 3u);
  EXPECT_EQ(epoch(0, 0), 4u);
}

// An older engine appends files without epochs to a database that has them.
TEST_F(VersionTest, OneFileWithoutEpochRenumbersAllBySequence) {
  VersionEdit edit;
  FileMetadata with = File(4, "a", "d", 50, 41);
  with.epoch_number = 7;
  FileMetadata without = File(5, "a", "d", 90, 81);
  without.epoch_number = 0;
  edit.AddFile(0, with);
  edit.AddFile(0, without);
  const auto version = Build(edit);
  EXPECT_EQ(Numbers(version->files(0)), "5 4");
  EXPECT_EQ(version->files(0)[0]->meta.epoch_number, 2u);
  EXPECT_EQ(version->files(0)[1]->meta.epoch_number, 1u);
}

// Moves, deletions and additions at random, one edit at a time: each version is what building it
// from nothing gives.
TEST_F(VersionTest, ByDifferenceItIsTheSameAsFromNothing) {
  std::mt19937 random(1);
  std::map<uint64_t, Level> level_of;
  std::unique_ptr<Version> version;
  for (uint64_t step = 0; step < 300; step++) {
    VersionEdit edit;
    for (auto it = level_of.begin(); it != level_of.end();) {
      const uint32_t dice = random() % 16;
      if (dice < 2) edit.DeleteFile(it->second, FileNumber{it->first});
      if (dice == 0) {
        edit.AddFile(it->second = Level{static_cast<int>(random() % kLevels)},
                     NumberedFile(it->first));
      }
      it = dice == 1 ? level_of.erase(it) : std::next(it);
    }
    for (uint64_t i = 0; i < random() % 4; i++) {
      const uint64_t number = random() % 100000 + 1;
      if (level_of.contains(number)) continue;
      level_of[number] = Level{static_cast<int>(random() % kLevels)};
      edit.AddFile(level_of[number], NumberedFile(number));
    }
    version = Build(edit, version.get());
    ASSERT_OK(version->CheckInvariants());

    VersionEdit all;
    for (const auto& [number, level] : level_of) all.AddFile(level, NumberedFile(number));
    const auto fresh = Build(all);
    ASSERT_EQ(version->file_count(), fresh->file_count());
    ASSERT_EQ(version->deepest_level(), fresh->deepest_level());
    for (int level = 0; level < kLevels; level++) {
      const LevelTables& a = *version->levels()[static_cast<size_t>(level)];
      const LevelTables& b = *fresh->levels()[static_cast<size_t>(level)];
      ASSERT_EQ(Numbers(a.files), Numbers(b.files)) << "step " << step << " level " << level;
      ASSERT_EQ(a.numbers, b.numbers);
      ASSERT_EQ(a.bytes, b.bytes);
      for (uint64_t probe = 0; level > 0 && probe < 20; probe++) {
        const std::string key = NumberedFile(random() % 100000).largest_user_key().ToString();
        ASSERT_EQ(a.largest.LowerBound(key), b.largest.LowerBound(key)) << key;
      }
    }
  }
}

TEST_F(VersionTest, MarkedFilesAreCountedByLevel) {
  VersionEdit edit;
  FileMetadata marked = NumberedFile(1);
  marked.marked_for_compaction = true;
  edit.AddFile(1, marked);
  edit.AddFile(1, NumberedFile(2));
  const auto base = Build(edit);
  EXPECT_EQ(base->marked_count(1), 1u);
  VersionEdit move;
  move.DeleteFile(1, 1);
  move.AddFile(2, marked);
  const auto moved = Build(move, base.get());
  EXPECT_EQ(moved->marked_count(1), 0u);
  EXPECT_EQ(moved->marked_count(2), 1u);
}

// What an edit costs beyond copying flat arrays: comparisons, and levels made anew. Both were
// proportional to the number of tables.
TEST_F(VersionTest, AnEditComparesWithFewOfManyTables) {
  const CountingComparator counting;
  const InternalKeyComparator comparator(&counting);
  const auto build = [&](const VersionEdit& edit, const Version* base) {
    VersionBuilder builder(comparator, tables_.get(), base, kLevels);
    EXPECT_OK(builder.Apply(edit));
    BuiltVersion built;
    EXPECT_OK(builder.Build(&built));
    for (auto& file : built.added) files_.push_back(std::move(file));
    return std::move(built.version);
  };
  constexpr uint64_t kTables = 20000;
  VersionEdit all;
  for (uint64_t i = 1; i <= kTables; i++) {
    all.AddFile(Level{static_cast<int>(i % kLevels)}, NumberedFile(2 * i));
  }
  const auto base = build(all, nullptr);

  counting.count = 0;
  VersionEdit flush;
  flush.AddFile(0, NumberedFile(2 * kTables + 1));
  const auto flushed = build(flush, base.get());
  EXPECT_EQ(flushed->file_count(), kTables + 1);
  if (!kChecksInvariants) {  // which compare, too
    EXPECT_LE(counting.count, 4u);
  }
  for (size_t level = 1; level < kLevels; level++) {
    EXPECT_EQ(flushed->levels()[level], base->levels()[level]) << "shared";
  }

  counting.count = 0;
  VersionEdit compaction;
  compaction.DeleteFile(1, 10);
  compaction.DeleteFile(2, 12);
  compaction.AddFile(2, NumberedFile(11));
  const auto compacted = build(compaction, flushed.get());
  EXPECT_EQ(compacted->file_count(), kTables);
  if (!kChecksInvariants) {
    EXPECT_LE(counting.count, 30u) << "a binary search and the neighbours";
  }
  EXPECT_EQ(compacted->levels()[0], flushed->levels()[0]);
  EXPECT_EQ(compacted->levels()[3], flushed->levels()[3]);
}

TEST_F(VersionTest, WhatLeavesTheVersionIsReportedButNotWhatMoves) {
  VersionEdit edit;
  edit.AddFile(1, NumberedFile(1));
  edit.AddFile(1, NumberedFile(2));
  const auto base = Build(edit);
  VersionBuilder builder = Builder(base.get());
  VersionEdit change;
  change.DeleteFile(1, 1);
  change.DeleteFile(1, 2);
  change.AddFile(2, NumberedFile(2));
  change.AddFile(2, NumberedFile(3));
  ASSERT_OK(builder.Apply(change));
  BuiltVersion built;
  ASSERT_OK(builder.Build(&built));
  EXPECT_EQ(Numbers(built.removed), "1");
  ASSERT_EQ(built.added.size(), 1u);
  EXPECT_EQ(built.added[0]->meta.number.value(), 3u);
}

TEST_F(VersionTest, OverlappingFilesOfADeepLevel) {
  VersionEdit edit;
  edit.AddFile(1, File(1, "b", "d"));
  edit.AddFile(1, File(2, "f", "h", 100, 50));
  edit.AddFile(1, File(3, "h", "k", 49, 1));
  edit.AddFile(1, File(4, "p", "q"));
  const auto version = Build(edit);
  const struct {
    const char* begin;
    const char* end;
    const char* expected;
  } kCases[] = {
      {nullptr, nullptr, "1 2 3 4"},
      {"a", "a", ""},
      {"a", "b", "1"},
      {"d", "d", "1"},
      {"e", "e", ""},
      {"h", "h", "2 3"},
      {"d", "f", "1 2"},
      {"i", nullptr, "3 4"},
      {nullptr, "g", "1 2"},
      {"l", "o", ""},
      {"q", "z", "4"},
      {"r", nullptr, ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Overlapping(*version, 1, c.begin, c.end), c.expected)
        << (c.begin ? c.begin : "-") << ".." << (c.end ? c.end : "-");
  }
  EXPECT_EQ(Overlapping(*version, kLevels + 3, nullptr, nullptr), "");
}

TEST_F(VersionTest, RangesOfLevel0GrowOverFilesThatTouchOnlyThroughOthers) {
  VersionEdit edit;
  edit.AddFile(0, File(1, "a", "c"));
  edit.AddFile(0, File(2, "c", "f"));
  edit.AddFile(0, File(3, "f", "h"));
  edit.AddFile(0, File(4, "k", "m"));
  const auto version = Build(edit);
  EXPECT_EQ(Overlapping(*version, 0, "d", "d"), "2");
  EXPECT_EQ(Overlapping(*version, 0, "d", "d", /*expand=*/true), "3 2 1");
  EXPECT_EQ(Overlapping(*version, 0, "b", "b", /*expand=*/true), "3 2 1");
  EXPECT_EQ(Overlapping(*version, 0, "i", "j", /*expand=*/true), "");
  EXPECT_EQ(Overlapping(*version, 0, nullptr, "a", /*expand=*/true), "3 2 1");
  EXPECT_EQ(Overlapping(*version, 0, "l", nullptr, /*expand=*/true), "4");
}

// Few letters, zero bytes among them, so that prefixes and ties in the first eight bytes abound.
TEST(KeyHeadIndex, AgreesWithLowerBoundInEveryOrder) {
  const ShortLexComparator short_lex;
  for (const Comparator* user : {BytewiseComparator(), ReverseBytewiseComparator(),
                                 static_cast<const Comparator*>(&short_lex)}) {
    const InternalKeyComparator comparator(user);
    std::mt19937 random(17);
    const auto random_key = [&random](const std::string& prefix) {
      std::string key = prefix;
      for (size_t n = random() % 12; n > 0; n--) key.push_back("\0ab\xff"[random() % 4]);
      return key;
    };
    const auto less = [user](const std::string& a, const std::string& b) {
      return user->Compare(a, b) < 0;
    };
    for (int round = 0; round < 300; round++) {
      const std::string prefix = round % 3 == 0 ? "" : round % 3 == 1 ? "p" : "prefix/long/";
      std::vector<std::string> keys(random() % 20);
      for (std::string& key : keys) key = random_key(prefix);
      std::sort(keys.begin(), keys.end(), less);
      KeyHeadIndex index;
      index.Build(comparator, std::vector<Slice>(keys.begin(), keys.end()));
      for (int probe = 0; probe < 30; probe++) {
        const std::string key = random_key(probe % 2 == 0 ? prefix : prefix.substr(0, probe % 5));
        const auto expected = std::lower_bound(keys.begin(), keys.end(), key, less) - keys.begin();
        ASSERT_EQ(index.LowerBound(key), static_cast<size_t>(expected))
            << user->Name() << " round " << round << " key " << Slice(key).ToString(true);
      }
    }
  }
}

}  // namespace ashlar
