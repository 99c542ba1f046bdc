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
// With OfferMappedLogs(true) the engine may map its logs here too. What is stored into a mapping is
// found by comparing, before each call and by ObserveStores(), and logged as a write of its own:
// the death of the process leaves all of it, a crash of the machine any part since the last sync.
//
// FailAt() and AddFault() (inherited) make calls fail. A failed sync drops the unsynced bytes of
// its file, as kernels do: reading shows them gone, and a repeated sync "succeeds". That of a
// directory drops its unsynced changes: its names are there until the machine crashes, and no later
// sync makes them durable. Stats(), CallCount() and CallLogHash() are inherited too. Any thread,
// but for deterministic numbers one.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/system_clock.h"
#include "env/fault/fault_file_system.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_model.h"
#include "util/threads/mutex.h"

namespace ashlar {

class SimMappedLog;

class SimFS : public FaultFileSystem, private MappedLogFactory {
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

  // Whether logs may be mapped, from here on; at first not. Images inherit it.
  void OfferMappedLogs(bool offer) { offers_mapped_logs_ = offer; }

  // The files as they are now, without a numbered call.
  MemoryFileSystem* memory() { return memory_.get(); }

 private:
  SimFS(std::shared_ptr<MemoryFileSystem> memory, SimImage base,
        std::shared_ptr<SystemClock> clock);

  const void* GetOptionsPtr(const std::string& name) const override;
  Result<std::unique_ptr<MappedLogFile>> NewMappedLog(const std::string& path,
                                                      uint64_t initial_bytes,
                                                      uint64_t capacity) override;
  Result<std::unique_ptr<MappedLogFile>> ReuseMappedLog(const std::string& path,
                                                        const std::string& old_path,
                                                        uint64_t initial_bytes,
                                                        uint64_t capacity) override;
  friend class SimMappedLog;  // for the next two
  void AddMapping(SimMappedLog* log);
  void RemoveMapping(SimMappedLog* log);

  bool HasMappings() const override REQUIRES(mutex_) { return !mappings_.empty(); }
  void FindStores() override REQUIRES(mutex_);
  void OnApplied(const FileCall& call, const Slice& written) override;
  void OnSyncFailed(const FileCall& call) override REQUIRES(mutex_);
  // Brings the model to just before the call with this number.
  void ReplayToLocked(uint64_t index) const REQUIRES(log_mutex_);

  const std::shared_ptr<MemoryFileSystem> memory_;
  const SimImage base_;
  const std::shared_ptr<SystemClock> clock_;
  std::atomic<bool> offers_mapped_logs_{false};
  std::vector<SimMappedLog*> mappings_ GUARDED_BY(mutex_);

  mutable Mutex log_mutex_{LockRank::kLeaf};
  std::deque<SimOperation> log_ GUARDED_BY(log_mutex_);  // ascending by call index
  mutable std::unique_ptr<SimModel> model_ GUARDED_BY(log_mutex_);
  mutable size_t replayed_ GUARDED_BY(log_mutex_) = 0;  // operations the model has seen
};

}  // namespace ashlar
