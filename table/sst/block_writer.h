// SPDX-License-Identifier: Apache-2.0
//
// BlockWriter appends finished blocks to a table: compresses them where that pays, adds type and
// checksum, and keeps the offset. docs/formats/block_based_table.md, sections 1.2 and 9.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/format/block_handle.h"
#include "table/format/checksum.h"
#include "table/format/compression.h"

namespace ashlar {

class FileWriter;
class Statistics;

struct BlockWriterOptions {
  ChecksumContext checksum;
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  bool verify_compression = false;   // decompress each compressed block again before it is written
  Statistics* statistics = nullptr;  // outlives the writer; null: none
};

enum class Packing : uint8_t {
  kStored,  // as it is
  kMayBeCompressed
};

class BlockWriter {
 public:
  // `file` must be empty and outlive the writer. Before any Write(), call Open().
  BlockWriter(const BlockWriterOptions& options, FileWriter* file)
      : options_(options), file_(file) {}
  // NotSupported when the build lacks the compression library.
  Status Open();

  Status Write(const Slice& block, Packing packing, BlockHandle* handle);
  // Bytes that are no block: the footer.
  Status Append(const Slice& bytes);

  uint64_t offset() const { return offset_; }
  bool compresses() const { return compressor_ != nullptr; }
  // Bit i is set when some block was stored with compression type i.
  uint32_t used_types() const { return used_types_; }
  // Of the last Write(): compression was tried and did not pay.
  bool was_rejected() const { return was_rejected_; }
  std::string DebugString() const;

 private:
  bool TryCompress(const Slice& block);
  void CountCompression(const Slice& block, bool is_compressed) const;
  Status CheckCompressed(const Slice& block);

  const BlockWriterOptions options_;
  FileWriter* const file_;                  // the table's owner syncs and closes it
  std::unique_ptr<Compressor> compressor_;  // null: everything is stored as it is
  std::string compressed_;                  // the last block that was compressed; reused
  uint64_t offset_ = 0;                     // bytes written so far
  uint32_t used_types_ = 0;                 // see used_types()
  bool was_rejected_ = false;               // see was_rejected()
};

}  // namespace ashlar
