// SPDX-License-Identifier: Apache-2.0
//
// Compaction filters in databases: when they are asked, what they are told, and what their answers
// do to values in tables and in blob files. tests/db/output/entry_filter_test.cc has the rules.
#include "ashlar/compaction_filter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Decision = CompactionFilter::Decision;

// Obeys what values say: "rm", "ch" (becomes "changed"), "skip:KEY", "bad"; "grow" becomes long.
// Keys that begin with "gone" need no value.
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

class CompactionFilters : public testing::Test {
 protected:
  CompactionFilters() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compaction_filter = &filter_;
    options_.statistics = CreateDBStatistics();
    options_.listeners.push_back(jobs_);
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  Status Compact(
      BottommostLevelCompaction bottom = BottommostLevelCompaction::kIfHaveCompactionFilter) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = bottom;
    return db_->CompactRange(compact, nullptr, nullptr);
  }
  // All entries, long values as their length.
  std::string Contents(const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    const std::unique_ptr<Iterator> entries(db_->NewIterator(read));
    std::string text;
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      const std::string value = entries->value().ToString();
      StrAppend(&text, text.empty() ? "" : " ", entries->key().ToString(), "=",
                value.size() < 50 ? value : std::to_string(value.size()));
    }
    EXPECT_OK(entries->status());
    return text;
  }
  uint64_t Count(uint32_t ticker) { return options_.statistics->getTickerCount(ticker); }
  uint64_t Property(const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(name, &value)) << name;
    return value;
  }

  Obedient filter_;
  const std::shared_ptr<StatsOfJobs> jobs_ = std::make_shared<StatsOfJobs>();
  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

// What RocksDB 7.8.3 does with the same writes, but that its flush merges the operands of m.
TEST_F(CompactionFilters, SnapshotsProtectWhatIsBehindANewerVersionAndOperands) {
  Open();
  Put("a", "old"), Put("b", "rm"), Merge("m", "1"), Merge("n", "rm"), Put("p", "base");
  Flush();
  const Snapshot* before = db_->GetSnapshot();
  Put("a", "rm"), Put("b", "ch"), Merge("m", "2"), Merge("n", "3"), Merge("p", "rm");
  Flush();
  EXPECT_EQ(filter_.TakeAsked(), "") << "flushes do not ask the filter of the options";
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=rm L0:b=ch L0:m+2 L0:n+3 L0:p+rm L0:p=base");
  EXPECT_EQ(Contents(), "b=changed m=1,2 n=rm,3 p=base");
  EXPECT_EQ(Contents(before), "a=old b=rm m=1 n=rm p=base");
  EXPECT_EQ(Count(COMPACTION_KEY_DROP_USER), 2u);
  Put("q", "rm");
  const Snapshot* after = db_->GetSnapshot();
  ASSERT_OK(Compact());
  EXPECT_EQ(Contents(after), "b=changed m=1,2 n=rm,3 p=base") << "q is gone for the snapshot too";
  db_->ReleaseSnapshot(after);
  db_->ReleaseSnapshot(before);
}

TEST_F(CompactionFilters, TheLastLevelIsRewrittenIfThereIsAFilter) {
  Open();
  Put("a", "ch"), Put("b", "rm");
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=ch L0:b=rm") << "and once is enough";
  ASSERT_OK(Compact(BottommostLevelCompaction::kSkip));
  EXPECT_EQ(filter_.TakeAsked(), "");
  ASSERT_OK(Compact());
  EXPECT_NE(filter_.TakeAsked().find(":a=changed"), std::string::npos);
  options_.compaction_filter = nullptr;
  Open();
  const uint64_t written = Count(COMPACT_WRITE_BYTES);
  ASSERT_OK(Compact());
  EXPECT_EQ(Count(COMPACT_WRITE_BYTES), written);
}

// The table could just be moved from level to level.
TEST_F(CompactionFilters, ARequestedCompactionMovesNothingPastTheFilter) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    options_.compaction_options_universal.allow_trivial_move = true;
    Open();
    Put("x", "rm"), Put("y", "ch");
    ASSERT_OK(Compact(BottommostLevelCompaction::kSkip));
    EXPECT_EQ(Contents(), "y=changed") << style;
    EXPECT_NE(filter_.TakeAsked().find("x=rm"), std::string::npos) << style;
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(CompactionFilters, SkippedEntriesAreNotCounted) {
  Open();
  Put("a", "skip:c"), Put("b", "1"), Put("c", "2"), Put("d", "rm");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "e", "f"));
  ASSERT_OK(Compact());
  EXPECT_EQ(Contents(), "c=2");
  EXPECT_FALSE(jobs_->last().has_accurate_num_input_records);
  EXPECT_EQ(Count(COMPACTION_KEY_DROP_USER), 2u);
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
  EXPECT_EQ(Contents(), "");
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "k", &value).IsNotFound()) << value;
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
  EXPECT_EQ(" " + Contents(), expected);
  EXPECT_EQ(Count(COMPACTION_KEY_DROP_USER), 75u);
}

TEST_F(CompactionFilters, TheirTimeIsCountedWhereItIsAskedFor) {
  Open();
  Put("a", "1");
  ASSERT_OK(Compact());
  EXPECT_EQ(Count(FILTER_OPERATION_TOTAL_TIME), 0u);
  options_.statistics->set_stats_level(StatsLevel::kAll);
  Put("a", "2");
  ASSERT_OK(Compact());
  EXPECT_GT(Count(FILTER_OPERATION_TOTAL_TIME), 0u);
}

// Values of blob files are read unless the key decides; what goes is garbage, what comes is written
// apart if it is long.
TEST_F(CompactionFilters, ValuesInBlobFiles) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  const std::string large(300, 'l');
  Put("a", large), Put("b", "grow"), Put("gone1", large), Put("gone2", "short"), Put("h", large);
  Flush();
  ASSERT_EQ(Property(DB::Properties::kNumBlobFiles), 1u);
  ASSERT_OK(Compact());
  EXPECT_EQ(filter_.TakeAsked(), "L0:a=llllllll L0:b=grow L0:gone2=short L0:h=llllllll");
  EXPECT_EQ(Contents(), "a=300 b=500 gone2=short h=300");
  EXPECT_EQ(Property(DB::Properties::kNumBlobFiles), 2u);
  EXPECT_GT(Property(DB::Properties::kLiveBlobFileGarbageSize), 300u);
  EXPECT_LT(Property(DB::Properties::kLiveBlobFileGarbageSize), 400u);
  Put("a", "skip:h");
  ASSERT_OK(Compact());
  EXPECT_EQ(Contents(), "h=300");
  EXPECT_EQ(Property(DB::Properties::kNumBlobFiles), 1u) << "what was skipped is garbage too";
}

TEST_F(CompactionFilters, ABadDecisionFailsTheCallThatAskedForIt) {
  Open();
  Put("a", "1"), Put("b", "bad");
  const Status failed = Compact();
  EXPECT_TRUE(failed.IsNotSupported()) << failed.ToString();
  EXPECT_NE(failed.ToString().find("Obedient"), std::string::npos) << failed.ToString();
  EXPECT_EQ(Contents(), "a=1 b=bad");
  Put("b", "good");
  ASSERT_OK(Compact());
  EXPECT_EQ(Contents(), "a=1 b=good");
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
  EXPECT_EQ(Contents(), "a=rm");
}

// Entities: "rm" in the first column drops one, "up" adds a column, "plain" makes it a value.
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
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
