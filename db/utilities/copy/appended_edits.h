// SPDX-License-Identifier: Apache-2.0
//
// Records that a copy of a MANIFEST has after the last record of the original. Pure functions; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/manifest/version_edit.h"
#include "util/keys/file_number.h"

namespace ashlar {

// The bytes to append to a MANIFEST with this size, so that it has these edits as further records.
std::string AppendedEdits(uint64_t manifest_bytes, const std::vector<VersionEdit>& edits);

// An edit after which a database can be opened without the WALs below this number.
VersionEdit ForgetLogsBelow(FileNumber end);

}  // namespace ashlar
