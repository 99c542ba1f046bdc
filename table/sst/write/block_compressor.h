// SPDX-License-Identifier: Apache-2.0
//
// BlockCompressor turns blocks into the form in which they are stored: compressed where that pays.
//
// Threads: one at a time; each thread that compresses blocks of a table has one of its own.
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

struct BlockCompression {
  CompressionType type = kNoCompression;
  CompressionOptions options;
  bool is_verified = false;          // each compressed block is decompressed again
  Statistics* statistics = nullptr;  // outlives the compressor; null: none
};

// A block as it is to be stored.
struct StoredBlock {
  Slice bytes;
  size_t raw_bytes = 0;
  CompressionType type = kNoCompression;
  bool was_rejected = false;  // compression was tried and did not pay
  bool was_passed = false;    // it comes so from another table
  Status status;              // of the check of what was compressed

  static StoredBlock AsItIs(const Slice& raw) { return {.bytes = raw, .raw_bytes = raw.size()}; }
};

class BlockCompressor {
 public:
  // NotSupported when the build lacks the compression library. Blocks need `dictionary`, if it is
  // not empty, to be decompressed.
  static Result<std::unique_ptr<BlockCompressor>> Create(const BlockCompression& compression,
                                                         const Slice& dictionary = Slice());

  BlockCompressor(const BlockCompression& compression, std::unique_ptr<Compressor> compressor)
      : compression_(compression), compressor_(std::move(compressor)) {}

  // The bytes of the answer are `raw` itself or lie in `output`, whose memory is reused.
  StoredBlock Compress(const Slice& raw, PageString* output);

 private:
  bool TryCompress(const Slice& raw, PageString* output);
  Status Check(const Slice& raw, const Slice& compressed) const;

  const BlockCompression compression_;
  const std::unique_ptr<Compressor> compressor_;
  std::unique_ptr<UncompressionDict> dictionary_;  // to check blocks; null: none
};

}  // namespace ashlar
