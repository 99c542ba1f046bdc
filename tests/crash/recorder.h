// SPDX-License-Identifier: Apache-2.0
//
// Runs operations on a SimFS and records their effects (History). Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/crash/history.h"
#include "tests/support/option_set.h"
#include "tests/support/run_threads.h"
#include "tests/support/trace.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_runner.h"

namespace ashlar {

inline constexpr char kCrashDir[] = "/db";

struct Recording {
  std::string name;  // repeats the run
  uint64_t seed = 0;
  bool has_own_threads = false;
  bool maps_logs = false;
  OptionSet options;
  std::shared_ptr<SimFS> sim;
  History history;
};

class Recorder {
 public:
  Recorder(const std::string& name, uint64_t seed, bool has_own_threads, bool maps_logs,
           const OptionSet& options);

  // These return an error of the run itself.
  std::string Open();
  std::string Apply(const TraceOp& op);
  std::string Close();

  DB* db() { return runner_.db(); }
  ColumnFamilyHandle* Handle(int family) const { return runner_.Handle(family); }
  Recording& recording() { return recording_; }

 private:
  // The number of the next call; stores into mapped logs before it are numbered, too.
  uint64_t NextCall();
  void NoteContents(const TraceOp& op);
  void NoteAfter(const TraceOp& op, uint64_t begin, uint64_t end);
  std::string ApplyToLog(const TraceOp& op);

  Recording recording_;
  RunThreads threads_;
  std::unique_ptr<Env> env_;
  TraceRunner runner_;
};

// The options and the operations of the random trace with this seed.
OptionSet CrashOptions(uint64_t seed);
TraceProfile CrashProfile(uint64_t seed);

}  // namespace ashlar
