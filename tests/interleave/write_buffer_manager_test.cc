// SPDX-License-Identifier: Apache-2.0
//
// A database that waits for memory of memtables is always signalled: whatever frees the memory, or
// lifts the limit, while its wait begins.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ashlar/write_buffer_manager.h"
#include "memtable/memory_report.h"
#include "tests/interleave/interleave.h"
#include "util/threads/mutex.h"

namespace ashlar::interleave {
namespace {

constexpr size_t kLimit = 1000;

class WaitingDatabase final : public StallInterface {
 public:
  void Block() override {
    MutexLock lock(&mutex_);
    while (!is_signalled_) signal_.Wait();
  }
  void Signal() override {
    MutexLock lock(&mutex_);
    is_signalled_ = true;
    signal_.Signal();
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  CondVar signal_{&mutex_};
  bool is_signalled_ = false;
};

// Memtables use the whole limit. One thread waits, and `end_the_wait` runs in the other one.
void ExpectNoLostSignal(size_t immutable_bytes,
                        const std::function<void(WriteBufferManager*)>& end_the_wait) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [immutable_bytes, end_the_wait] {
    struct State {
      WriteBufferManager manager{kLimit, nullptr, /*allow_stall=*/true};
      WaitingDatabase database;
    };
    auto state = std::make_shared<State>();
    state->manager.ReserveMem(kLimit);
    if (immutable_bytes > 0) state->manager.ScheduleFreeMem(immutable_bytes);
    return Scenario{
        .threads = {[state] {
                      state->manager.BeginWriteStall(&state->database);
                      state->database.Block();
                      state->manager.RemoveDBFromQueue(&state->database);
                    },
                    [state, end_the_wait] { end_the_wait(&state->manager); }},
        .check = [state] { Require(!state->manager.IsStallActive(), "nobody waits at the end"); }};
  });
}

TEST(WriteBufferManagerOrders, FreedMemoryEndsAWaitThatBegins) {
  ExpectNoLostSignal(kLimit / 2, [](WriteBufferManager* manager) { manager->FreeMem(kLimit / 2); });
}

TEST(WriteBufferManagerOrders, ALargerLimitEndsAWaitThatBegins) {
  ExpectNoLostSignal(kLimit / 2,
                     [](WriteBufferManager* manager) { manager->SetBufferSize(4 * kLimit); });
}

TEST(WriteBufferManagerOrders, ALiftedLimitEndsAWaitThatBegins) {
  ExpectNoLostSignal(kLimit / 2,
                     [](WriteBufferManager* manager) { manager->SetAllowStall(false); });
}

// A flush has ended, but a reader keeps the memtable.
TEST(WriteBufferManagerOrders, AMemtableThatAReaderKeepsEndsAWaitThatBegins) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [] {
    struct State {
      std::shared_ptr<WriteBufferManager> manager =
          std::make_shared<WriteBufferManager>(kLimit, nullptr, /*allow_stall=*/true);
      MemoryReport report{manager};
      WaitingDatabase database;
    };
    auto state = std::make_shared<State>();
    state->report.Tell(kLimit);
    state->report.Seal(kLimit);
    return Scenario{.threads = {[state] {
                                  state->manager->BeginWriteStall(&state->database);
                                  state->database.Block();
                                },
                                [state] { state->report.Keep(); }},
                    .check = [state] {
                      Require(!state->manager->IsStallActive(), "nobody waits at the end");
                      Require(state->manager->memory_usage() == kLimit, "the memory is in use");
                    }};
  });
}

// Active memory grows past the limit, and nothing is about to be freed.
TEST(WriteBufferManagerOrders, NobodyWaitsForMemoryThatIsBeingReserved) {
  ExpectNoLostSignal(0, [](WriteBufferManager* manager) { manager->ReserveMem(kLimit); });
}

}  // namespace
}  // namespace ashlar::interleave
