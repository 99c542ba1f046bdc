// SPDX-License-Identifier: Apache-2.0
//
// Finds the pieces of tables, logs and MANIFESTs that carry a checksum, and puts a right checksum
// on changed ones: for files that lie although all sums are right. The pieces are found by their
// sums, not by what the engine's readers think of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/format/checksum.h"

namespace ashlar {

// A physical record of a log or MANIFEST.
struct LogRecord {
  size_t offset = 0;
  size_t payload_offset = 0;
  size_t payload_bytes = 0;
  size_t end() const { return payload_offset + payload_bytes; }
};

// The records up to the first place that is none.
std::vector<LogRecord> FindRecords(const std::string& log);
// The bytes of `record` of `log` with another payload and a checksum that fits.
std::string RecordWith(const std::string& log, const LogRecord& record, const std::string& payload);

struct TableBlock {
  // "data", "index", "filter", "dictionary", "properties", "metaindex"; partitions are "data"
  std::string kind;
  size_t offset = 0;
  size_t bytes = 0;  // without the trailer
  size_t end() const;
};

struct TableLayout {
  ChecksumContext checksum;
  uint32_t format_version = 0;
  std::vector<TableBlock> blocks;  // in the order of the file, without a gap
  size_t footer_offset = 0;
};

// Empty `blocks` if the table is not intact.
TableLayout FindBlocks(const std::string& table);
// How many entries the data blocks hold, if they are plain enough to tell: no compression, no hash
// index, restart points at the end.
std::optional<uint64_t> CountEntries(const TableLayout& layout, const std::string& table);
// Puts the right checksum on a block of the layout, or on the footer, after a change in place.
void FixBlock(const TableLayout& layout, const TableBlock& block, std::string* table);
void FixFooter(const TableLayout& layout, std::string* table);

}  // namespace ashlar
