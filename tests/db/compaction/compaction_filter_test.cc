// SPDX-License-Identifier: Apache-2.0
//
// Compaction filters in databases: when they are called, with which arguments, and the effect of
// their results on values in tables and in blob files. tests/db/output/entry_filter_test.cc has the
// rules.
#include "ashlar/compaction_filter.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "ashlar/listener.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Decision = CompactionFilter::Decision;

// The value decides: "rm" is removed, "ch" becomes "changed", "grow" becomes long, "skip:KEY"
// skips, "bad" is an invalid decision. Keys that begin with "gone" are removed without their value.
class Obedient : public CompactionFilter {
 public:
  const char* Name() const override { return "Obedient"; }
  Decision FilterV2(int level, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      StrAppend(&asked_, asked_.empty() ? "" : " ", "L", level, ":", key.ToString(),
                type == kMergeOperand ? "+" : "=", value.ToString().substr(0, 8));
    }
    if (value == "rm") return Decision::kRemove;
    if (value == "bad") return Decision::kUndetermined;
    if (value.starts_with("skip:")) {
      *skip_until = value.ToString().substr(5);
      return Decision::kRemoveAndSkipUntil;
    }
    if (value != "ch" && value != "grow") return Decision::kKeep;
    *new_value = value == "ch" ? "changed" : std::string(500, 'g');
    return Decision::kChangeValue;
  }
  Decision FilterBlobByKey(int /*level*/, const Slice& key, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    return key.starts_with("gone") ? Decision::kRemove : Decision::kUndetermined;
  }
  std::string TakeAsked() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(asked_, "");
  }

 private:
  mutable std::mutex mutex_;
  mutable std::string asked_;
};

class StatsOfJobs final : public EventListener {
 public:
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = info.stats;
  }
  CompactionJobStats last() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;
  CompactionJobStats last_;
};

class CompactionFilters : public DbTest {
 protected:
  CompactionFilters() {
    options_.disable_auto_compactions = true;
    options_.compaction_filter = &filter_;
    options_.statistics = CreateDBStatistics();
    options_.listeners.push_back(jobs_);
    options_.merge_operator = NewStringAppendOperator(",");
  }
  Status Compact(
      BottommostLevelCompaction bottom = BottommostLevelCompaction::kIfHaveCompactionFilter) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = bottom;
    return db_->CompactRange(compact, nullptr, nullptr);
  }
  // All entries as "key=value", long values as their length.
  std::string RowsText(const Snapshot* snapshot = nullptr) {
    std::string text;
    for (const auto& [key, value] : ReadRows(AsOf(snapshot))) {
      StrAppend(&text, text.empty() ? "" : " ", key, "=",
                value.size() < 50 ? value : std::to_string(value.size()));
    }
    return text;
  }
  Obedient filter_;
  const std::shared_ptr<StatsOfJobs> jobs_ = std::make_shared<StatsOfJobs>();
};

// RocksDB 7.8.3 does the same with these writes, except that its flush merges the operands of m.
TEST_F(CompactionFilters, SnapshotsProtectWhatIsBehindANewerVersionAndOperands) {
  Open();
  Put("a", "old"), Put("b", "rm"), Merge("m", "1"), Merge("n", "rm"), Put("p", "base");
  Flush();
  const Snapshot* before = db_->GetSnapshot();
  Put("a", "rm"), Put("b", "ch"), Merge("m", "2"), Merge("n", "3"), Merge("p", "rm");
  Flush();
  EXPECT_EQ(filter_.TakeAsked(), "") << "flushes do not call the filter of the options";
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=rm L0:b=ch L0:m+2 L0:n+3 L0:p+rm L0:p=base");
  EXPECT_EQ(RowsText(), "b=changed m=1,2 n=rm,3 p=base");
  EXPECT_EQ(RowsText(before), "a=old b=rm m=1 n=rm p=base");
  EXPECT_EQ(Ticks(COMPACTION_KEY_DROP_USER), 2u);
  Put("q", "rm");
  const Snapshot* after = db_->GetSnapshot();
  ASSERT_OK(Compact());
  EXPECT_EQ(RowsText(after), "b=changed m=1,2 n=rm,3 p=base") << "q is gone for the snapshot too";
  db_->ReleaseSnapshot(after);
  db_->ReleaseSnapshot(before);
}

