// SPDX-License-Identifier: Apache-2.0
//
// DBWithTTL: stored bytes, expiry in compactions, families, and options. ttl_reads_test.cc has the
// reads.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "tests/db/utilities/ttl/ttl_fixture.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

// Removes the value "drop", changes "change", and notes the lengths of what it sees.
class NotingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "NotingFilter"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice& existing_value,
                    std::string* new_value, std::string*) const override {
    seen->append(existing_value.ToString() + " ");
    if (existing_value == "drop") return Decision::kRemove;
    if (existing_value != "change") return Decision::kKeep;
    *new_value = "changed";
    return Decision::kChangeValue;
  }
  std::string* seen = nullptr;
};

class NotingFactory final : public CompactionFilterFactory {
 public:
  explicit NotingFactory(std::string* seen) : seen_(seen) {}
  const char* Name() const override { return "NotingFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    auto filter = std::make_unique<NotingFilter>();
    filter->seen = seen_;
    return filter;
  }

 private:
  std::string* const seen_;
};

TEST_F(TtlTest, ValuesEndInTheTimeOfTheirWrite) {
  OpenTtl(100);
  const auto before = static_cast<uint32_t>(Now());
  Put("k", "value");
  EXPECT_EQ(Get("k"), "value");
  OpenPlain();
  const std::string stored = Get("k");
  ASSERT_EQ(stored.size(), 9u);
  EXPECT_EQ(stored.substr(0, 5), "value");
  const uint32_t time = DecodeFixed32(stored.data() + 5);
  EXPECT_GE(time, before);
  EXPECT_LE(time, Now());
}

TEST_F(TtlTest, CompactionsRemoveExpiredValues) {
  OpenTtl(100);
  Put("old", "1");
  Pass(60);
  Put("young", "2");
  Pass(60);
  EXPECT_EQ(Scan(), "old=1 young=2");
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "young=2");
  Pass(60);
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "");
}

TEST_F(TtlTest, ValuesLiveForAllOfTheirLastSecond) {
  OpenTtl(1 << 20);
  Put("k", "1");
  std::string written;
  {
    std::unique_ptr<Iterator> it(db_->NewIterator({}));
    it->SeekToFirst();
    ASSERT_OK(it->GetProperty("ashlar.ttl.write-time", &written));
  }
  // The clock runs on by itself, so the TTL ends a long time after this second or has ended.
  Pass(std::stoll(written) + (1 << 20) - 600 - Now());
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "1");
  Pass(601);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "(none)");
}

TEST_F(TtlTest, NothingExpiresWithoutATtl) {
  for (const int32_t ttl : {0, -5}) {
    OpenTtl(ttl);
    Put("k", "1");
    Pass(1'000'000);
    CompactAndRewrite();
    EXPECT_EQ(Get("k"), "1");
  }
}

TEST_F(TtlTest, SetTtlChangesLaterCompactions) {
  OpenTtl(0);
  Put("k", "1");
  Pass(100);
  ttl_db_->SetTtl(10);
  int32_t ttl = 0;
  ASSERT_OK(ttl_db_->GetTtl(db_->DefaultColumnFamily(), &ttl));
  EXPECT_EQ(ttl, 10);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "(none)");
  EXPECT_TRUE(ttl_db_->GetTtl(nullptr, &ttl).IsInvalidArgument());
  ttl_db_->SetTtl(nullptr, 10);
}

TEST_F(TtlTest, FamiliesHaveTtlsOfTheirOwn) {
  OpenTtl({"default", "short"}, {0, 10});
  ColumnFamilyHandle* late = nullptr;
  ASSERT_OK(ttl_db_->CreateColumnFamilyWithTtl(options_, "late", &late, 1000));
  handles_.push_back(late);
  ColumnFamilyHandle* forever = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "forever", &forever));
  handles_.push_back(forever);
  for (ColumnFamilyHandle* family : handles_) Put(family, "k", "1");
  Pass(500);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (ColumnFamilyHandle* family : handles_) {
    ASSERT_OK(db_->CompactRange(all, family, nullptr, nullptr));
  }
  EXPECT_EQ(Get(handles_[0], "k"), "1");
  EXPECT_EQ(Get(handles_[1], "k"), "(none)");
  EXPECT_EQ(Get(handles_[2], "k"), "1");
  EXPECT_EQ(Get(handles_[3], "k"), "1");
  ttl_db_->SetTtl(forever, 7);
  int32_t ttl = 0;
  ASSERT_OK(ttl_db_->GetTtl(forever, &ttl));
  EXPECT_EQ(ttl, 7);
  ASSERT_OK(ttl_db_->GetTtl(late, &ttl));
  EXPECT_EQ(ttl, 1000);
}

