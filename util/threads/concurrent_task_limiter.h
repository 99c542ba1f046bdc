// SPDX-License-Identifier: Apache-2.0
//
// TaskLimiter is the class of the objects that NewConcurrentTaskLimiter() returns. A job takes a
// Token before it starts. If it is refused one, it may wait to be notified of room, which jobs of
// other databases may make. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/concurrent_task_limiter.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Shared by the databases that were given it; outlives their jobs.
class TaskLimiter final : public ConcurrentTaskLimiter {
 public:
  TaskLimiter(const std::string& name, int32_t limit);
  ~TaskLimiter() override;
  // Null if `limiter` is null or an implementation of the program.
  static TaskLimiter* From(ConcurrentTaskLimiter* limiter);

  const std::string& GetName() const override { return name_; }
  void SetMaxOutstandingTask(int32_t limit) override {
    limit_.store(limit, std::memory_order_relaxed);
    TellWaiters();
  }
  void ResetMaxOutstandingTask() override { SetMaxOutstandingTask(-1); }
  int32_t GetOutstandingTask() const override {
    return outstanding_.load(std::memory_order_relaxed);
  }

  // The right to run one task. The destructor returns it and may notify waiters, so that it must
  // run without any lock that they take. Must not outlive the limiter.
  class Token {
   public:
    explicit Token(TaskLimiter* limiter) : limiter_(limiter) {}
    ~Token() {
      limiter_->outstanding_.fetch_sub(1, std::memory_order_seq_cst);
      limiter_->TellWaiters();
    }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;

   private:
    TaskLimiter* limiter_;
  };

  // Returns null if the limit is reached, unless `force` is set.
  std::unique_ptr<Token> Take(bool force);

  // An object that wants to start a job. Forget() must be called before it is destroyed.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    // Called by the thread that returned a token or changed the limit.
    virtual void OnRoom() = 0;
  };
  // The waiter is notified once, when there may be room. Returns false if there is room now; then
  // no notification follows.
  [[nodiscard]] bool Await(Waiter* waiter);
  // Waits until the waiter is not being notified. It will not be notified any more.
  void Forget(Waiter* waiter);

 private:
  bool HasRoom() const {
    const int32_t limit = limit_.load(std::memory_order_seq_cst);
    return limit < 0 || outstanding_.load(std::memory_order_seq_cst) < limit;
  }
  // Notifies and removes all waiters if there is room.
  void TellWaiters();

  const std::string name_;
  std::atomic<int32_t> limit_;           // negative means no limit
  std::atomic<int32_t> outstanding_{0};  // number of tokens that exist

  // Guards the list of waiters; tokens need no lock.
  Mutex mutex_{LockRank::kLeaf};
  // Signalled when a thread has finished notifying.
  CondVar told_{&mutex_};
  std::vector<Waiter*> waiters_ GUARDED_BY(mutex_);
  int telling_ GUARDED_BY(mutex_) = 0;  // threads that are notifying waiters
};

}  // namespace ashlar
