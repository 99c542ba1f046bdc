// SPDX-License-Identifier: Apache-2.0
//
// MemoryReport: what one memtable has told a WriteBufferManager about its memory. It is told in
// steps, by whoever watches the memtable and outside of epochs, since the manager may wait for the
// lock of a cache. What was told is given back with the report.
//
// Threads: IsDue() any; the others one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>

#include "ashlar/write_buffer_manager.h"

namespace ashlar {

class MemoryReport {
 public:
  // Memory that has grown by less is not told before the memtable is sealed.
  static constexpr size_t kStepBytes = 16 << 10;

  explicit MemoryReport(std::shared_ptr<WriteBufferManager> manager);  // null: nobody is told
  ~MemoryReport();
  MemoryReport(const MemoryReport&) = delete;
  MemoryReport& operator=(const MemoryReport&) = delete;

  // Whether a memtable of so many bytes owes a call of Tell(). Cheap.
  bool IsDue(size_t bytes) const { return bytes >= due_bytes_.load(std::memory_order_relaxed); }
  // The memtable, which is still written to, holds so many bytes. Less than before counts as equal.
  void Tell(size_t bytes);
  // It holds so many, takes no more writes and is due to be flushed: they will be free then. A
  // second call changes nothing.
  void Seal(size_t bytes);
  // It was sealed and flushed, but stays: nobody is to wait for its memory.
  void Keep();

  // What memtables hold on average that were told of and are still written to.
  static size_t MeanActiveBytes(const WriteBufferManager& manager);

 private:
  void EndActive();

  const std::shared_ptr<WriteBufferManager> manager_;
  size_t told_bytes_ = 0;
  bool is_sealed_ = false;
  std::atomic<size_t> due_bytes_{std::numeric_limits<size_t>::max()};
};

}  // namespace ashlar
