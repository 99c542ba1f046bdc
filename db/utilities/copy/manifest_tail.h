// SPDX-License-Identifier: Apache-2.0
//
// What a copy of a MANIFEST says more than the original: records behind its last one. Pure
// functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/manifest/version_edit.h"
#include "util/keys/file_number.h"

namespace ashlar {

// The bytes to be appended to a MANIFEST of this many bytes.
std::string ManifestTail(uint64_t manifest_bytes, const std::vector<VersionEdit>& edits);

// The copy comes without the logs below this number: it must open without them.
VersionEdit ForgetLogsBelow(FileNumber end);

}  // namespace ashlar
