// SPDX-License-Identifier: Apache-2.0
//
// Filters of tables and memtables with every kind of prefix extractor: they never hide a key, they
// reject absent keys, and both are counted.
#include <array>
#include <utility>

#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/slice_transform.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr int kFilteredKeys = 200;

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

class FiltersTest : public DbTest {
 protected:
  static std::string Key(int i) { return "row" + std::to_string(1000 + 20 * i) + ":column"; }
  // A key without prefix for all extractors but "capped" and "noop".
  static std::string NoPrefix(int i) { return "r" + std::to_string(i); }
  static std::string Absent(int i) { return "row" + std::to_string(1010 + 20 * i) + ":column"; }

  FiltersTest() {
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
  void OpenEmpty() {
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
    Open();
  }
  void Fill(const std::string& value) {
    for (int i = 0; i < kFilteredKeys; i++) {
      Put(Key(i), value);
      Put(NoPrefix(i), value);
    }
    Put("s:last", value);  // absent keys are smaller
  }
  void ExpectAll(const std::string& value, const char* what) {
    for (int i = 0; i < kFilteredKeys; i++) {
      ASSERT_EQ(Get(Key(i)), value) << what;
      ASSERT_EQ(Get(NoPrefix(i)), value) << what;
    }
  }
  void LookForAbsentKeys() {
    for (int i = 0; i < kFilteredKeys; i++) ASSERT_EQ(Get(Absent(i)), "(none)");
  }
};

TEST_F(FiltersTest, TablesFindEveryKeyAndTurnAbsentOnesAway) {
  for (const ExtractorCase& extractor : kExtractors) {
    for (const bool whole_keys : {true, false}) {
      options_.prefix_extractor.reset(extractor.make());
      SetBits(10, whole_keys);
      OpenEmpty();
      Fill("v");
      Flush();
      ExpectAll("v", extractor.name);
      TakeTicks(BLOOM_FILTER_USEFUL), TakeTicks(BLOOM_FILTER_PREFIX_USEFUL);
      TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
      LookForAbsentKeys();
      const bool has_prefixes = !whole_keys && options_.prefix_extractor != nullptr;
      const uint64_t of_keys = TakeTicks(BLOOM_FILTER_USEFUL);
      const uint64_t of_prefixes = TakeTicks(BLOOM_FILTER_PREFIX_USEFUL);
      // Of 200 keys, with one false positive in a hundred.
      EXPECT_TRUE(whole_keys ? of_keys > 180 : of_keys == 0) << of_keys;
      EXPECT_TRUE(has_prefixes ? of_prefixes > 180 : of_prefixes == 0) << of_prefixes;
      EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED),
                has_prefixes ? uint64_t{kFilteredKeys} : 0u);
      EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
    }
  }
}

TEST_F(FiltersTest, PositivesOfPrefixFiltersAreCountedForKeysThatHaveAPrefix) {
  options_.prefix_extractor.reset(new BeforeColon);
  SetBits(10, /*whole_keys=*/false);
  Open();
  Fill("v");
  Flush();
  ExpectAll("v", "custom");
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), uint64_t{kFilteredKeys});
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), uint64_t{kFilteredKeys});
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_FULL_POSITIVE), 0u);
  EXPECT_EQ(Get("row1000:other"), "(none)");
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 1u);
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
}

// Tables are written with each extractor and read with each extractor.
TEST_F(FiltersTest, TablesOfOtherExtractorsAreReadAndTheirFiltersStayInUse) {
  SetBits(10, /*whole_keys=*/false);
  Open();
  for (const ExtractorCase& writer : kExtractors) {
    options_.prefix_extractor.reset(writer.make());
    OpenEmpty();
    Fill(writer.name);
    Flush();
    for (const ExtractorCase& reader : kExtractors) {
      options_.prefix_extractor.reset(reader.make());
      Open();
      ExpectAll(writer.name, reader.name);
      TakeTicks(BLOOM_FILTER_PREFIX_USEFUL);
      LookForAbsentKeys();
      // An extractor of the program is known only while the family has it.
      const std::string name = writer.name;
      const bool is_known = name != "none" && (name != "custom" || name == reader.name);
      const uint64_t useful = TakeTicks(BLOOM_FILTER_PREFIX_USEFUL);
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
                has_filter ? uint64_t{kFilteredKeys} : 0u);
    }
  }
}

