// SPDX-License-Identifier: Apache-2.0
//
// What is to hold in a child after fork(). The child ends without destructors or the tests' report:
// it says by its answer whether it passed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "util/threads/epoch.h"

namespace ashlar {

// The thread sanitizer ends a child that starts threads where its parent had some: a test whose
// child does is skipped there, by SkipAsImpossible(kThreadsInChildren).
inline constexpr bool kChildMayStartThreads = !ASHLAR_TSAN;
inline constexpr char kThreadsInChildren[] = "threads in a child, with the thread sanitizer";

// Runs `in_child` in a forked child. True if it came back with true, soon enough.
inline bool PassesInChild(const std::function<bool()>& in_child) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // whoever hangs is killed
    _exit(in_child() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace ashlar
