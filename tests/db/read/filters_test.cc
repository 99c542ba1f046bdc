// SPDX-License-Identifier: Apache-2.0
//
// Filters of tables and memtables under every kind of prefix extractor: no key is ever lost to
// them, absent ones are turned away, and both are counted.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr int kKeys = 200;

// The part before the first colon; keys without one have no prefix.
class BeforeColon final : public SliceTransform {
 public:
  const char* Name() const override { return "tests.BeforeColon"; }
  bool InDomain(const Slice& key) const override {
    return key.ToStringView().find(':') != std::string_view::npos;
  }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), key.ToStringView().find(':'));
  }
};

std::string Key(int i) { return "row" + std::to_string(1000 + 20 * i) + ":column"; }
std::string NoPrefix(int i) { return "r" + std::to_string(i); }  // for all but the capped and noop
std::string Absent(int i) { return "row" + std::to_string(1010 + 20 * i) + ":column"; }

struct ExtractorCase {
  const char* name;
  const SliceTransform* (*make)();
};
const ExtractorCase kExtractors[] = {
    {"none", [] { return static_cast<const SliceTransform*>(nullptr); }},
    {"fixed", [] { return NewFixedPrefixTransform(7); }},
    {"capped", [] { return NewCappedPrefixTransform(7); }},
    {"noop", [] { return NewNoopTransform(); }},
    {"custom", [] { return static_cast<const SliceTransform*>(new BeforeColon); }},
};

class FiltersTest : public testing::Test {
 protected:
  FiltersTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    options_.write_buffer_size = 1 << 20;
    SetBits(10, /*whole_keys=*/true);
  }
  void SetBits(double bits, bool whole_keys) {
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(bits));
    table.whole_key_filtering = whole_keys;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void OpenEmpty() {
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
    Open();
  }
  void Fill(const std::string& value) {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), Key(i), value));
      ASSERT_OK(db_->Put(WriteOptions(), NoPrefix(i), value));
    }
    ASSERT_OK(db_->Put(WriteOptions(), "s:last", value));  // absent keys lie before it
  }
  void ExpectAll(const std::string& value, const char* what) {
    std::string found;
    for (int i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Get(ReadOptions(), Key(i), &found)) << what;
      ASSERT_EQ(found, value) << what;
      ASSERT_OK(db_->Get(ReadOptions(), NoPrefix(i), &found)) << what;
      ASSERT_EQ(found, value) << what;
    }
  }
  void LookForAbsentKeys() {
    std::string value;
    for (int i = 0; i < kKeys; i++) {
      ASSERT_TRUE(db_->Get(ReadOptions(), Absent(i), &value).IsNotFound());
    }
  }
  uint64_t Take(Tickers ticker) { return options_.statistics->getAndResetTickerCount(ticker); }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(FiltersTest, TablesFindEveryKeyAndTurnAbsentOnesAway) {
  for (const ExtractorCase& extractor : kExtractors) {
    for (const bool whole_keys : {true, false}) {
      options_.prefix_extractor.reset(extractor.make());
      SetBits(10, whole_keys);
      OpenEmpty();
      Fill("v");
      ASSERT_OK(db_->Flush(FlushOptions()));
      ExpectAll("v", extractor.name);
      Take(BLOOM_FILTER_USEFUL), Take(BLOOM_FILTER_PREFIX_USEFUL);
      Take(BLOOM_FILTER_PREFIX_CHECKED), Take(BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
      LookForAbsentKeys();
      const bool has_prefixes = !whole_keys && options_.prefix_extractor != nullptr;
      const uint64_t of_keys = Take(BLOOM_FILTER_USEFUL);
      const uint64_t of_prefixes = Take(BLOOM_FILTER_PREFIX_USEFUL);
      // Of 200, at one false positive in a hundred.
      EXPECT_TRUE(whole_keys ? of_keys > 180 : of_keys == 0) << of_keys;
      EXPECT_TRUE(has_prefixes ? of_prefixes > 180 : of_prefixes == 0) << of_prefixes;
      EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_CHECKED), has_prefixes ? uint64_t{kKeys} : 0u);
      EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
    }
  }
}

