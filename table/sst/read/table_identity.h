// SPDX-License-Identifier: Apache-2.0
//
// Reads which session created a table, or all of its properties. Only the footer, the metaindex and
// the properties are read, so no comparator is needed. Threads: any number.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/table_properties.h"
#include "util/result.h"

namespace ashlar {

// The session id of the database that created the table; empty if the table has none. Errors name
// the file and the offset.
Result<std::string> ReadTableSessionId(FileSystem* fs, const std::string& path);

// Corruption if the table has no properties.
Result<TableProperties> ReadTableProperties(FileSystem* fs, const std::string& path);

}  // namespace ashlar
