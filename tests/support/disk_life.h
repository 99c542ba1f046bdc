// SPDX-License-Identifier: Apache-2.0
//
// A life of a database on a disk that outlives it: what suites of crashes and faults begin over and
// over. Threads: one at a time.
#pragma once

#include <memory>

#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"

namespace ashlar {

struct DiskLife {
  std::unique_ptr<Env> env;  // outlives the database
  OpenedDb opened;
};

// Opens "/db" on the disk, with options->env set to that of the life. An error fails the test and
// leaves opened.db() null.
std::unique_ptr<DiskLife> BeginLife(const std::shared_ptr<SimFS>& disk, Options* options);

}  // namespace ashlar
