// SPDX-License-Identifier: Apache-2.0
//
// The facts that listeners receive about flushes, compactions, tables, memtables and stalls are
// true: numbers are compared with the operations of the test, files with those that exist.
#include <atomic>
#include <functional>
#include <mutex>
#include <set>

#include "ashlar/listener.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/level0_tables.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Keeps all calls in their order.
class FactRecorder final : public EventListener {
 public:
  void OnMemTableSealed(const MemTableInfo& info) override {
    Note(StrCat("sealed ", info.cf_name));
    Keep(&sealed, info);
  }
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    CallBack(db);
    Note(StrCat("flush ", info.cf_name));
    Keep(&flush_begun, info);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    CallBack(db);
    Note(StrCat("flushed ", info.cf_name));
    Keep(&flushed, info);
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    CallBack(db);
    Note("compaction");
    Keep(&compaction_begun, info);
  }
  void OnCompactionPreCommit(DB* db, const CompactionJobInfo& info) override {
    CallBack(db);
    Note("compaction written");
    Keep(&compaction_written, info);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    CallBack(db);
    Note("compacted");
    Keep(&compacted, info);
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override { Keep(&part_begun, info); }
  void OnSubcompactionCompleted(const SubcompactionJobInfo& info) override {
    Keep(&part_ended, info);
  }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    Note(StrCat("table of ", info.reason == TableFileCreationReason::kFlush ? "flush" : "other"));
    Keep(&table_begun, info);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override { Keep(&created, info); }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override { Keep(&deleted, info); }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    if (on_stall) on_stall();
    Keep(&stalls, info);
  }

  std::vector<std::string> Notes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return notes_;
  }
  template <typename T>
  std::vector<T> All(const std::vector<T>& list) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return list;
  }

  std::function<void()> on_stall;
  std::vector<MemTableInfo> sealed;
  std::vector<FlushJobInfo> flush_begun, flushed;
  std::vector<CompactionJobInfo> compaction_begun, compaction_written, compacted;
  std::vector<SubcompactionJobInfo> part_begun, part_ended;
  std::vector<TableFileCreationBriefInfo> table_begun;
  std::vector<TableFileCreationInfo> created;
  std::vector<TableFileDeletionInfo> deleted;
  std::vector<WriteStallInfo> stalls;

 private:
  void Note(const std::string& note) {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes_.push_back(note);
  }
  template <typename T>
  void Keep(std::vector<T>* list, const T& info) {
    EXPECT_FALSE(InEpoch());
    const std::lock_guard<std::mutex> lock(mutex_);
    list->push_back(info);
  }
  // Would not return if the caller held the DB mutex.
  static void CallBack(DB* db) {
    uint64_t number = 0;
    EXPECT_TRUE(db->GetIntProperty("rocksdb.num-live-versions", &number));
  }

  std::mutex mutex_;
  std::vector<std::string> notes_;
};

class ListenerFactsTest : public DbTest {
 protected:
  ListenerFactsTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.listeners = {told_};
  }
  void Open() { DbTest::Open({"default", "other"}); }
  void Put(int family, int first, int last) {
    for (int i = first; i <= last; i++) {
      DbTest::Put(handles_[size_t(family)], StrCat("key", 1000 + i), std::string(100, 'v'));
    }
  }
  void Flush(int family) { DbTest::Flush(handles_[size_t(family)]); }
  void Compact(int family) { DbTest::Compact(handles_[size_t(family)]); }
  uint64_t SizeOf(const std::string& path) {
    uint64_t bytes = 0;
    EXPECT_OK(env_->GetFileSize(path, &bytes)) << path;
    return bytes;
  }

  const std::shared_ptr<FactRecorder> told_ = std::make_shared<FactRecorder>();
};

