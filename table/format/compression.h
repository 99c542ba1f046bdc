// SPDX-License-Identifier: Apache-2.0
//
// Compression of single blocks: the payloads behind each compression type byte, in the form of
// format_version 2 and later. docs/formats/block_based_table.md, section 9.
//
// Each library may be missing from a build; IsCompressionSupported() says which are there, and both
// directions then return NotSupported naming the type. Compressed bytes are foreign: whatever they
// hold, decoding ends in a Status and writes inside the given buffer.
//
// Threads: a Compressor has one user at a time; UncompressBlock may run anywhere at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

// Name as stored in the property `rocksdb.compression` before format_version 7: "Snappy", "ZSTD".
std::string_view CompressionPropertyName(CompressionType type);
bool IsCompressionSupported(CompressionType type);

// Compressor turns raw blocks into stored ones, keeping the library's state between blocks.
class Compressor {
 public:
  // NotSupported when the build lacks the library. The type must not be kNoCompression. With a
  // dictionary, which is copied, blocks need it to be decompressed; Snappy and BZip2 ignore it.
  static Result<std::unique_ptr<Compressor>> Create(CompressionType type,
                                                    const CompressionOptions& options,
                                                    const Slice& dictionary = Slice());
  virtual ~Compressor() = default;

  CompressionType type() const { return type_; }

  // Compresses into `output`, whose old contents are lost and whose memory is reused. False when
  // the result would be larger than `limit` bytes or the library fails: store the block raw then.
  virtual bool Compress(const Slice& raw, size_t limit, PageString* output) = 0;

 protected:
  explicit Compressor(CompressionType type) : type_(type) {}

 private:
  CompressionType type_;
};

// The largest stored size that still pays for decompression, for a raw block of `raw_bytes`.
size_t CompressedSizeLimit(size_t raw_bytes, const CompressionOptions& options);

// UncompressionDict is the dictionary block of a file in the form each library wants it.
class UncompressionDict {
 public:
  // Copies `contents`, the dictionary block as stored.
  explicit UncompressionDict(const Slice& contents);
  ~UncompressionDict();
  UncompressionDict(const UncompressionDict&) = delete;
  UncompressionDict& operator=(const UncompressionDict&) = delete;

  const std::string& contents() const { return contents_; }
  // ZSTD_DDict*, or null in a build without zstd.
  const void* zstd_digest() const { return zstd_digest_; }
  size_t MemoryUsage() const;

 private:
  std::string contents_;
  void* zstd_digest_ = nullptr;
};

// A stored block taken apart: how large it becomes, and the bytes for the library.
struct CompressedBlock {
  CompressionType type = kNoCompression;
  size_t raw_bytes = 0;  // what the block says; at most what `payload` can expand to
  Slice payload;         // without the size prefix
};

// Reads the announced size of stored bytes (without trailer) of the given type, and refuses sizes
// that the payload cannot reach, so that the caller may allocate `raw_bytes`. For kNoCompression
// the payload is the block.
Result<CompressedBlock> ParseCompressedBlock(CompressionType type, const Slice& stored);

// Fills `raw` with exactly block.raw_bytes bytes. `dict` may be null; Snappy and BZip2 ignore it.
Status UncompressBlock(const CompressedBlock& block, const UncompressionDict* dict, char* raw);

// Both steps into a string.
Status UncompressToString(CompressionType type, const Slice& stored, const UncompressionDict* dict,
                          std::string* raw);

}  // namespace ashlar
