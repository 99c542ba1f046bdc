// SPDX-License-Identifier: Apache-2.0
//
// Blocks follow each other from the beginning of a table, each followed by its type and checksum:
// the end of a block is the first position whose checksum matches the bytes before it.
#include "tests/corruption/records.h"

#include <algorithm>
#include <map>

#include "ashlar/compression_type.h"
#include "ashlar/table.h"
#include "db/wal/log_format.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

constexpr size_t kTypeOffset = 6;       // in the header of a log record
constexpr size_t kFooterSumOffset = 5;  // from version 6 on

size_t HeaderBytes(uint8_t type) {
  return IsRecyclableType(type) ? kRecyclableLogHeaderBytes : kLogHeaderBytes;
}

uint32_t SumOfRecord(const char* record, size_t bytes) {
  return crc32c::Mask(crc32c::Value(record + kTypeOffset, bytes - kTypeOffset));
}

bool HasSum(const std::string& table, const ChecksumContext& context, size_t offset, size_t bytes) {
  char trailer[kBlockTrailerBytes];
  const char* const stored = table.data() + offset + bytes;
  EncodeBlockTrailer(context, offset, Slice(table.data() + offset, bytes),
                     static_cast<CompressionType>(static_cast<unsigned char>(*stored)), trailer);
  return std::equal(trailer, trailer + kBlockTrailerBytes, stored);
}

// Offsets of the blocks that the footer and the metaindex name.
std::map<size_t, std::string> KindsOf(const std::string& table, const Footer& footer) {
  std::map<size_t, std::string> kinds;
  kinds[footer.metaindex.offset] = "metaindex";
  if (!footer.index.IsNull()) kinds[footer.index.offset] = "index";
  PlainBlockParser parser(Slice(table.data() + footer.metaindex.offset, footer.metaindex.size));
  while (parser.Next()) {
    Slice value = parser.value();
    BlockHandle handle;
    if (!GetBlockHandle(&value, &handle)) continue;
    const std::string name = parser.key().ToString();
    if (name == kIndexBlockName)
      kinds[handle.offset] = "index";
    else if (name == kPropertiesBlockName)
      kinds[handle.offset] = "properties";
    else if (name == kRangeDeletionBlockName)
      kinds[handle.offset] = "range deletions";
    else if (name == kCompressionDictBlockName)
      kinds[handle.offset] = "dictionary";
    else
      kinds[handle.offset] = "filter";
  }
  return kinds;
}

}  // namespace

std::vector<LogRecord> FindRecords(const std::string& log) {
  std::vector<LogRecord> records;
  size_t offset = 0;
  while (offset + kLogHeaderBytes <= log.size()) {
    const auto type = static_cast<uint8_t>(log[offset + kTypeOffset]);
    const size_t payload_bytes = DecodeFixed16(log.data() + offset + 4);
    const size_t bytes = HeaderBytes(type) + payload_bytes;
    if (type == 0 || offset + bytes > log.size()) break;
    if (DecodeFixed32(log.data() + offset) != SumOfRecord(log.data() + offset, bytes)) break;
    records.push_back({offset, offset + HeaderBytes(type), payload_bytes});
    offset += bytes;
  }
  return records;
}

std::string RecordWith(const std::string& log, const LogRecord& record,
                       const std::string& payload) {
  std::string bytes = log.substr(record.offset, record.payload_offset - record.offset) + payload;
  EncodeFixed16(bytes.data() + 4, static_cast<uint16_t>(payload.size()));
  EncodeFixed32(bytes.data(), SumOfRecord(bytes.data(), bytes.size()));
  return bytes;
}

size_t TableBlock::end() const { return offset + bytes + kBlockTrailerBytes; }

TableLayout FindBlocks(const std::string& table) {
  TableLayout layout;
  const size_t tail = std::min(table.size(), kFooterBytes);
  Result<Footer> footer =
      DecodeFooter(Slice(table.data() + table.size() - tail, tail), table.size(), "");
  if (!footer.ok()) return layout;
  layout.checksum = footer->checksum;
  layout.format_version = footer->format_version;
  layout.footer_offset = table.size() - kFooterBytes;
  const std::map<size_t, std::string> kinds = KindsOf(table, *footer);
  size_t offset = 0;
  while (offset < layout.footer_offset) {
    size_t bytes = 0;
    const size_t room = layout.footer_offset - offset;
    while (bytes + kBlockTrailerBytes <= room && !HasSum(table, layout.checksum, offset, bytes)) {
      ++bytes;
    }
    if (bytes + kBlockTrailerBytes > room) return TableLayout();
    const auto kind = kinds.find(offset);
    layout.blocks.push_back({kind == kinds.end() ? "data" : kind->second, offset, bytes});
    offset = layout.blocks.back().end();
  }
  return layout;
}

void FixBlock(const TableLayout& layout, const TableBlock& block, std::string* table) {
  char* const stored = table->data() + block.offset + block.bytes;
  EncodeBlockTrailer(layout.checksum, block.offset,
                     Slice(table->data() + block.offset, block.bytes),
                     static_cast<CompressionType>(static_cast<unsigned char>(*stored)), stored);
}

void FixFooter(const TableLayout& layout, std::string* table) {
  char* const footer = table->data() + layout.footer_offset;
  if (!UsesContextChecksums(layout.format_version)) return;
  EncodeFixed32(footer + kFooterSumOffset, 0);
  const uint32_t sum = ComputeChecksum(layout.checksum.type, footer, kFooterBytes) +
                       ChecksumModifier(layout.checksum.base, layout.footer_offset);
  EncodeFixed32(footer + kFooterSumOffset, sum);
}

// Entries begin with three lengths: of the shared part of the key, of its rest, of the value.
std::optional<uint64_t> CountEntries(const TableLayout& layout, const std::string& table) {
  if (layout.format_version > 5) return std::nullopt;
  uint64_t count = 0;
  for (const TableBlock& block : layout.blocks) {
    if (block.kind != "data") continue;
    const char* const begin = table.data() + block.offset;
    const uint32_t restarts = block.bytes < 4 ? 0 : DecodeFixed32(begin + block.bytes - 4);
    const bool is_plain = begin[block.bytes] == 0 && restarts > 0 && restarts < block.bytes / 4;
    if (!is_plain) return std::nullopt;
    Slice entries(begin, block.bytes - 4 * (size_t{restarts} + 1));
    while (!entries.empty()) {
      uint32_t shared, rest, value;
      const bool is_read = GetVarint32(&entries, &shared) && GetVarint32(&entries, &rest) &&
                           GetVarint32(&entries, &value);
      if (!is_read || uint64_t{rest} + value > entries.size()) return std::nullopt;
      entries.remove_prefix(size_t{rest} + value);
      ++count;
    }
  }
  return count;
}

}  // namespace ashlar
