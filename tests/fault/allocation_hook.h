// SPDX-License-Identifier: Apache-2.0
//
// The operator new of this test program can fail: the n-th allocation of an armed thread. Other
// threads are not affected.
#pragma once

#include <cstdint>

namespace ashlar {

class AllocationFault {
 public:
  // Arms this thread: the allocation after `countdown` others fails, once.
  explicit AllocationFault(uint64_t* countdown);
  ~AllocationFault();
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;

  // Allocations of this thread neither count nor fail: for the test's own file system.
  static void SetPaused(bool is_paused);
};

}  // namespace ashlar
