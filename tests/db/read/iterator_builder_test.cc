// SPDX-License-Identifier: Apache-2.0
//
// The tower merges whatever runs it was given, in an arena or on the heap, and owns them until
// then.
#include "db/read/iterator_builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "memtable/memtable.h"
#include "tests/support/status_matchers.h"
#include "util/memory/arena.h"

namespace ashlar {
namespace {

class IteratorBuilderTest : public testing::Test {
 protected:
  ~IteratorBuilderTest() override {
    for (MemTable* memtable : memtables_) memtable->Unref();
  }
  MemTable* NewMemTable(const std::vector<std::pair<std::string, SequenceNumber>>& entries) {
    MemTable* const memtable = new MemTable(comparator_, MemTableOptions(), memtables_.size() + 1);
    memtables_.push_back(memtable);
    for (const auto& [key, seqno] : entries) {
      EXPECT_OK(memtable->Add(seqno, kTypeValue, key, "v"));
    }
    return memtable;
  }
  static std::string Walk(MergingIterator* merged) {
    std::string text;
    for (merged->SeekToFirst(); merged->Valid(); merged->Next()) {
      text += ExtractUserKey(merged->key()).ToString() + "@" +
              std::to_string(TrailerSeqno(ExtractTrailer(merged->key()))) + " ";
    }
    EXPECT_OK(merged->status());
    return text;
  }

  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::vector<MemTable*> memtables_;
};

TEST_F(IteratorBuilderTest, MergesWhatItWasGivenInAnArenaOrOnTheHeap) {
  MemTable* const newer = NewMemTable({{"a", 5}, {"c", 6}});
  MemTable* const older = NewMemTable({{"a", 1}, {"b", 2}});
  Arena arena;
  for (Arena* home : {&arena, static_cast<Arena*>(nullptr)}) {
    IteratorBuilder tower(&comparator_, home);
    tower.AddMemTable(newer);
    tower.AddMemTable(older);
    const std::unique_ptr<MergingIterator> merged = tower.Build();
    EXPECT_EQ(Walk(merged.get()), "a@5 a@1 b@2 c@6 ");
  }
}

TEST_F(IteratorBuilderTest, WithoutRunsNothingIsShown) {
  IteratorBuilder tower(&comparator_, nullptr);
  EXPECT_EQ(Walk(tower.Build().get()), "");
}

TEST_F(IteratorBuilderTest, RunsCanBeTakenUnmerged) {
  IteratorBuilder tower(&comparator_, nullptr);
  tower.AddMemTable(NewMemTable({{"a", 5}}));
  tower.AddMemTable(NewMemTable({{"a", 1}}));
  SortedRuns runs = tower.TakeRuns();
  ASSERT_EQ(runs.runs.size(), 2u);
  EXPECT_EQ(runs.home, IteratorHome::kHeap);
  runs.runs[0].points->SeekToFirst();
  EXPECT_EQ(TrailerSeqno(ExtractTrailer(runs.runs[0].points->key())), 5u);
  for (const SortedRun& run : runs.runs) DestroyRun(run, runs.home);
}

// The leak checker of the sanitizer builds looks.
TEST_F(IteratorBuilderTest, WhatWasNotBuiltIsFreed) {
  IteratorBuilder tower(&comparator_, nullptr);
  tower.AddMemTable(NewMemTable({{"a", 5}}));
}

}  // namespace
}  // namespace ashlar
