// SPDX-License-Identifier: Apache-2.0
//
// The two classes that order a log: StagingOrder joins ranges, SharedProgress shares writes and
// syncs.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "db/wal/shared_progress.h"
#include "db/wal/staging_order.h"
#include "tests/interleave/interleave.h"

namespace ashlar::interleave {
namespace {

// ---- SharedProgress, as a log uses it for syncs

struct Log {
  uint64_t Write() { return written.fetch_add(1) + 1; }
  // A sync covers everything written before it began, like fdatasync.
  Status Sync(uint64_t end, bool gathers = false) {
    return progress.Reach(
        end, [this] { return written.load(); },
        [this](uint64_t, uint64_t to) {
          Require(!is_running.exchange(true), "one sync at a time");
          const uint64_t covered = written.load();
          Require(to <= covered, "no more is promised than was written");
          synced.store(covered);
          is_running.store(false);
          return Status::OK();
        },
        gathers);
  }
  void WriteAndSync(bool gathers = false) {
    const uint64_t end = Write();
    Require(Sync(end, gathers).ok(), "the sync succeeds");
    Require(synced.load() >= end, "a sync that has returned covers the caller's bytes");
    Require(progress.done() >= end, "and done() reports it");
  }

  std::atomic<uint64_t> written{0}, synced{0};
  std::atomic<bool> is_running{false};
  SharedProgress progress;
};

TEST(SharedProgressOrders, ASyncCoversTheWritesOfItsCallers) {
  ExpectAlways({.preemptions = 3}, [] {
    auto log = std::make_shared<Log>();
    const auto run = [log] { log->WriteAndSync(); };
    return Scenario{.threads = {run, run}};
  });
  ExpectAlways({.preemptions = 2}, [] {
    auto log = std::make_shared<Log>();
    const auto run = [log] { log->WriteAndSync(); };
    return Scenario{.threads = {run, run, run}};
  });
}

// A caller that was served calls again and may wait for the others in vain; the last one to come
// runs. No caller may sleep forever.
TEST(SharedProgressOrders, WaitingCallersAreServedToo) {
  ExpectAlways({.preemptions = 2}, [] {
    auto log = std::make_shared<Log>();
    const auto run = [log] {
      for (int i = 0; i < 3; i++) log->WriteAndSync(/*gathers=*/true);
    };
    return Scenario{.threads = {run, run}};
  });
  ExpectAlways({.preemptions = 2}, [] {
    auto log = std::make_shared<Log>();
    const auto run = [log] {
      for (int i = 0; i < 2; i++) log->WriteAndSync(/*gathers=*/true);
    };
    return Scenario{.threads = {run, run, [log] {
                                  const Status status =
                                      log->progress.RunAlone([] { return Status::OK(); });
                                  Require(status.ok(), "no error");
                                }}};
  });
}

TEST(SharedProgressOrders, AnErrorReachesEveryCallerNotServedBefore) {
  ExpectAlways({.preemptions = 3}, [] {
    auto progress = std::make_shared<SharedProgress>();
    auto failed = std::make_shared<std::atomic<bool>>(false);
    const auto run = [progress, failed] {
      const Status status = progress->Reach(
          1, [] { return uint64_t{1}; },
          [&](uint64_t, uint64_t) {
            failed->store(true);
            return Status::IOError("sync");
          });
      Require(!status.ok(), "no caller gets OK");
    };
    return Scenario{.threads = {run, run},
                    .check = [progress] { Require(!progress->error().ok(), "it is final"); }};
  });
}

TEST(SharedProgressOrders, RunAloneExcludesOtherRuns) {
  ExpectAlways({.preemptions = 3}, [] {
    auto log = std::make_shared<Log>();
    return Scenario{.threads = {[log] { log->WriteAndSync(); },
                                [log] {
                                  const Status status = log->progress.RunAlone([&] {
                                    Require(!log->is_running.exchange(true), "alone");
                                    log->is_running.store(false);
                                    return Status::OK();
                                  });
                                  Require(status.ok(), "no error");
                                }}};
  });
}

// ---- StagingOrder

constexpr uint64_t kRangeBytes = 16;

struct Staged {
  explicit Staged(size_t count) : memory(count * kRangeBytes, '\0') {}
  void Complete(uint64_t i) {
    LogHeaderStore header;
    header.at = memory.data() + i * kRangeBytes;
    header.word = i + 1;
    order.Complete(i * kRangeBytes, (i + 1) * kRangeBytes, header);
  }
  void CompleteAndWait(uint64_t i) {
    Complete(i);
    Require(order.WaitUntil((i + 1) * kRangeBytes), "not aborted");
    CheckBefore(i + 1);
  }
  uint64_t WordAt(uint64_t i) const { return DecodeFixed64(memory.data() + i * kRangeBytes); }
  void CheckBefore(uint64_t end) const {
    for (uint64_t i = 0; i < end; i++) Require(WordAt(i) == i + 1, "all before has its header");
  }
  // No header comes after a gap; none is missing before the staged end.
  void CheckNow(uint64_t count) {
    CheckBefore(order.staged_end() / kRangeBytes);
    for (uint64_t i = count; i-- > 1;) {
      if (WordAt(i) != 0) return CheckBefore(i);
    }
  }

