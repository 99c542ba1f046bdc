// SPDX-License-Identifier: Apache-2.0
//
// Runs the cases in a child process. A case in which the child dies (a crash, a hang, a much too
// large allocation) is named and counted, and another child continues after it. Threads: the parent
// has one; it must not have used a thread pool before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ashlar {

// Counters that outlive a child.
class SharedCounters {
 public:
  static void Add(const std::string& name);
  static std::map<std::string, uint64_t> All();
};

// Runs `work` in children until one ends normally; returns its exit code, or 1 if any died.
int RunSupervised(const std::function<int()>& work);

// Whether this child runs the next case: false for cases of earlier children.
bool NextCase(const std::string& name);

// Called after the last case.
void EndAllCases();

// From now on a larger allocation ends the process; SIZE_MAX: no limit.
void SetAllocationLimit(size_t bytes);

}  // namespace ashlar
