// SPDX-License-Identifier: Apache-2.0
//
// The present work of background threads, for Env::GetThreadList().
//
//   ThreadStatusUpdater  the list of an environment; the name is that of the public interface
//   TrackedThread        a thread of a pool; it is in the list as long as it lives
//   TrackedOperation     a flush or compaction that the calling thread does
//   TrackedBytes         bytes that a thread reads and writes for an operation, perhaps of another
//                        thread
//
// Updated a few times per job and once in a thousand entries, so one mutex is enough for all.
// Threads: any; an object of the last three classes begins and ends in one thread.
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

// The operation that a thread is about to start.
struct OperationInfo {
  using Properties = std::array<uint64_t, ThreadStatus::kNumOperationProperties>;

  ThreadStatus::OperationType type = ThreadStatus::OP_UNKNOWN;
  ThreadStatus::OperationStage stage = ThreadStatus::STAGE_UNKNOWN;
  std::string db_name;
  std::string family_name;
  Properties properties{};  // their meaning depends on the type
};

// Contains pointers to the records of the tracked threads, which remove themselves.
class ThreadStatusUpdater {
 public:
  // The threads in the order in which they were added.
  std::vector<ThreadStatus> List() const;

 private:
  friend class TrackedThread;
  friend class TrackedOperation;

  // Lives on the stack of its thread. Other threads read it under the mutex of the list.
  struct Record {
    uint64_t thread_id = 0;
    ThreadStatus::ThreadType type = ThreadStatus::USER;
    OperationInfo operation;
    uint64_t start_micros = 0;  // when the operation began
  };
  // A consistent copy for the public interface.
  static ThreadStatus StatusOf(const Record& record, uint64_t now_micros);
  // Removes the threads that do not exist in a child after fork().
  void MendInChild();

  mutable Mutex mutex_{LockRank::kLeaf};
  std::list<Record*> records_ GUARDED_BY(mutex_);  // guards the contents of the records too
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

// Lives as long as the thread of the pool, on its stack.
class TrackedThread {
 public:
  // `list` outlives the thread; null: nothing is tracked.
  TrackedThread(ThreadStatusUpdater* list, ThreadStatus::ThreadType type);
  ~TrackedThread();
  TrackedThread(const TrackedThread&) = delete;
  TrackedThread& operator=(const TrackedThread&) = delete;

 private:
  ThreadStatusUpdater* const list_;
  ThreadStatusUpdater::Record record_;
};

// Shows an operation of the calling thread in the list, from the construction to the destruction. A
// thread that is not in the list is added for this time as a thread of the user. `list` may be
// null.
class TrackedOperation {
 public:
  TrackedOperation(ThreadStatusUpdater* list, OperationInfo facts);
  ~TrackedOperation();
  TrackedOperation(const TrackedOperation&) = delete;
  TrackedOperation& operator=(const TrackedOperation&) = delete;

  // Changes the stage, or adds to a property. The meaning of a property depends on the type of the
  // operation. Any thread.
  void SetStage(ThreadStatus::OperationStage stage);
  void Add(int property, uint64_t amount);

 private:
  ThreadStatusUpdater* const list_;
  ThreadStatusUpdater::Record own_;            // for a thread that was not in the list
  ThreadStatusUpdater::Record* const record_;  // the record of the operation
  ThreadStatusUpdater::Record before_;         // the state of the thread before, which is restored
};

// Adds the bytes that this thread reads and writes to properties of an operation. It uses the
// thread's IOStatsContext, whose counters go on for other purposes.
class TrackedBytes {
 public:
  // An index of a property of the operation, or kNone.
  static constexpr int kNone = -1;
  // `operation` outlives this object; null: nothing is counted.
  TrackedBytes(TrackedOperation* operation, int read_property, int written_property);
  ~TrackedBytes() { Tell(); }
  TrackedBytes(const TrackedBytes&) = delete;
  TrackedBytes& operator=(const TrackedBytes&) = delete;

  // Adds the bytes counted since the previous call.
  void Tell();

 private:
  TrackedOperation* const operation_;
  const int read_property_;
  const int written_property_;
  // The values of the counters that were added already.
  uint64_t told_read_bytes_ = 0;
  uint64_t told_written_bytes_ = 0;
};

}  // namespace ashlar
