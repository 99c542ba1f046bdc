// SPDX-License-Identifier: Apache-2.0
//
// The level of an external file, by the tables on the levels and the running compactions.
#include "db/ingestion/ingest_place.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "db/table_cache/table_cache.h"

namespace ashlar {
namespace {

class IngestPlace : public testing::Test {
 protected:
  static TableBounds Range(const std::string& begin, const std::string& end) {
    TableBounds bounds;
    bounds.smallest = MakeInternalKey(begin, 0, kTypeValue);
    bounds.largest = MakeInternalKey(end, 0, kTypeValue);
    return bounds;
  }
  TableFile* Table(const std::string& begin, const std::string& end) {
    FileMetadata meta;
    meta.number = FileNumber{files_.size() + 1};
    meta.smallest = MakeInternalKey(begin, 9, kTypeValue);
    meta.largest = MakeInternalKey(end, 9, kTypeValue);
    return files_.emplace_back(std::make_unique<TableFile>(std::move(meta))).get();
  }
  void Put(Level level, const std::string& begin, const std::string& end) {
    Splice<TableFile*> splice;
    const auto i = static_cast<size_t>(level);
    splice.inserted.push_back({levels_[i]->files.size(), Table(begin, end)});
    levels_[i] = LevelTables::Spliced(icmp_, level, *levels_[i], splice);
  }
  void Compact(Level level, Level output_level, const std::string& begin, const std::string& end) {
    CompactionPlan& plan = plans_.emplace_back();
    plan.start_level = level;
    plan.output_level = output_level;
    plan.inputs.push_back({level, {Table(begin, end)}});
  }
  int Pick(const TableBounds& bounds, std::optional<Level> first_with_keys = std::nullopt,
           Level base_level = 1, int levels_in_use = 7) {
    const Version version(icmp_, &tables_, levels_);
    std::vector<const CompactionPlan*> running;
    for (const CompactionPlan& plan : plans_) running.push_back(&plan);
    return PickIngestLevel({.version = &version,
                            .bounds = &bounds,
                            .first_with_keys = first_with_keys,
                            .base_level = base_level,
                            .levels_in_use = levels_in_use,
                            .running = &running});
  }
  bool FitsBehind(const TableBounds& bounds) {
    const Version version(icmp_, &tables_, levels_);
    std::vector<const CompactionPlan*> running;
    for (const CompactionPlan& plan : plans_) running.push_back(&plan);
    return CheckFitsBehind({.version = &version, .bounds = &bounds, .running = &running}).ok();
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  TableCache tables_{TableCacheOptions(icmp_)};
  std::vector<std::unique_ptr<TableFile>> files_;
  Version::Levels levels_ = Version::Levels(7, std::make_shared<LevelTables>());
  std::vector<CompactionPlan> plans_;
};

TEST_F(IngestPlace, IsTheLastLevelIfNothingIsInTheWay) {
  EXPECT_EQ(Pick(Range("b", "d")), 6);
  Put(6, "e", "g");
  Put(3, "a", "z");  // has no key of the range: the file goes below
  EXPECT_EQ(Pick(Range("b", "d")), 6);
}

TEST_F(IngestPlace, IsAboveALevelThatIsKeptFree) {
  EXPECT_EQ(Pick(Range("b", "d"), std::nullopt, Level{1}, 6), 5);
  EXPECT_EQ(Pick(Range("b", "d"), Level{6}, Level{1}, 6), 5);
}

TEST_F(IngestPlace, BehindIsTheLastLevelOrNothing) {
  EXPECT_TRUE(FitsBehind(Range("b", "d")));
  Put(6, "e", "g");
  Put(5, "a", "z");
  EXPECT_TRUE(FitsBehind(Range("b", "d")));
  EXPECT_FALSE(FitsBehind(Range("b", "e")));
  Compact(6, 6, "x", "y");
  EXPECT_FALSE(FitsBehind(Range("w", "x")));
  EXPECT_TRUE(FitsBehind(Range("i", "w")));
}

TEST_F(IngestPlace, IsAboveTheFirstLevelThatHasAKey) {
  EXPECT_EQ(Pick(Range("b", "d"), Level{6}), 5);
  EXPECT_EQ(Pick(Range("b", "d"), Level{2}), 1);
  EXPECT_EQ(Pick(Range("b", "d"), Level{1}), 0);
  EXPECT_EQ(Pick(Range("b", "d"), Level{0}), 0);
}

TEST_F(IngestPlace, IsBetweenTablesAndNotAcrossThem) {
  Put(6, "a", "c");
  EXPECT_EQ(Pick(Range("c", "d")), 5);
  EXPECT_EQ(Pick(Range("d", "e")), 6);
  Put(5, "d", "d");
  EXPECT_EQ(Pick(Range("b", "e")), 4);
}

TEST_F(IngestPlace, IsNoLevelThatIsNotInUse) {
  EXPECT_EQ(Pick(Range("b", "d"), Level{6}, /*base_level=*/6), 0);
  EXPECT_EQ(Pick(Range("b", "d"), Level{6}, /*base_level=*/4), 5);
}

TEST_F(IngestPlace, IsNotWhereACompactionMayWrite) {
  Compact(5, 6, "a", "c");
  EXPECT_EQ(Pick(Range("c", "d")), 5);
  EXPECT_EQ(Pick(Range("d", "e")), 6);
  Compact(4, 5, "x", "z");
  EXPECT_EQ(Pick(Range("c", "d")), 5);
  Compact(0, 5, "d", "k");
  EXPECT_EQ(Pick(Range("c", "d")), 4);
}

TEST_F(IngestPlace, KnowsWhichRangesTouch) {
  TableBounds open_end = Range("a", "c");
  EXPECT_FALSE(EndsBefore(icmp_, open_end, Range("c", "d")));
  EXPECT_TRUE(EndsBefore(icmp_, open_end, Range("d", "e")));
  open_end.largest.clear();
  AppendInternalKey(&open_end.largest, "c", kRangeTombstoneSentinel);
  EXPECT_TRUE(EndsBefore(icmp_, open_end, Range("c", "d")));
  EXPECT_FALSE(EndsBefore(icmp_, open_end, Range("b", "d")));
}

}  // namespace
}  // namespace ashlar