  std::string memory;
  StagingOrder order;
};

TEST(StagingOrders, EveryRangeIsStagedInAnyOrder) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [] {
    auto staged = std::make_shared<Staged>(2);
    return Scenario{
        .threads = {[staged] { staged->Complete(0); }, [staged] { staged->Complete(1); }},
        .check = [staged] {
          Require(staged->order.staged_end() == 2 * kRangeBytes, "all is staged");
          staged->CheckBefore(2);
        }};
  });
  ExpectAlways({.preemptions = 2, .delays_stores = true}, [] {
    auto staged = std::make_shared<Staged>(3);
    const auto run = [staged](uint64_t i) { staged->Complete(i); };
    return Scenario{.threads = {[run] { run(0); }, [run] { run(1); }, [run] { run(2); }},
                    .check = [staged] {
                      Require(staged->order.staged_end() == 3 * kRangeBytes, "all is staged");
                      staged->CheckBefore(3);
                    }};
  });
}

TEST(StagingOrders, WaitersAreWoken) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [] {
    auto staged = std::make_shared<Staged>(2);
    return Scenario{.threads = {[staged] { staged->CompleteAndWait(0); },
                                [staged] { staged->CompleteAndWait(1); }}};
  });
  ExpectAlways({.preemptions = 2}, [] {
    auto staged = std::make_shared<Staged>(3);
    const auto run = [staged](uint64_t i) { staged->CompleteAndWait(i); };
    return Scenario{.threads = {[run] { run(0); }, [run] { run(1); }, [run] { run(2); }}};
  });
}

TEST(StagingOrders, NothingIsVisibleAfterAGap) {
  ExpectAlways({.preemptions = 2}, [] {
    auto staged = std::make_shared<Staged>(3);
    return Scenario{.threads = {[staged] {
                                  staged->Complete(1);
                                  staged->Complete(0);
                                },
                                [staged] { staged->Complete(2); },
                                [staged] { staged->CheckNow(3); }}};
  });
}

TEST(StagingOrders, AnAbortWakesWaiters) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [] {
    auto order = std::make_shared<StagingOrder>();
    return Scenario{.threads = {[order] { Require(!order->WaitUntil(1), "aborted"); },
                                [order] { order->Abort(); }}};
  });
}

// Both together, as a mapped log uses them: a sync waits until everything before its record is
// staged, or for the abort.
TEST(StagingOrders, ASyncCoversEverythingStagedBeforeItsRecord) {
  struct Log {
    explicit Log(size_t count) : staged(count) {}
    Status StageAndSync(uint64_t i) {
      staged.Complete(i);
      const uint64_t end = (i + 1) * kRangeBytes;
      const Status status = progress.ReachWhenReady(
          end, [&] { return staged.order.staged_end(); },
          [&](uint64_t, uint64_t to) {
            staged.CheckBefore(to / kRangeBytes);
            return Status::OK();
          },
          [&] { return staged.order.WaitUntil(end); }, /*gathers=*/true);
      if (status.ok()) staged.CheckBefore(i + 1);
      return status;
    }
    Staged staged;
    SharedProgress progress;
  };
  ExpectAlways({.preemptions = 2}, [] {
    auto log = std::make_shared<Log>(3);
    const auto run = [log](uint64_t i) { Require(log->StageAndSync(i).ok(), "it is synced"); };
    return Scenario{.threads = {[run] { run(0); }, [run] { run(1); }, [run] { run(2); }}};
  });
  ExpectAlways({.preemptions = 3}, [] {
    auto log = std::make_shared<Log>(2);
    return Scenario{
        .threads = {[log] { Require(!log->StageAndSync(1).ok(), "there is a hole before it"); },
                    [log] {
                      log->progress.Fail(Status::IOError("no room for the first"));
                      log->staged.order.Abort();
                    }}};
  });
}

}  // namespace
}  // namespace ashlar::interleave
