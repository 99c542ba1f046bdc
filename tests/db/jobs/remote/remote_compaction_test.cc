// SPDX-License-Identifier: Apache-2.0
//
// Compactions that a CompactionService runs elsewhere, here in another thread of the process: their
// results are installed, and after any failure the compaction runs locally.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "db/jobs/remote/remote_forms.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using JobStatus = CompactionServiceJobStatus;

// Wait() runs the worker.
class LocalService final : public CompactionService {
 public:
  explicit LocalService(Env* env) { worker_options.env = env; }
  const char* Name() const override { return "LocalService"; }

  CompactionServiceScheduleResponse Schedule(const CompactionServiceJobInfo& info,
                                             const std::string& input) override {
    if (throws) throw std::runtime_error("no");
    if (while_scheduling) while_scheduling();
    infos.push_back(info);
    last_input = input;
    return {StrCat("job", infos.size()), on_schedule};
  }
  JobStatus Wait(const std::string& id, std::string* result) override {
    waits++;
    if (is_blocked) {
      std::unique_lock<std::mutex> lock(mutex_);
      has_blocked_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_cancelled_; });
      return JobStatus::kAborted;
    }
    worker_status = DB::OpenAndCompact("/db", "/out/" + id, last_input, result, worker_options);
    if (tamper) tamper("/out/" + id, result);
    return on_wait;
  }
  void CancelAwaitingJobs() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_cancelled_ = true;
    changed_.notify_all();
  }
  void OnInstallation(const std::string& id, JobStatus status) override { ends[id] = status; }
  void AwaitBlocked() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return has_blocked_; });
  }

  CompactionServiceOptionsOverride worker_options;
  JobStatus on_schedule = JobStatus::kSuccess, on_wait = JobStatus::kSuccess;
  std::function<void(const std::string& dir, std::string* result)> tamper;
  std::function<void()> while_scheduling;
  bool throws = false, is_blocked = false;
  // The calls so far; read when no job runs.
  std::vector<CompactionServiceJobInfo> infos;
  int waits = 0;
  std::map<std::string, JobStatus> ends;
  std::string last_input;
  Status worker_status;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_blocked_ = false, is_cancelled_ = false;
};

class LastCompaction final : public EventListener {
 public:
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    if (on_begin) on_begin();
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& job) override { info = job; }
  void OnTableFileCreated(const TableFileCreationInfo& table) override {
    if (table.status.ok()) created++;
  }
  std::function<void()> on_begin;
  CompactionJobInfo info;
  int created = 0;
};

class RemoteCompactionTest : public DbTest {
 protected:
  RemoteCompactionTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.target_file_size_base = 16 << 10;
    options_.compaction_service = service_;
    options_.statistics = CreateDBStatistics();
    options_.listeners = {listener_};
    options_.merge_operator = NewStringAppendOperator(",");
    service_->worker_options.merge_operator = options_.merge_operator;
    service_->worker_options.statistics = CreateDBStatistics();
  }
  // Three overlapping tables with entries of all kinds.
  void Write() {
    for (int round = 0; round < 3; round++) {
      for (int i = round; i < 300; i += 1 + round) {
        Put(Key(i), StrCat(round, std::string(200, 'v')));
      }
      Merge("merged", StrCat(round));
      Delete(Key(10 * round));
      DeleteRange(Key(100 + round), Key(110 + round));
      if (round == 1) snapshot_ = db_->GetSnapshot();
      Flush();
    }
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  Rows RowsAt(const Snapshot* snapshot) { return ReadRows(AsOf(snapshot)); }
  Status Compact() { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  void Release() { db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr)); }
  uint64_t EntriesInTables() const {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    uint64_t entries = 0;
    for (const auto& [path, properties] : tables) entries += properties->num_entries;
    return entries;
  }
  // Compacts locally without a loss.
  void ExpectDoneHere() {
    const auto before = ReadRows(), seen_before = RowsAt(snapshot_);
    ASSERT_OK(Compact());
    EXPECT_EQ(TableCount(0), 0);
    EXPECT_EQ(ReadRows(), before);
    EXPECT_EQ(RowsAt(snapshot_), seen_before);
    EXPECT_FALSE(listener_->info.stats.is_remote_compaction);
    ASSERT_OK(db_->VerifyChecksum());
    Release();
    Open();
    EXPECT_EQ(ReadRows(), before);
  }

  const std::shared_ptr<LocalService> service_ = std::make_shared<LocalService>(env_.get());
  const std::shared_ptr<LastCompaction> listener_ = std::make_shared<LastCompaction>();
  const Snapshot* snapshot_ = nullptr;
};

