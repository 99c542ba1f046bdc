// SPDX-License-Identifier: Apache-2.0
//
// Compactions that a CompactionService takes elsewhere, here to another thread of the process: what
// comes back is installed, and whatever goes wrong is done at home.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/statistics.h"
#include "db/compaction/remote_forms.h"
#include "tests/support/status_matchers.h"
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
    infos.push_back(info);
    last_input = input;
    return {StrCat("job", infos.size()), on_schedule};
  }
  JobStatus Wait(const std::string& id, std::string* result) override {
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
  bool throws = false, is_blocked = false;
  // What happened; read when no job runs.
  std::vector<CompactionServiceJobInfo> infos;
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
  void OnCompactionCompleted(DB*, const CompactionJobInfo& job) override { info = job; }
  void OnTableFileCreated(const TableFileCreationInfo& table) override {
    if (table.status.ok()) created++;
  }
  CompactionJobInfo info;
  int created = 0;
};

class RemoteCompactionTest : public testing::Test {
 protected:
  RemoteCompactionTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.target_file_size_base = 16 << 10;
    options_.compaction_service = service_;
    options_.statistics = CreateDBStatistics();
    options_.listeners = {listener_};
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
    service_->worker_options.merge_operator = options_.merge_operator;
    service_->worker_options.statistics = CreateDBStatistics();
  }
  void TearDown() override {
    db_.reset();
    env_->WaitForJoin();
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  // Three tables that overlap, with a bit of everything.
  void Write() {
    for (int round = 0; round < 3; round++) {
      for (int i = round; i < 300; i += 1 + round) {
        ASSERT_OK(db_->Put(WriteOptions(), Key(i), StrCat(round, std::string(200, 'v'))));
      }
      ASSERT_OK(db_->Merge(WriteOptions(), "merged", StrCat(round)));
      ASSERT_OK(db_->Delete(WriteOptions(), Key(10 * round)));
      ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), Key(100 + round),
                                 Key(110 + round)));
      if (round == 1) snapshot_ = db_->GetSnapshot();
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  std::map<std::string, std::string> Contents(const Snapshot* snapshot = nullptr) const {
    ReadOptions read;
    read.snapshot = snapshot;
    std::map<std::string, std::string> rows;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_OK(it->status());
    return rows;
  }
  Status Compact() { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  std::string FilesOn(int level) const {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(StrCat("rocksdb.num-files-at-level", level), &value));
    return value;
  }
  uint64_t EntriesInTables() const {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    uint64_t entries = 0;
    for (const auto& [path, properties] : tables) entries += properties->num_entries;
    return entries;
  }
  // Compacts, and nothing is lost by it.
  void ExpectDoneHere() {
    const auto before = Contents(), seen_before = Contents(snapshot_);
    ASSERT_OK(Compact());
    EXPECT_EQ(FilesOn(0), "0");
    EXPECT_EQ(Contents(), before);
    EXPECT_EQ(Contents(snapshot_), seen_before);
    EXPECT_FALSE(listener_->info.stats.is_remote_compaction);
    ASSERT_OK(db_->VerifyChecksum());
    db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
    Open();
    EXPECT_EQ(Contents(), before);
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<LocalService> service_ = std::make_shared<LocalService>(env_.get());
  const std::shared_ptr<LastCompaction> listener_ = std::make_shared<LastCompaction>();
  Options options_;
  std::unique_ptr<DB> db_;
  const Snapshot* snapshot_ = nullptr;
};

