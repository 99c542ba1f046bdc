// SPDX-License-Identifier: Apache-2.0
//
// Syncs are shared: those who come while one runs are served together by the next one, and never by
// the one that ran before their bytes were there.
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "db/wal/shared_progress.h"
#include "db/wal/wal_sink.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Holds the first one who passes until it is opened.
class Gate {
 public:
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool is_first = passed_++ == 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_first || is_open_; });
  }
  // Until somebody stands at the gate, or has come around it.
  void WaitForTheFirst() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return passed_ > 0 || gone_ > 0; });
  }
  void NoteGone() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++gone_;
    changed_.notify_all();
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  int passed() { return Read(passed_); }
  int gone() { return Read(gone_); }

 private:
  int Read(const int& number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return number;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int passed_ = 0, gone_ = 0;
  bool is_open_ = false;
};

class GatedFile : public FSWritableFileOwnerWrapper {
 public:
  GatedFile(std::unique_ptr<FSWritableFile> file, Gate* gate)
      : FSWritableFileOwnerWrapper(std::move(file)), gate_(gate) {}
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    gate_->Pass();
    return target()->Sync(options, dbg);
  }

 private:
  Gate* const gate_;
};

// Nobody but syncs waits at the gate, so writes go on beside a sync.
class GatedFiles : public FileSystemWrapper {
 public:
  explicit GatedFiles(Gate* gate)
      : FileSystemWrapper(std::make_shared<MemoryFileSystem>()), gate_(gate) {}
  const char* Name() const override { return "GatedFiles"; }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    IOStatus status = target_->NewWritableFile(f, options, r, dbg);
    if (status.ok()) *r = std::make_unique<GatedFile>(std::move(*r), gate_);
    return status;
  }

 private:
  Gate* const gate_;
};

class SharedSync : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<WalSink> Open() {
    if (GetParam()) {
      auto sim = SimFS::Create();
      sim->OfferMappedLogs(true);
      sim->SetHook([this](const FileCall& call, bool is_before) {
        if (is_before && call.kind == CallKind::kSync) gate_.Pass();
      });
      fs_ = sim;
    } else {
      fs_ = std::make_shared<GatedFiles>(&gate_);
    }
    WalSinkOptions options;
    options.fs = fs_.get();
    options.path = "/000001.log";
    options.log_number = 1;
    auto sink = OpenWalSink(options);
    EXPECT_OK(sink);
    EXPECT_EQ((*sink)->is_mapped(), GetParam());
    return sink.Take();
  }

  Gate gate_;
  std::shared_ptr<FileSystem> fs_;
};

TEST(SharedProgress, SaysHowFarItHasCome) {
  SharedProgress progress;
  std::string while_it_runs;
  const auto run = [&](uint64_t, uint64_t) {
    while_it_runs = progress.DebugString();
    return Status::OK();
  };
  EXPECT_OK(progress.Reach(
      10, [] { return uint64_t{12}; }, run));
  EXPECT_EQ(while_it_runs, "done to 0, is running");
  EXPECT_EQ(progress.DebugString(), "done to 12");
  progress.Fail(Status::IOError("disk"));
  EXPECT_EQ(progress.DebugString(), "done to 12, failed: IO error: disk");
}

TEST_P(SharedSync, AllWhoCameWhileOneRanShareTheNext) {
  constexpr int kLate = 3;
  const std::unique_ptr<WalSink> sink = Open();
  std::vector<std::thread> writers;
  const auto sync_to = [&](uint64_t end) {
    writers.emplace_back([&, end] {
      EXPECT_OK(sink->Sync(end));
      EXPECT_GE(sink->synced_size(), end);
      gate_.NoteGone();
    });
  };
  ASSERT_OK(sink->Append("first"));
  const uint64_t first_end = sink->size();
  sync_to(first_end);
  gate_.WaitForTheFirst();
  for (int i = 0; i < kLate; ++i) {
    ASSERT_OK(sink->Append("late"));
    sync_to(sink->size());
  }
  EXPECT_EQ(gate_.gone(), 0) << "no sync has ended yet";
  EXPECT_EQ(sink->synced_size(), 0u);
  gate_.Open();
  for (std::thread& writer : writers) writer.join();
  // One would leave out what came while it ran; three would share nothing.
  EXPECT_EQ(gate_.passed(), 2);
  EXPECT_EQ(sink->synced_size(), sink->size());
  ASSERT_OK(sink->Sync(sink->size()));
  EXPECT_EQ(gate_.passed(), 2) << "nothing new";
  ASSERT_OK(sink->Close());
}

INSTANTIATE_TEST_SUITE_P(Sinks, SharedSync, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "mapped" : "buffered");
});

}  // namespace
}  // namespace ashlar