TEST_F(CompactionFilters, TheLastLevelIsRewrittenIfThereIsAFilter) {
  Open();
  Put("a", "ch"), Put("b", "rm");
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=ch L0:b=rm") << "each entry is filtered once";
  ASSERT_OK(Compact(BottommostLevelCompaction::kSkip));
  EXPECT_EQ(filter_.TakeAsked(), "");
  ASSERT_OK(Compact());
  EXPECT_NE(filter_.TakeAsked().find(":a=changed"), std::string::npos);
  options_.compaction_filter = nullptr;
  Open();
  const uint64_t written = Ticks(COMPACT_WRITE_BYTES);
  ASSERT_OK(Compact());
  EXPECT_EQ(Ticks(COMPACT_WRITE_BYTES), written);
}

// Without a filter the table would be moved from level to level.
TEST_F(CompactionFilters, ARequestedCompactionMovesNothingPastTheFilter) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    options_.compaction_options_universal.allow_trivial_move = true;
    Open();
    Put("x", "rm"), Put("y", "ch");
    ASSERT_OK(Compact(BottommostLevelCompaction::kSkip));
    EXPECT_EQ(RowsText(), "y=changed") << style;
    EXPECT_NE(filter_.TakeAsked().find("x=rm"), std::string::npos) << style;
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(CompactionFilters, SkippedEntriesAreNotCounted) {
  Open();
  Put("a", "skip:c"), Put("b", "1"), Put("c", "2"), Put("d", "rm");
  DeleteRange("e", "f");
  ASSERT_OK(Compact());
  EXPECT_EQ(RowsText(), "c=2");
  EXPECT_FALSE(jobs_->last().has_accurate_num_input_records);
  EXPECT_EQ(Ticks(COMPACTION_KEY_DROP_USER), 2u);
  Put("x", "1");
  ASSERT_OK(Compact());
  EXPECT_TRUE(jobs_->last().has_accurate_num_input_records);
}

TEST_F(CompactionFilters, ASkipMayEndWhereTheNextOneBegins) {
  Open();
  Put("k", "base");
  Flush();
  Merge("k", "skip:l");
  Flush();
  Merge("k", "B"), Put("l", "skip:m");
  Flush();
  ASSERT_OK(Compact());
  EXPECT_EQ(RowsText(), "");
  EXPECT_EQ(Get("k"), "(none)");
}

TEST_F(CompactionFilters, EachPartOfAJobIsFiltered) {
  options_.max_subcompactions = 3;
  options_.num_levels = 3;
  Open();
  for (const char* const prefix : {"a", "b", "c"}) {
    for (int i = 0; i < 50; i++) Put(StrCat(prefix, 100 + i), i % 2 == 0 ? "rm" : "ch");
    Flush();
  }
  ASSERT_OK(Compact());
  std::string expected;
  for (const char* const prefix : {"a", "b", "c"}) {
    for (int i = 1; i < 50; i += 2) StrAppend(&expected, " ", prefix, 100 + i, "=changed");
  }
  EXPECT_EQ(" " + RowsText(), expected);
  EXPECT_EQ(Ticks(COMPACTION_KEY_DROP_USER), 75u);
}

TEST_F(CompactionFilters, TheirTimeIsCountedWhereItIsAskedFor) {
  Open();
  Put("a", "1");
  ASSERT_OK(Compact());
  EXPECT_EQ(Ticks(FILTER_OPERATION_TOTAL_TIME), 0u);
  options_.statistics->set_stats_level(StatsLevel::kAll);
  Put("a", "2");
  ASSERT_OK(Compact());
  EXPECT_GT(Ticks(FILTER_OPERATION_TOTAL_TIME), 0u);
}

// Values in blob files are read unless the key decides. Removed values become garbage; long new
// values are written to blob files.
TEST_F(CompactionFilters, ValuesInBlobFiles) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  const std::string large(300, 'l');
  Put("a", large), Put("b", "grow"), Put("gone1", large), Put("gone2", "short"), Put("h", large);
  Flush();
  ASSERT_EQ(Number(DB::Properties::kNumBlobFiles), 1u);
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=llllllll L0:b=grow L0:gone2=short L0:h=llllllll");
  EXPECT_EQ(RowsText(), "a=300 b=500 gone2=short h=300");
  EXPECT_EQ(Number(DB::Properties::kNumBlobFiles), 2u);
  EXPECT_GT(Number(DB::Properties::kLiveBlobFileGarbageSize), 300u);
  EXPECT_LT(Number(DB::Properties::kLiveBlobFileGarbageSize), 400u);
  Put("a", "skip:h");
  ASSERT_OK(Compact());
  EXPECT_EQ(RowsText(), "h=300");
  EXPECT_EQ(Number(DB::Properties::kNumBlobFiles), 1u) << "skipped values are garbage too";
}

