// SPDX-License-Identifier: Apache-2.0
//
// Calls with a null handle: those that need one refuse it, and what RocksDB writes into the default
// family is written there.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/experimental.h"
#include "ashlar/explain.h"
#include "ashlar/multi_scan.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/debug.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr ColumnFamilyHandle* kNone = nullptr;

struct Call {
  const char* name;
  std::function<Status(DB* db)> run;
};

Status ReadMany(DB* db, std::function<void(ColumnFamilyHandle** handles, Status* statuses)> read) {
  ColumnFamilyHandle* handles[] = {kNone, db->DefaultColumnFamily()};
  Status statuses[2];
  read(handles, statuses);
  EXPECT_OK(statuses[1]);  // the key beside it is read
  return statuses[0];
}

std::vector<Call> ReadCalls() {
  const ReadOptions read;
  return {
      {"Get",
       [=](DB* db) {
         std::string value;
         return db->Get(read, kNone, "k", &value);
       }},
      {"GetEntity",
       [=](DB* db) {
         PinnableWideColumns columns;
         return db->GetEntity(read, kNone, "k", &columns);
       }},
      {"GetEntity of groups",
       [=](DB* db) {
         PinnableAttributeGroups groups;
         groups.emplace_back(kNone);
         EXPECT_OK(db->GetEntity(read, "k", &groups));
         return groups[0].status();
       }},
      {"GetMergeOperands",
       [=](DB* db) {
         PinnableSlice operands[1];
         GetMergeOperandsOptions options;
         int count = 0;
         return db->GetMergeOperands(read, kNone, "k", operands, &options, &count);
       }},
      {"MultiGet",
       [=](DB* db) {
         const Slice keys[] = {"k", "k"};
         PinnableSlice values[2];
         return ReadMany(db, [&](ColumnFamilyHandle** handles, Status* statuses) {
           db->MultiGet(read, 2, handles, keys, values, statuses);
           EXPECT_EQ(values[0], "");
           EXPECT_EQ(values[1], "v");
         });
       }},
      {"MultiGet of one family",
       [=](DB* db) {
         const Slice key = "k";
         PinnableSlice value;
         Status status;
         db->MultiGet(read, kNone, 1, &key, &value, &status);
         return status;
       }},
      {"MultiGet into a vector",
       [=](DB* db) {
         std::vector<std::string> values;
         return db->MultiGet(read, {kNone}, {"k"}, &values)[0];
       }},
      {"MultiGetEntity",
       [=](DB* db) {
         const Slice keys[] = {"k", "k"};
         PinnableWideColumns columns[2];
         return ReadMany(db, [&](ColumnFamilyHandle** handles, Status* statuses) {
           db->MultiGetEntity(read, 2, handles, keys, columns, statuses);
           EXPECT_TRUE(columns[0].columns().empty());
         });
       }},
  };
}

std::vector<Call> MoreReadCalls() {
  const ReadOptions read;
  return {
      {"NewIterator",
       [=](DB* db) { return std::unique_ptr<Iterator>(db->NewIterator(read, kNone))->status(); }},
      {"NewIterators",
       [=](DB* db) {
         std::vector<Iterator*> iterators;
         return db->NewIterators(read, {kNone}, &iterators);
       }},
      {"NewCoalescingIterator",
       [=](DB* db) { return db->NewCoalescingIterator(read, {kNone})->status(); }},
      {"NewAttributeGroupIterator",
       [=](DB* db) { return db->NewAttributeGroupIterator(read, {kNone})->status(); }},
      {"NewMultiScan",
       [=](DB* db) {
         MultiScanArgs ranges(BytewiseComparator());
         ranges.insert("a", "z");
         return MultiScan(read, ranges, db, kNone).status();
       }},
      {"ExplainGet",
       [=](DB* db) {
         ReadExplanation explanation;
         return ExplainGet(db, read, kNone, "k", &explanation);
       }},
      {"ExplainSeek",
       [=](DB* db) {
         ReadExplanation explanation;
         return ExplainSeek(db, read, kNone, "k", &explanation);
       }},
      {"GetAllKeyVersions",
       [](DB* db) {
         std::vector<KeyVersion> versions;
         return GetAllKeyVersions(db, kNone, Slice(), Slice(), 10, &versions);
       }},
  };
}

