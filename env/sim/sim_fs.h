// SPDX-License-Identifier: Apache-2.0
//
// SimFS is a file system in memory that can crash. It numbers every call (see FaultFileSystem) and
// logs the calls that change something. For each call number it can build the images that a crash
// at this point may leave:
//
//   auto sim = SimFS::Create();
//   ... create the database's directory ...
//   sim->SyncEverything();                          // content from before the test is durable
//   ... run a database on sim ...
//   for (const FileCall& call : sim->MutatingCalls())
//     for (CrashPolicy policy : kAllCrashPolicies)
//       auto image = sim->CrashImage(call.index, policy, seed);  // just before the call
//       ... open a database on image, which is itself a SimFS and can crash again ...
//
// After OfferMappedLogs(true) the engine may map its logs. SimFS finds stores into a mapping by
// comparing it with a copy, before each call and in ObserveStores(), and logs each as a write. The
// death of the process preserves all stores; a crash of the machine preserves any part of those
// since the last sync.
//
// FailAt() and AddFault() (inherited) make calls fail. A failed sync drops the unsynced bytes of
// its file, as kernels do: readers do not see them any more, and a repeated sync "succeeds". A
// failed sync of a directory drops its unsynced changes: the names stay visible until the machine
// crashes, but no later sync makes them durable. Stats(), CallCount() and CallLogHash() are
// inherited, too.
//
// Any thread. Call numbers are deterministic only if there is a single thread.
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

// See the head of this file. File calls run under the mutex of FaultFileSystem; the log and the
// model have a mutex of their own, which is taken after it.
class SimFS : public FaultFileSystem, private MappedLogFactory {
 public:
  static std::shared_ptr<SimFS> Create(
      const std::shared_ptr<SystemClock>& clock = SystemClock::Default());
  // Starts from an image, all of which is durable.
  // `clock` gives the modification times.
  static std::shared_ptr<SimFS> FromImage(
      SimImage image, const std::shared_ptr<SystemClock>& clock = SystemClock::Default());
  ~SimFS() override;

  const char* Name() const override { return "SimFS"; }

  // What may be left if the machine stops just before the call with number `index`; CallCount()
  // means "now". The result is a new file system, in which all that survived is durable. Asking in
  // ascending order is cheap: each call replays only the file calls since the last one.
  std::shared_ptr<SimFS> CrashImage(uint64_t index, CrashPolicy policy, uint64_t seed = 0) const;
  // The files that the crash leaves, with their contents.
  SimImage CrashContents(uint64_t index, CrashPolicy policy, uint64_t seed = 0) const;

  // The calls so far that took effect and may change what a crash leaves, in order.
  std::vector<FileCall> MutatingCalls() const;

  // Makes everything durable, as sync(2) does. Uses no call number.
  void SyncEverything();

  // The limit on the sum of all file sizes. Writes beyond it are cut short and return NoSpace.
  void SetByteQuota(uint64_t bytes) { memory_->SetByteQuota(bytes); }
  uint64_t UsedBytes() const { return memory_->UsedBytes(); }

  // Whether logs may be mapped from now on; false at first. Images inherit the setting.
  void OfferMappedLogs(bool offer) { offers_mapped_logs_ = offer; }

  // The current files. Calls of this object are not numbered.
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
  friend class SimMappedLog;  // for the next two functions
  // A mapping is searched for stores from AddMapping() to RemoveMapping(), which searches once
  // more.
  void AddMapping(SimMappedLog* log);
  void RemoveMapping(SimMappedLog* log);

  bool HasMappings() const override REQUIRES(mutex_) { return !mappings_.empty(); }
  void FindStores() override REQUIRES(mutex_);
  // Logs the call.
  void OnApplied(const FileCall& call, const Slice& written) override;
  // Logs the loss, and drops the unsynced bytes of the file in memory_ and in its mapping.
  void OnSyncFailed(const FileCall& call) override REQUIRES(mutex_);
  // Brings the model to the state just before the call with this number.
  void ReplayToLocked(uint64_t index) const REQUIRES(log_mutex_);

  // What the program sees: the live files.
  const std::shared_ptr<MemoryFileSystem> memory_;
  // What was there, durable, before the first logged operation.
  const SimImage base_;
  const std::shared_ptr<SystemClock> clock_;
  // Atomic, because images ask while another thread may set it.
  std::atomic<bool> offers_mapped_logs_{false};
  // Not owned. Each removes itself before it is destroyed.
  std::vector<SimMappedLog*> mappings_ GUARDED_BY(mutex_);

  mutable Mutex log_mutex_{LockRank::kLeaf};
  std::deque<SimOperation> log_ GUARDED_BY(log_mutex_);  // in ascending order of call index
  // The state before some call, from which later states are computed. Null until the first
  // question.
  mutable std::unique_ptr<SimModel> model_ GUARDED_BY(log_mutex_);
  // Number of operations that the model has applied.
  mutable size_t replayed_ GUARDED_BY(log_mutex_) = 0;
};

}  // namespace ashlar
