// SPDX-License-Identifier: Apache-2.0
//
// Every move of a table's iterator from every position. The blocks of the tables have only one or a
// few entries, so that most moves are at the end of a block.
#include "table/sst/read/table_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Entry = std::pair<std::string, std::string>;
using EntryList = std::vector<Entry>;

std::string IteratorUserKey(int i) { return StrCat("key", 100 + i); }

// All values have the same length, so that all blocks have the same size.
EntryList VersionedEntries(int keys, const std::vector<SequenceNumber>& versions) {
  EntryList entries;
  for (int i = 0; i < keys; ++i) {
    for (const SequenceNumber seqno : versions) {
      entries.emplace_back(MakeInternalKey(IteratorUserKey(i), seqno, kTypeValue),
                           StrCat("value", 100 + i));
    }
  }
  return entries;
}

class SmallTable {
 public:
  explicit SmallTable(const Comparator* comparator = BytewiseComparator()) : icmp(comparator) {
    format.no_block_cache = true;
    format.block_restart_interval = 2;
  }

  void Build(const EntryList& entries) {
    TableBuilderOptions options;
    options.icmp = &icmp;
    options.table = &format;
    options.compression = kNoCompression;
    bytes.clear();
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
    TableBuilder builder(options, writer.get());
    for (const auto& [key, value] : entries) ASSERT_OK(builder.Add(key, value));
    ASSERT_OK(builder.Finish());
  }
  std::unique_ptr<TableReader> Open() const {
    auto reader = TableReader::Open(ReaderOverBytes(bytes, "memory.sst"), {.icmp = &icmp});
    EXPECT_OK(reader);
    return reader.ok() ? reader.Take() : nullptr;
  }

  const InternalKeyComparator icmp;
  BlockBasedTableOptions format;
  std::string bytes;
};

struct Form {
  const char* name;
  uint64_t block_bytes;
};

class TableIteratorMoves : public testing::TestWithParam<Form> {
 protected:
  static constexpr int kKeys = 12;

  TableIteratorMoves() {
    table_.format.block_size = GetParam().block_bytes;
    table_.Build(entries_);
    reader_ = table_.Open();
  }

  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options = {}) const {
    return std::unique_ptr<InternalIterator>(reader_->NewIterator(options, nullptr));
  }
  // The position of the first entry at or behind an internal key.
  size_t LowerBound(const std::string& key) const {
    const auto before = [this](const Entry& entry, const std::string& target) {
      return table_.icmp.Compare(entry.first, target) < 0;
    };
    return static_cast<size_t>(std::lower_bound(entries_.begin(), entries_.end(), key, before) -
                               entries_.begin());
  }
  // Expects the iterator at `position`. The number of entries means "not valid", and so do values
  // that wrap around below 0.
  void ExpectAt(const InternalIterator& it, size_t position) const {
    ASSERT_OK(it.status());
    ASSERT_EQ(it.Valid(), position < entries_.size());
    if (it.Valid()) {
      ASSERT_EQ(Entry(it.key().ToString(), it.value().ToString()), entries_[position]);
    }
  }
  // Expects the iterator at `position`, and its neighbours at the positions next to it.
  void ExpectAround(InternalIterator* it, size_t position) const {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, position));
    if (!it->Valid()) return;
    it->Next();
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, position + 1)) << "next";
    if (!it->Valid()) return;
    it->Prev();
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, position)) << "and back";
    it->Prev();
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, position - 1)) << "previous";
  }
  // Every entry, the gaps between them, and both ends.
  static std::vector<std::string> Targets() {
    std::vector<std::string> targets = {MakeInternalKey("a", 5, kTypeValue),
                                        MakeInternalKey("z", 5, kTypeValue)};
    for (int i = 0; i < kKeys; ++i) {
      for (const SequenceNumber seqno : {10, 9, 6, 4, 1}) {
        targets.push_back(MakeInternalKey(IteratorUserKey(i), seqno, kTypeValue));
      }
      targets.push_back(MakeInternalKey(IteratorUserKey(i) + "+", 5, kTypeValue));
    }
    return targets;
  }

  const EntryList entries_ = VersionedEntries(kKeys, {9, 4});
  SmallTable table_;
  std::unique_ptr<TableReader> reader_;
};

