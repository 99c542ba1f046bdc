// SPDX-License-Identifier: Apache-2.0
//
// The first look at the tables that the MANIFEST names, while a database is opened: whether they
// are there and are what it says.
//
// Tables that may stay open are opened, several at a time. Where max_open_files sets a limit, or
// open_files_async asks not to wait, the rest is opened by whoever reads it first: of those only
// the size is asked, so that a missing or a truncated table is told at once all the same. Threads:
// one calls; waits for those that it starts.
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

// The error of the first table in the list that has one. Corruption for a table that is missing or
// of another size, unless paranoid_checks is off: it is left to whoever reads it, and who reads a
// longer one sees the size that the MANIFEST says.
// InvalidArgument for another comparator.
Status LookAtTables(const DbEnvironment& environment, const OpenTableBudget& budget,
                    const DBOptions& options, const std::vector<NamedTable>& tables);

}  // namespace ashlar
