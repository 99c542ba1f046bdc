// SPDX-License-Identifier: Apache-2.0
//
// Threads and time of a run over files that the suite has created: background jobs run on the
// caller's thread, in an order given by the seed, or on threads of their own. Threads: one.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/env.h"
#include "env/sim/sim_env.h"

namespace ashlar {

class RunThreads {
 public:
  RunThreads(uint64_t seed, bool has_own_threads) {
    if (!has_own_threads) executor_ = std::make_unique<SimExecutor>(seed);
  }

  std::shared_ptr<SystemClock> clock() const {
    return executor_ == nullptr ? SystemClock::Default() : executor_->clock();
  }
  // If several jobs are due at the same time, the youngest runs first.
  std::unique_ptr<Env> NewEnv(const std::shared_ptr<FileSystem>& files) const {
    return executor_ == nullptr ? NewCompositeEnv(files) : NewSimEnv(files, executor_.get());
  }
  // Runs some of the waiting jobs, if jobs run on the caller's thread.
  void RunSome() {
    if (executor_ != nullptr) executor_->RunSome();
  }

 private:
  std::unique_ptr<SimExecutor> executor_;
};

}  // namespace ashlar
