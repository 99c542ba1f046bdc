// SPDX-License-Identifier: Apache-2.0
//
// Probes: each makes one call of the public API, in its simplest right form, on a small open
// database. A call that is not built answers NotSupported; docs/compatibility.md says what came
// out. Threads: one at a time.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"

namespace ashlar {

// What a probe stands on: a database in memory with one table, and a second, empty family.
struct Ground {
  Ground();
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // Opens a database of its own with these options.
  Status OpenWith(const Options& changed);

  const std::unique_ptr<Env> env{NewMemEnv(Env::Default())};
  Options options;
  std::unique_ptr<DB> db;
  ColumnFamilyHandle* family = nullptr;  // the default one, owned by db
  ColumnFamilyHandle* second = nullptr;  // owned; a probe that takes it leaves nullptr
};

// For calls that answer without a Status.
inline Status Found(bool is_there) { return is_there ? Status::OK() : Status::NotFound(); }

struct Probe {
  const char* name;  // "DB::Put"
  Status (*run)(Ground& ground);
};

// Every name among the members of DB, of which those below are a part: fact_probes.cc.
std::span<const Probe> DbProbes();
std::span<const Probe> OptionProbes();
std::span<const Probe> FactProbes();
std::span<const Probe> FileProbes();

std::span<const Probe> OtherProbes();     // functions and classes beside it
std::span<const Probe> CopyProbes();      // of those: what copies whole databases
std::span<const Probe> ObjectProbes();    // objects that a program gives as options
std::span<const Probe> ArgumentProbes();  // members of the options of calls, with another value

}  // namespace ashlar
