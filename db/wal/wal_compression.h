// SPDX-License-Identifier: Apache-2.0
//
// Compression of WAL records: each logical record is one independent ZSTD frame with a content
// checksum (docs/formats/wal.md, section 3).
//
// Contexts are kept from record to record. Threads: one at a time per object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "util/result.h"

namespace ashlar {

// The one value that a kSetCompression record may hold.
inline constexpr uint32_t kWalCompressionZstd = 7;

class WalCompressor {
 public:
  // NotSupported if the library was built without ZSTD.
  static Result<std::unique_ptr<WalCompressor>> Create();
  ~WalCompressor();
  WalCompressor(const WalCompressor&) = delete;
  WalCompressor& operator=(const WalCompressor&) = delete;

  // Replaces *frame. An empty record becomes an empty frame.
  Status Compress(const Slice& record, std::string* frame);

 private:
  explicit WalCompressor(void* context) : context_(context) {}
  void* const context_;
};

class WalDecompressor {
 public:
  static Result<std::unique_ptr<WalDecompressor>> Create();
  ~WalDecompressor();
  WalDecompressor(const WalDecompressor&) = delete;
  WalDecompressor& operator=(const WalDecompressor&) = delete;

  // Replaces *record. False if `frame` is not exactly one intact frame, or holds 4 GiB or more.
  bool Decompress(const Slice& frame, std::string* record);

 private:
  explicit WalDecompressor(void* context) : context_(context) {}
  void* const context_;
};

}  // namespace ashlar