TEST_F(ListenerFactsTest, OfASealedMemTable) {
  Open();
  Put(0, 1, 3);
  Put(1, 1, 2);
  Delete(handles_[1], "key1001");
  Flush(1);
  Put(0, 4, 4);
  Flush(0);
  Put(1, 7, 7);
  Flush(1);
  Close();
  const auto sealed = told_->All(told_->sealed);
  ASSERT_EQ(sealed.size(), 3u);
  EXPECT_EQ(sealed[0].cf_name, "other");
  EXPECT_EQ(sealed[0].first_seqno, 4u);
  EXPECT_EQ(sealed[0].earliest_seqno, 0u);
  EXPECT_EQ(sealed[0].num_entries, 3u);
  EXPECT_EQ(sealed[0].num_deletes, 1u);
  EXPECT_EQ(sealed[1].cf_name, "default");
  EXPECT_EQ(sealed[1].first_seqno, 1u);
  EXPECT_EQ(sealed[1].num_entries, 4u);
  EXPECT_EQ(sealed[1].num_deletes, 0u);
  EXPECT_EQ(sealed[2].first_seqno, 8u);
  EXPECT_EQ(sealed[2].earliest_seqno, 6u) << "the sequence number when the one before was sealed";
}

TEST_F(ListenerFactsTest, OfTheFirstMemTableOfAFamilyThatCameLater) {
  Open();
  Put(0, 1, 7);
  ColumnFamilyHandle* const late = CreateFamily("late");
  DbTest::Put(late, "key", "value");
  DbTest::Flush(late);
  const auto sealed = told_->All(told_->sealed);
  ASSERT_EQ(sealed.size(), 1u);
  EXPECT_EQ(sealed[0].first_seqno, 8u);
  EXPECT_EQ(sealed[0].earliest_seqno, 7u) << "the sequence number when the family was created";
}

TEST_F(ListenerFactsTest, OfAFlushThatMakesNoTable) {
  Open();
  Put(1, 1, 1);
  ASSERT_OK(db_->SingleDelete(WriteOptions(), handles_[1], "key1001"));
  Flush(1);
  ASSERT_EQ(TableCount(0, handles_[1]), 0);
  const auto flushed = told_->All(told_->flushed);
  ASSERT_EQ(told_->All(told_->flush_begun).size(), 1u);
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].cf_name, "other");
  EXPECT_EQ(flushed[0].flush_reason, FlushReason::kManualFlush);
  EXPECT_EQ(flushed[0].table_properties.num_entries, 0u);
  EXPECT_GT(flushed[0].smallest_seqno, flushed[0].largest_seqno) << "the range of no entry";
  EXPECT_TRUE(env_->FileExists(flushed[0].file_path).IsNotFound());
  const auto created = told_->All(told_->created);
  ASSERT_EQ(created.size(), 1u);
  EXPECT_TRUE(created[0].status.IsAborted()) << created[0].status.ToString();
}

TEST_F(ListenerFactsTest, AMemTableIsSealedBeforeItIsFlushed) {
  options_.write_buffer_size = 64 << 10;
  Open();
  Put(0, 1, 2000);
  Flush(0);
  Close();
  int sealed = 0, begun = 0;
  for (const std::string& note : told_->Notes()) {
    sealed += note == "sealed default" ? 1 : 0;
    begun += note == "flush default" ? 1 : 0;
    EXPECT_GE(sealed, begun);
  }
  EXPECT_GT(begun, 2);
}