// The families of two databases have the same numbers.
TEST_F(TtlTest, AHandleOfAnotherDatabaseSetsNothing) {
  OpenTtl({"default", "f"}, {10, 20});
  DBWithTTL* opened = nullptr;
  std::vector<ColumnFamilyHandle*> theirs;
  ASSERT_OK(DBWithTTL::Open(options_, "/other", {{"default", options_}, {"f", options_}}, &theirs,
                            &opened, {30, 40}));
  const std::unique_ptr<DBWithTTL> other(opened);
  int32_t ttl = 0;
  uint64_t property = 0;
  for (size_t i = 0; i < handles_.size(); i++) {
    ttl_db_->SetTtl(theirs[i], 7);
    EXPECT_TRUE(ttl_db_->GetTtl(theirs[i], &ttl).IsInvalidArgument());
    EXPECT_FALSE(ttl_db_->GetIntProperty(theirs[i], "ashlar.ttl", &property));
    ASSERT_OK(ttl_db_->GetTtl(handles_[i], &ttl));
    EXPECT_EQ(ttl, i == 0 ? 10 : 20);
    ASSERT_OK(other->GetTtl(theirs[i], &ttl));
    EXPECT_EQ(ttl, i == 0 ? 30 : 40);
  }
  for (ColumnFamilyHandle* family : theirs) ASSERT_OK(other->DestroyColumnFamilyHandle(family));
}

TEST_F(TtlTest, EveryFamilyNeedsATtl) {
  DBWithTTL* opened = nullptr;
  std::vector<ColumnFamilyHandle*> handles;
  const Status status =
      DBWithTTL::Open(options_, dir_, {{kDefaultColumnFamilyName, options_}, {"f", options_}},
                      &handles, &opened, {1});
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(opened, nullptr);
}

TEST_F(TtlTest, TheUsersFilterSeesValuesWithoutTimes) {
  std::string seen;
  NotingFilter filter;
  filter.seen = &seen;
  for (const bool by_factory : {false, true}) {
    seen.clear();
    options_.compaction_filter = by_factory ? nullptr : &filter;
    options_.compaction_filter_factory =
        by_factory ? std::make_shared<NotingFactory>(&seen) : nullptr;
    OpenTtl(100);
    Put("a", "old");
    Pass(200);
    Put("b", "drop");
    Put("c", "change");
    Pass(50);
    CompactAndRewrite();
    EXPECT_EQ(seen, "drop change ");
    EXPECT_EQ(Scan(), "c=changed");
    Pass(60);  // the changed value kept its time
    CompactAndRewrite();
    EXPECT_EQ(Scan(), "");
    ttl_db_->SetTtl(5);
    Put("d", "1");
    Pass(6);
    CompactAndRewrite();
    EXPECT_EQ(Scan(), "");
    Drop();
  }
}

TEST_F(TtlTest, ValuesInBlobFilesExpire) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 10;
  OpenTtl(100);
  const std::string large(100, 'x');
  Put("a", large);
  Flush();
  Pass(60);
  Put("b", large);
  Flush();
  Pass(60);
  EXPECT_EQ(Get("a"), large);
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "b=" + large);
}

TEST_F(TtlTest, MergesRenewTheLifeOfAValue) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTtl(100);
  Put("k", "1");
  Flush();
  Pass(80);
  Merge("k", "2");
  Merge("k", "3");
  EXPECT_EQ(Get("k"), "1,2,3");
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "1,2,3");
  Pass(80);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "1,2,3");
  Pass(80);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "(none)");
}

