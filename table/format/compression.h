// SPDX-License-Identifier: Apache-2.0
//
// Compression of single blocks: the encoding for each compression type, in format_version 2 and
// later. docs/formats/block_based_table.md, section 9.
//
// A build may lack some of the libraries; IsCompressionSupported() tells which it has. For a
// missing one, both directions return NotSupported with the name of the type. Compressed bytes come
// from files: whatever they contain, decompression returns a Status and never writes outside of the
// given buffer.
//
// Threads: a Compressor is used by one thread at a time; UncompressBlock() by any number.
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

// The name in the property `rocksdb.compression` before format_version 7, for example "Snappy" or
// "ZSTD"; empty: unknown.
std::string_view CompressionPropertyName(CompressionType type);
// Whether this build can compress and decompress the type.
bool IsCompressionSupported(CompressionType type);

// Compressor compresses blocks; it keeps the state of the library between blocks.
class Compressor {
 public:
  // NotSupported if the build lacks the library. The type must not be kNoCompression. A dictionary
  // is copied, and is needed to decompress the blocks; Snappy and BZip2 ignore it.
  static Result<std::unique_ptr<Compressor>> Create(CompressionType type,
                                                    const CompressionOptions& options,
                                                    const Slice& dictionary = Slice());
  virtual ~Compressor() = default;

  CompressionType type() const { return type_; }

  // Compresses `raw` into `output`, whose old contents are lost and whose memory is reused. False
  // if the result would be larger than `limit` bytes or the library fails: the block must be stored
  // uncompressed then.
  virtual bool Compress(const Slice& raw, size_t limit, PageString* output) = 0;

 protected:
  explicit Compressor(CompressionType type) : type_(type) {}

 private:
  CompressionType type_;
};

// The largest compressed size of a block of `raw_bytes` bytes that is worth decompressing when it
// is read.
size_t CompressedSizeLimit(size_t raw_bytes, const CompressionOptions& options);

// UncompressionDict is the dictionary of a file, in the form that each library needs.
class UncompressionDict {
 public:
  // Copies `contents`, the bytes of the dictionary block.
  explicit UncompressionDict(const Slice& contents);
  ~UncompressionDict();
  UncompressionDict(const UncompressionDict&) = delete;
  UncompressionDict& operator=(const UncompressionDict&) = delete;

  const std::string& contents() const { return contents_; }
  // A ZSTD_DDict*; null in a build without zstd, or if memory was missing.
  const void* zstd_digest() const { return zstd_digest_; }
  // In bytes, the digest included.
  size_t MemoryUsage() const;

 private:
  std::string contents_;
  void* zstd_digest_ = nullptr;
};

// The parts of a stored block: its uncompressed size, and the bytes for the library.
struct CompressedBlock {
  CompressionType type = kNoCompression;
  // The size that the block announces; never more than `payload` can expand to.
  size_t raw_bytes = 0;
  Slice payload;  // without the size in front
};

// Reads the uncompressed size from stored bytes without trailer. Refuses sizes that the payload
// cannot reach, so that the caller can safely allocate `raw_bytes` bytes. For kNoCompression the
// payload is the block itself.
Result<CompressedBlock> ParseCompressedBlock(CompressionType type, const Slice& stored);

// Decompresses exactly block.raw_bytes bytes into `raw`. `dict` may be null; Snappy and BZip2
// ignore it.
Status UncompressBlock(const CompressedBlock& block, const UncompressionDict* dict, char* raw);

// ParseCompressedBlock() and UncompressBlock() into a string.
Status UncompressToString(CompressionType type, const Slice& stored, const UncompressionDict* dict,
                          std::string* raw);

}  // namespace ashlar