TEST_F(FiltersTest, PositivesOfPrefixFiltersAreCountedForKeysThatHaveAPrefix) {
  options_.prefix_extractor.reset(new BeforeColon);
  SetBits(10, /*whole_keys=*/false);
  Open();
  Fill("v");
  ASSERT_OK(db_->Flush(FlushOptions()));
  ExpectAll("v", "custom");
  EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_CHECKED), uint64_t{kKeys});
  EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), uint64_t{kKeys});
  EXPECT_EQ(Take(BLOOM_FILTER_FULL_POSITIVE), 0u);
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "row1000:other", &value).IsNotFound());
  EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_CHECKED), 1u);
  EXPECT_EQ(Take(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
}

// One family after the other with each extractor, over the tables of all before it.
TEST_F(FiltersTest, TablesOfOtherExtractorsAreReadAndTheirFiltersStayInUse) {
  SetBits(10, /*whole_keys=*/false);
  Open();
  for (const ExtractorCase& writer : kExtractors) {
    options_.prefix_extractor.reset(writer.make());
    OpenEmpty();
    Fill(writer.name);
    ASSERT_OK(db_->Flush(FlushOptions()));
    for (const ExtractorCase& reader : kExtractors) {
      options_.prefix_extractor.reset(reader.make());
      Open();
      ExpectAll(writer.name, reader.name);
      Take(BLOOM_FILTER_PREFIX_USEFUL);
      LookForAbsentKeys();
      // The program's own extractor is known only while the family has it.
      const std::string name = writer.name;
      const bool is_known = name != "none" && (name != "custom" || name == reader.name);
      const uint64_t useful = Take(BLOOM_FILTER_PREFIX_USEFUL);
      EXPECT_TRUE(is_known ? useful > 180 : useful == 0) << useful;
    }
  }
}

TEST_F(FiltersTest, MemtablesFindEveryKeyAndTurnAbsentOnesAway) {
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  PerfContext& perf = *get_perf_context();
  SetPerfLevel(kEnableCount);
  for (const ExtractorCase& extractor : kExtractors) {
    for (const bool whole_keys : {true, false}) {
      options_.prefix_extractor.reset(extractor.make());
      options_.memtable_whole_key_filtering = whole_keys;
      OpenEmpty();
      Fill("v");
      perf.Reset();
      ExpectAll("v", extractor.name);
      const bool has_filter = whole_keys || options_.prefix_extractor != nullptr;
      EXPECT_EQ(perf.bloom_memtable_miss_count, 0u);
      EXPECT_EQ(perf.bloom_memtable_hit_count > 0, has_filter) << extractor.name;
      perf.Reset();
      LookForAbsentKeys();
      EXPECT_EQ(perf.bloom_memtable_miss_count > 190, has_filter) << extractor.name;
      EXPECT_EQ(perf.bloom_memtable_miss_count + perf.bloom_memtable_hit_count,
                has_filter ? uint64_t{kKeys} : 0u);
    }
  }
}

TEST_F(FiltersTest, MemtableFiltersHideNeitherTombstonesNorOlderVersions) {
  options_.memtable_prefix_bloom_size_ratio = 0.25;
  options_.memtable_whole_key_filtering = true;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(7));
  Open();
  Fill("old");
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->Delete(WriteOptions(), Key(7)));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), NoPrefix(7)));
  for (int i = 20; i < 40; i++) ASSERT_OK(db_->Delete(WriteOptions(), Key(i)));  // for good
  ASSERT_OK(db_->Put(WriteOptions(), Key(8), "new"));
  const Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->Put(WriteOptions(), Key(7), "again"));
  ASSERT_OK(db_->Put(WriteOptions(), Key(8), "newer"));
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), NoPrefix(7), &value).IsNotFound());
  for (int i = 20; i < 40; i++) {
    EXPECT_TRUE(db_->Get(ReadOptions(), Key(i), &value).IsNotFound()) << i;
  }
  ASSERT_OK(db_->Get(ReadOptions(), Key(7), &value));
  EXPECT_EQ(value, "again");
  ReadOptions then;
  then.snapshot = snapshot;
  EXPECT_TRUE(db_->Get(then, Key(7), &value).IsNotFound());
  ASSERT_OK(db_->Get(then, Key(8), &value));
  EXPECT_EQ(value, "new");
  ASSERT_OK(db_->Get(then, Key(9), &value));
  EXPECT_EQ(value, "old");
  db_->ReleaseSnapshot(snapshot);
}

// A memtable keeps the extractor it began with; the next one takes the new one.
TEST_F(FiltersTest, MemtablesKeepTheirExtractorWhenTheFamilyGetsAnother) {
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(4));
  Open();
  Fill("first");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:7"}}));
  ExpectAll("first", "before the switch");
  Fill("second");
  ExpectAll("second", "mixed");
  ASSERT_OK(db_->Flush(FlushOptions()));
  Fill("third");
  ExpectAll("third", "after the switch");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "nullptr"}}));
  Open();
  ExpectAll("third", "replayed");
}