std::vector<Call> WriteCalls() {
  const WriteOptions write;
  const WideColumns columns{{"a", "1"}};
  return {
      {"PutEntity", [=](DB* db) { return db->PutEntity(write, kNone, "k", columns); }},
      {"PutEntity of groups",
       [=](DB* db) {
         const AttributeGroups groups{AttributeGroup(db->DefaultColumnFamily(), columns),
                                      AttributeGroup(kNone, columns)};
         return db->PutEntity(write, "k", groups);
       }},
      {"PutEntity of a batch",
       [=](DB*) {
         WriteBatch batch;
         return batch.PutEntity(kNone, "k", columns);
       }},
      {"Merge", [=](DB* db) { return db->Merge(write, kNone, "k", "v"); }},
      {"Put with a timestamp", [=](DB* db) { return db->Put(write, kNone, "k", "12345678", "v"); }},
      {"Delete with a timestamp",
       [=](DB* db) { return db->Delete(write, kNone, "k", "12345678"); }},
      {"SingleDelete with a timestamp",
       [=](DB* db) { return db->SingleDelete(write, kNone, "k", "12345678"); }},
      {"DeleteRange with a timestamp",
       [=](DB* db) { return db->DeleteRange(write, kNone, "a", "b", "12345678"); }},
      {"Flush", [](DB* db) { return db->Flush(FlushOptions(), kNone); }},
      {"Flush of several",
       [](DB* db) {
         const std::vector<ColumnFamilyHandle*> handles{db->DefaultColumnFamily(), kNone};
         return db->Flush(FlushOptions(), handles);
       }},
      {"CompactRange",
       [](DB* db) { return db->CompactRange(CompactRangeOptions(), kNone, nullptr, nullptr); }},
      {"CompactFiles",
       [](DB* db) { return db->CompactFiles(CompactionOptions(), kNone, {"/000007.sst"}, 1); }},
      {"SuggestCompactRange",
       [](DB* db) { return experimental::SuggestCompactRange(db, kNone, nullptr, nullptr); }},
      {"PromoteL0", [](DB* db) { return experimental::PromoteL0(db, kNone, 1); }},
      {"ClipColumnFamily", [](DB* db) { return db->ClipColumnFamily(kNone, "a", "b"); }},
      {"DeleteFilesInRange",
       [](DB* db) { return DeleteFilesInRange(db, kNone, nullptr, nullptr); }},
      {"SetOptions",
       [](DB* db) {
         return db->SetOptions(kNone, {{"write_buffer_size", "1000000"}});
       }},
      {"SetOptions of several",
       [](DB* db) {
         return db->SetOptions({{kNone, {{"write_buffer_size", "1000000"}}}});
       }},
      {"EnableAutoCompaction", [](DB* db) { return db->EnableAutoCompaction({kNone}); }},
      {"IngestExternalFile",
       [](DB* db) { return db->IngestExternalFile(kNone, {"/f"}, IngestExternalFileOptions()); }},
      {"DropColumnFamily", [](DB* db) { return db->DropColumnFamily(kNone); }},
      {"DropColumnFamilies", [](DB* db) { return db->DropColumnFamilies({kNone}); }},
  };
}

