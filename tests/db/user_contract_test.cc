// SPDX-License-Identifier: Apache-2.0
//
// Behaviour that programs written for RocksDB rely on: the codes of errors, what statistics count,
// and which events listeners receive.
#include <mutex>

#include "ashlar/listener.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class UserContract : public DbTest {
 protected:
  void SetUp() override { options_.disable_auto_compactions = true; }
};

TEST_F(UserContract, ErrorsHaveTheCodesThatCallersAskFor) {
  DB* read_only = nullptr;
  EXPECT_TRUE(DB::OpenForReadOnly(options_, "/none", &read_only).IsPathNotFound());
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = env_.get();
  EXPECT_TRUE(LoadLatestOptions(config, "/none", &db_options, &families).IsNotFound());
  Open();
  EXPECT_TRUE(db_->Write(WriteOptions(), nullptr).IsInvalidArgument());
}

TEST_F(UserContract, IteratorsAreCountedWhenTheyEnd) {
  options_.statistics = CreateDBStatistics();
  Open();
  for (const char* key : {"a", "b", "c"}) Put(key, "12");
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int steps = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) steps++;
    EXPECT_EQ(steps, 3);  // the last one finds the end
    it->Seek("z");
    it->SeekToLast();
    it->Prev();
    EXPECT_EQ(Ticks(NO_ITERATOR_CREATED), 1u);
  }
  EXPECT_EQ(Ticks(NO_ITERATOR_DELETED), 1u);
  EXPECT_EQ(Ticks(NUMBER_DB_SEEK), 3u);
  EXPECT_EQ(Ticks(NUMBER_DB_SEEK_FOUND), 2u);
  EXPECT_EQ(Ticks(NUMBER_DB_NEXT), 3u);
  EXPECT_EQ(Ticks(NUMBER_DB_NEXT_FOUND), 2u);
  EXPECT_EQ(Ticks(NUMBER_DB_PREV), 1u);
  EXPECT_EQ(Ticks(NUMBER_DB_PREV_FOUND), 1u);
  EXPECT_EQ(Ticks(ITER_BYTES_READ), 15u);  // five entries of three bytes were shown
}

TEST_F(UserContract, GetAndMultiGetAreCountedApartAndTimed) {
  options_.statistics = CreateDBStatistics();
  Open();
  Put("a", "12345");
  EXPECT_EQ(Get("a"), "12345");
  std::vector<std::string> values;
  EXPECT_EQ(db_->MultiGet(ReadOptions(), std::vector<Slice>{"a", "none"}, &values).size(), 2u);
  EXPECT_EQ(Ticks(NUMBER_KEYS_READ), 1u);
  EXPECT_EQ(Ticks(BYTES_READ), 5u);
  EXPECT_EQ(Ticks(NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(Ticks(NUMBER_MULTIGET_KEYS_READ), 2u);
  EXPECT_EQ(Ticks(NUMBER_MULTIGET_KEYS_FOUND), 1u);
  EXPECT_EQ(Ticks(NUMBER_MULTIGET_BYTES_READ), 5u);
  const auto count = [&](uint32_t histogram) {
    HistogramData data;
    options_.statistics->histogramData(histogram, &data);
    return data.count;
  };
  EXPECT_EQ(count(DB_GET), 1u);
  EXPECT_EQ(count(DB_MULTIGET), 1u);
  EXPECT_EQ(count(DB_WRITE), 1u);
}

TEST_F(UserContract, ACompactionCountsWhatItDropped) {
  options_.statistics = CreateDBStatistics();
  Open();
  for (int round = 0; round < 2; round++) {
    for (const char* key : {"a", "b", "c"}) Put(key);
    Flush();
  }
  Compact();
  EXPECT_EQ(Ticks(COMPACTION_KEY_DROP_NEWER_ENTRY), 3u);
}

TEST_F(UserContract, MetadataCountsTheEntriesOfATableThatNobodyHasRead) {
  Open();
  Put("a");
  Delete("b");
  Flush();
  const std::vector<LiveFileMetaData> files = Tables();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].num_entries, 2u);
  EXPECT_EQ(files[0].num_deletions, 1u);
}

class Witness : public EventListener {
 public:
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    Note("started " + info.cf_name);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    Note((info.reason == TableFileCreationReason::kFlush ? "flush made " : "compaction made ") +
         info.cf_name + " " + info.status.ToString() + " entries " +
         std::to_string(info.table_properties.num_entries) + (info.file_size > 0 ? "" : " empty"));
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    Note("deleted " + info.status.ToString());
  }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Note("flushed"); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    Note("compacted " + std::to_string(info.input_file_infos.size()) + " to " +
         std::to_string(info.output_file_infos.size()) + " replaced " +
         std::to_string(info.stats.num_records_replaced) +
         (info.stats.is_manual_compaction ? " manual" : ""));
  }
  std::vector<std::string> notes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return notes_;
  }

 private:
  void Note(std::string text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes_.push_back(std::move(text));
  }
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

TEST_F(UserContract, ListenersAreToldOfTablesThatComeAndGoAndOfWhatACompactionDid) {
  const auto witness = std::make_shared<Witness>();
  options_.listeners = {witness};
  Open();
  for (int round = 0; round < 2; round++) {
    Put("a");
    Flush();
    // Flush() may return before the listeners have been called.
    ASSERT_OK(db_->PauseBackgroundWork());
    ASSERT_OK(db_->ContinueBackgroundWork());
  }
  Compact();
  Close();
  const std::vector<std::string> flush = {"started default", "flush made default OK entries 1",
                                          "flushed"};
  std::vector<std::string> expected = flush;
  expected.insert(expected.end(), flush.begin(), flush.end());
  expected.push_back("started default");
  expected.push_back("compaction made default OK entries 1");
  expected.push_back("compacted 2 to 1 replaced 1 manual");
  expected.insert(expected.end(), 2, "deleted OK");
  EXPECT_EQ(witness->notes(), expected);
}

}  // namespace
}  // namespace ashlar