TEST_F(RemoteCompactionTest, WhatTheWorkerWritesIsInstalled) {
  Open();
  Write();
  const auto before = ReadRows(), seen_before = RowsAt(snapshot_);
  const int created = listener_->created;
  ASSERT_OK(Compact());
  ASSERT_OK(service_->worker_status);
  EXPECT_EQ(ReadRows(), before);
  EXPECT_EQ(RowsAt(snapshot_), seen_before);
  EXPECT_EQ(TableCount(0), 0);
  ASSERT_EQ(service_->infos.size(), 1u);
  const CompactionServiceJobInfo& job = service_->infos[0];
  EXPECT_EQ(job.cf_name, "default");
  EXPECT_EQ(job.db_name, "/db");
  EXPECT_TRUE(job.is_manual_compaction && job.is_full_compaction && job.bottommost_level);
  EXPECT_EQ(job.base_input_level, 0);
  EXPECT_EQ(service_->ends, (std::map<std::string, JobStatus>{{"job1", JobStatus::kSuccess}}));

  const CompactionJobInfo& info = listener_->info;
  EXPECT_OK(info.status);
  EXPECT_TRUE(info.stats.is_remote_compaction);
  EXPECT_GT(info.output_files.size(), 1u);
  EXPECT_EQ(listener_->created, created + static_cast<int>(info.output_files.size()));
  EXPECT_GT(info.stats.num_input_records, info.stats.num_output_records);
  for (const std::string& path : info.output_files) {
    EXPECT_TRUE(path.starts_with("/db/")) << path;
    EXPECT_OK(env_->FileExists(path));
    EXPECT_EQ(info.table_properties.count(path), 1u);
  }
  EXPECT_GT(Ticks(REMOTE_COMPACT_READ_BYTES), 0u);
  EXPECT_GT(Ticks(REMOTE_COMPACT_WRITE_BYTES), 0u);
  HistogramData opening;
  service_->worker_options.statistics->histogramData(OPEN_AND_COMPACT_DB_OPEN_MICROS, &opening);
  EXPECT_EQ(opening.count, 1u);
  ASSERT_OK(db_->VerifyChecksum());
  Release();
  Open();
  EXPECT_EQ(ReadRows(), before);
}

// The OPTIONS file, or the program of the worker, may ask for blob files, which would be lost.
TEST_F(RemoteCompactionTest, AWorkerKeepsTheValuesInItsTables) {
  service_->worker_options.options_map = {{"enable_blob_files", "true"}, {"min_blob_size", "0"}};
  Open();
  Write();
  const auto before = ReadRows(), seen_before = RowsAt(snapshot_);
  ASSERT_OK(Compact());
  ASSERT_OK(service_->worker_status);
  EXPECT_TRUE(listener_->info.stats.is_remote_compaction);
  EXPECT_EQ(ReadRows(), before);
  EXPECT_EQ(RowsAt(snapshot_), seen_before);
  Release();
  Open();
  EXPECT_EQ(ReadRows(), before);
}

// The worker reports that a snapshot needs entries of its table.
TEST_F(RemoteCompactionTest, WhatASnapshotKeptGoesWithIt) {
  options_.disable_auto_compactions = false;
  Open();
  Put("k", "v1");
  Flush();
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("k", "v2");
  Flush();
  ASSERT_OK(Compact());
  EXPECT_TRUE(listener_->info.stats.is_remote_compaction);
  EXPECT_EQ(EntriesInTables(), 2u);
  db_->ReleaseSnapshot(snapshot);
  WaitForJobs();
  EXPECT_EQ(EntriesInTables(), 1u);
}

