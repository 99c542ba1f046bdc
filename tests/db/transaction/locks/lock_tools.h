// SPDX-License-Identifier: Apache-2.0
//
// Owners and clocks for tests of locks. A ScriptClock lets one thread play several owners: each
// wait runs the next step of a script inside, so that waits are nested and no thread is needed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/transaction/locks/key_locks.h"

namespace ashlar {

// Time stands still unless a test moves it, or a wait has nothing left to run: then the time of
// its end comes.
class ScriptClock : public LockClock {
 public:
  uint64_t NowMicros() override { return now; }
  int64_t UnixSeconds() override { return 1'700'000'000 + static_cast<int64_t>(now / 1'000'000); }
  void Wait(const std::atomic<uint32_t>*, uint32_t, uint64_t deadline) override {
    waits++;
    if (!steps.empty()) {
      const std::function<void()> step = std::move(steps.front());
      steps.pop_front();
      step();
      return;
    }
    ASSERT_NE(deadline, kNoDeadline) << "a wait without end, and nothing left to do";
    now = std::max(now, deadline);
  }
  void Wake(const std::atomic<uint32_t>*) override { wakes++; }

  void OnWait(std::function<void()> step) { steps.push_back(std::move(step)); }

  uint64_t now = 1'000'000;
  int waits = 0;
  int wakes = 0;
  std::deque<std::function<void()>> steps;  // of the waits to come, in this order
};

// Real threads, and time that only the test moves.
class ManualClock : public LockClock {
 public:
  uint64_t NowMicros() override { return now_.load(); }
  int64_t UnixSeconds() override { return 1'700'000'000; }
  void Wait(const std::atomic<uint32_t>* word, uint32_t expected, uint64_t deadline) override {
    std::unique_lock<std::mutex> lock(mutex_);
    woken_.erase(word);
    changed_.wait(lock, [&] {
      return word->load() != expected || woken_.contains(word) || now_.load() >= deadline;
    });
  }
  void Wake(const std::atomic<uint32_t>* word) override {
    std::lock_guard<std::mutex> lock(mutex_);
    wakes_++;
    woken_.insert(word);
    changed_.notify_all();
  }
  void Advance(uint64_t micros) {
    std::lock_guard<std::mutex> lock(mutex_);
    now_ += micros;
    changed_.notify_all();
  }
  int wakes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return wakes_;
  }

 private:
  std::atomic<uint64_t> now_{1'000'000};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<const std::atomic<uint32_t>*> woken_;
  int wakes_ = 0;
};

// A transaction: an owner with its locks, by family and key.
class TestOwner : public LockOwner {
 public:
  TestOwner(KeyLocks* locks, TransactionID id) : LockOwner(id), locks_(locks) {
    lock_timeout_micros = 1'000'000;
  }
  ~TestOwner() override { ReleaseAll(); }

  bool StealLocks() override {
    steal_attempts++;
    if (may_be_stolen) is_stolen = true;
    return is_stolen;
  }

  Status Acquire(const std::string& key, LockMode mode, uint32_t family = 0) {
    return locks_->Acquire(this, Lock(key, family), mode);
  }
  Status Share(const std::string& key) { return Acquire(key, LockMode::kShared); }
  Status Exclude(const std::string& key) { return Acquire(key, LockMode::kExclusive); }
  void Release(const std::string& key) { locks_->Release(Lock(key)); }
  void ReleaseAll() { locks_->ReleaseAll(this); }
  LockMode Mode(const std::string& key) { return Lock(key)->mode(); }

  KeyLock* Lock(const std::string& key, uint32_t family = 0) {
    std::unique_ptr<Entry>& entry = entries_[{family, key}];
    if (entry == nullptr) entry = std::make_unique<Entry>(family, key);
    return &entry->lock;
  }

  bool may_be_stolen = true;
  std::atomic<bool> is_stolen{false};
  std::atomic<int> steal_attempts{0};

 private:
  struct Entry {
    Entry(uint32_t family, const std::string& bytes) : key(bytes), lock(family, key) {}
    const std::string key;
    KeyLock lock;
  };

  KeyLocks* const locks_;
  std::map<std::pair<uint32_t, std::string>, std::unique_ptr<Entry>> entries_;
};

// An owner that waits for a key in a thread of its own: when the constructor returns, it waits.
class Waiting {
 public:
  Waiting(KeyLocks* locks, TestOwner* owner, const std::string& key, LockMode mode) {
    const uint64_t before = locks->GetTotals().waiters;
    thread_ = std::thread([this, owner, key, mode] {
      status_ = owner->Acquire(key, mode);
      has_returned_ = true;
    });
    while (locks->GetTotals().waiters == before && !has_returned_) std::this_thread::yield();
  }
  ~Waiting() {
    if (thread_.joinable()) thread_.join();
  }
  bool has_returned() const { return has_returned_; }
  // Waits until it has returned.
  Status Result() {
    if (thread_.joinable()) thread_.join();
    return status_;
  }

 private:
  std::atomic<bool> has_returned_{false};
  Status status_;
  std::thread thread_;
};

// A lock table and numbered owners, which leave nothing behind. A test whose table owns its clock
// has a pointer to it as `Clock`.
template <typename Clock, typename Locks = KeyLocks>
class LockFixture : public testing::Test {
 protected:
  ~LockFixture() override {
    owners.clear();
    EXPECT_EQ(locks->GetTotals().waiters, 0u);
    EXPECT_EQ(locks->GetTotals().keys, 0u);
  }
  // Owners 1 to `count` of a new table.
  void Use(std::unique_ptr<Locks> table, TransactionID count) {
    owners.clear();
    locks = std::move(table);
    for (TransactionID id = 1; id <= count; id++) {
      owners[id] = std::make_unique<TestOwner>(locks.get(), id);
    }
  }
  // Point locks with these options and the clock of the test.
  void UsePointLocks(KeyLocksOptions options, TransactionID count) {
    options.clock = &clock;
    Use(NewPointLocks(options), count);
  }
  TestOwner& Owner(TransactionID id) { return *owners[id]; }

  Clock clock{};
  std::unique_ptr<Locks> locks;
  std::map<TransactionID, std::unique_ptr<TestOwner>> owners;
};

// The holders of a key, by number.
inline std::vector<TransactionID> HoldersOf(KeyLocks* locks, const std::string& key) {
  for (const auto& [family, info] : locks->Describe()) {
    if (info.key != key) continue;
    std::vector<TransactionID> ids = info.ids;
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  return {};
}

inline bool IsLockTimeout(const Status& status) {
  return status.IsTimedOut() && status.subcode() == Status::kLockTimeout;
}

}  // namespace ashlar
