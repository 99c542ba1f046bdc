// SPDX-License-Identifier: Apache-2.0
//
// Version edits and the state they add up to as text, in the form of RocksDB's ldb manifest_dump.
// Pure functions.
#pragma once

#include <string>

#include "tools/ldb/manifest_state.h"

namespace ashlar {

// "VersionEdit {" to "}", a field a line; keys in hexadecimal if `hex`.
std::string VersionEditText(const VersionEdit& edit, bool hex);
// Families, their files by level, and the counters.
std::string ManifestSummaryText(const ManifestState& state, bool hex);

}  // namespace ashlar