TEST_F(TtlTest, MergesKeepTheTimeOfTheNewestOperandIfAsked) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTtl(100, {.merge_keeps_time = true});
  Put("k", "1");
  Merge("k", "2");
  Pass(80);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "1,2");
  Pass(80);
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "(none)");
}

TEST_F(TtlTest, AMergeWithAnOperandThatIsTooShortFails) {
  options_.merge_operator = NewStringAppendOperator(",");
  Open();
  Put("value", "abc");
  Merge("operand", "abc");
  OpenTtl(0);
  Merge("value", "1");
  std::string value;
  EXPECT_TRUE(db_->Get({}, "value", &value).IsCorruption());
  EXPECT_TRUE(db_->Get({}, "operand", &value).IsCorruption());
}

TEST_F(TtlTest, BatchesPassAllKindsOfRecords) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTtl(0);
  for (const char* key : {"delete", "single", "range1", "range2"}) Put(key, "1");
  WriteBatch batch;
  ASSERT_OK(batch.Put("put", "2"));
  ASSERT_OK(batch.Merge("merge", "3"));
  ASSERT_OK(batch.Delete("delete"));
  ASSERT_OK(batch.SingleDelete("single"));
  ASSERT_OK(batch.DeleteRange("range1", "range3"));
  ASSERT_OK(batch.PutLogData("blob"));
  Write(&batch);
  EXPECT_EQ(Scan(), "merge=3 put=2");
  EXPECT_EQ(batch.Count(), 5u);  // the program's batch is unchanged
  OpenTtl(0);
  EXPECT_EQ(Scan(), "merge=3 put=2");
}

TEST_F(TtlTest, OnlyTheFirstPartOfABatchIsLoggedIfItSaysSo) {
  OpenTtl(0);
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("b", "2"));
  Write(&batch);
  EXPECT_EQ(Scan(), "a=1 b=2");
  options_.avoid_flush_during_shutdown = true;
  ASSERT_OK(db_->SetDBOptions({{"avoid_flush_during_shutdown", "true"}}));
  OpenTtl(0);
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(TtlTest, WideColumnsAreRefusedInEveryForm) {
  OpenTtl(0);
  EXPECT_TRUE(db_->PutEntity({}, db_->DefaultColumnFamily(), "k", {{"a", "1"}}).IsNotSupported());
  EXPECT_TRUE(
      db_->PutEntity({}, "k",
                     AttributeGroups{AttributeGroup(db_->DefaultColumnFamily(), {{"a", "1"}})})
          .IsNotSupported());
  WriteBatch batch;
  ASSERT_OK(batch.PutEntity(db_->DefaultColumnFamily(), "k", {{"a", "1"}}));
  ASSERT_OK(batch.Put("other", "1"));
  EXPECT_TRUE(db_->Write({}, &batch).IsNotSupported());
  EXPECT_TRUE(
      db_->IngestWriteBatchWithIndex({}, std::make_shared<WriteBatchWithIndex>()).IsNotSupported());
  EXPECT_EQ(Scan(), "");
}

// Turns every value into columns.
class ToColumnsFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "ToColumnsFilter"; }
  Decision FilterV3(int, const Slice&, ValueType, const Slice*, const WideColumns*, std::string*,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string*) const override {
    *new_columns = {{"", "default"}, {"a", "1"}};
    return Decision::kChangeWideColumnEntity;
  }
};

TEST_F(TtlTest, WideColumnsOfAFilterAreRefused) {
  const ToColumnsFilter filter;
  options_.compaction_filter = &filter;
  OpenTtl(0);
  Put("k", "value");
  const Status status = db_->CompactRange({}, nullptr, nullptr);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_EQ(Get("k"), "value");
  EXPECT_EQ(Scan(), "k=value");
  Drop();
}

