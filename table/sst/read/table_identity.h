// SPDX-License-Identifier: Apache-2.0
//
// Who made a table, asked of its file alone: footer, metaindex and properties are read, and neither
// the order of its keys nor anything else need be known. Any thread.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "util/result.h"

namespace ashlar {

// The session identity of the database that wrote the table; empty if it does not say. Errors name
// file and place.
Result<std::string> ReadTableSessionId(FileSystem* fs, const std::string& path);

}  // namespace ashlar
