// SPDX-License-Identifier: Apache-2.0
//
// StampedSearch over real tables: borders that cut a key from its older versions, more tables than
// a batch of the search has, and timestamps of tables that are known or not. Every read is compared
// with a walk over all entries.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "db/manifest/version_edit.h"
#include "db/search/stamped_search.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "db/version/version_builder.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "table/iterator/stamped_lookup.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

struct Entry {
  std::string key;
  uint64_t ts;
  SequenceNumber seqno;

  std::string stamp() const {
    std::string bytes;
    return EncodeU64Ts(ts, &bytes).ToString();
  }
  std::string internal_key() const { return MakeInternalKey(key + stamp(), seqno, kTypeValue); }
  std::string name() const { return StrCat(key, "@", ts, "/", seqno); }
};

struct Table {
  int level;
  std::vector<Entry> entries;
};

class StampedSearchTest : public testing::TestWithParam<bool> {
 protected:
  void Build(const std::vector<Table>& all) {
    all_ = all;
    TableCacheOptions options(order_);
    options.fs = &fs_;
    options.paths = {"/db"};
    tables_ = std::make_unique<TableCache>(options);
    VersionEdit edit;
    for (const Table& table : all_) edit.AddFile(Level{table.level}, WriteTable(table.entries));
    VersionBuilder builder(order_, tables_.get(), nullptr, /*num_levels=*/4);
    ASSERT_OK(builder.Apply(edit));
    ASSERT_OK(builder.Build(&built_));
  }
  ~StampedSearchTest() override {
    for (const auto& file : built_.added) tables_->Close(file.get());
  }

  FileMetadata WriteTable(const std::vector<Entry>& entries) {
    BlockBasedTableOptions format;
    format.block_size = 1;
    format.filter_policy.reset(NewBloomFilterPolicy(10));
    TableBuilderOptions options;
    options.icmp = &order_;
    options.table = &format;
    options.compression = kNoCompression;
    std::string bytes;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
    TableBuilder builder(options, writer.get());
    for (const Entry& entry : entries) {
      EXPECT_OK(builder.Add(entry.internal_key(), entry.name()));
    }
    EXPECT_OK(builder.Finish());
    FileMetadata meta;
    meta.epoch_number = next_number_++;
    meta.number = FileNumber{meta.epoch_number};
    meta.file_size = bytes.size();
    meta.smallest = entries.front().internal_key();
    meta.largest = entries.back().internal_key();
    meta.smallest_seqno = 1;
    meta.largest_seqno = 99;
    if (GetParam()) {
      meta.min_timestamp = builder.min_stamp();
      meta.max_timestamp = builder.max_stamp();
    }
    fs_.PutFile(TableFileName("/db", meta.number), bytes);
    return meta;
  }

  std::string Expected(const std::string& key, uint64_t ts, SequenceNumber seqno) const {
    const Entry* best = nullptr;
    for (const Table& table : all_) {
      for (const Entry& entry : table.entries) {
        if (entry.key != key || entry.ts > ts || entry.seqno > seqno) continue;
        const bool is_better = best == nullptr || entry.ts > best->ts ||
                               (entry.ts == best->ts && entry.seqno > best->seqno);
        if (is_better) best = &entry;
      }
    }
    return best == nullptr ? "none" : best->name();
  }

  std::string Find(const std::string& key, uint64_t ts, SequenceNumber seqno) {
    const std::string stamp = Entry{key, ts, seqno}.stamp();
    StampedLookup lookup(order_, {key, stamp, seqno});
    const ReadOptions options;
    StampedSearch search(*built_.version, options, &lookup);
    bool is_over;
    {
      const EpochGuard guard;
      is_over = search.RunInEpoch();
    }
    if (!is_over) search.Finish();
    if (lookup.has_given_up()) return "given up";
    lookup.Finish();
    if (lookup.asked()->outcome() == PointLookup::Outcome::kFailed) return "failed";
    return lookup.has_version() ? lookup.value().ToString() : "none";
  }

  // The first round opens the tables.
  void ExpectAll() {
    for (int round = 0; round < 2; round++) {
      for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
        for (uint64_t ts = 0; ts < 32; ts++) {
          for (const SequenceNumber seqno : {1, 10, 20, 30, 40, 99}) {
            EXPECT_EQ(Find(key, ts, seqno), Expected(key, ts, seqno))
                << key << "@" << ts << "/" << seqno;
          }
        }
      }
    }
  }

  MemoryFileSystem fs_;
  const InternalKeyComparator order_{BytewiseComparatorWithU64Ts()};
  std::unique_ptr<TableCache> tables_;
  uint64_t next_number_ = 11;
  std::vector<Table> all_;
  BuiltVersion built_;
};

// The versions of "d" lie in four tables of one level.
TEST_P(StampedSearchTest, VersionsAreFoundOnBothSidesOfABorder) {
  Build({{1, {{"a", 5, 10}, {"b", 5, 11}}},
         {1, {{"c", 5, 10}, {"d", 29, 30}}},
         {1, {{"d", 27, 10}, {"d", 26, 40}}},
         {1, {{"d", 20, 20}}},
         {1, {{"d", 4, 10}, {"e", 5, 10}}},
         {1, {{"g", 5, 10}}}});
  ExpectAll();
}

// What a level has answered says nothing about other levels, and a table that has only newer
// timestamps nothing about the next one of its level.
TEST_P(StampedSearchTest, TheBestVersionMayBeOnAnyLevel) {
  Build({{3, {{"a", 9, 1}, {"d", 20, 1}}},
         {3, {{"d", 18, 1}, {"d", 2, 1}}},
         {2, {{"d", 30, 15}}},
         {2, {{"d", 17, 12}, {"d", 15, 13}, {"e", 7, 11}}},
         {1, {{"d", 31, 25}, {"d", 29, 26}}},
         {1, {{"d", 16, 28}, {"d", 1, 21}}},
         {1, {{"e", 5, 21}}},
         {0, {{"b", 3, 35}, {"d", 12, 31}, {"f", 3, 32}}},
         {0, {{"d", 16, 41}, {"e", 9, 42}}}});
  ExpectAll();
}

// The newest tables have the oldest timestamps.
TEST_P(StampedSearchTest, TablesComeInSeveralBatches) {
  std::vector<Table> all;
  for (uint64_t i = 0; i < 40; i++) {
    all.push_back({0, {{"c", 40 - i, i + 1}, {"d", (i * 7) % 31, i + 1}, {"f", 1, i + 1}}});
  }
  for (uint64_t i = 0; i < 30; i++) all.push_back({1, {{"d", 30 - i, (i * 11) % 40 + 1}}});
  Build(all);
  ExpectAll();
}

INSTANTIATE_TEST_SUITE_P(All, StampedSearchTest, testing::Bool(), [](const auto& test) {
  return test.param ? "with_known_timestamps" : "without_known_timestamps";
});

}  // namespace
}  // namespace ashlar
