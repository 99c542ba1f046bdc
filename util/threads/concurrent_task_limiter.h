// SPDX-License-Identifier: Apache-2.0
//
// TaskLimiter is what NewConcurrentTaskLimiter() makes; a job takes a Token before it starts. Who
// is refused may wait to be told of room, as other databases may give it.
//
// Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/concurrent_task_limiter.h"
#include "util/threads/mutex.h"

namespace ashlar {

class TaskLimiter final : public ConcurrentTaskLimiter {
 public:
  TaskLimiter(const std::string& name, int32_t limit);
  ~TaskLimiter() override;
  // Null for null, and for what a program has written itself.
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

  // The right to run one task; given back by its destructor, where waiters may be told: without
  // any lock that they take. Must not outlive the limiter.
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

  // nullptr at the limit, unless `force`.
  std::unique_ptr<Token> Take(bool force);

  class Waiter {
   public:
    virtual ~Waiter() = default;
    // By the thread that gave something back or changed the limit.
    virtual void OnRoom() = 0;
  };
  // The waiter is told once, when there may be room. False: there is room now, and it is not told.
  [[nodiscard]] bool Await(Waiter* waiter);
  // Returns when the waiter is not being told and will not be.
  void Forget(Waiter* waiter);

 private:
  bool HasRoom() const {
    const int32_t limit = limit_.load(std::memory_order_seq_cst);
    return limit < 0 || outstanding_.load(std::memory_order_seq_cst) < limit;
  }
  void TellWaiters();

  const std::string name_;
  std::atomic<int32_t> limit_;           // negative = none
  std::atomic<int32_t> outstanding_{0};  // tokens that exist

  Mutex mutex_{LockRank::kLeaf};
  CondVar told_{&mutex_};
  std::vector<Waiter*> waiters_ GUARDED_BY(mutex_);
  int telling_ GUARDED_BY(mutex_) = 0;  // threads that tell waiters they have taken out
};

}  // namespace ashlar
