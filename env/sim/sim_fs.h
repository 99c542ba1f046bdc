// SPDX-License-Identifier: Apache-2.0
//
// SimFS: a file system in memory that can crash. It numbers every call (see FaultFileSystem), logs
// those that change something, and gives for any call number the images a crash at that point may
// leave behind:
//
//   auto sim = SimFS::Create();
//   ... create the database's directory ...
//   sim->SyncEverything();                        // what was there before the test is safe
//   ... run a database on sim ...
//   for (const FileCall& call : sim->MutatingCalls())
//     for (CrashPolicy policy : kAllCrashPolicies)
//       auto image = sim->CrashImage(call.index, policy, seed);   // just before the call
//       ... open a database on image, which is itself a SimFS and can crash again ...
//
// FailAt() and AddFault() (inherited) make calls fail. A failed sync drops the unsynced bytes of
// its file, as kernels do: reading shows them gone, and a repeated sync "succeeds". Stats(),
// CallCount() and CallLogHash() are inherited too. Any thread, but for deterministic numbers one.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/system_clock.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_model.h"
#include "util/mutex.h"

namespace ashlar {

class SimFS : public FaultFileSystem {
 public:
  static std::shared_ptr<SimFS> Create(
      const std::shared_ptr<SystemClock>& clock = SystemClock::Default());
  // Starts from an image; all of it is durable.
  static std::shared_ptr<SimFS> FromImage(
      SimImage image, const std::shared_ptr<SystemClock>& clock = SystemClock::Default());
  ~SimFS() override;

  const char* Name() const override { return "SimFS"; }

  // What may be left if the machine stops just before the call with this number; the number of
  // calls so far means "now". Asking for ascending numbers costs only the calls in between.
  std::shared_ptr<SimFS> CrashImage(uint64_t index, CrashPolicy policy, uint64_t seed = 0) const;
  SimImage CrashContents(uint64_t index, CrashPolicy policy, uint64_t seed = 0) const;

  // The calls so far that took effect and may change what a crash leaves, in order.
  std::vector<FileCall> MutatingCalls() const;

  // Makes everything durable, as sync(2) does; takes no call number.
  void SyncEverything();

  // All files together may hold this many bytes; beyond it writes are cut short with NoSpace.
  void SetByteQuota(uint64_t bytes) { memory_->SetByteQuota(bytes); }
  uint64_t UsedBytes() const { return memory_->UsedBytes(); }

  // The files as they are now, without a numbered call.
  MemoryFileSystem* memory() { return memory_.get(); }

 private:
  SimFS(std::shared_ptr<MemoryFileSystem> memory, SimImage base,
        std::shared_ptr<SystemClock> clock);

  void OnApplied(const FileCall& call, const Slice& written) override;
  void OnSyncFailed(const FileCall& call) override;
  // Brings the model to just before the call with this number.
  void ReplayToLocked(uint64_t index) const REQUIRES(log_mutex_);

  const std::shared_ptr<MemoryFileSystem> memory_;
  const SimImage base_;
  const std::shared_ptr<SystemClock> clock_;

  mutable Mutex log_mutex_{LockRank::kLeaf};
  std::deque<SimOperation> log_ GUARDED_BY(log_mutex_);  // ascending by call index
  mutable std::unique_ptr<SimModel> model_ GUARDED_BY(log_mutex_);
  mutable size_t replayed_ GUARDED_BY(log_mutex_) = 0;  // operations the model has seen
};

}  // namespace ashlar
