// SPDX-License-Identifier: Apache-2.0
//
// What background threads are doing, for Env::GetThreadList().
//
//   ThreadStatusUpdater  the list of an environment; its name is that of the public interface
//   TrackedThread        a thread of a pool, in the list as long as it lives
//   TrackedOperation     a flush or compaction that the calling thread does
//   TrackedBytes         what a thread reads and writes for an operation, perhaps another one's
//
// Told a few times a job and once in a thousand entries, so one mutex serves all. Threads: any; the
// scopes begin and end in one thread.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "ashlar/thread_status.h"
#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What a thread is about to do.
struct OperationFacts {
  using Properties = std::array<uint64_t, ThreadStatus::kNumOperationProperties>;

  ThreadStatus::OperationType type = ThreadStatus::OP_UNKNOWN;
  ThreadStatus::OperationStage stage = ThreadStatus::STAGE_UNKNOWN;
  std::string db_name;
  std::string family_name;
  Properties properties{};  // as the type has them
};

class ThreadStatusUpdater {
 public:
  // Threads in the order in which they came.
  std::vector<ThreadStatus> List() const;

 private:
  friend class TrackedThread;
  friend class TrackedOperation;

  struct Record {
    uint64_t thread_id = 0;
    ThreadStatus::ThreadType type = ThreadStatus::USER;
    OperationFacts operation;
    uint64_t start_micros = 0;  // of the operation
  };
  static ThreadStatus StatusOf(const Record& record, uint64_t now_micros);
  void MendInChild();

  mutable Mutex mutex_{LockRank::kLeaf};
  std::list<Record*> records_ GUARDED_BY(mutex_);  // what they hold is guarded too
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

class TrackedThread {
 public:
  // `list` outlives the thread; null: nothing happens.
  TrackedThread(ThreadStatusUpdater* list, ThreadStatus::ThreadType type);
  ~TrackedThread();
  TrackedThread(const TrackedThread&) = delete;
  TrackedThread& operator=(const TrackedThread&) = delete;

 private:
  ThreadStatusUpdater* const list_;
  ThreadStatusUpdater::Record record_;
};

// A thread that is not in the list is in it meanwhile, as one of the user's.
class TrackedOperation {
 public:
  TrackedOperation(ThreadStatusUpdater* list, OperationFacts facts);
  ~TrackedOperation();
  TrackedOperation(const TrackedOperation&) = delete;
  TrackedOperation& operator=(const TrackedOperation&) = delete;

  // Any thread.
  void SetStage(ThreadStatus::OperationStage stage);
  void Add(int property, uint64_t amount);

 private:
  ThreadStatusUpdater* const list_;
  ThreadStatusUpdater::Record own_;            // of a thread that was not in the list
  ThreadStatusUpdater::Record* const record_;  // whose operation it is
  ThreadStatusUpdater::Record before_;         // what the thread goes on with afterwards
};

// Counts from its construction, by what the thread's IOStatsContext says.
class TrackedBytes {
 public:
  // A property of the operation, or none.
  static constexpr int kNone = -1;
  // `operation` outlives it; null: nothing happens.
  TrackedBytes(TrackedOperation* operation, int read_property, int written_property);
  ~TrackedBytes() { Tell(); }
  TrackedBytes(const TrackedBytes&) = delete;
  TrackedBytes& operator=(const TrackedBytes&) = delete;

  // Adds what has come since it was told last.
  void Tell();

 private:
  TrackedOperation* const operation_;
  const int read_property_;
  const int written_property_;
  uint64_t told_read_bytes_ = 0;
  uint64_t told_written_bytes_ = 0;
};

}  // namespace ashlar
