// SPDX-License-Identifier: Apache-2.0
//
// MemoryReport: the memory that one memtable has reported to a WriteBufferManager. Reports are made
// in steps, by the thread that watches the memtable, and outside of epochs, because the manager may
// wait for the lock of a cache. The reported memory is given back in the destructor.
//
// Threads: IsDue() any number; the others one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>

#include "ashlar/write_buffer_manager.h"

namespace ashlar {

class MemoryReport {
 public:
  // Smaller growth is not reported before the memtable becomes immutable.
  static constexpr size_t kStepBytes = 16 << 10;

  explicit MemoryReport(std::shared_ptr<WriteBufferManager> manager);  // null: nothing is reported
  ~MemoryReport();
  MemoryReport(const MemoryReport&) = delete;
  MemoryReport& operator=(const MemoryReport&) = delete;

  // True if a memtable with this many bytes must call Tell(). Cheap.
  bool IsDue(size_t bytes) const { return bytes >= due_bytes_.load(std::memory_order_relaxed); }
  // Reports that the mutable memtable has this many bytes. A smaller number than before changes
  // nothing.
  void Tell(size_t bytes);
  // Reports that the memtable has this many bytes and is immutable, so the memory will be free
  // after its flush. Calling it again changes nothing.
  void Seal(size_t bytes);
  // Reports that the immutable memtable was flushed, or will never be. From now on its readers
  // decide when the memory is free, so no writer waits for it: the writer may be one of them.
  void Keep();

  // The average size of the reported memtables that are still mutable.
  static size_t MeanActiveBytes(const WriteBufferManager& manager);

 private:
  // Reports the end of the mutable state.
  void EndActive();

  const std::shared_ptr<WriteBufferManager> manager_;
  // Bytes reserved in the manager.
  size_t told_bytes_ = 0;
  bool is_immutable_ = false;
  bool is_kept_ = false;
  // The size at which the next report is due.
  std::atomic<size_t> due_bytes_{std::numeric_limits<size_t>::max()};
};

}  // namespace ashlar
