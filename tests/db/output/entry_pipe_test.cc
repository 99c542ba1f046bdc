// SPDX-License-Identifier: Apache-2.0
//
// What comes through a pipe is what the stream has, whoever is faster and however it ends.
#include "db/output/entry_pipe.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "tests/support/status_matchers.h"
#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const InternalKeyComparator& PipeOrder() {
  static const InternalKeyComparator comparator(BytewiseComparator());
  return comparator;
}

// A stream over a memtable of `count` keys with two versions each, of which the newer one stays;
// values of growing sizes.
class PipeTest : public testing::Test {
 protected:
  void Fill(int count, size_t value_bytes) {
    for (int i = 0; i < count; i++) {
      const std::string key = StrCat("key", 100000 + i);
      const std::string value(value_bytes + static_cast<size_t>(i % 7),
                              static_cast<char>('a' + i % 26));
      EXPECT_OK(memtable_->Add(static_cast<SequenceNumber>(2 * i + 1), kTypeValue, key, "old"));
      EXPECT_OK(memtable_->Add(static_cast<SequenceNumber>(2 * i + 2), kTypeValue, key, value));
    }
  }
  std::unique_ptr<EntryStream> Open(EntryStreamOptions options = {}) {
    options.comparator = &PipeOrder();
    SortedRuns runs{.runs = {}, .home = IteratorHome::kArena};
    runs.runs.emplace_back(memtable_->NewIterator(&arena_));
    return std::make_unique<EntryStream>(options, std::move(runs));
  }
  ~PipeTest() override { memtable_->Unref(); }

  MemTable* const memtable_ = new MemTable(PipeOrder(), MemTableOptions(), 1);
  Arena arena_;
};

template <typename Entries>
std::string Text(Entries* entries) {
  std::string text;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    StrAppend(&text, entries->key().ToString(/*hex=*/true), "=", entries->value().ToString(),
              entries->is_first_of_key() ? " first\n" : "\n");
  }
  return text;
}

TEST_F(PipeTest, ShowsWhatTheStreamHas) {
  Fill(5000, 200);  // several batches
  const std::unique_ptr<EntryStream> direct = Open(), through = Open();
  const std::string expected = Text(direct.get());
  EntryPipe pipe(through.get());
  ASSERT_TRUE(pipe.Start());
  EXPECT_EQ(Text(&pipe), expected);
  EXPECT_OK(pipe.status());
  pipe.Stop();
  EXPECT_EQ(pipe.counts().read, 10000u);
  EXPECT_EQ(pipe.counts().hidden, 5000u);
}

TEST_F(PipeTest, LargeEntriesComeWhole) {
  Fill(3, size_t{1} << 20);
  const std::unique_ptr<EntryStream> direct = Open(), through = Open();
  const std::string expected = Text(direct.get());
  EntryPipe pipe(through.get());
  ASSERT_TRUE(pipe.Start());
  EXPECT_EQ(Text(&pipe), expected);
}

TEST_F(PipeTest, AnEmptyStreamEnds) {
  const std::unique_ptr<EntryStream> stream = Open();
  EntryPipe pipe(stream.get());
  ASSERT_TRUE(pipe.Start());
  pipe.SeekToFirst();
  EXPECT_FALSE(pipe.Valid());
  EXPECT_OK(pipe.status());
}

TEST_F(PipeTest, AnOwnerThatGivesUpDoesNotWaitForTheRest) {
  Fill(20000, 200);  // much more than batches hold
  const std::unique_ptr<EntryStream> stream = Open();
  EntryPipe pipe(stream.get());
  ASSERT_TRUE(pipe.Start());
  pipe.SeekToFirst();
  ASSERT_TRUE(pipe.Valid());
  pipe.Stop();
  EXPECT_LT(pipe.counts().read, 40000u);
}

TEST_F(PipeTest, WhatCameBeforeAnErrorIsShownAndThenTheError) {
  Fill(5000, 200);
  EntryStreamOptions options;
  options.on_progress = [](uint64_t read) {
    return read < 4000 ? Status::OK() : Status::IOError("the end");
  };
  const std::unique_ptr<EntryStream> direct = Open(options), through = Open(options);
  const std::string expected = Text(direct.get());
  EntryPipe pipe(through.get());
  ASSERT_TRUE(pipe.Start());
  EXPECT_EQ(Text(&pipe), expected);
  EXPECT_TRUE(pipe.status().IsIOError());
}

TEST_F(PipeTest, WhatTheStreamThrowsIsThrownAtTheOwner) {
  Fill(5000, 200);
  EntryStreamOptions options;
  options.on_progress = [](uint64_t read) -> Status {
    if (read >= 4000) throw std::runtime_error("a program's callback");
    return Status::OK();
  };
  const std::unique_ptr<EntryStream> stream = Open(options);
  EntryPipe pipe(stream.get());
  ASSERT_TRUE(pipe.Start());
  EXPECT_THROW(Text(&pipe), std::runtime_error);
}

}  // namespace
}  // namespace ashlar
