// SPDX-License-Identifier: Apache-2.0
//
// The first check of the tables that the MANIFEST names, while a database is opened: whether they
// exist and are what it says.
//
// Tables that may stay open are opened by several threads. If max_open_files sets a limit, or
// open_files_async asks for a fast opening, the remaining tables are opened when they are first
// read. For those only the size is checked, so that a missing or truncated table is still reported
// at once. Threads: called by one thread; waits for those that it starts.
#pragma once

#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/state/db_environment.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version_set.h"

namespace ashlar {

struct NamedTable {
  const FamilyVersions* family;
  TableFile* file;
};

// Returns the error of the first table in the list that has one. Corruption: a table is missing or
// has another size, unless paranoid_checks is off. Then the error is reported when the table is
// read, and a table that is too long is read up to the size that the MANIFEST says.
// InvalidArgument: a table has another comparator.
Status LookAtTables(const DbEnvironment& environment, const OpenTableBudget& budget,
                    const DBOptions& options, const std::vector<NamedTable>& tables);

}  // namespace ashlar
