// SPDX-License-Identifier: Apache-2.0
//
// BlockWriter appends finished blocks to a table: compresses them where that pays, adds type and
// checksum, aligns data blocks, and keeps the offset. docs/formats/block_based_table.md, sections
// 1.2, 9 and 12.
//
// Threads: one at a time.
#pragma once

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
  // Data blocks end at multiples of this, by zeros behind them; 0: they do not.
  size_t alignment = 0;
  // A data block that would lie across a multiple of the first begins there instead, if that takes
  // fewer zeros than the second; 0: it does not.
  size_t super_block_bytes = 0;
  size_t max_super_block_gap = 0;
};

enum class Packing : uint8_t {
  kStored,           // as it is
  kMayBeCompressed,  // a block of an index
  kData              // the same, and perhaps with the dictionary, and aligned
};

class BlockWriter {
 public:
  // `file` must be empty and outlive the writer. Before any Write(), call Open().
  BlockWriter(const BlockWriterOptions& options, FileWriter* file)
      : options_(options), file_(file) {}
  // NotSupported when the build lacks the compression library.
  Status Open();
  // Data blocks are compressed with this from now on; before the first of them. Not empty.
  Status SetDictionary(const Slice& dictionary);

  Status Write(const Slice& block, Packing packing, BlockHandle* handle);
  // A data block that has been compressed elsewhere, or has been found not to be worth it.
  Status WriteData(const StoredBlock& block, BlockHandle* handle);
  // Bytes that are no block: the footer.
  Status Append(const Slice& bytes);

  uint64_t offset() const { return offset_; }
  const BlockCompression& compression() const { return options_.compression; }
  bool compresses() const { return compressor_ != nullptr; }
  // Bit i is set when some block was stored with compression type i.
  uint32_t used_types() const { return used_types_; }
  // Of the last block: compression was tried and did not pay.
  bool was_rejected() const { return was_rejected_; }
  std::string DebugString() const;

 private:
  Status Store(const StoredBlock& block, bool is_data, BlockHandle* handle);
  size_t GapInFrontOf(size_t stored_bytes) const;
  Status WriteZeros(size_t bytes);
  void CountCompression(const StoredBlock& block) const;

  const BlockWriterOptions options_;
  FileWriter* const file_;                            // the table's owner syncs and closes it
  std::unique_ptr<BlockCompressor> compressor_;       // null: everything is stored as it is
  std::unique_ptr<BlockCompressor> data_compressor_;  // of data blocks; null: as the others
  PageString compressed_;                             // the last compressed block; reused
  uint64_t offset_ = 0;                               // bytes written so far
  uint32_t used_types_ = 0;                           // see used_types()
  bool was_rejected_ = false;                         // see was_rejected()
};

}  // namespace ashlar
