// SPDX-License-Identifier: Apache-2.0
//
// Block passing: a compaction does not compress again a block that it takes over unchanged. The
// inputs of a compaction offer their data blocks in stored form. The builder of the output fills
// its own block entry by entry as always. If its block turns out to be equal to the uncompressed
// bytes of the offered block, the builder writes the offered stored bytes to the file instead of
// compressing its own.
//
//   TableIterator -> MergingIterator -> EntryStream (-> EntryPipe) -> OutputWriter -> TableBuilder
//                    PassedBlock, beside the first entry of the block
//
// An offer is therefore only a hint. Anything that happens to an entry on the way (it is dropped,
// merged, gets another sequence number, or goes to another table) makes different bytes, and those
// are compressed as usual. Only the comparison in the builder must be right. BlockPassing decides
// which offers are worth making.
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

// The settings of an output, which decide which blocks it can take in stored form.
struct BlockPassing {
  CompressionType compression = kNoCompression;
  std::string compression_options;  // in the form of the table property
  uint64_t format_version = 0;
  uint64_t restart_interval = 0;
  bool separates_values = false;
  size_t block_bytes = 0;  // the size at which the output ends its data blocks

  // Empty if nothing could be gained (no compression), or if the blocks depend on more than these
  // settings (a compression dictionary, a program's own flush policy).
  static std::optional<BlockPassing> Into(const TableBuilderOptions& output);

  // True if the output would have compressed the blocks of the table to the very bytes that they
  // have, and is likely to build the same blocks.
  bool TakesFrom(const TableProperties& input) const;
  // True if the output could build this block: it is at least half full, and nothing but about its
  // last entry lies beyond the size at which the output ends its own blocks.
  bool Takes(const Block& raw) const;
  // True for the compression types that the output itself stores: its own, and none (for blocks
  // that did not compress).
  bool Takes(CompressionType stored) const {
    return stored == compression || stored == kNoCompression;
  }
};

// A block on offer: its uncompressed bytes and, behind them, its stored bytes without trailer. The
// memory is reused for the next block.
class PassedBlock {
 public:
  // Makes room for both forms; the old contents are lost.
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
  CompressionType type() const { return type_; }  // of stored()

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t raw_bytes_ = 0;
  size_t stored_bytes_ = 0;
  CompressionType type_ = kNoCompression;
};

}  // namespace ashlar
