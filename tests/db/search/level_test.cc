// SPDX-License-Identifier: Apache-2.0
//
// A level over real tables whose borders cut keys from their older versions: what its iterator
// shows from every place, and what a lookup finds on both sides of a border.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "db/manifest/version_edit.h"
#include "db/search/batch_search.h"
#include "db/search/level_iterator.h"
#include "db/search/point_search.h"
#include "db/search/scanned_blocks.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "db/version/version_builder.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// "k@7" is the version 7 of k, and its value.
using Names = std::vector<std::string>;

std::string InternalKeyOf(const std::string& name) {
  const size_t at = name.find('@');
  return MakeInternalKey(name.substr(0, at), std::stoull(name.substr(at + 1)), kTypeValue);
}

class LevelTest : public testing::Test {
 protected:
  LevelTest() {
    TableCacheOptions options(order_);
    options.fs = &fs_;
    options.paths = {"/db"};
    tables_ = std::make_unique<TableCache>(options);
    VersionEdit edit;
    for (const Names& names : kTables) edit.AddFile(1, WriteTable(names));
    VersionBuilder builder(order_, tables_.get(), nullptr, /*num_levels=*/3);
    EXPECT_OK(builder.Apply(edit));
    EXPECT_OK(builder.Build(&built_));
  }
  ~LevelTest() override {
    for (const auto& file : built_.added) tables_->Close(file.get());
  }

  FileMetadata WriteTable(const Names& names) {
    BlockBasedTableOptions format;
    format.block_size = 1;
    TableBuilderOptions options;
    options.icmp = &order_;
    options.table = &format;
    options.compression = kNoCompression;
    std::string bytes;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
    TableBuilder builder(options, writer.get());
    for (const std::string& name : names) EXPECT_OK(builder.Add(InternalKeyOf(name), name));
    EXPECT_OK(builder.Finish());
    FileMetadata meta;
    meta.epoch_number = next_number_++;
    meta.number = FileNumber{meta.epoch_number};
    meta.file_size = bytes.size();
    meta.smallest = InternalKeyOf(names.front());
    meta.largest = InternalKeyOf(names.back());
    meta.smallest_seqno = 1;
    meta.largest_seqno = 9;
    fs_.PutFile(TableFileName("/db", meta.number), bytes);
    return meta;
  }

  const Version& version() const { return *built_.version; }
  static Names AllNames() {
    Names all;
    for (const Names& names : kTables) all.insert(all.end(), names.begin(), names.end());
    return all;
  }
  // Position of the first entry at or behind an internal key.
  size_t LowerBound(const std::string& key) const {
    const Names all = AllNames();
    const auto before = [this](const std::string& name, const std::string& target) {
      return order_.Compare(InternalKeyOf(name), target) < 0;
    };
    return static_cast<size_t>(std::lower_bound(all.begin(), all.end(), key, before) - all.begin());
  }
  static std::string NameAt(const InternalIterator& it) {
    EXPECT_OK(it.status());
    return it.Valid() ? it.value().ToString() : "end";
  }
  static std::string NameAt(size_t position) {
    const Names all = AllNames();
    return position < all.size() ? all[position] : "end";
  }

  std::string Get(const std::string& user_key, SequenceNumber seqno) {
    PinnableSlice value;
    const LookupKey key(user_key, seqno, order_.order());
    PointLookup lookup(key, &value);
    const ReadOptions options;
    PointSearch search(version(), options, &lookup);
    bool is_over;
    {
      const EpochGuard guard;
      is_over = search.RunInEpoch();
    }
    if (!is_over) search.Finish();
    if (lookup.outcome() == PointLookup::Outcome::kFailed) return "failed";
    return lookup.outcome() == PointLookup::Outcome::kFound ? value.ToString() : "none";
  }

  // The versions of "d" lie in three of them.
  static inline const std::vector<Names> kTables = {{"a@5", "b@5"}, {"c@5", "d@9"}, {"d@7", "d@6"},
                                                    {"d@4", "e@5"}, {"g@5"},        {"h@5", "i@5"}};

  MemoryFileSystem fs_;
  const InternalKeyComparator order_{BytewiseComparator()};
  std::unique_ptr<TableCache> tables_;
  uint64_t next_number_ = 11;
  BuiltVersion built_;
};

