// SPDX-License-Identifier: Apache-2.0
//
// Writes the contents of WALs to tables by opening the database once, without a facade: no
// background work begins, no OPTIONS file is written, and no file is deleted.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"

namespace ashlar {

struct LogReplayRequest {
  DBOptions db_options;  // not sanitized
  std::string dir;
  std::vector<ColumnFamilyDescriptor> families;  // all of the database
};

// Adds a line to `report` for each part of a WAL that was left out. Takes the lock of the
// directory, and releases it at the end. Listeners are not called. After an error the tables that
// were written stay; a second replay writes them again.
Status ReplayLogsIntoTables(const LogReplayRequest& request, std::vector<std::string>* report);

}  // namespace ashlar
