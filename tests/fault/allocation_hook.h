// SPDX-License-Identifier: Apache-2.0
//
// The operator new of this test program can fail: the n-th allocation that a thread makes while it
// is armed. Other threads are not touched.
#pragma once

#include <cstdint>

namespace ashlar {

class AllocationFault {
 public:
  // From here on this thread is armed; the allocation after `countdown` others fails, once.
  explicit AllocationFault(uint64_t* countdown);
  ~AllocationFault();
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;

  // Allocations of this thread neither count nor fail: for the test's own file system.
  static void SetPaused(bool is_paused);
};

}  // namespace ashlar