TEST_F(RemoteCompactionTest, WhatTheWorkerWritesIsInstalled) {
  Open();
  Write();
  const auto before = Contents(), seen_before = Contents(snapshot_);
  const int created = listener_->created;
  ASSERT_OK(Compact());
  ASSERT_OK(service_->worker_status);
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(Contents(snapshot_), seen_before);
  EXPECT_EQ(FilesOn(0), "0");
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
  EXPECT_GT(options_.statistics->getTickerCount(REMOTE_COMPACT_READ_BYTES), 0u);
  EXPECT_GT(options_.statistics->getTickerCount(REMOTE_COMPACT_WRITE_BYTES), 0u);
  HistogramData opening;
  service_->worker_options.statistics->histogramData(OPEN_AND_COMPACT_DB_OPEN_MICROS, &opening);
  EXPECT_EQ(opening.count, 1u);
  ASSERT_OK(db_->VerifyChecksum());
  db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
  Open();
  EXPECT_EQ(Contents(), before);
}

// The worker says of its table that a snapshot needs something in it.
TEST_F(RemoteCompactionTest, WhatASnapshotKeptGoesWithIt) {
  options_.disable_auto_compactions = false;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v1"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v2"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(Compact());
  EXPECT_TRUE(listener_->info.stats.is_remote_compaction);
  EXPECT_EQ(EntriesInTables(), 2u);
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(EntriesInTables(), 1u);
}

TEST_F(RemoteCompactionTest, FamiliesAndAutomaticCompactionsGoToo) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &family));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), family, "a", StrCat(i)));
    ASSERT_OK(db_->Put(WriteOptions(), family, "z", StrCat(i)));
    ASSERT_OK(db_->Flush(FlushOptions(), family));
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_FALSE(service_->infos.empty());
  EXPECT_EQ(service_->infos[0].cf_name, "other");
  EXPECT_FALSE(service_->infos[0].is_manual_compaction);
  EXPECT_EQ(service_->ends["job1"], JobStatus::kSuccess);
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), family, "a", &value));
  EXPECT_EQ(value, "1");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

// The database is known by the file IDENTITY then.
TEST_F(RemoteCompactionTest, TheManifestNeedNotNameTheDatabase) {
  options_.write_dbid_to_manifest = false;
  Open();
  Write();
  ASSERT_OK(Compact());
  EXPECT_TRUE(listener_->info.stats.is_remote_compaction);
  db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
  std::string id, read_only_id;
  ASSERT_OK(db_->GetDbIdentity(id));
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &reader));
  ASSERT_OK(reader->GetDbIdentity(read_only_id));
  EXPECT_EQ(read_only_id, id);
  EXPECT_FALSE(id.empty());
}

// Dropped since the job was handed over.
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
  db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
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

// The merge operator is missing there.
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
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren("/db", &names));
  std::vector<LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
  EXPECT_EQ(names.size(), live.size()) << "what was taken in is deleted again";
}

TEST_F(RemoteCompactionTest, ADamagedTableLeavesItHere) {
  service_->tamper = [this](const std::string& dir, std::string*) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(env_.get(), dir + "/000001.sst", &bytes));
    bytes[bytes.size() - 60] ^= 1;  // in front of the footer
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
  const auto before = Contents();
  EXPECT_TRUE(Compact().IsIncomplete());
  EXPECT_EQ(FilesOn(0), "3");
  ASSERT_OK(db_->Put(WriteOptions(), "k", "no error stays"));
  ASSERT_OK(db_->Delete(WriteOptions(), "k"));
  EXPECT_EQ(Contents(), before);
  service_->on_wait = JobStatus::kSuccess;
  ASSERT_OK(Compact());
  EXPECT_EQ(Contents(), before);
  db_->ReleaseSnapshot(snapshot_);
}

TEST_F(RemoteCompactionTest, ClosingWakesWhoWaitsForAWorker) {
  service_->is_blocked = true;
  Open();
  Write();
  db_->ReleaseSnapshot(snapshot_);
  std::thread caller([this] { EXPECT_FALSE(Compact().ok()); });
  service_->AwaitBlocked();
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  caller.join();
  ASSERT_OK(db_->Close());
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
  db_->ReleaseSnapshot(snapshot_);
}

TEST_F(RemoteCompactionTest, AWorkerCanBeCancelled) {
  Open();
  Write();
  db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
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
