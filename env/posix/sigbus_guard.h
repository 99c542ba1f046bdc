// SPDX-License-Identifier: Apache-2.0
//
// SigbusGuard: a store into a mapped log that the kernel cannot carry out (somebody cut the file,
// the disk died) becomes a fact that can be asked for, instead of the end of the process.
//
// The signal belongs to the program: a handler is installed with the first mapped log, and only if
// nobody handles SIGBUS yet. It looks at addresses inside guarded mappings alone; everything else
// dies as it would without it. docs/mapped_log.md.
//
// Threads: Watch(), Grow() and Unwatch() one at a time for each object; is_lost() from any.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

class SigbusGuard {
 public:
  SigbusGuard() = default;
  ~SigbusGuard() { Unwatch(); }
  SigbusGuard(const SigbusGuard&) = delete;
  SigbusGuard& operator=(const SigbusGuard&) = delete;

  // Guards the mapping that begins at `base`, as far as Grow() says. Without effect where somebody
  // else handles the signal, or too many mappings are guarded.
  void Watch(char* base);
  void Grow(uint64_t bytes);
  void Unwatch();

  // Set when a store failed; from then on the whole mapping is memory without a file behind it.
  // Valid until Unwatch().
  const std::atomic<bool>* lost() const;

  // Whether SIGBUS comes to us; known once something was watched.
  static bool IsInstalled();

 private:
  struct Slot;
  friend struct SigbusSlots;

  Slot* slot_ = nullptr;
};

}  // namespace ashlar
