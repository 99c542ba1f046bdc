// SPDX-License-Identifier: Apache-2.0
//
// The command line and the figures that all suites share.
#include "tests/support/suite.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace ashlar {
namespace {

char current_case[4096];
volatile uint64_t current_step = 0;

// Async-signal-safe: prints a constant text, the step and the name, then raises the signal's
// default action.
void PrintCase(int signal_number) {
  const char* what = signal_number == SIGALRM ? "\nHANGS at step " : "\nCRASHES at step ";
  char digits[32];
  char* step = digits + sizeof(digits) - 6;
  memcpy(step, " of: ", 6);
  for (uint64_t n = current_step, i = 0; n > 0 || i == 0; n /= 10, ++i) {
    *--step = static_cast<char>('0' + n % 10);
  }
  if (write(2, what, strlen(what)) < 0 || write(2, step, strlen(step)) < 0 ||
      write(2, current_case, strlen(current_case)) < 0 || write(2, "\n", 1) < 0) {
    _exit(3);
  }
  signal(SIGABRT, SIG_DFL);
  signal(signal_number, SIG_DFL);
  if (signal_number == SIGALRM) abort();
  raise(signal_number);
}

}  // namespace

SuiteArguments ParseSuiteArguments(int argc, char** argv, double default_seconds) {
  SuiteArguments result;
  result.seconds = default_seconds;
  result.seed = 20240501;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--seconds=", 0) == 0) result.seconds = std::atof(argv[i] + 10);
    if (argument.rfind("--trace=", 0) == 0) result.trace_file = argv[i] + 8;
    if (argument.rfind("--seed=", 0) == 0) {
      result.seed = std::strtoull(argv[i] + 7, nullptr, 10);
      result.has_seed = true;
    }
  }
  return result;
}

double SuiteScale() {
  const char* const text = std::getenv("ASHLAR_SUITE_SCALE");
  const double scale = text == nullptr ? 1 : std::atof(text);
  return scale > 0 ? scale : 1;
}

double SuiteClock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void BeginCase(const std::string& name, unsigned seconds) {
  static const bool is_installed = [] {
    for (int number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      signal(number, PrintCase);
    return true;
  }();
  (void)is_installed;
  const size_t n = name.copy(current_case, sizeof(current_case) - 1);
  current_case[n] = '\0';
  current_step = 0;
  alarm(seconds);
}

void BeginStep(uint64_t step) { current_step = step; }

void EndCases() { alarm(0); }

}  // namespace ashlar
