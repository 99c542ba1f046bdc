// SPDX-License-Identifier: Apache-2.0
//
// BlockedPool keeps all threads of one background pool busy for as long as it lives, so that what
// is scheduled meanwhile does not begin.
#pragma once

#include <memory>
#include <semaphore>

#include "ashlar/env.h"

namespace ashlar {

class BlockedPool {
 public:
  // Leaves the pool with one thread.
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
  // The job has a share in the gate: it may look at it after the pool was let go.
  static void Wait(void* argument) {
    const std::unique_ptr<std::shared_ptr<Gate>> gate(
        static_cast<std::shared_ptr<Gate>*>(argument));
    (*gate)->is_blocked.release();
    (*gate)->opens.acquire();
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

}  // namespace ashlar
