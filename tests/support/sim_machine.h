// SPDX-License-Identifier: Apache-2.0
//
// A machine for one trace: files in memory, and background jobs that run on the caller's thread in
// an order that the seed determines (SimEnv). With a SimFS below, it can lose power. Threads: one.
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

  // The files that a crash at this moment leaves. Use it after all users of env() have ended.
  std::shared_ptr<SimFS> TakeImage(CrashPolicy policy, uint64_t seed) const;
  // From now on env() has these files; the old env is destroyed.
  void Restart(const std::shared_ptr<SimFS>& image);

 private:
  SimExecutor executor_;
  std::shared_ptr<SimFS> sim_fs_;
  std::unique_ptr<Env> env_;
};

}  // namespace ashlar