TEST_F(ListenerFactsTest, OfAFlush) {
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 3;
  Open();
  for (int i = 0; i < 3; i++) {
    Put(1, 1, 5);
    Flush(1);
  }
  Close();
  const auto flushed = told_->All(told_->flushed);
  const auto begun = told_->All(told_->flush_begun);
  const auto created = told_->All(told_->created);
  ASSERT_EQ(flushed.size(), 3u);
  ASSERT_EQ(begun.size(), 3u);
  ASSERT_EQ(created.size(), 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(flushed[i].cf_name, "other");
    EXPECT_EQ(flushed[i].cf_id, 1u);
    EXPECT_EQ(flushed[i].flush_reason, FlushReason::kManualFlush);
    EXPECT_EQ(flushed[i].smallest_seqno, 5 * i + 1);
    EXPECT_EQ(flushed[i].largest_seqno, 5 * i + 5);
    EXPECT_EQ(flushed[i].table_properties.num_entries, 5u);
    EXPECT_NE(flushed[i].thread_id, 0u);
    EXPECT_EQ(flushed[i].triggered_writes_slowdown, i >= 1);
    EXPECT_EQ(flushed[i].triggered_writes_stop, i >= 2);
    EXPECT_EQ(begun[i].job_id, flushed[i].job_id);
    EXPECT_EQ(begun[i].file_number, flushed[i].file_number);
    EXPECT_EQ(created[i].job_id, flushed[i].job_id);
    EXPECT_EQ(created[i].file_path, flushed[i].file_path);
    EXPECT_EQ(created[i].file_size, SizeOf(flushed[i].file_path));
    EXPECT_EQ(created[i].reason, TableFileCreationReason::kFlush);
    if (i > 0) {
      EXPECT_GT(flushed[i].job_id, flushed[i - 1].job_id);
    }
  }
}

TEST_F(ListenerFactsTest, OfACompaction) {
  options_.target_file_size_base = 20 << 10;  // several outputs
  Open();
  Put(0, 1, 300);
  Flush(0);
  Put(0, 201, 500);
  for (int i = 1; i <= 10; i++) Delete(StrCat("key", 1000 + i));
  Flush(0);
  Compact(0);
  Close();
  const auto compacted = told_->All(told_->compacted);
  ASSERT_EQ(compacted.size(), 1u);
  const CompactionJobInfo& info = compacted[0];
  EXPECT_EQ(info.cf_name, "default");
  EXPECT_OK(info.status);
  EXPECT_FALSE(info.aborted);
  EXPECT_NE(info.thread_id, 0u);
  EXPECT_EQ(info.base_input_level, 0);
  EXPECT_GT(info.output_level, 0);
  EXPECT_EQ(info.num_l0_files, 2);
  EXPECT_EQ(info.compaction_reason, CompactionReason::kManualCompaction);
  EXPECT_EQ(info.compression, kNoCompression);
  const auto flushed = told_->All(told_->flushed);
  ASSERT_EQ(flushed.size(), 2u);
  const std::set<std::string> inputs(info.input_files.begin(), info.input_files.end());
  EXPECT_EQ(inputs, (std::set<std::string>{flushed[0].file_path, flushed[1].file_path}));
  ASSERT_GT(info.output_files.size(), 1u);
  EXPECT_EQ(info.table_properties.size(), 2 + info.output_files.size());
  uint64_t entries = 0, bytes = 0;
  for (size_t i = 0; i < info.output_files.size(); i++) {
    EXPECT_EQ(info.output_file_infos[i].level, info.output_level);
    entries += info.table_properties.at(info.output_files[i])->num_entries;
    bytes += SizeOf(info.output_files[i]);
  }
  for (const CompactionFileInfo& input : info.input_file_infos) EXPECT_EQ(input.level, 0);
  EXPECT_EQ(entries, 490u);
  const CompactionJobStats& stats = info.stats;
  EXPECT_EQ(stats.num_input_records, 610u);
  EXPECT_EQ(stats.num_output_records, 490u);
  EXPECT_EQ(stats.num_input_deletion_records, 10u);
  EXPECT_EQ(stats.num_expired_deletion_records, 10u);
  EXPECT_EQ(stats.num_records_replaced, 110u);
  EXPECT_EQ(stats.total_input_raw_key_bytes, 610u * (7 + 8));
  EXPECT_EQ(stats.total_input_raw_value_bytes, 600u * 100);
  EXPECT_EQ(stats.num_input_files, 2u);
  EXPECT_EQ(stats.num_input_files_at_output_level, 0u);
  EXPECT_EQ(stats.num_output_files, info.output_files.size());
  EXPECT_EQ(stats.total_output_bytes, bytes);
  uint64_t input_bytes = 0;
  for (const auto& table : told_->All(told_->created)) {
    if (inputs.contains(table.file_path)) input_bytes += table.file_size;
  }
  EXPECT_EQ(stats.total_input_bytes, input_bytes);
  EXPECT_EQ(stats.smallest_output_key_prefix, "key1011");
  EXPECT_EQ(stats.largest_output_key_prefix, "key1500");
  EXPECT_TRUE(stats.is_full_compaction);
  EXPECT_TRUE(stats.is_manual_compaction);
  EXPECT_GT(stats.elapsed_micros, 0u);
}

