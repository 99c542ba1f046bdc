// SPDX-License-Identifier: Apache-2.0
//
// For conditions that must hold in a child after fork(). The child ends without destructors and
// without the test report; its exit code says whether it passed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

#include "util/threads/epoch.h"

namespace ashlar {

// The thread sanitizer ends a child that starts threads if its parent had several. A test with such
// a child is skipped there, by SkipAsImpossible(kThreadsInChildren).
inline constexpr bool kChildMayStartThreads = !ASHLAR_TSAN;
inline constexpr char kThreadsInChildren[] = "threads in a child, with the thread sanitizer";

// How a forked child ended.
enum class ChildEnd : uint8_t {
  kPassed,
  kKilled,  // by SIGKILL, which only a test sends
  kFailed,  // anything else: false, a failed expectation, another signal, the alarm, no child
};

inline bool WasKilled(int wait_status) {
  return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
}

// Runs `in_child` in a forked child, which passes if it returns true in time and no expectation has
// failed in it. What fails there is only printed.
inline ChildEnd RunInChild(const std::function<bool()>& in_child) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);                                            // a hanging child ends with SIGALRM
    const bool has_failed = testing::Test::HasFailure();  // of the parent before, perhaps
    const bool has_passed = in_child() && (has_failed || !testing::Test::HasFailure());
    _exit(has_passed ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return ChildEnd::kFailed;
  if (WasKilled(status)) return ChildEnd::kKilled;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ChildEnd::kPassed : ChildEnd::kFailed;
}

// Runs `in_child` in a forked child. True if it returned true in time, and no expectation failed.
inline bool PassesInChild(const std::function<bool()>& in_child) {
  return RunInChild(in_child) == ChildEnd::kPassed;
}

}  // namespace ashlar
