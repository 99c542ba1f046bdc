// SPDX-License-Identifier: Apache-2.0
//
// Runs a few threads in every order, up to a number of preemptions, and reports the order in which
// a requirement fails. For small pieces of lock-free code, or of code with difficult locking.
//
//   const Outcome outcome = Explore({.preemptions = 2}, [] {
//     auto state = std::make_shared<State>();                    // fresh for each interleaving
//     return Scenario{.threads = {[state] { ... }, [state] { ... Require(x == 1, "x is one"); }},
//                     .check = [state] { Require(...); }};       // after all threads have ended
//   });
//
// The code under test is the library's own, without any hooks: interleave_test compiles its .cc
// files with the compiler's instrumentation for thread sanitizers, and hooks.cc defines the
// functions that the instrumented code calls, instead of a sanitizer. So each atomic operation is a
// point where another thread may continue; so are locks, condition variables, futexes and yields,
// whose C functions the linker redirects. One thread runs at a time.
//
// It finds errors of interleavings and, with `delays_stores`, of a store buffer (x86: a store that
// is not sequentially consistent becomes visible after later loads of its thread). It does not find
// errors of the further reorderings of weaker machines; TSan and proofs are for those.
//
// The third and later load in a row of the same unchanged value is not a point, so that a loop
// which spins, then sleeps, soon sleeps. A deadlock, a lost wake-up and an endless loop are
// failures. A scenario must do the same in the same order each time: no clock, no random numbers.
// Threads: Explore() from one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ashlar::interleave {

struct Limits {
  // The largest number of interruptions of threads that could continue, plus delayed stores.
  int preemptions = 3;
  bool delays_stores = false;
  // Bit i: thread i may be interrupted.
  uint32_t interruptible = UINT32_MAX;
  // A thread lets the others run only after this many yields in a row. With 0 an interrupted thread
  // continues at the first yield of another one, so the other one can never finish before it.
  int ignored_yields = 0;
  // More interleavings are a failure: the test must stay small.
  uint64_t max_interleavings = 400000;
};

struct Scenario {
  std::vector<std::function<void()>> threads;  // at most 4
  std::function<void()> check = nullptr;       // called by the caller's thread
  // Called by each thread when its turn first comes, as one step: restores state that the thread
  // keeps from one run to the next. Takes no lock.
  std::function<void()> prepare = nullptr;
};

struct Outcome {
  uint64_t interleavings = 0;
  std::string failure;  // empty: every interleaving met all requirements
};

Outcome Explore(const Limits& limits, const std::function<Scenario()>& make);

// For threads and check. The first requirement that does not hold ends the exploration.
void Require(bool holds, const char* what);

// Calls Explore(), which must find no failure. Prints the number of interleavings.
void ExpectAlways(const Limits& limits, const std::function<Scenario()>& make);

}  // namespace ashlar::interleave
