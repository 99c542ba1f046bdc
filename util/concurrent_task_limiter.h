// SPDX-License-Identifier: Apache-2.0
//
// TaskLimiter is what NewConcurrentTaskLimiter() makes; a job takes a Token before it starts.
// Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/concurrent_task_limiter.h"

namespace ashlar {

class TaskLimiter final : public ConcurrentTaskLimiter {
 public:
  TaskLimiter(const std::string& name, int32_t limit) : name_(name), limit_(limit) {}
  ~TaskLimiter() override;

  const std::string& GetName() const override { return name_; }
  void SetMaxOutstandingTask(int32_t limit) override {
    limit_.store(limit, std::memory_order_relaxed);
  }
  void ResetMaxOutstandingTask() override { SetMaxOutstandingTask(-1); }
  int32_t GetOutstandingTask() const override {
    return outstanding_.load(std::memory_order_relaxed);
  }

  // The right to run one task; given back by its destructor. Must not outlive the limiter.
  class Token {
   public:
    explicit Token(TaskLimiter* limiter) : limiter_(limiter) {}
    ~Token() { limiter_->outstanding_.fetch_sub(1, std::memory_order_relaxed); }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;

   private:
    TaskLimiter* limiter_;
  };

  // nullptr at the limit, unless `force`.
  std::unique_ptr<Token> Take(bool force);

 private:
  const std::string name_;
  std::atomic<int32_t> limit_;           // negative = none
  std::atomic<int32_t> outstanding_{0};  // tokens that exist
};

}  // namespace ashlar
