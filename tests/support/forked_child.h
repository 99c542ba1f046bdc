// SPDX-License-Identifier: Apache-2.0
//
// For conditions that must hold in a child after fork(). The child ends without destructors and
// without the test report; its exit code says whether it passed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "util/threads/epoch.h"

namespace ashlar {

// The thread sanitizer ends a child that starts threads if its parent had several. A test with such
// a child is skipped there, by SkipAsImpossible(kThreadsInChildren).
inline constexpr bool kChildMayStartThreads = !ASHLAR_TSAN;
inline constexpr char kThreadsInChildren[] = "threads in a child, with the thread sanitizer";

// Runs `in_child` in a forked child. True if it returned true in time.
inline bool PassesInChild(const std::function<bool()>& in_child) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a hanging child is killed
    _exit(in_child() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace ashlar