TEST_F(ListenerFactsTest, OfTheStepsOfACompaction) {
  options_.target_file_size_base = 20 << 10;
  options_.max_subcompactions = 2;
  Open();
  for (int i = 0; i < 3; i++) {
    Put(0, 1 + 100 * i, 300 + 100 * i);
    Flush(0);
  }
  Compact(0);
  Close();
  const auto begun = told_->All(told_->compaction_begun);
  const auto written = told_->All(told_->compaction_written);
  const auto compacted = told_->All(told_->compacted);
  ASSERT_EQ(begun.size(), 1u);
  ASSERT_EQ(written.size(), 1u);
  ASSERT_EQ(compacted.size(), 1u);
  const int job_id = begun[0].job_id;
  EXPECT_EQ(written[0].job_id, job_id);
  EXPECT_EQ(compacted[0].job_id, job_id);
  EXPECT_EQ(begun[0].input_files, compacted[0].input_files);
  EXPECT_EQ(begun[0].table_properties.size(), 3u) << "of the inputs";
  EXPECT_TRUE(begun[0].output_files.empty());
  EXPECT_EQ(written[0].output_files, compacted[0].output_files);
  // Each subcompaction begins and ends once, and together they process all records.
  const auto parts = told_->All(told_->part_ended);
  ASSERT_EQ(parts.size(), told_->All(told_->part_begun).size());
  ASSERT_EQ(parts.size(), 2u);
  uint64_t records = 0;
  std::set<int> numbers;
  for (const SubcompactionJobInfo& part : parts) {
    EXPECT_EQ(part.job_id, job_id);
    EXPECT_OK(part.status);
    EXPECT_EQ(part.output_level, compacted[0].output_level);
    numbers.insert(part.subcompaction_job_id);
    records += part.stats.num_input_records;
  }
  EXPECT_EQ(numbers, (std::set<int>{0, 1}));
  EXPECT_EQ(records, compacted[0].stats.num_input_records);
  // Each output table is begun and created once; the inputs are deleted.
  std::multiset<std::string> begun_paths, created_paths, output_paths;
  for (const auto& table : told_->All(told_->table_begun)) {
    if (table.reason == TableFileCreationReason::kCompaction) begun_paths.insert(table.file_path);
  }
  for (const auto& table : told_->All(told_->created)) {
    if (table.reason != TableFileCreationReason::kCompaction) continue;
    EXPECT_EQ(table.job_id, job_id);
    EXPECT_EQ(table.cf_name, "default");
    EXPECT_EQ(table.file_size, SizeOf(table.file_path));
    created_paths.insert(table.file_path);
  }
  output_paths.insert(compacted[0].output_files.begin(), compacted[0].output_files.end());
  EXPECT_EQ(begun_paths, output_paths);
  EXPECT_EQ(created_paths, output_paths);
  std::set<std::string> gone;
  for (const auto& table : told_->All(told_->deleted)) {
    EXPECT_OK(table.status);
    EXPECT_EQ(table.db_name, "/db");
    EXPECT_GT(table.job_id, 0);
    gone.insert(table.file_path);
  }
  const auto& inputs = compacted[0].input_files;
  EXPECT_EQ(gone, std::set<std::string>(inputs.begin(), inputs.end()));
}