TEST_F(FiltersTest, TheLastLevelHasNoFilterIfReadsMostlyHit) {
  options_.optimize_filters_for_hits = true;
  Open();
  Fill("v");
  ASSERT_OK(db_->Flush(FlushOptions()));
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_GT(tables.begin()->second->filter_size, 0u);  // of level 0
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->Put(WriteOptions(), Key(0), "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  tables.clear();
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->filter_size, 0u);
  ExpectAll("v", "without a filter");
  Take(BLOOM_FILTER_USEFUL);
  LookForAbsentKeys();
  EXPECT_EQ(Take(BLOOM_FILTER_USEFUL), 0u);
}

// A small run above a large one gets more bits for each of its keys.
TEST_F(FiltersTest, ASmallRunAboveALargeOneGetsMoreBitsPerKey) {
  options_.write_buffer_size = 16 << 20;
  Open();
  const auto fill = [this](int keys) {
    for (int i = 0; i < keys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(20, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  };
  fill(20000);
  fill(1000);
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 2u);
  for (const auto& [name, properties] : tables) {
    const double bits = 8.0 * static_cast<double>(properties->filter_size) /
                        static_cast<double>(properties->num_entries);
    if (properties->num_entries == 20000) {
      EXPECT_NEAR(bits, 10, 0.1);
    }
    if (properties->num_entries == 1000) {
      EXPECT_GT(bits, 13);
    }
  }
}

// Where files stay as they were flushed, Ribbon is worth its work at once.
TEST_F(FiltersTest, FlushedFilesThatStayGetRibbon) {
  constexpr int kMany = 5000;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewRibbonFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal,
                                      kCompactionStyleFIFO, kCompactionStyleNone}) {
    options_.compaction_style = style;
    OpenEmpty();
    for (int i = 0; i < kMany; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    TablePropertiesCollection tables;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    // Bloom takes ten bits a key, Ribbon about seven.
    const bool is_ribbon = tables.begin()->second->filter_size < kMany * 9u / 8;
    EXPECT_EQ(is_ribbon, style == kCompactionStyleFIFO || style == kCompactionStyleNone) << style;
  }
}

TEST_F(FiltersTest, HitsAreCountedByTheLevelThatHadTheKey) {
  using Hits = std::array<uint64_t, 4>;
  const auto hits_of_a_read = [this] {
    std::string value;
    Take(MEMTABLE_HIT), Take(GET_HIT_L0), Take(GET_HIT_L1), Take(GET_HIT_L2_AND_UP);
    EXPECT_OK(db_->Get(ReadOptions(), Key(1), &value));
    return Hits{Take(MEMTABLE_HIT), Take(GET_HIT_L0), Take(GET_HIT_L1), Take(GET_HIT_L2_AND_UP)};
  };
  for (const int levels : {2, 7}) {
    options_.num_levels = levels;
    OpenEmpty();
    Fill("v");
    EXPECT_EQ(hits_of_a_read(), (Hits{1, 0, 0, 0}));
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(hits_of_a_read(), (Hits{0, 1, 0, 0}));
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    const Hits of_last_level = levels == 2 ? Hits{0, 0, 1, 0} : Hits{0, 0, 0, 1};
    EXPECT_EQ(hits_of_a_read(), of_last_level);
    ASSERT_OK(db_->Put(WriteOptions(), NoPrefix(0), "v"));
    ASSERT_OK(db_->Put(WriteOptions(), "s:last", "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(hits_of_a_read(), of_last_level);  // the newer table has keys on both sides only
    std::vector<std::string> values;
    db_->MultiGet(ReadOptions(), {"r0", "r1", "r2"}, &values);
    EXPECT_EQ(Take(GET_HIT_L0), 1u);
    EXPECT_EQ(Take(GET_HIT_L1) + Take(GET_HIT_L2_AND_UP), 2u);
    ASSERT_OK(db_->Delete(WriteOptions(), Key(1)));
    ASSERT_OK(db_->Flush(FlushOptions()));
    Take(GET_HIT_L0);
    std::string value;
    EXPECT_TRUE(db_->Get(ReadOptions(), Key(1), &value).IsNotFound());
    EXPECT_EQ(Take(GET_HIT_L0), 0u);  // a tombstone is no hit
  }
}

}  // namespace
}  // namespace ashlar
