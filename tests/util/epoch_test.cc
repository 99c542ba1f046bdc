// SPDX-License-Identifier: Apache-2.0
//
// Epochs: nothing is freed while a guard protects it, and everything is freed afterwards. Run the
// stress tests under the thread and address sanitizers, too.
#include "util/threads/epoch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/forked_child.h"
#include "tests/support/retired_call.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Counts deleted objects.
struct Mortal : EpochRetired {
  explicit Mortal(std::atomic<int>* deaths) : deaths(deaths) {}
  ~Mortal() { deaths->fetch_add(1); }
  std::atomic<int>* deaths;
};

// A thread that holds a guard until LetGo() is called.
class Holder {
 public:
  Holder() : thread_([this] { Hold(); }) {
    while (!is_holding_) std::this_thread::yield();
  }
  ~Holder() { LetGo(); }
  void LetGo() {
    may_end_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Hold() {
    EpochGuard guard;
    is_holding_ = true;
    while (!may_end_) std::this_thread::yield();
  }

  std::atomic<bool> is_holding_{false}, may_end_{false};
  std::thread thread_;
};

TEST(Epoch, FreesAtOnceWhenNobodyReads) {
  std::atomic<int> deaths{0};
  EpochDrain();
  EpochRetireDelete(new Mortal(&deaths));
  EXPECT_EQ(deaths, 0);
  EpochReclaim();
  EXPECT_EQ(deaths, 1);
}

TEST(Epoch, KeepsWhatAnotherThreadMayRead) {
  std::atomic<int> deaths{0};
  Holder holder;
  EpochRetireDelete(new Mortal(&deaths));
  for (int i = 0; i < 10; ++i) EpochReclaim();
  EXPECT_EQ(deaths, 0);
  holder.LetGo();
  EpochDrain();
  EXPECT_EQ(deaths, 1);
}

TEST(Epoch, ALaterGuardDoesNotHoldWhatWasMarkedBefore) {
  std::atomic<int> deaths{0};
  {
    Holder early;
    EpochRetireDelete(new Mortal(&deaths));
    EpochReclaim();
    Holder late;  // opens its guard in the new epoch
    early.LetGo();
    EpochReclaim();
    EXPECT_EQ(deaths, 1);
  }
}

TEST(Epoch, ReclaimAllTellsWhetherAnOpenGuardHoldsSomething) {
  std::atomic<int> deaths{0};
  Holder holder;
  EpochRetireDelete(new Mortal(&deaths));
  EXPECT_FALSE(EpochReclaimAll());
  EXPECT_EQ(deaths, 0);
  holder.LetGo();
  EXPECT_TRUE(EpochReclaimAll());
  EXPECT_EQ(deaths, 1);
}

// As many batches wait for the guard as there is room for.
TEST(Epoch, ReclaimAllEndsWithoutRoomForWhatWasRetired) {
  constexpr int kObjects = 1000;
  std::atomic<int> deaths{0};
  EpochDrain();
  Holder holder;
  for (int i = 0; i < kObjects; ++i) {
    EpochRetireDelete(new Mortal(&deaths));
    EpochReclaim();
  }
  EXPECT_FALSE(EpochReclaimAll());
  EXPECT_EQ(deaths, 0);
  holder.LetGo();
  EXPECT_TRUE(EpochReclaimAll());
  EXPECT_EQ(deaths, kObjects);
}

TEST(Epoch, GuardsNest) {
  std::atomic<int> deaths{0};
  {
    EpochGuard outer;
    {
      EpochGuard inner;
      EXPECT_TRUE(InEpoch());
    }
    EXPECT_TRUE(InEpoch());
    EpochRetireDelete(new Mortal(&deaths));
    EpochReclaim();
    EXPECT_EQ(deaths, 0);
  }
  EXPECT_FALSE(InEpoch());
  EpochDrain();
  EXPECT_EQ(deaths, 1);
}

TEST(Epoch, ReclaimsByItselfAfterManyRetirements) {
  std::atomic<int> deaths{0};
  for (int i = 0; i < 10000; ++i) EpochRetireDelete(new Mortal(&deaths));
  EXPECT_GT(deaths, 9000);
  EpochDrain();
  EXPECT_EQ(deaths, 10000);
}

TEST(Epoch, ReclaimsEarlierWhenMuchMemoryWaits) {
  std::atomic<int> deaths{0};
  EpochDrain();
  EpochRetire(
      new Mortal(&deaths), [](EpochRetired* p) { delete static_cast<Mortal*>(p); }, 64 << 20);
  EXPECT_EQ(deaths, 1);
}

// Memory may be retired under a lock that other deleters need.
TEST(Epoch, RetiringMemoryFreesMemoryOnly) {
  std::atomic<int> deaths{0}, freed{0};
  EpochDrain();
  EpochRetireDelete(new Mortal(&deaths));
  for (int i = 0; i < 1000; ++i) {
    EpochRetireMemory(
        new Mortal(&freed), [](EpochRetired* p) { delete static_cast<Mortal*>(p); }, 1);
  }
  EXPECT_GT(freed, 900);
  EXPECT_EQ(deaths, 0);
  {
    EpochGuard guard;
    EpochReclaimIfDue();
    EXPECT_EQ(deaths, 0);
  }
  EpochReclaimIfDue();
  EXPECT_EQ(deaths, 1);
  EpochDrain();
  EXPECT_EQ(freed, 1000);
}

TEST(Epoch, DeletersMayRetireMore) {
  static std::atomic<int> deaths;
  deaths = 0;
  RetireCall([] {
    EpochRetireDelete(new Mortal(&deaths));
    EpochReclaim();
    EpochDrain();
    deaths.fetch_add(1);
  });
  EpochDrain();
  EpochDrain();
  EXPECT_EQ(deaths, 2);
}

TEST(Epoch, SlotsOfEndedThreadsAreUsedAgain) {
  epoch_internal::Slot* first = nullptr;
  std::thread([&] { first = epoch_internal::ThisSlot(); }).join();
  for (int i = 0; i < 100; ++i) {
    epoch_internal::Slot* slot = nullptr;
    std::thread([&] { slot = epoch_internal::ThisSlot(); }).join();
    EXPECT_EQ(slot, first);
  }
}

struct GuardInDestructor {
  ~GuardInDestructor() { EpochGuard guard; }
};

TEST(Epoch, GuardsWorkInDestructorsOfThreadLocals) {
  std::thread([] {
    thread_local GuardInDestructor late;
    (void)&late;
    EpochGuard guard;
  }).join();
  Holder after;  // the registry is still sound
  EXPECT_FALSE(InEpoch());
}

TEST(Epoch, DeletersNeverRunInsideAGuard) {
  static std::atomic<int> inside;
  inside = 0;
  constexpr int kCount = 1000;
  {
    EpochGuard guard;
    for (int i = 0; i < kCount; ++i) {
      RetireCall([] { inside += InEpoch() ? 1 : 0; });
    }
    EXPECT_GE(EpochPendingCount(), size_t{kCount});
  }
  EpochDrain();
  EXPECT_EQ(inside, 0);
}

TEST(Epoch, AGuardMayEndBeforeItsScope) {
  std::atomic<int> deaths{0};
  EpochGuard guard;
  EpochRetireDelete(new Mortal(&deaths));
  guard.Leave();
  EXPECT_FALSE(InEpoch());
  EpochDrain();
  EXPECT_EQ(deaths, 1);
}

TEST(EpochFork, TheParentsOtherThreadsHoldNothingInTheChild) {
  Holder holder;
  EXPECT_TRUE(PassesInChild([] {
    std::atomic<int> deaths{0};
    EpochRetireDelete(new Mortal(&deaths));
    EpochDrain();
    return deaths == 1;
  }));
}

TEST(EpochFork, AReclaimerThatDidNotComeAlongHoldsNothingUp) {
  static std::atomic<bool> is_deleting, may_end;
  is_deleting = may_end = false;
  std::thread reclaimer([] {
    RetireCall([] {
      is_deleting = true;
      while (!may_end) std::this_thread::yield();
    });
    EpochDrain();
  });
  while (!is_deleting) std::this_thread::yield();
  EXPECT_TRUE(PassesInChild([] {
    std::atomic<int> deaths{0};
    EpochRetireDelete(new Mortal(&deaths));
    EpochDrain();
    return deaths == 1;
  }));
  may_end = true;
  reclaimer.join();
}

TEST(EpochFork, AGuardOfTheForkingThreadStaysOpenInTheChild) {
  EpochGuard guard;
  EXPECT_TRUE(PassesInChild([&guard] {
    const bool was_open = InEpoch();
    guard.Leave();
    std::atomic<int> deaths{0};
    EpochRetireDelete(new Mortal(&deaths));
    EpochDrain();
    return was_open && !InEpoch() && deaths == 1;
  }));
  EXPECT_TRUE(InEpoch());
}

constexpr uint64_t kAlive = 0x1234567890abcdef;

struct Node : EpochRetired {
  std::atomic<uint64_t> life{kAlive};
  uint64_t payload = 0;
  ~Node() { life.store(0, std::memory_order_relaxed); }
};

// Readers follow pointers that writers keep replacing. A node that is freed too early is detected
// by its state, and by the sanitizers.
TEST(EpochStress, NoReaderMeetsAFreedNode) {
  constexpr int kCells = 16, kReaders = 3, kWriters = 2, kReplacements = 20000;
  std::atomic<Node*> cells[kCells];
  for (auto& cell : cells) cell.store(new Node);
  std::atomic<int> running_writers{kWriters};
  std::atomic<uint64_t> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kReaders; ++t) {
    threads.emplace_back([&, t] {
      Random64 random(t);
      while (running_writers.load() != 0) {
        EpochGuard guard;
        for (int i = 0; i < 8; ++i) {
          const Node* node = cells[random.Uniform(kCells)].load(std::memory_order_acquire);
          if (node->life.load(std::memory_order_relaxed) != kAlive) failures.fetch_add(1);
        }
      }
    });
  }
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([&, t] {
      Random64 random(100 + t);
      for (int i = 0; i < kReplacements; ++i) {
        Node* fresh = new Node;
        fresh->payload = random.Next();
        EpochRetireDelete(cells[random.Uniform(kCells)].exchange(fresh, std::memory_order_acq_rel));
      }
      running_writers.fetch_sub(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0u);
  for (auto& cell : cells) delete cell.load();
  EpochDrain();
  EXPECT_EQ(EpochPendingCount(), 0u);
}

// Threads start and end while others retire objects.
TEST(EpochStress, ThreadsMayEndAtAnyTime) {
  std::atomic<Node*> cell{new Node};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          EpochGuard guard;
          EXPECT_EQ(cell.load(std::memory_order_acquire)->life.load(), kAlive);
          EpochRetireDelete(cell.exchange(new Node, std::memory_order_acq_rel));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  delete cell.load();
  EpochDrain();
  EXPECT_EQ(EpochPendingCount(), 0u);
}

}  // namespace
}  // namespace ashlar
