// SPDX-License-Identifier: Apache-2.0
//
// What the flags --list_meta_blocks and --show_summary print.
#pragma once

#include <cstdint>
#include <string>

#include "tools/lib/table_inspector.h"
#include "util/result.h"

namespace ashlar {

// A line for each block that is no data block, in the order of the file: where it is, how large as
// stored and as it is used, how it is compressed, and its name. Reads and verifies all of them.
Result<std::string> MetaBlocksText(TableInspector* table);

// Sums over the tables that were visited without an error.
class TablesSummary {
 public:
  void Add(const TableProperties& properties);
  // The lines of RocksDB's tool.
  std::string ToString() const;

 private:
  uint64_t files_ = 0;
  uint64_t data_blocks_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t index_bytes_ = 0;
  uint64_t filter_bytes_ = 0;
};

}  // namespace ashlar
