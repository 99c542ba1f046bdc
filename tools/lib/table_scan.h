// SPDX-License-Identifier: Apache-2.0
//
// Walking the entries of one table in the order of the file: all versions of all keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "table/sst/read/table_reader.h"
#include "util/result.h"

namespace ashlar {

struct TableScan {
  std::optional<std::string> from;    // user key, inclusive
  std::optional<std::string> to;      // user key, exclusive
  std::optional<std::string> prefix;  // of user keys; instead of `from`
  uint64_t max_entries = UINT64_MAX;
  bool prints = false;  // each entry, on stdout
  bool hex = false;
  bool decodes_blob_references = false;
};

// The number of entries visited. Every block that is touched is checked first.
Result<uint64_t> ScanTable(const TableReader& table, const InternalKeyComparator& comparator,
                           const TableScan& scan);

}  // namespace ashlar