TEST_P(TableIteratorMoves, SeeksLandAtTheTargetOrBehindIt) {
  for (const std::string& target : Targets()) {
    const std::unique_ptr<InternalIterator> it = NewIterator();
    it->Seek(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAround(it.get(), LowerBound(target)));
    it->Seek(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, LowerBound(target))) << "from elsewhere";
  }
}

TEST_P(TableIteratorMoves, SeeksForPrevLandAtTheTargetOrInFrontOfIt) {
  for (const std::string& target : Targets()) {
    const size_t behind = LowerBound(target);
    const bool is_there = behind < entries_.size() && entries_[behind].first == target;
    const std::unique_ptr<InternalIterator> it = NewIterator();
    it->SeekForPrev(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAround(it.get(), is_there ? behind : behind - 1));
  }
}

TEST_P(TableIteratorMoves, WalksShowAllEntriesBothWays) {
  const std::unique_ptr<InternalIterator> it = NewIterator();
  size_t position = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ExpectAt(*it, position++);
  EXPECT_EQ(position, entries_.size());
  for (it->SeekToLast(); it->Valid(); it->Prev()) ExpectAt(*it, --position);
  EXPECT_EQ(position, 0u);
}

// The bound avoids reading blocks behind it, and never one before it.
TEST_P(TableIteratorMoves, AnUpperBoundHidesNothingBelowIt) {
  for (int bound = 0; bound <= kKeys; ++bound) {
    for (const char* suffix : {"", "+"}) {
      const std::string key = IteratorUserKey(bound) + suffix;
      const Slice upper(key);
      ReadOptions options;
      options.iterate_upper_bound = &upper;
      const std::unique_ptr<InternalIterator> it = NewIterator(options);
      const size_t end = LowerBound(MakeInternalKey(key, kMaxSequenceNumber, kValueTypeForSeek));
      for (size_t from : {size_t{0}, end / 2}) {
        it->Seek(entries_[from].first);
        size_t position = from;
        for (; it->Valid(); it->Next()) ExpectAt(*it, position++);
        EXPECT_GE(position, end) << key;
        EXPECT_OK(it->status());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, TableIteratorMoves,
                         testing::Values(Form{"OneBlock", 1 << 20}, Form{"EntryToABlock", 1},
                                         Form{"FewToABlock", 80}),
                         [](const auto& info) { return std::string(info.param.name); });

// Returns the second key as separator, which is behind the last key of the block.
class LyingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Lying"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    *start = limit.ToString();
  }
  void FindShortSuccessor(std::string*) const override {}
};

TEST(TableIterator, SeparatorsThatLieAreNotTaken) {
  const LyingComparator comparator;
  SmallTable table(&comparator);
  table.format.block_size = 1;
  const EntryList entries = VersionedEntries(10, {5});
  table.Build(entries);
  const std::unique_ptr<TableReader> reader = table.Open();
  ASSERT_NE(reader, nullptr);
  const std::unique_ptr<InternalIterator> it(reader->NewIterator(ReadOptions(), nullptr));
  for (const auto& [key, value] : entries) {
    it->Seek(key);
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_EQ(it->key().ToString(), key);
    it->SeekForPrev(key);
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_EQ(it->key().ToString(), key);
  }
}

// The checksums do not depend on the place of a block. Therefore its keys must fit the index.
TEST(TableIterator, BlocksThatChangedPlacesAreCorruptionInOldFormats) {
  SmallTable table;
  table.format.block_size = 1;
  table.format.format_version = 5;
  const EntryList entries = VersionedEntries(6, {5});
  table.Build(entries);
  size_t block_bytes = 0;
  {
    const std::unique_ptr<TableReader> reader = table.Open();
    ASSERT_EQ(reader->properties().num_data_blocks, entries.size());
    block_bytes = reader->properties().data_size / entries.size();
  }
  std::swap_ranges(table.bytes.begin() + static_cast<ptrdiff_t>(2 * block_bytes),
                   table.bytes.begin() + static_cast<ptrdiff_t>(3 * block_bytes),
                   table.bytes.begin() + static_cast<ptrdiff_t>(4 * block_bytes));
  const std::unique_ptr<TableReader> reader = table.Open();
  const std::unique_ptr<InternalIterator> it(reader->NewIterator(ReadOptions(), nullptr));
  for (const size_t position : {2, 4}) {
    it->Seek(entries[position].first);
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  }
}

}  // namespace
}  // namespace ashlar
