// SPDX-License-Identifier: Apache-2.0
//
// BlockWriter appends finished blocks to a table: it compresses them if that pays, adds the trailer
// (type and checksum), aligns data blocks, and counts the offset.
// docs/formats/block_based_table.md, sections 1.2, 9 and 12.
//
// Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/format/block_handle.h"
#include "table/format/checksum.h"
#include "table/sst/write/block_compressor.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

class FileWriter;

struct BlockWriterOptions {
  ChecksumContext checksum;
  BlockCompression compression;
  // Padding behind each data block makes the next one begin at a multiple of this, in bytes; 0: no
  // padding.
  size_t alignment = 0;
  // A data block that would cross a multiple of `super_block_bytes` begins at that multiple
  // instead, if the gap is smaller than `max_super_block_gap` bytes. 0: super blocks are not used.
  size_t super_block_bytes = 0;
  size_t max_super_block_gap = 0;
};

enum class Packing : uint8_t {
  kStored,           // written unchanged
  kMayBeCompressed,  // a block of an index
  kData              // a data block: compressed, with the dictionary if there is one, and aligned
};

class BlockWriter {
 public:
  // `file` must be empty and outlive the writer. Call Open() before the first Write().
  BlockWriter(const BlockWriterOptions& options, FileWriter* file)
      : options_(options), file_(file) {
    assert(file != nullptr);
  }
  // Creates the compressor. NotSupported if the build lacks the compression library.
  Status Open();
  // From now on data blocks are compressed with this dictionary, which must not be empty. Call it
  // before the first data block is written.
  Status SetDictionary(const Slice& dictionary);

  // Compresses `block` if `packing` permits it, appends it with its trailer, and sets `handle` to
  // its place.
  Status Write(const Slice& block, Packing packing, BlockHandle* handle);
  // Appends a data block that was compressed elsewhere, or for which compression did not pay.
  Status WriteData(const StoredBlock& block, BlockHandle* handle);
  // Appends bytes that are not a block: the footer.
  Status Append(const Slice& bytes);

  // Bytes written so far, which is the offset of the next block before alignment.
  uint64_t offset() const { return offset_; }
  const BlockCompression& compression() const { return options_.compression; }
  bool compresses() const { return compressor_ != nullptr; }
  // Bit i is set if at least one block was stored with compression type i.
  uint32_t used_types() const { return used_types_; }
  // True if compression of the last block was tried and did not pay.
  bool was_rejected() const { return was_rejected_; }
  std::string DebugString() const;

 private:
  Status Store(const StoredBlock& block, bool is_data, BlockHandle* handle);
  size_t GapInFrontOf(size_t stored_bytes) const;
  Status WriteZeros(size_t bytes);
  void CountCompression(const StoredBlock& block) const;

  const BlockWriterOptions options_;
  FileWriter* const file_;                       // synced and closed by the owner of the table
  std::unique_ptr<BlockCompressor> compressor_;  // null: nothing is compressed
  // With the dictionary; null: compressor_ is used.
  std::unique_ptr<BlockCompressor> data_compressor_;
  PageString compressed_;      // the last compressed block; reused
  uint64_t offset_ = 0;        // bytes written so far
  uint32_t used_types_ = 0;    // see used_types()
  bool was_rejected_ = false;  // see was_rejected()
};

}  // namespace ashlar