TEST_F(RemoteCompactionTest, FamiliesAndAutomaticCompactionsGoToo) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  ColumnFamilyHandle* const family = CreateFamily("other");
  for (int i = 0; i < 2; i++) {
    Put(family, "a", StrCat(i));
    Put(family, "z", StrCat(i));
    Flush(family);
  }
  WaitForJobs();
  ASSERT_FALSE(service_->infos.empty());
  EXPECT_EQ(service_->infos[0].cf_name, "other");
  EXPECT_FALSE(service_->infos[0].is_manual_compaction);
  EXPECT_EQ(service_->ends["job1"], JobStatus::kSuccess);
  EXPECT_EQ(Get(family, "a"), "1");
}

// Then the file IDENTITY names the database.
TEST_F(RemoteCompactionTest, TheManifestNeedNotNameTheDatabase) {
  options_.write_dbid_to_manifest = false;
  Open();
  Write();
  ASSERT_OK(Compact());
  EXPECT_TRUE(listener_->info.stats.is_remote_compaction);
  Release();
  std::string id, read_only_id;
  ASSERT_OK(db_->GetDbIdentity(id));
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &reader));
  ASSERT_OK(reader->GetDbIdentity(read_only_id));
  EXPECT_EQ(read_only_id, id);
  EXPECT_FALSE(id.empty());
}

// The family was dropped after the job was scheduled.
TEST_F(RemoteCompactionTest, AFamilyThatIsGoneIsRefused) {
  Open();
  Write();
  std::string gone;
  service_->tamper = [&](const std::string&, std::string*) {
    auto input = RemoteInput::Decode(service_->last_input);
    ASSERT_OK(input);
    input->family = "gone";
    gone = input->Encode();
  };
  ASSERT_OK(Compact());
  std::string output;
  const Status status =
      DB::OpenAndCompact("/db", "/out/x", gone, &output, service_->worker_options);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("gone"), std::string::npos) << status.ToString();
  Release();
}

TEST_F(RemoteCompactionTest, AServiceThatDeclinesLeavesItHere) {
  service_->on_schedule = JobStatus::kUseLocal;
  Open();
  Write();
  ExpectDoneHere();
  EXPECT_TRUE(service_->ends.empty()) << "nothing was scheduled";
}

TEST_F(RemoteCompactionTest, AServiceThatFailsLeavesItHere) {
  service_->on_schedule = JobStatus::kFailure;
  Open();
  Write();
  ExpectDoneHere();
}

TEST_F(RemoteCompactionTest, AServiceThatThrowsLeavesItHere) {
  service_->throws = true;
  Open();
  Write();
  ExpectDoneHere();
}

TEST_F(RemoteCompactionTest, AWorkerThatFailsLeavesItHere) {
  service_->on_wait = JobStatus::kFailure;
  Open();
  Write();
  ExpectDoneHere();
  EXPECT_EQ(service_->ends["job1"], JobStatus::kUseLocal);
}

// The worker has another comparator.
TEST_F(RemoteCompactionTest, AWorkerThatCannotDoItSaysSo) {
  service_->worker_options.comparator = ReverseBytewiseComparator();
  Open();
  Write();
  ExpectDoneHere();
  EXPECT_FALSE(service_->worker_status.ok());
}

TEST_F(RemoteCompactionTest, AnAnswerThatIsNoneLeavesItHere) {
  service_->tamper = [](const std::string&, std::string* result) { result->back() ^= 1; };
  Open();
  Write();
  ExpectDoneHere();
}

TEST_F(RemoteCompactionTest, AMissingTableLeavesItHere) {
  service_->tamper = [this](const std::string& dir, std::string*) {
    EXPECT_OK(env_->DeleteFile(dir + "/000002.sst"));
  };
  Open();
  Write();
  ExpectDoneHere();
  EXPECT_EQ(FilesOnDisk(".sst"), static_cast<int>(Tables().size()))
      << "the tables that were taken over are deleted again";
}

TEST_F(RemoteCompactionTest, ATableWithValuesElsewhereLeavesItHere) {
  service_->tamper = [](const std::string&, std::string* result) {
    auto told = RemoteResult::Decode(*result);
    ASSERT_OK(told);
    ASSERT_FALSE(told->tables.empty());
    told->tables.back().meta.oldest_blob_file_number = 7;
    *result = told->Encode();
  };
  Open();
  Write();
  ExpectDoneHere();
}

