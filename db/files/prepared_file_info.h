// SPDX-License-Identifier: Apache-2.0
//
// PreparedFileInfo has what the MANIFEST of one database says about a live table, for a database
// that ingests a copy of it. For programs it is an object without members.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

struct PreparedFileInfo {
  uint64_t bytes = 0;
  std::string unique_id;  // 16 bytes as in the MANIFEST, or empty
  // The table refers to no blob files. Otherwise its entries must be read to find out.
  bool has_no_blobs = false;
};

}  // namespace ashlar
