// SPDX-License-Identifier: Apache-2.0
//
// The forms of the public calls: raw and unique pointers, with and without a handle, strings and
// pinned slices, through a wrapper. Calls that are not built return their names in the error.
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/stackable_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"

namespace ashlar {

namespace {

Options CreatingOptions() {
  Options options;
  options.create_if_missing = true;
  return options;
}

class DbForms : public DbTest {
 protected:
  DbForms() { Open(); }
};

// Counts calls of Put() and forwards all calls.
class CountingDb : public StackableDB {
 public:
  using StackableDB::Put;
  using StackableDB::StackableDB;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override {
    ++puts;
    return StackableDB::Put(options, column_family, key, value);
  }
  int puts = 0;
};

}  // namespace

TEST(DbOpenForms, RawPointerAndUniquePointer) {
  const std::string dir = FreshTempDir("db_open_forms") + "/db";
  using OldOpen = Status (*)(const Options&, const std::string&, DB**);
  const OldOpen old_open = static_cast<OldOpen>(&DB::Open);
  DB* raw = nullptr;
  ASSERT_OK(old_open(CreatingOptions(), dir, &raw));
  ASSERT_NE(raw, nullptr);
  delete raw;
  std::unique_ptr<DB> owned;
  ASSERT_OK(DB::Open(Options(), dir, &owned));
  owned.reset();

  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(DBOptions(), dir, {ColumnFamilyDescriptor()}, &handles, &raw));
  ASSERT_EQ(handles.size(), 1u);
  EXPECT_EQ(handles[0]->GetName(), "default");
  EXPECT_OK(raw->DestroyColumnFamilyHandle(handles[0]));
  EXPECT_TRUE(raw->DestroyColumnFamilyHandle(raw->DefaultColumnFamily()).IsInvalidArgument());
  delete raw;
}

TEST(DbOpenForms, FailureLeavesNull) {
  const std::string dir = FreshTempDir("db_open_failure") + "/missing";
  DB* raw = reinterpret_cast<DB*>(8);
  EXPECT_FALSE(DB::Open(Options(), dir, &raw).ok());
  EXPECT_EQ(raw, nullptr);
}

TEST_F(DbForms, ReadIntoStringsAndSlices) {
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  std::string value = "old";
  EXPECT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "value");
  EXPECT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "key", &value));
  PinnableSlice pinned;
  EXPECT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "key", &pinned));
  EXPECT_EQ(pinned, Slice("value"));
  EXPECT_TRUE(db_->Get(ReadOptions(), "other", &value).IsNotFound());
}

TEST_F(DbForms, VectorMultiGetSizesItsResults) {
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), "c", std::string(5000, '3')));
  std::vector<std::string> values{"old"};
  const std::vector<Slice> keys{"a", "b", "c"};
  std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_OK(statuses[2]);
  EXPECT_EQ(values, (std::vector<std::string>{"1", "", std::string(5000, '3')}));
  statuses = db_->MultiGet(ReadOptions(), {db_->DefaultColumnFamily()}, keys, &values);
  EXPECT_TRUE(statuses.at(0).IsInvalidArgument());
}

TEST_F(DbForms, WritesWithoutHandleGoToTheDefaultFamily) {
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "2"));
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), db_->DefaultColumnFamily(), "b"));
  EXPECT_EQ(Scan(), "");
}

TEST_F(DbForms, ManagedSnapshotPinsAndReleases) {
  Put("k", "old");
  {
    ManagedSnapshot snapshot(db_.get());
    Put("k", "new");
    EXPECT_EQ(Get("k", AsOf(snapshot.snapshot())), "old");
    EXPECT_TRUE(db_->Close().IsAborted());
  }
  EXPECT_OK(db_->Close());
}

TEST_F(DbForms, MultiScanVisitsItsRanges) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, key);
  MultiScanArgs ranges(BytewiseComparator());
  ranges.insert("a", "c");
  ranges.insert("d", "e");
  std::string seen;
  auto scans = db_->NewMultiScan(ReadOptions(), db_->DefaultColumnFamily(), ranges);
  for (; scans->Valid(); scans->NextRange()) {
    for (; scans->InRange(); scans->iterator()->Next()) seen += scans->iterator()->key().ToString();
    seen += ";";
  }
  EXPECT_OK(scans->status());
  EXPECT_EQ(seen, "ab;d;");
}

TEST_F(DbForms, OverrideInAWrapperServesEveryForm) {
  CountingDb wrapper(db_.release());
  ASSERT_OK(wrapper.Put(WriteOptions(), "a", "1"));
  ASSERT_OK(static_cast<DB&>(wrapper).Put(WriteOptions(), wrapper.DefaultColumnFamily(), "b", "2"));
  EXPECT_EQ(wrapper.puts, 2);
  std::string value;
  EXPECT_OK(wrapper.Get(ReadOptions(), "b", &value));
  EXPECT_EQ(value, "2");
  EXPECT_EQ(wrapper.GetRootDB(), wrapper.GetBaseDB());
  EXPECT_EQ(wrapper.GetName(), dir_);
}

TEST_F(DbForms, AsyncReadsCallBackOnce) {
  class Callback : public DB::AsyncCallback {
   public:
    void OnComplete(const PerfContext*, const IOStatsContext*) override { ++calls; }
    int calls = 0;
  };
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  Callback callback;
  Status status;
  std::string value;
  db_->GetAsync(ReadOptions(), "k", &value, status, callback);
  EXPECT_OK(status);
  EXPECT_EQ(value, "v");
  EXPECT_EQ(callback.calls, 1);
}

TEST_F(DbForms, WhatIsNotBuiltNamesItself) {
  std::string newest;
  const Status status = db_->GetNewestUserDefinedTimestamp(db_->DefaultColumnFamily(), &newest);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("GetNewestUserDefinedTimestamp"), std::string::npos)
      << status.ToString();
}

TEST(PropertyNames, AreTheKnownOnes) {
  EXPECT_EQ(DB::Properties::kStats, "rocksdb.stats");
  EXPECT_EQ(DB::Properties::kNumFilesAtLevelPrefix, "rocksdb.num-files-at-level");
  EXPECT_EQ(DB::Properties::kBlobCachePinnedUsage, "rocksdb.blob-cache-pinned-usage");
  EXPECT_EQ(kDefaultColumnFamilyName, "default");
}

}  // namespace ashlar
