// SPDX-License-Identifier: Apache-2.0
//
// Flushed memtables that are kept: which go, and that those that stay are counted as they came.
#include "db/column_family/memtable_history.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "table/iterator/internal_iterator.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Its list is sorted when somebody reads it first, which takes memory.
MemTable* NewVector(uint64_t id) {
  MemTableOptions options;
  options.representation = MemTableOptions::Representation::kVector;
  auto* const memtable = new MemTable(InternalKeyComparator(BytewiseComparator()), options, id);
  for (SequenceNumber seqno = 1; seqno <= 1000; ++seqno) {
    EXPECT_OK(memtable->Add(seqno, kTypeValue, "k" + std::to_string(seqno), "v"));
  }
  memtable->Seal();
  memtable->ReportSealed();
  return memtable;
}

void Read(const MemTable& memtable) {
  const std::unique_ptr<InternalIterator> entries(memtable.NewIterator(nullptr));
  entries->SeekToFirst();
  EXPECT_TRUE(entries->Valid());
}

// Keeps a new one and returns what it has.
uint64_t KeepOne(MemTableHistory* history, uint64_t id) {
  MemTable* const memtable = NewVector(id);
  const uint64_t bytes = memtable->ApproximateMemoryUsage();
  history->Keep(memtable);
  return bytes;
}

TEST(MemTableHistory, TheOldestGoFirstAndOneStaysBeyondTheTarget) {
  MemTableHistory history;
  const uint64_t first = KeepOne(&history, 1);
  const uint64_t others = KeepOne(&history, 2) + KeepOne(&history, 3);
  EXPECT_EQ(history.bytes(), first + others);
  history.Trim(others + 1, /*other_bytes=*/0);
  EXPECT_EQ(history.count(), 3u);
  history.Trim(others, /*other_bytes=*/0);
  EXPECT_EQ(history.count(), 2u);
  EXPECT_EQ(history.bytes(), others);
  history.Trim(others, /*other_bytes=*/others);
  EXPECT_EQ(history.count(), 0u);
  EXPECT_EQ(history.bytes(), 0u);
}

TEST(MemTableHistory, WhatGrowsMeanwhileIsTakenOffAsItCame) {
  MemTableHistory history;
  MemTable* const grows = NewVector(1);
  const uint64_t before = grows->ApproximateMemoryUsage();
  history.Keep(grows);
  const uint64_t other = KeepOne(&history, 2);
  Read(*grows);
  ASSERT_GT(grows->ApproximateMemoryUsage(), before);
  EXPECT_EQ(history.bytes(), before + other);
  history.Trim(other, /*other_bytes=*/0);
  EXPECT_EQ(history.count(), 1u);
  EXPECT_EQ(history.bytes(), other);
  history.Clear();
  EXPECT_EQ(history.bytes(), 0u);
}

}  // namespace
}  // namespace ashlar
