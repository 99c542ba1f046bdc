// SPDX-License-Identifier: Apache-2.0
//
// Files that stay although the database does not need them: logs that cannot be moved to the
// archive, tables that are not in the MANIFEST and cannot be read, and all while deletions are
// disabled.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/listener.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/sample_table.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

const uint64_t kReads =
    KindBit(CallKind::kOpenRead) | KindBit(CallKind::kRead) | KindBit(CallKind::kQuery);

class ObsoleteFilesTest : public DbTest {
 protected:
  // A database without writes, and beside it a table with entries and a blob file.
  void MakeUnexplainedTable() {
    UseFiles(memory_);
    Open();
    Close();
    // Tables of RocksDB 7.8 do not have their largest sequence number: opening reads their entries.
    memory_->PutFile(table_, LoadSampleTable("v78_nofilter_fv5").bytes);
    memory_->PutFile(blobs_, "values");
  }
  bool Exists(const std::string& path) { return memory_->AllFiles().contains(path); }

  const std::string table_ = "/db/000900.sst", blobs_ = "/db/000901.blob";
};

TEST_F(ObsoleteFilesTest, ATableThatCannotBeReadNowIsLeftForTheNextOpen) {
  for (const CallKind kind : {CallKind::kOpenRead, CallKind::kRead}) {
    MakeUnexplainedTable();
    const auto fault = std::make_shared<FaultFileSystem>(memory_);
    UseFiles(fault);
    fault->AddFault(
        {.mode = FaultMode::kSticky, .kinds = KindBit(kind), .path_part = "000900.sst"});
    Open();
    const std::string report = Property("ashlar.recovery-report");
    EXPECT_NE(report.find(table_ + ": not in the MANIFEST, and cannot be"), std::string::npos)
        << report;
    Close();
    EXPECT_TRUE(Exists(table_) && Exists(blobs_)) << NameOf(kind);
    fault->ClearFaults();
    Open();
    Close();
    EXPECT_TRUE(Exists(table_ + ".orphan") && Exists(blobs_ + ".orphan")) << NameOf(kind);
    EXPECT_FALSE(Exists(table_) || Exists(blobs_)) << NameOf(kind);
  }
}

// Each read of the table fails in turn.
TEST_F(ObsoleteFilesTest, NoFailedReadDeletesATable) {
  MakeUnexplainedTable();
  int left_count = 0;
  for (uint64_t n = 0;; n++) {
    const auto copy = std::make_shared<MemoryFileSystem>();
    for (const auto& [path, bytes] : memory_->AllFiles()) copy->PutFile(path, bytes);
    const auto fault = std::make_shared<FaultFileSystem>(copy);
    UseFiles(fault);
    fault->AddFault({.first_call = n, .kinds = kReads, .path_part = "000900.sst"});
    Open();
    Close();
    const auto files = copy->AllFiles();
    ASSERT_TRUE(files.contains(table_) || files.contains(table_ + ".orphan")) << n;
    left_count += files.contains(table_);
    if (fault->Stats().TotalInjected() == 0) break;
  }
  EXPECT_GT(left_count, 0);
}

// Refuses to move logs to the archive.
class NoArchiveFs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoArchiveFs"; }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (is_refusing && to.find("/archive/") != std::string::npos) return IOStatus::IOError("full");
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  bool is_refusing = true;
};

TEST_F(ObsoleteFilesTest, ALogThatTheArchiveCannotTakeStays) {
  const auto fs = std::make_shared<NoArchiveFs>(memory_);
  UseFiles(fs);
  options_.WAL_ttl_seconds = 3600;
  Open();
  Put("a");
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 1u);
  const std::string name = logs[0]->PathName();
  Flush();
  WaitForJobs();
  EXPECT_TRUE(Exists("/db" + name)) << name;
  EXPECT_NE(memory_->AllFiles()["/db/LOG"].find("cannot move /db" + name), std::string::npos);
  Close();
  fs->is_refusing = false;
  Open();
  EXPECT_TRUE(Exists("/db/archive" + name));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  EXPECT_TRUE(updates->Valid());
}

constexpr auto kTooLong = std::chrono::minutes(2);

// A move of a log to the archive waits until it is let go.
class HeldArchiveFs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "HeldArchiveFs"; }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    const bool is_held = to.find("/archive/") != std::string::npos;
    std::unique_lock lock(mutex_);
    if (is_held) {
      is_moving_ = true;
      changed_.notify_all();
      changed_.wait_for(lock, kTooLong, [this] { return is_let_go_; });
    }
    IOStatus status = FileSystemWrapper::RenameFile(from, to, options, dbg);
    if (is_held) is_moving_ = false;
    return status;
  }
  // False if it does not begin.
  bool AwaitMove() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTooLong, [this] { return is_moving_; });
  }
  bool is_moving() {
    const std::lock_guard lock(mutex_);
    return is_moving_;
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    is_let_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_moving_ = false, is_let_go_ = false;
};

TEST_F(ObsoleteFilesTest, DisablingDeletionsWaitsForAMoveThatHasBegun) {
  const auto fs = std::make_shared<HeldArchiveFs>(memory_);
  UseFiles(fs);
  options_.WAL_ttl_seconds = 3600;
  Open();
  Put("a");
  std::thread flusher([this] { Flush(); });
  EXPECT_TRUE(fs->AwaitMove());
  std::future<bool> is_moving = std::async(std::launch::async, [&] {
    EXPECT_OK(db_->DisableFileDeletions());
    return fs->is_moving();
  });
  // Time enough for a call that does not wait.
  EXPECT_EQ(is_moving.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  fs->LetGo();
  EXPECT_FALSE(is_moving.get());
  flusher.join();
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_EQ(logs.front()->Type(), kArchivedLogFile);
  for (const auto& log : logs) EXPECT_TRUE(Exists("/db" + log->PathName())) << log->PathName();
}

class DisablingListener final : public EventListener {
 public:
  void OnTableFileDeleted(const TableFileDeletionInfo&) override {
    if (db == nullptr || calls++ > 0) return;
    EXPECT_OK(db.load()->DisableFileDeletions());
    EXPECT_OK(db.load()->EnableFileDeletions());
  }
  std::atomic<DB*> db{nullptr};
  std::atomic<int> calls{0};
};

TEST_F(ObsoleteFilesTest, AListenerMayDisableDeletionsWithinOne) {
  const auto listener = std::make_shared<DisablingListener>();
  options_.listeners = {listener};
  options_.disable_auto_compactions = true;
  Open();
  listener->db = db_.get();
  std::promise<void> end;
  std::thread thread([&] {
    for (int i = 0; i < 2; i++) {
      Put("a");
      Flush();
    }
    Compact();
    Close();
    end.set_value();
  });
  // A thread that waits for itself cannot be stopped, so the program ends.
  if (end.get_future().wait_for(kTooLong) != std::future_status::ready) {
    std::fprintf(stderr, "a call in a callback does not return\n");
    std::abort();
  }
  thread.join();
  EXPECT_GT(listener->calls, 0);
}

}  // namespace
}  // namespace ashlar
