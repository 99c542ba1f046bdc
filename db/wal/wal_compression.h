// SPDX-License-Identifier: Apache-2.0
//
// Compression of WAL records: each logical record is one independent ZSTD frame with a content
// checksum (docs/formats/wal.md, section 3).
//
// Writers of one log compress concurrently, before they reserve their range. The reservation needs
// the size of the frame, but the sequence number in the batch's header is unknown before it. So an
// OpenFrame stores the header in a separate uncompressed block, which Close() fills in later.
//
// Compression contexts are reused between records. Threads: one at a time per compressor and
// decompressor; any number for WalCompressors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The only value that a kSetCompression record may contain.
inline constexpr uint32_t kWalCompressionZstd = 7;

// Limit of the uncompressed size of a frame, for reading and writing.
inline constexpr uint64_t kMaxCompressedRecordBytes = uint64_t{4} << 30;

// A frame in which the first bytes of the content are not filled in yet.
class OpenFrame {
 public:
  static constexpr size_t kHeadBytes = 12;  // the header of a write batch

  // Size of the frame in bytes; the same before and after Close().
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // Fills in `head`, of kHeadBytes bytes. `body` is the content that was compressed. Afterwards the
  // frame is complete.
  void Close(const Slice& head, const Slice& body);
  Slice bytes() const { return bytes_; }

 private:
  friend class WalCompressor;
  std::string bytes_;
};

class WalCompressor {
 public:
  // NotSupported if the library was built without ZSTD.
  static Result<std::unique_ptr<WalCompressor>> Create();
  ~WalCompressor();
  WalCompressor(const WalCompressor&) = delete;
  WalCompressor& operator=(const WalCompressor&) = delete;

  // Replaces *frame. An empty record becomes an empty frame.
  Status Compress(const Slice& record, std::string* frame);
  // Replaces *frame by a frame of an open head followed by `body`, which may be empty.
  Status CompressBody(const Slice& body, OpenFrame* frame);

 private:
  explicit WalCompressor(void* context) : context_(context) {}
  void* const context_;
};

// A pool of compressors for concurrent writers.
class WalCompressors {
 public:
  WalCompressors();
  Status Compress(const Slice& record, std::string* frame);
  Status CompressBody(const Slice& body, OpenFrame* frame);

 private:
  Result<std::unique_ptr<WalCompressor>> Borrow();
  void GiveBack(std::unique_ptr<WalCompressor> compressor);

  SpinLock lock_;
  std::vector<std::unique_ptr<WalCompressor>> idle_ GUARDED_BY(lock_);
};

class WalDecompressor {
 public:
  static Result<std::unique_ptr<WalDecompressor>> Create();
  ~WalDecompressor();
  WalDecompressor(const WalDecompressor&) = delete;
  WalDecompressor& operator=(const WalDecompressor&) = delete;

  // Whether the bytes begin with the magic number of a frame.
  static bool IsFrame(const Slice& bytes);
  // Replaces *record. False if `frame` is not exactly one intact frame, or holds 4 GiB or more.
  bool Decompress(const Slice& frame, std::string* record);

 private:
  explicit WalDecompressor(void* context) : context_(context) {}
  void* const context_;
};

}  // namespace ashlar