TEST_F(CompactionFilters, ABadDecisionFailsTheCallThatAskedForIt) {
  Open();
  Put("a", "1"), Put("b", "bad");
  const Status failed = Compact();
  EXPECT_TRUE(failed.IsNotSupported()) << failed.ToString();
  EXPECT_NE(failed.ToString().find("Obedient"), std::string::npos) << failed.ToString();
  EXPECT_EQ(RowsText(), "a=1 b=bad");
  Put("b", "good");
  ASSERT_OK(Compact());
  EXPECT_EQ(RowsText(), "a=1 b=good");
}

class RespectsSnapshots final : public Obedient {
 public:
  bool IgnoreSnapshots() const override { return false; }
};

TEST_F(CompactionFilters, OneThatWantsToRespectSnapshotsIsRefused) {
  const RespectsSnapshots filter;
  options_.compaction_filter = &filter;
  Open();
  Put("a", "rm");
  EXPECT_TRUE(Compact().IsNotSupported());
  EXPECT_EQ(RowsText(), "a=rm");
}

// The first column of an entity decides: "rm" removes it, "up" changes its columns, "plain" makes
// it a plain value.
class OfColumns final : public CompactionFilter {
 public:
  explicit OfColumns(bool is_v4) : is_v4_(is_v4) {}
  const char* Name() const override { return "OfColumns"; }
  bool SupportsFilterV4() const override { return is_v4_; }
  Decision FilterV4(int level, const Slice& key, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until, WideColumnBlobResolver* resolver) const override {
    EXPECT_TRUE(is_v4_);
    EXPECT_EQ(resolver != nullptr, type == kWideColumnEntity);
    if (resolver != nullptr) {
      std::vector<Slice> values;
      EXPECT_EQ(resolver->NumColumns(), columns->size());
      EXPECT_FALSE(resolver->IsBlobColumn(0));
      EXPECT_OK(resolver->ResolveColumns({0}, &values));
      EXPECT_EQ(values.front(), columns->front().value());
      EXPECT_FALSE(resolver->ResolveColumns({columns->size()}, &values).ok());
    }
    return FilterV3(level, key, type, value, columns, new_value, new_columns, skip_until);
  }
  Decision FilterV3(int /*level*/, const Slice& /*key*/, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* /*skip_until*/) const override {
    EXPECT_EQ(value == nullptr, type == kWideColumnEntity);
    EXPECT_EQ(columns != nullptr, type == kWideColumnEntity);
    if (columns == nullptr) {
      *new_columns = {{"of", value->ToString()}};
      return Decision::kChangeWideColumnEntity;
    }
    const Slice first = columns->front().value();
    if (first == "rm") return Decision::kRemove;
    *new_value = "now plain";
    if (first == "plain") return Decision::kChangeValue;
    if (first != "up") return Decision::kKeep;
    *new_columns = {{"z", "2"}, {"a", "1"}};
    return Decision::kChangeWideColumnEntity;
  }

 private:
  const bool is_v4_;
};

TEST_F(CompactionFilters, WideColumns) {
  for (const bool is_v4 : {false, true}) {
    const OfColumns filter(is_v4);
    options_.compaction_filter = &filter;
    Open();
    for (const char* const value : {"rm", "up", "plain", "stays"}) {
      const WideColumns columns = {{"a", value}, {"b", "x"}};
      ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), value, columns));
    }
    Put("value", "v");
    ASSERT_OK(Compact());
    std::unique_ptr<Iterator> entries(db_->NewIterator(ReadOptions()));
    std::string text;
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      StrAppend(&text, entries->key().ToString(), ":");
      for (const WideColumn& column : entries->columns()) {
        StrAppend(&text, " ", column.name().ToString(), "=", column.value().ToString());
      }
      text += "\n";
    }
    entries.reset();
    EXPECT_EQ(text, "plain: =now plain\nstays: a=stays b=x\nup: a=1 z=2\nvalue: of=v\n");
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
