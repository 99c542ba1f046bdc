// SPDX-License-Identifier: Apache-2.0
//
// Finds the pieces of tables, logs and MANIFESTs that have a checksum, and updates the checksums of
// changed pieces. Pieces are found by their checksums, independently of the engine's readers.
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

// The records up to the first position without a valid one.
std::vector<LogRecord> FindRecords(const std::string& log);
// The bytes of `record` of `log` with another payload and a matching checksum.
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
  std::vector<TableBlock> blocks;  // in the order of the file, without gaps
  size_t footer_offset = 0;
};

// Empty `blocks` if the table is not intact.
TableLayout FindBlocks(const std::string& table);
// The number of entries of the data blocks, if these are of the simplest form: no compression, no
// hash index, restart points at the end.
std::optional<uint64_t> CountEntries(const TableLayout& layout, const std::string& table);
// Updates the checksum of a block of the layout, or of the footer, after a change in place.
void FixBlock(const TableLayout& layout, const TableBlock& block, std::string* table);
void FixFooter(const TableLayout& layout, std::string* table);

}  // namespace ashlar
