// SPDX-License-Identifier: Apache-2.0
//
// A compaction need not compress again what it takes over unchanged. Its inputs offer it data
// blocks as they are stored; the builder of the output fills its own block, entry by entry as
// always, and if that has the very bytes which the offered one holds uncompressed, what is stored
// goes to the file in place of what would be compressed.
//
//   TableIterator -> MergingIterator -> EntryStream (-> EntryPipe) -> OutputWriter -> TableBuilder
//                    PassedBlock, beside the first entry of the block
//
// So an offer is a hint. Whatever happens to an entry on the way - it is dropped, merged, given
// another number, put into another table - makes other bytes, and they are compressed. Nobody but
// the builder has to be right. BlockPassing says which offers are worth making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"

namespace ashlar {

class Block;
struct TableBuilderOptions;
struct TableProperties;

// What an output asks of the blocks that it takes as they are stored.
struct BlockPassing {
  CompressionType compression = kNoCompression;
  std::string compression_options;  // as properties have them
  uint64_t format_version = 0;
  uint64_t restart_interval = 0;
  bool separates_values = false;
  size_t block_bytes = 0;

  // None: there is nothing to be gained, or blocks end, or are compressed, as others say.
  static std::optional<BlockPassing> Into(const TableBuilderOptions& output);

  // Whether the output would have compressed the blocks of the table to the bytes that they have,
  // and may well have the same blocks.
  bool TakesFrom(const TableProperties& input) const;
  // Whether the output could have such a block: not a small one, and no entry but the last, more or
  // less, may go beyond where the output ends its own.
  bool Takes(const Block& raw) const;
  // How the output's own blocks are stored: where compressing did not pay, as they are.
  bool Takes(CompressionType stored) const {
    return stored == compression || stored == kNoCompression;
  }
};

// A block on offer: its bytes uncompressed, and behind them those that are stored. Keeps its memory
// for the next one.
class PassedBlock {
 public:
  // Room for both.
  void Reserve(size_t raw_bytes, size_t stored_bytes) {
    raw_bytes_ = raw_bytes;
    stored_bytes_ = stored_bytes;
    const size_t bytes = raw_bytes + stored_bytes;
    if (capacity_ >= bytes) return;
    capacity_ = bytes + bytes / 4;  // most blocks have nearly the same size
    bytes_ = std::make_unique_for_overwrite<char[]>(capacity_);
  }
  char* raw_memory() { return bytes_.get(); }
  char* stored_memory() { return bytes_.get() + raw_bytes_; }
  void SetType(CompressionType type) { type_ = type; }

  Slice raw() const { return {bytes_.get(), raw_bytes_}; }
  Slice stored() const { return {bytes_.get() + raw_bytes_, stored_bytes_}; }
  CompressionType type() const { return type_; }  // of what is stored

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t raw_bytes_ = 0;
  size_t stored_bytes_ = 0;
  CompressionType type_ = kNoCompression;
};

}  // namespace ashlar
