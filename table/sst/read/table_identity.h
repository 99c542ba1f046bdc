// SPDX-License-Identifier: Apache-2.0
//
// Reads the properties of a table. Only the footer, the metaindex and the properties are read, so
// no comparator is needed. Threads: any number.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/table_properties.h"
#include "util/result.h"

namespace ashlar {

// Corruption if the table has no properties. Errors name the file and the offset.
Result<TableProperties> ReadTableProperties(FileSystem* fs, const std::string& path);

}  // namespace ashlar