TEST_F(LevelTest, SeeksLandAtTheTargetOrTheEntryBehindIt) {
  const ReadOptions read;
  LevelIterator it({.read = &read, .comparator = &order_, .tables = tables_.get()},
                   version().files(1));
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    for (SequenceNumber seqno = 10; seqno > 2; --seqno) {
      const std::string target = MakeInternalKey(key, seqno, kTypeValue);
      const size_t position = LowerBound(target);
      it.Seek(target);
      EXPECT_EQ(NameAt(it), NameAt(position)) << key << "@" << seqno;
      if (it.Valid()) {
        it.Next();
        EXPECT_EQ(NameAt(it), NameAt(position + 1)) << "behind " << key << "@" << seqno;
      }
      const bool is_there = NameAt(position) == StrCat(key, "@", seqno);
      it.SeekForPrev(target);
      EXPECT_EQ(NameAt(it), NameAt(is_there ? position : position - 1)) << key << "@" << seqno;
    }
  }
}

TEST_F(LevelTest, WalksCrossEveryBorderBothWays) {
  const ReadOptions read;
  LevelIterator it({.read = &read, .comparator = &order_, .tables = tables_.get()},
                   version().files(1));
  Names seen;
  for (it.SeekToFirst(); it.Valid(); it.Next()) seen.push_back(NameAt(it));
  EXPECT_EQ(seen, AllNames());
  seen.clear();
  for (it.SeekToLast(); it.Valid(); it.Prev()) seen.push_back(NameAt(it));
  std::reverse(seen.begin(), seen.end());
  EXPECT_EQ(seen, AllNames());
}

TEST_F(LevelTest, ALookupGoesOnInTheNextTableForOlderVersions) {
  for (const char* state : {"tables closed", "tables open"}) {
    SCOPED_TRACE(state);
    EXPECT_EQ(Get("d", 10), "d@9");
    EXPECT_EQ(Get("d", 8), "d@7");
    EXPECT_EQ(Get("d", 6), "d@6");
    EXPECT_EQ(Get("d", 5), "d@4");
    EXPECT_EQ(Get("d", 3), "none");
    EXPECT_EQ(Get("b", 9), "b@5");
    EXPECT_EQ(Get("e", 9), "e@5");
    EXPECT_EQ(Get("f", 9), "none");
  }
}

// Its versions are newer: going on would find one that is not valid any more.
TEST_F(LevelTest, ALookupDoesNotPassATableThatCannotBeOpened) {
  ASSERT_OK(fs_.DeleteFile(TableFileName("/db", 12), IOOptions(), nullptr));
  EXPECT_EQ(Get("d", 10), "failed");
  EXPECT_EQ(Get("d", 8), "failed");
  EXPECT_EQ(Get("e", 9), "e@5");
}

TEST_F(LevelTest, ABatchSaysWhereItsKeysStand) {
  const ReadOptions options;
  PinnableSlice values[3];
  const LookupKey a("a", 10, order_.order()), g("g", 10, order_.order()),
      z("z", 10, order_.order());
  PointLookup lookups[3] = {{a, &values[0]}, {g, &values[1]}, {z, &values[2]}};
  PointLookup* const batch[] = {&lookups[0], &lookups[1], &lookups[2]};
  BatchSearch search(version(), options, batch);
  EXPECT_EQ(search.DebugString(), "a: level 0, file 0\ng: level 0, file 0\nz: level 0, file 0\n");
  {
    const EpochGuard guard;
    EXPECT_FALSE(search.RunInEpoch());
  }
  EXPECT_EQ(search.DebugString(),
            "a: level 1, file 0, waits for #11\ng: level 1, file 4, waits for #15\nz: level 2\n");
  search.ReadMissing();
  EXPECT_EQ(search.DebugString(), "z: level 2\n");
}

TEST_F(LevelTest, BlocksReadAheadSayWhatTheyAreOf) {
  const ReadOptions options;
  MultiScanArgs args;
  args.insert("a", "c");
  args.insert("g", "h");
  ScannedBlocks blocks(args, &options);
  EXPECT_EQ(blocks.DebugString(), "at range 0 of 2, read until 0\n");
  blocks.Approach(version(), "a");
  EXPECT_EQ(blocks.DebugString(), "at range 0 of 2, read until 2\n#11: 2 blocks\n#15: 1 blocks\n");
  blocks.Approach(version(), "g");
  blocks.Forget();
  EXPECT_EQ(blocks.DebugString(), "at range 1 of 2, read until 1\n#11: 0 blocks\n#15: 0 blocks\n");
}

}  // namespace
}  // namespace ashlar