TEST_F(ListenerFactsTest, OfBlobsAndSingleDeletesInACompaction) {
  options_.enable_blob_files = true;
  options_.blob_compression_type = kLZ4Compression;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  Put(0, 1, 3);
  Flush(0);
  ASSERT_OK(db_->SingleDelete(WriteOptions(), handles_[0], "key1001"));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), handles_[0], "never there"));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), handles_[0], "twice"));
  Flush(0);
  ASSERT_OK(db_->SingleDelete(WriteOptions(), handles_[0], "twice"));
  Flush(0);
  Compact(0);
  Close();
  const auto compacted = told_->All(told_->compacted);
  ASSERT_EQ(compacted.size(), 1u);
  EXPECT_EQ(compacted[0].blob_compression_type, kLZ4Compression);
  const auto parts = told_->All(told_->part_ended);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].blob_compression_type, kLZ4Compression);
  EXPECT_EQ(compacted[0].stats.num_blobs_read, 2u) << "the blobs that were moved";
  EXPECT_EQ(compacted[0].stats.num_single_del_fallthru, 1u);
  EXPECT_EQ(compacted[0].stats.num_single_del_mismatch, 1u);
  EXPECT_EQ(compacted[0].stats.num_corrupt_keys, 0u);
}

TEST_F(ListenerFactsTest, OfAMove) {
  options_.level_compaction_dynamic_level_bytes = false;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  Open();
  Put(0, 1, 10);
  Flush(0);
  WaitForJobs();
  Close();
  const auto compacted = told_->All(told_->compacted);
  ASSERT_EQ(compacted.size(), 1u);
  const CompactionJobInfo& info = compacted[0];
  EXPECT_EQ(info.compaction_reason, CompactionReason::kLevelL0FilesNum);
  EXPECT_EQ(info.input_files, info.output_files);
  ASSERT_EQ(info.output_file_infos.size(), 1u);
  EXPECT_EQ(info.output_file_infos[0].level, 1);
  EXPECT_EQ(info.output_file_infos[0].file_number, info.input_file_infos[0].file_number);
  EXPECT_EQ(info.table_properties.size(), 1u);
  EXPECT_EQ(info.stats.num_input_files_trivially_moved, 1u);
  EXPECT_EQ(info.stats.num_input_records, 0u);
  EXPECT_EQ(info.stats.total_output_bytes, 0u);
  EXPECT_EQ(told_->All(told_->created).size(), 1u) << "by the flush";
}

// One family with tables on level 0: slowed down at 2, stopped at 3, normal after a compaction.
TEST_F(ListenerFactsTest, OfStalls) {
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 3;
  options_.disable_auto_compactions = false;
  std::atomic<int> calls{0};
  told_->on_stall = [&] {
    calls++;
    if (db_ == nullptr) return;               // during the open
    EXPECT_NE(Property("ashlar.state"), "");  // takes the DB mutex
  };
  Open();
  ASSERT_NO_FATAL_FAILURE(WriteLevel0(db_.get(), handles_[1], 3));
  Close();
  const auto stalls = told_->All(told_->stalls);
  using enum WriteStallCondition;
  const std::vector<WriteStallCondition> expected = {kNormal, kDelayed, kStopped, kNormal};
  ASSERT_EQ(stalls.size(), expected.size() - 1);
  for (size_t i = 0; i < stalls.size(); i++) {
    EXPECT_EQ(stalls[i].cf_name, "other");
    EXPECT_EQ(stalls[i].condition.prev, expected[i]) << i;
    EXPECT_EQ(stalls[i].condition.cur, expected[i + 1]) << i;
  }
  EXPECT_EQ(calls, 3);
}

// A write of the listener meets the same stall, but does not call the listener again.
TEST_F(ListenerFactsTest, OfAStallTheyMayWrite) {
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 1;
  options_.disable_auto_compactions = false;
  Open();
  int writes = 0;
  told_->on_stall = [&] {
    DbTest::Put("by the listener", "v");
    writes++;
  };
  {
    const BlockedPool no_compactions(env_.get(), Env::Priority::LOW);
    Put(0, 1, 1);
    Flush(0);
  }
  WaitForJobs();
  Close();
  EXPECT_EQ(writes, 2) << "when the stall began, and when it ended";
  EXPECT_EQ(told_->All(told_->stalls).size(), 2u);
}

}  // namespace
}  // namespace ashlar
