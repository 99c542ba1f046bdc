// SPDX-License-Identifier: Apache-2.0
//
// BlockedPool occupies all threads of one background pool during its lifetime, so that jobs that
// are scheduled meanwhile do not start.
#pragma once

#include <memory>
#include <semaphore>

#include "ashlar/env.h"

namespace ashlar {

class BlockedPool {
 public:
  // Afterwards the pool has one thread.
  BlockedPool(Env* env, Env::Priority pool) {
    env->SetBackgroundThreads(1, pool);
    env->Schedule(&Wait, new std::shared_ptr<Gate>(gate_), pool);
    gate_->is_blocked.acquire();
  }
  ~BlockedPool() { gate_->opens.release(); }
  BlockedPool(const BlockedPool&) = delete;
  BlockedPool& operator=(const BlockedPool&) = delete;

 private:
  struct Gate {
    std::binary_semaphore is_blocked{0}, opens{0};
  };
  // Shared with the job, which may use the gate after the BlockedPool was destroyed.
  static void Wait(void* argument) {
    const std::unique_ptr<std::shared_ptr<Gate>> gate(
        static_cast<std::shared_ptr<Gate>*>(argument));
    (*gate)->is_blocked.release();
    (*gate)->opens.acquire();
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

}  // namespace ashlar