TEST_F(RemoteCompactionTest, ADamagedTableLeavesItHere) {
  service_->tamper = [this](const std::string& dir, std::string*) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(env_.get(), dir + "/000001.sst", &bytes));
    bytes[bytes.size() - 60] ^= 1;  // before the footer
    EXPECT_OK(WriteStringToFile(env_.get(), bytes, dir + "/000001.sst"));
  };
  Open();
  Write();
  ExpectDoneHere();
}

TEST_F(RemoteCompactionTest, AJobThatTheServiceAbortsIsGivenUp) {
  service_->on_wait = JobStatus::kAborted;
  Open();
  Write();
  const auto before = ReadRows();
  EXPECT_TRUE(Compact().IsIncomplete());
  EXPECT_EQ(service_->ends["job1"], JobStatus::kAborted);
  EXPECT_EQ(TableCount(0), 3);
  Put("k", "no error stays");
  Delete("k");
  EXPECT_EQ(ReadRows(), before);
  service_->on_wait = JobStatus::kSuccess;
  ASSERT_OK(Compact());
  EXPECT_EQ(ReadRows(), before);
  Release();
}

TEST_F(RemoteCompactionTest, ClosingWakesWhoWaitsForAWorker) {
  service_->is_blocked = true;
  Open();
  Write();
  Release();
  std::thread caller([this] { EXPECT_FALSE(Compact().ok()); });
  service_->AwaitBlocked();
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  caller.join();
  EXPECT_EQ(service_->ends["job1"], JobStatus::kAborted);
  ASSERT_OK(db_->Close());
}

// The service has been asked to end its jobs before it got this one, so it would not end it.
TEST_F(RemoteCompactionTest, NobodyWaitsForAJobThatIsHandedOverWhileWorkIsCancelled) {
  service_->while_scheduling = [this] { CancelAllBackgroundWork(db_.get(), /*wait=*/false); };
  Open();
  Write();
  Release();
  EXPECT_FALSE(Compact().ok());
  EXPECT_EQ(service_->infos.size(), 1u);
  EXPECT_EQ(service_->waits, 0);
  EXPECT_EQ(service_->ends["job1"], JobStatus::kAborted);
}

TEST_F(RemoteCompactionTest, AJobThatIsStoppedIsNotHandedOver) {
  listener_->on_begin = [this] { CancelAllBackgroundWork(db_.get(), /*wait=*/false); };
  Open();
  Write();
  Release();
  EXPECT_FALSE(Compact().ok());
  EXPECT_TRUE(service_->infos.empty());
  EXPECT_TRUE(service_->ends.empty());
}

TEST_F(RemoteCompactionTest, TheWorkersCallRefusesWhatIsNotItsOwn) {
  Open();
  Write();
  std::string input;
  service_->tamper = [&](const std::string&, std::string*) { input = service_->last_input; };
  ASSERT_OK(Compact());
  std::string output = "something";
  const CompactionServiceOptionsOverride& given = service_->worker_options;
  EXPECT_TRUE(DB::OpenAndCompact("/db", "/out/x", "garbage", &output, given).IsCorruption());
  EXPECT_TRUE(output.empty());
  EXPECT_FALSE(DB::OpenAndCompact("/elsewhere", "/out/x", input, &output, given).ok());
  EXPECT_FALSE(DB::OpenAndCompact("/db", "/out/x", input, &output, given).ok())
      << "its tables are gone";
  Release();
}

TEST_F(RemoteCompactionTest, AWorkerCanBeCancelled) {
  Open();
  Write();
  Release();
  std::string input, output;
  Status status;
  service_->tamper = [&](const std::string&, std::string*) {
    std::atomic<bool> canceled{true};
    OpenAndCompactOptions options;
    options.canceled = &canceled;
    status = DB::OpenAndCompact(options, "/db", "/out/cancelled", service_->last_input, &output,
                                service_->worker_options);
  };
  ASSERT_OK(Compact());
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
}

}  // namespace
}  // namespace ashlar
