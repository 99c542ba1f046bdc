// SPDX-License-Identifier: Apache-2.0
//
// A disk that fills up: writes fail with NoSpace, acknowledged entries stay, and the database works
// again once there is room. Also a directory in which no log can be created.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/periodic_timer.h"
#include "tests/support/sample_database.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Value(int i) { return StrCat("value ", i, std::string(200, 'v')); }

class FullDisk : public DbTest {
 protected:
  FullDisk() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only a call resumes
  }

  testing::AssertionResult Holds(const Entries& expected) {
    return HoldsExactly(db_.get(), db_->DefaultColumnFamily(), expected);
  }
};

TEST_F(FullDisk, KeepsWhatWasAcknowledged) {
  options_.write_buffer_size = 64 << 10;
  Open();
  sim_->SetByteQuota(sim_->UsedBytes() + (600 << 10));
  int count = 0;
  Status status;
  while (count < 100000) {
    status = db_->Put(WriteOptions(), Key(count), Value(count));
    if (!status.ok()) break;
    count++;
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  Entries expected;
  for (int i = 0; i < count; i++) expected.emplace_back(Key(i), Value(i));
  EXPECT_TRUE(Holds(expected)) << "while full";
  Drop();

  sim_->SetByteQuota(uint64_t{1} << 40);
  Open();
  EXPECT_TRUE(Holds(expected)) << "with room again";
  Put("zzz", "goes on");
  Compact();
}

TEST_F(FullDisk, ResumesWhenThereIsRoom) {
  Open();
  for (int i = 0; i < 1000; i++) Put(Key(i), Value(i));
  sim_->SetByteQuota(sim_->UsedBytes() + 1000);
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  sim_->SetByteQuota(uint64_t{1} << 40);
  EXPECT_OK(db_->Resume());
  Put(Key(1000), Value(1000));
  Flush();
  Entries expected;
  for (int i = 0; i <= 1000; i++) expected.emplace_back(Key(i), Value(i));
  EXPECT_TRUE(Holds(expected));
}

TEST_F(FullDisk, OpeningLosesNothing) {
  Open();
  Entries expected;
  for (int i = 0; i < 1000; i++) {
    Put(Key(i), Value(i));
    expected.emplace_back(Key(i), Value(i));
  }
  Close();
  for (const uint64_t room : {0, 100, 1000, 10000}) {
    sim_->SetByteQuota(sim_->UsedBytes() + room);
    const Status status = TryOpen();
    EXPECT_TRUE(status.IsNoSpace()) << room << ": " << status.ToString();
  }
  sim_->SetByteQuota(uint64_t{1} << 40);
  Open();
  EXPECT_TRUE(Holds(expected));
}

// A full memtable is switched with a new log. Until there is one, it takes no entry: its memory
// does not grow without limit.
TEST_F(FullDisk, AFullMemTableDoesNotGrowWhileNoLogCanBeCreated) {
  options_.write_buffer_size = 64 << 10;
  Open();
  Fail(CallKind::kCreate, ".log", FaultMode::kSticky);
  int count = 0;
  Status status;
  while (count < 10000) {
    status = db_->Put(WriteOptions(), Key(count), Value(count));
    if (!status.ok()) break;
    count++;
  }
  ASSERT_TRUE(status.IsIOError()) << status.ToString();
  const uint64_t bytes = Number(DB::Properties::kCurSizeAllMemTables);
  for (int i = 0; i < 100; i++) {
    status = db_->Put(WriteOptions(), "refused", Value(i));
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
  }
  EXPECT_EQ(Number(DB::Properties::kCurSizeAllMemTables), bytes);
  EXPECT_EQ(Get("refused"), "(none)");
  sim_->ClearFaults();
  Entries expected;
  for (int i = 0; i < 2 * count; i++) {
    if (i >= count) Put(Key(i), Value(i));
    expected.emplace_back(Key(i), Value(i));
  }
  EXPECT_TRUE(Holds(expected));
  Reopen();
  EXPECT_TRUE(Holds(expected));
}

// Another disk has the directory /logs. While it is full, a file can be created there, but gets no
// space.
class DiskOfLogs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "DiskOfLogs"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (!status.ok() || !is_full || !path.starts_with("/logs/")) return status;
    file->reset();
    return IOStatus::NoSpace(path, "cannot be allocated");
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                        IODebugContext* debug) override {
    if (!path.starts_with("/logs")) return target()->GetFreeSpace(path, options, bytes, debug);
    *bytes = is_full ? 0 : uint64_t{1} << 40;
    if (is_full) questions++;
    return IOStatus::OK();
  }

  std::atomic<bool> is_full{false};
  std::atomic<int> questions{0};
};

TEST_F(FullDisk, NoAttemptIsMadeWhileThereIsNoRoomForALog) {
  constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // longer than any test runs
  const auto disk = std::make_shared<DiskOfLogs>(sim_);
  UseFiles(disk);
  options_.wal_dir = "/logs";
  options_.max_bgerror_resume_count = INT_MAX;
  options_.bgerror_resume_retry_interval = kHour;
  options_.statistics = CreateDBStatistics();
  Open();
  Put("a", "1");
  const auto logs = [this] {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/logs", &names));
    return std::count_if(names.begin(), names.end(),
                         [](const std::string& name) { return name.ends_with(".log"); });
  };
  const auto before = logs();
  disk->is_full = true;
  Fail(CallKind::kSync, ".log", FaultMode::kOnce, FaultError::kNoSpace);
  EXPECT_TRUE(db_->Put(Synced(), "b", "2").IsNoSpace());
  const auto attempts = [this] { return Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT); };
  // The attempts run in the threads of a pool, which may be slow.
  const auto pass_time_until = [](const auto& is_reached) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!is_reached() && std::chrono::steady_clock::now() < end) {
      PeriodicTimer::Default()->PassTime(kHour);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  pass_time_until([&] { return disk->questions >= 3 || attempts() > 0; });
  EXPECT_GE(disk->questions, 3);
  EXPECT_EQ(attempts(), 0u);
  EXPECT_EQ(logs(), before);
  disk->is_full = false;
  const auto successes = [this] { return Ticks(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT); };
  pass_time_until([&] { return successes() > 0; });
  EXPECT_EQ(attempts(), 1u);
  Put("c", "3");
  EXPECT_EQ(Get("a"), "1");
}

}  // namespace
}  // namespace ashlar
