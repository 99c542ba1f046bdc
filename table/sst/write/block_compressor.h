// SPDX-License-Identifier: Apache-2.0
//
// BlockCompressor turns a block into its stored form: compressed if that saves enough space, else
// unchanged.
//
// Threads: one at a time; each thread that compresses blocks of a table has a BlockCompressor of
// its own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/format/compression.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

class Statistics;

// The compression settings of one table.
struct BlockCompression {
  CompressionType type = kNoCompression;
  CompressionOptions options;
  bool is_verified = false;          // decompress every compressed block again and compare
  Statistics* statistics = nullptr;  // outlives the compressor; null: none
};

// A block in the form in which it is written to the file, without its trailer.
struct StoredBlock {
  Slice bytes;
  size_t raw_bytes = 0;
  CompressionType type = kNoCompression;
  bool was_rejected = false;  // compression was tried and did not pay
  bool was_passed = false;    // copied in its stored form from another table
  Status status;              // not OK if the verification of the compressed bytes failed

  static StoredBlock AsItIs(const Slice& raw) { return {.bytes = raw, .raw_bytes = raw.size()}; }
};

class BlockCompressor {
 public:
  // NotSupported if the build lacks the compression library. If `dictionary` is not empty, readers
  // need the same dictionary to decompress the blocks.
  static Result<std::unique_ptr<BlockCompressor>> Create(const BlockCompression& compression,
                                                         const Slice& dictionary = Slice());

  // `compressor` must not be null and must match `compression`.
  BlockCompressor(const BlockCompression& compression, std::unique_ptr<Compressor> compressor)
      : compression_(compression), compressor_(std::move(compressor)) {}

  // Tries to compress `raw`. The bytes of the result are `raw` itself, or lie in `output` until its
  // next use; the memory of `output` is reused.
  StoredBlock Compress(const Slice& raw, PageString* output);

 private:
  bool TryCompress(const Slice& raw, PageString* output);
  Status Check(const Slice& raw, const Slice& compressed) const;

  const BlockCompression compression_;
  const std::unique_ptr<Compressor> compressor_;
  // For Check(); null: blocks are not verified, or have no dictionary.
  std::unique_ptr<UncompressionDict> dictionary_;
};

}  // namespace ashlar