TEST_F(FiltersTest, MemtableFiltersHideNeitherTombstonesNorOlderVersions) {
  options_.memtable_prefix_bloom_size_ratio = 0.25;
  options_.memtable_whole_key_filtering = true;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(7));
  Open();
  Fill("old");
  Flush();
  Delete(Key(7));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), NoPrefix(7)));
  for (int i = 20; i < 40; i++) Delete(Key(i));  // not written again
  Put(Key(8), "new");
  const Snapshot* snapshot = db_->GetSnapshot();
  Put(Key(7), "again");
  Put(Key(8), "newer");
  EXPECT_EQ(Get(NoPrefix(7)), "(none)");
  for (int i = 20; i < 40; i++) EXPECT_EQ(Get(Key(i)), "(none)") << i;
  EXPECT_EQ(Get(Key(7)), "again");
  EXPECT_EQ(Get(Key(7), AsOf(snapshot)), "(none)");
  EXPECT_EQ(Get(Key(8), AsOf(snapshot)), "new");
  EXPECT_EQ(Get(Key(9), AsOf(snapshot)), "old");
  db_->ReleaseSnapshot(snapshot);
}

// A memtable keeps its extractor; the next memtable has the new one.
TEST_F(FiltersTest, MemtablesKeepTheirExtractorWhenTheFamilyGetsAnother) {
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(4));
  Open();
  Fill("first");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:7"}}));
  ExpectAll("first", "before the switch");
  Fill("second");
  ExpectAll("second", "mixed");
  Flush();
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
  Flush();
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_GT(tables.begin()->second->filter_size, 0u);  // a table of level 0
  Compact();
  Put(Key(0), "v");
  Flush();
  CompactAndRewrite();
  tables.clear();
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->filter_size, 0u);
  ExpectAll("v", "without a filter");
  TakeTicks(BLOOM_FILTER_USEFUL);
  LookForAbsentKeys();
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_USEFUL), 0u);
}

// A small run above a large one gets more bits for each of its keys.
TEST_F(FiltersTest, ASmallRunAboveALargeOneGetsMoreBitsPerKey) {
  options_.write_buffer_size = 16 << 20;
  Open();
  const auto fill = [this](int keys) {
    for (int i = 0; i < keys; i++) Put(Key(i), std::string(20, 'v'));
    Flush();
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

// If flushed files are not compacted, Ribbon filters are worth their cost at once.
TEST_F(FiltersTest, FlushedFilesThatStayGetRibbon) {
  constexpr int kMany = 5000;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewRibbonFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal,
                                      kCompactionStyleFIFO, kCompactionStyleNone}) {
    options_.compaction_style = style;
    OpenEmpty();
    for (int i = 0; i < kMany; i++) Put(Key(i), "v");
    Flush();
    TablePropertiesCollection tables;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    // A Bloom filter has ten bits for each key, a Ribbon filter about seven.
    const bool is_ribbon = tables.begin()->second->filter_size < kMany * 9u / 8;
    EXPECT_EQ(is_ribbon, style == kCompactionStyleFIFO || style == kCompactionStyleNone) << style;
  }
}

TEST_F(FiltersTest, HitsAreCountedByTheLevelThatHadTheKey) {
  using Hits = std::array<uint64_t, 4>;
  const auto hits_of_a_read = [this] {
    TakeTicks(MEMTABLE_HIT), TakeTicks(GET_HIT_L0), TakeTicks(GET_HIT_L1),
        TakeTicks(GET_HIT_L2_AND_UP);
    EXPECT_EQ(Get(Key(1)), "v");
    return Hits{TakeTicks(MEMTABLE_HIT), TakeTicks(GET_HIT_L0), TakeTicks(GET_HIT_L1),
                TakeTicks(GET_HIT_L2_AND_UP)};
  };
  for (const int levels : {2, 7}) {
    options_.num_levels = levels;
    OpenEmpty();
    Fill("v");
    EXPECT_EQ(hits_of_a_read(), (Hits{1, 0, 0, 0}));
    Flush();
    EXPECT_EQ(hits_of_a_read(), (Hits{0, 1, 0, 0}));
    Compact();
    const Hits of_last_level = levels == 2 ? Hits{0, 0, 1, 0} : Hits{0, 0, 0, 1};
    EXPECT_EQ(hits_of_a_read(), of_last_level);
    Put(NoPrefix(0), "v");
    Put("s:last", "v");
    Flush();
    EXPECT_EQ(hits_of_a_read(), of_last_level);  // the newer table only has keys on both sides
    std::vector<std::string> values;
    db_->MultiGet(ReadOptions(), {"r0", "r1", "r2"}, &values);
    EXPECT_EQ(TakeTicks(GET_HIT_L0), 1u);
    EXPECT_EQ(TakeTicks(GET_HIT_L1) + TakeTicks(GET_HIT_L2_AND_UP), 2u);
    Delete(Key(1));
    Flush();
    TakeTicks(GET_HIT_L0);
    EXPECT_EQ(Get(Key(1)), "(none)");
    EXPECT_EQ(TakeTicks(GET_HIT_L0), 0u);  // a tombstone does not count as a hit
  }
}

}  // namespace
}  // namespace ashlar
