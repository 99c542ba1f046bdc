// SPDX-License-Identifier: Apache-2.0
//
// The flags of ldb that set options of the database or of a family. Threads: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "tools/lib/command_line.h"

namespace ashlar {

// Applies all flags about a column family. Flags that are absent change nothing, so the values of
// the OPTIONS file stay. InvalidArgument names a flag whose value cannot be.
Status ApplyFamilyFlags(const CommandLine& line, ColumnFamilyOptions* options);
// The same for the flags about the database as a whole.
Status ApplyDbFlags(const CommandLine& line, DBOptions* options);

// The flags that OpenForWriting() uses. Commands that read accept them.
const std::vector<std::string_view>& OpenFlags();

}  // namespace ashlar