std::vector<Call> FactCalls() {
  return {
      {"GetApproximateSizes",
       [](DB* db) {
         const Range range("a", "z");
         uint64_t bytes = 0;
         return db->GetApproximateSizes(SizeApproximationOptions(), kNone, &range, 1, &bytes);
       }},
      {"GetPropertiesOfAllTables",
       [](DB* db) {
         TablePropertiesCollection properties;
         return db->GetPropertiesOfAllTables(kNone, &properties);
       }},
      {"GetPropertiesOfTablesInRange",
       [](DB* db) {
         const Range range("a", "z");
         TablePropertiesCollection properties;
         return db->GetPropertiesOfTablesInRange(kNone, &range, 1, &properties);
       }},
      {"GetPropertiesOfTablesByLevel",
       [](DB* db) {
         std::vector<std::unique_ptr<TablePropertiesCollection>> properties;
         return db->GetPropertiesOfTablesByLevel(kNone, &properties);
       }},
      {"ExportColumnFamily",
       [](DB* db) {
         Checkpoint* created = nullptr;
         EXPECT_OK(Checkpoint::Create(db, &created));
         const std::unique_ptr<Checkpoint> checkpoint(created);
         ExportImportFilesMetaData* metadata = nullptr;
         return checkpoint->ExportColumnFamily(kNone, "/export", &metadata);
       }},
  };
}

class NullHandle : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.merge_operator = nullptr;
    ASSERT_OK(DB::Open(options, "/db", &db_));
    ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  }
  void ExpectRefused(const std::vector<Call>& calls) {
    for (const Call& call : calls) {
      const Status status = call.run(db_.get());
      EXPECT_TRUE(status.IsInvalidArgument()) << call.name << ": " << status.ToString();
    }
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), "k", &value));
    EXPECT_EQ(value, "v");
  }
  std::string Value(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  std::unique_ptr<DB> db_;
};

TEST_F(NullHandle, IsRefusedByReads) {
  ExpectRefused(ReadCalls());
  ExpectRefused(MoreReadCalls());
}

TEST_F(NullHandle, IsRefusedByWritesThatNeedAFamily) { ExpectRefused(WriteCalls()); }

TEST_F(NullHandle, IsRefusedByQuestionsWithAStatus) { ExpectRefused(FactCalls()); }

TEST_F(NullHandle, GetsNoAnswerWhereThereIsNoStatus) {
  std::string text;
  EXPECT_FALSE(db_->GetProperty(kNone, "rocksdb.stats", &text));
  std::map<std::string, std::string> map;
  EXPECT_FALSE(db_->GetMapProperty(kNone, "rocksdb.cfstats", &map));
  uint64_t number = 0;
  EXPECT_FALSE(db_->GetIntProperty(kNone, "rocksdb.estimate-num-keys", &number));
  uint64_t count = 7, bytes = 7;
  db_->GetApproximateMemTableStats(kNone, Range("a", "z"), &count, &bytes);
  EXPECT_EQ(count + bytes, 0u);
  EXPECT_EQ(db_->NumberLevels(kNone), 0);
  EXPECT_EQ(db_->Level0StopWriteTrigger(kNone), 0);
  EXPECT_EQ(db_->GetOptions(kNone).env, env_.get());
  ColumnFamilyMetaData metadata;
  metadata.name = "before";
  db_->GetColumnFamilyMetaData(kNone, &metadata);
  EXPECT_EQ(metadata.name, "");
  db_->AbortCompactions(kNone);
  EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));  // none was aborted
}

TEST_F(NullHandle, OfPlainWritesMeansTheDefaultFamilyAsInRocksDb) {
  const WriteOptions write;
  ASSERT_OK(db_->Put(write, kNone, "a", "1"));
  EXPECT_EQ(Value("a"), "1");
  ASSERT_OK(db_->Delete(write, kNone, "a"));
  EXPECT_EQ(Value("a"), "NotFound: ");
  ASSERT_OK(db_->SingleDelete(write, kNone, "k"));
  EXPECT_EQ(Value("k"), "NotFound: ");
  ASSERT_OK(db_->Put(write, kNone, "a", "2"));
  ASSERT_OK(db_->DeleteRange(write, kNone, "a", "b"));
  EXPECT_EQ(Value("a"), "NotFound: ");
}

}  // namespace
}  // namespace ashlar
