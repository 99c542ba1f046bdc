// SPDX-License-Identifier: Apache-2.0
//
// The executor, which runs jobs on the caller's thread, stays the same after a crash.
#include "tests/support/sim_machine.h"

#include "env/memory/memory_file_system.h"

namespace ashlar {

SimMachine::SimMachine(uint64_t seed, Disk disk) : executor_(seed) {
  if (disk == Disk::kCrashing) {
    Restart(SimFS::Create(executor_.clock()));
  } else {
    env_ = NewSimEnv(std::make_shared<MemoryFileSystem>(executor_.clock()), &executor_);
  }
}

std::shared_ptr<SimFS> SimMachine::TakeImage(CrashPolicy policy, uint64_t seed) const {
  return sim_fs_->CrashImage(sim_fs_->CallCount(), policy, seed);
}

void SimMachine::Restart(const std::shared_ptr<SimFS>& image) {
  env_.reset();
  sim_fs_ = image;
  env_ = NewSimEnv(sim_fs_, &executor_);
}

}  // namespace ashlar
