// SPDX-License-Identifier: Apache-2.0
//
// Runs a few threads in every order there is, up to a number of preemptions, and says in which one
// a requirement fails. For small pieces of lock-free or subtly locked code.
//
//   const Outcome outcome = Explore({.preemptions = 2}, [] {
//     auto state = std::make_shared<State>();                    // fresh for each interleaving
//     return Scenario{.threads = {[state] { ... }, [state] { ... Require(x == 1, "x is one"); }},
//                     .check = [state] { Require(...); }};       // after all threads have ended
//   });
//
// The code under test is the library's own, without any hook in it: interleave_test compiles its
// .cc files with the compiler's instrumentation for thread sanitizers, and instead of a sanitizer
// this folder supplies the functions which that calls (hooks.cc). So each atomic operation is a
// point where another thread may go on; so are locks, condition variables, futexes and yields,
// whose C functions the linker redirects. One thread runs at a time.
//
// What it sees: interleavings, and with `delays_stores` what a store buffer does to them (x86: a
// store that is not sequentially consistent becomes visible after later loads of its thread). Not:
// what weaker machines may reorder besides; that is for TSan and for proofs.
//
// A third and later load in a row of the same unchanged value is no point: spinning counts as
// one look, so that a loop which spins, then sleeps, is soon asleep. A deadlock, a lost wake-up and
// an endless loop are failures. A scenario must do the same in the same order each time: no clock,
// no random numbers. Threads: Explore() from one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ashlar::interleave {

struct Limits {
  // How often a thread that could go on is interrupted, and stores are delayed, in all.
  int preemptions = 3;
  bool delays_stores = false;
  // Bit i: thread i may be interrupted.
  uint32_t interruptible = UINT32_MAX;
  // A thread that yields more often in a row lets the others run. With 0 a thread that was
  // interrupted goes on at the first yield of another: then it is never overtaken by all that the
  // other does.
  int yields_passed_over = 0;
  // More are a failure: the test must stay small.
  uint64_t max_interleavings = 400000;
};

struct Scenario {
  std::vector<std::function<void()>> threads;  // at most 4
  std::function<void()> check = nullptr;       // by the caller's thread
  // By each thread when its turn first comes, in one step: brings what it keeps from one run to the
  // next back to where it was. Takes no lock.
  std::function<void()> prepare = nullptr;
};

struct Outcome {
  uint64_t interleavings = 0;
  std::string failure;  // empty: every interleaving met all requirements
};

Outcome Explore(const Limits& limits, const std::function<Scenario()>& make);

// From threads and check. The first that does not hold ends the exploration.
void Require(bool holds, const char* what);

// Explore(), which must find nothing wrong. Prints the number of interleavings.
void ExpectAlways(const Limits& limits, const std::function<Scenario()>& make);

}  // namespace ashlar::interleave
