// SPDX-License-Identifier: Apache-2.0
//
// One opening of a database on a disk that outlives it, for suites of crashes and faults that open
// databases repeatedly. Threads: one at a time.
#pragma once

#include <memory>

#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"

namespace ashlar {

struct DatabaseOnDisk {
  std::unique_ptr<Env> env;  // outlives the database
  OpenedDb opened;
};

// Opens "/db" on the disk, with options->env set to the env of this object. An error fails the test
// and leaves opened.db() null.
std::unique_ptr<DatabaseOnDisk> OpenDatabaseOnDisk(const std::shared_ptr<SimFS>& disk,
                                                   Options* options);

}  // namespace ashlar
