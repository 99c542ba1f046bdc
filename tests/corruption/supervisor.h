// SPDX-License-Identifier: Apache-2.0
//
// Runs the cases in a child process: one that dies (a crash, a hang, an allocation out of all
// proportion) is named and counted, and another child goes on behind it. Threads: the parent has
// one; it may not have used a thread pool before.
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

// Runs `work` in children until one ends by itself; returns its exit code, or 1 if any died.
int RunSupervised(const std::function<int()>& work);

// Whether this child is to run the next case: false for those that an earlier child had.
bool NextCase(const std::string& name);

// After the last case.
void EndAllCases();

// From now on an allocation of more bytes ends the process; SIZE_MAX: none does.
void SetAllocationLimit(size_t bytes);

}  // namespace ashlar
