// SPDX-License-Identifier: Apache-2.0
//
// A machine for one trace: files in memory, and background jobs that run on the caller's thread in
// an order that follows from the seed (SimEnv). With a SimFS below, it can lose power. Threads:
// one.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/env.h"
#include "env/sim/sim_env.h"
#include "env/sim/sim_fs.h"

namespace ashlar {

class SimMachine {
 public:
  enum class Disk : uint8_t { kPlain, kCrashing };  // kPlain is faster
  SimMachine(uint64_t seed, Disk disk);

  Env* env() { return env_.get(); }
  SimExecutor* executor() { return &executor_; }
  SimFS* sim_fs() { return sim_fs_.get(); }  // null if the disk is plain

  // The files a crash leaves now. To be used after whoever uses env() has let go of it.
  std::shared_ptr<SimFS> TakeImage(CrashPolicy policy, uint64_t seed) const;
  // From here on env() is one with these files; the old one is gone.
  void Restart(const std::shared_ptr<SimFS>& image);

 private:
  SimExecutor executor_;
  std::shared_ptr<SimFS> sim_fs_;
  std::unique_ptr<Env> env_;
};

}  // namespace ashlar