TEST_F(TtlTest, WritesWithoutATimestampAreRefusedWhereKeysHaveOne) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  OpenTtl(0);
  EXPECT_TRUE(db_->Put({}, "k", "1").IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put(db_->DefaultColumnFamily(), "k", "1"));
  EXPECT_TRUE(db_->Write({}, &batch).IsInvalidArgument());
  std::string stamp;
  EncodeU64Ts(7, &stamp);
  ASSERT_OK(batch.UpdateTimestamps(stamp, [](uint32_t) { return size_t{8}; }));
  ASSERT_OK(db_->Write({}, &batch));
  const Slice at(stamp);
  ReadOptions read;
  read.timestamp = &at;
  EXPECT_EQ(Get("k", read), "1");
}

TEST_F(TtlTest, ABatchWithAWrongChecksumIsRefused) {
  OpenTtl(0);
  WriteBatch batch(0, 0, /*protection_bytes_per_key=*/8, 0);
  ASSERT_OK(batch.Put("k", "value"));
  const_cast<std::string&>(batch.Data()).back() ^= 1;
  EXPECT_TRUE(db_->Write({}, &batch).IsCorruption());
  WriteBatch good(0, 0, /*protection_bytes_per_key=*/8, 0);
  ASSERT_OK(good.Put("k", "value"));
  Write(&good);
  EXPECT_EQ(Get("k"), "value");
}

TEST_F(TtlTest, AClockBeforeAnyTimeOfWriteRefusesWrites) {
  OpenTtl(0);
  Pass(-Now() + 1000);
  EXPECT_TRUE(db_->Put({}, "k", "1").IsInvalidArgument());
}

TEST_F(TtlTest, OptionsFilesNameTheWrappersAsRocksDbDoes) {
  options_.merge_operator = NewStringAppendOperator(",");
  std::string seen;
  NotingFilter filter;
  filter.seen = &seen;
  OpenTtl(77);
  const Options wrapped = db_->GetOptions();
  const ConfigOptions config;
  EXPECT_EQ(wrapped.merge_operator->ToString(config),
            "{id=TtlMergeOperator;user_operator={id=StringAppendOperator;delimiter=,;};}");
  EXPECT_EQ(wrapped.compaction_filter_factory->ToString(config),
            "{id=TtlCompactionFilterFactory;user_filter_factory=nullptr;ttl=77;}");
  options_.compaction_filter = &filter;
  OpenTtl(77);
  EXPECT_EQ(db_->GetOptions().compaction_filter->ToString(config),
            "{id=TtlCompactionFilter;ttl=77;user_filter=NotingFilter;}");
}

TEST_F(TtlTest, AnOptionsFileBringsTheWrappedObjectsBack) {
  options_.merge_operator = NewStringAppendOperator("-");
  OpenTtl(100);
  Merge("k", "1");
  Drop();
  ConfigOptions config;
  config.env = env_.get();
  config.ignore_unsupported_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, dir_, &db_options, &families));
  options_.merge_operator = families.at(0).options.merge_operator;
  options_.compaction_filter_factory = families.at(0).options.compaction_filter_factory;
  ASSERT_NE(options_.merge_operator, nullptr);
  OpenTtl(77);
  Merge("k", "2");
  EXPECT_EQ(Get("k"), "1-2");
  EXPECT_EQ(db_->GetOptions().compaction_filter_factory->ToString(ConfigOptions()),
            "{id=TtlCompactionFilterFactory;user_filter_factory=nullptr;ttl=77;}");
}

TEST_F(TtlTest, OptionsOfAnOpenDatabaseCanOpenItAgain) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTtl(100);
  Put("k", "1");
  options_ = db_->GetOptions();
  OpenTtl(100);
  Merge("k", "2");
  EXPECT_EQ(Get("k"), "1,2");
  EXPECT_EQ(db_->GetOptions().merge_operator->ToString(ConfigOptions()),
            "{id=TtlMergeOperator;user_operator={id=StringAppendOperator;delimiter=,;};}");
}

TEST_F(TtlTest, AReadOnlyDatabaseRefusesWrites) {
  OpenTtl(100);
  Put("k", "1");
  OpenTtl(100, {}, /*read_only=*/true);
  EXPECT_EQ(Get("k"), "1");
  EXPECT_TRUE(db_->Put({}, "k", "2").IsNotSupported());
}

}  // namespace
}  // namespace ashlar
