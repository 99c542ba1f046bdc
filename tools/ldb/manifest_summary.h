// SPDX-License-Identifier: Apache-2.0
//
// What the edits of a MANIFEST add up to, as text in the form of RocksDB's ldb manifest_dump. Pure.
#pragma once

#include <string>

#include "tools/ldb/manifest_state.h"

namespace ashlar {

// Families, their files by level, and the counters; keys in hexadecimal if `hex`.
std::string ManifestSummaryText(const ManifestState& state, bool hex);

}  // namespace ashlar
