// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine, for the tests of programs that use Ashlar: files in memory that a power
// failure may tear, calls that fail when the test says so, a clock that only the simulation moves,
// and background work that runs in an order which a seed decides. The same seed and the same calls
// of the program give the same run, file call by file call.
//
//   auto machine = ashlar::SimulatedMachine::Create(/*seed=*/1);
//   options.env = machine->env();
//   ... open a database, use it ...
//   for (uint64_t call : machine->CrashPoints()) {
//     auto after = machine->AfterPowerFailure(call, /*seed=*/call);
//     options.env = after->env();
//     ... open the database again: is everything there that the program was promised? ...
//   }
//
// The class is in the library ashlar-testing, which is linked beside the static library ashlar
// (CMake: Ashlar::ashlar-testing).
//
// Threads: a machine belongs to the thread that created it, and a database on it is used from that
// thread alone; background work runs inside of the database's calls when they would wait. Machines
// of one thread are destroyed in the reverse order of their creation, each after the databases on
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"

namespace ashlar {

class SimulatedMachine {
 public:
  // An empty machine. `seed` decides in which order background work runs.
  static std::unique_ptr<SimulatedMachine> Create(uint64_t seed);
  virtual ~SimulatedMachine() = default;

  // For Options::env and DB::Open(). Owned by the machine.
  virtual Env* env() = 0;

  // Runs some of the queued flushes and compactions, or none, as the seed decides. Call it between
  // the program's calls; without it background work runs only when a call waits for it.
  virtual void RunSomeBackgroundWork() = 0;
  // Runs background work until none is queued.
  virtual void RunAllBackgroundWork() = 0;
  // Moves the clock forward. Reading the clock moves it by one microsecond.
  virtual void AdvanceClock(uint64_t micros) = 0;

  // How a call of the file system fails.
  enum class Failure : uint8_t {
    kIOError,    // IOError; nothing was done
    kNoSpace,    // IOError(NoSpace); nothing was done
    kHalfWrite,  // a write stores half of its bytes and fails; a read returns half and succeeds
    kLostSync,   // a sync returns OK and makes nothing durable
  };
  // The number of calls of the file system so far, which is the number of the next one. Calls are
  // numbered from 0.
  virtual uint64_t FileCallCount() const = 0;
  // The call with this number fails, and all later calls too if `keeps_failing`.
  virtual void FailFileCall(uint64_t number, Failure failure, bool keeps_failing) = 0;
  // From now on every call fails whose path contains `path_part` and that may change the file.
  virtual void FailWritesTo(const std::string& path_part, Failure failure) = 0;
  // No call fails any more.
  virtual void StopFailing() = 0;
  // Together the files may hold `bytes`; writes beyond it fail with NoSpace.
  virtual void LimitDiskBytes(uint64_t bytes) = 0;

  // Everything written so far is durable, as if the machine had been shut down properly.
  virtual void MakeEverythingDurable() = 0;
  // The numbers of the calls so far that may change what a crash leaves behind, ascending.
  virtual std::vector<uint64_t> CrashPoints() const = 0;
  // The machine after its power failed just before the call with this number: what was synced is
  // there; of everything else `seed` decides what is there, in pieces of 512 bytes and single
  // directory entries. FileCallCount() means now. The new machine has the old one's clock settings
  // and no failures.
  virtual std::unique_ptr<SimulatedMachine> AfterPowerFailure(uint64_t number,
                                                              uint64_t seed) const = 0;
  // The machine after the program was killed just before the call with this number: everything
  // that was written is there, synced or not.
  virtual std::unique_ptr<SimulatedMachine> AfterProcessDeath(uint64_t number) const = 0;

  // A hash of all calls of the file system so far with their bytes: equal for two equal runs.
  virtual uint64_t FileCallHash() const = 0;
};

}  // namespace ashlar
