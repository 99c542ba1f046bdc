// SPDX-License-Identifier: Apache-2.0
//
// SigbusGuard handles stores into a mapped log that the kernel cannot carry out, because somebody
// cut the file or the disk failed. Instead of ending the process, it sets a flag that the log
// checks.
//
// Signals belong to the program. Therefore the handler is installed with the first mapped log, and
// only if nobody handles SIGBUS yet. It acts only on addresses within guarded mappings; any other
// SIGBUS ends the process as it would without the handler. See docs/mapped_log.md.
//
// Threads: Watch(), Grow() and Unwatch() by one at a time for each object; the flag of lost() by
// any.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

// The guard of one mapping. Its owner outlives the mapping or calls Unwatch() before it unmaps.
class SigbusGuard {
 public:
  SigbusGuard() = default;
  ~SigbusGuard() { Unwatch(); }
  SigbusGuard(const SigbusGuard&) = delete;
  SigbusGuard& operator=(const SigbusGuard&) = delete;

  // Guards the mapping at `base`, with the length that Grow() sets. Has no effect if another
  // handler for the signal is installed or if too many mappings are guarded.
  void Watch(char* base);
  // The mapping is now `bytes` long. Call this before the first store into the new part.
  void Grow(uint64_t bytes);
  // Ends the guard, before the memory is unmapped. Without effect if nothing is guarded.
  void Unwatch();

  // The flag is set when a store failed. From then on the whole mapping is memory without a file.
  // The pointer is valid until Unwatch().
  const std::atomic<bool>* lost() const;

  // Whether our handler is installed. False until the first Watch().
  static bool IsInstalled();

 private:
  struct Slot;
  friend struct SigbusSlots;

  // Null if nothing is guarded, also because the table was full. Points into a static table.
  Slot* slot_ = nullptr;
};

}  // namespace ashlar
