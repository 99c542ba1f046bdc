// SPDX-License-Identifier: Apache-2.0
//
// Frames need not contain their content size, so decompression streams into a string that grows.
//
// An open frame (RFC 8878, section 3.1.1):
//
//     magic | descriptor | window | block header | head | blocks of ZSTD's own frame | checksum
//     4       1            1        3              12     ...                          4
//
// The blocks are those that ZSTD makes of the body alone, which is correct behind the head: their
// matches do not reach in front of the body, distances count backwards from the place where they
// are used, and a block that is stored uncompressed does not change the state of the decoder.
#include "db/wal/wal_compression.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/hash/hash_parts.h"
#include "util/keys/coding.h"

#if ASHLAR_WITH_ZSTD
#include <zstd.h>
#endif

namespace ashlar {

#if ASHLAR_WITH_ZSTD

namespace {

constexpr size_t kFrameHeaderBytes = 6;  // magic, descriptor, window
constexpr size_t kBlockHeaderBytes = 3;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kHeadOffset = kFrameHeaderBytes + kBlockHeaderBytes;
constexpr size_t kBodyOffset = kHeadOffset + OpenFrame::kHeadBytes;
constexpr uint32_t kZstdMagic = 0xfd2fb528;
// The descriptor of a frame without content size, dictionary and checksum; the window follows.
constexpr char kPlainDescriptor = 0;
constexpr char kChecksumFlag = 1 << 2;

ZSTD_CCtx* Compression(void* context) { return static_cast<ZSTD_CCtx*>(context); }
ZSTD_DCtx* Decompression(void* context) { return static_cast<ZSTD_DCtx*>(context); }

}  // namespace

Result<std::unique_ptr<WalCompressor>> WalCompressor::Create() {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return Status::MemoryLimit("WAL compression: no ZSTD context");
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  return std::unique_ptr<WalCompressor>(new WalCompressor(context));
}

WalCompressor::~WalCompressor() { ZSTD_freeCCtx(Compression(context_)); }

// Each record is a frame of its own with a checksum. So a record can be read without those before
// it.
Status WalCompressor::Compress(const Slice& record, std::string* frame) {
  assert(frame != nullptr);
  frame->clear();
  if (record.empty()) return Status::OK();
  frame->resize(ZSTD_compressBound(record.size()));
  ZSTD_CCtx_setParameter(Compression(context_), ZSTD_c_checksumFlag, 1);
  const size_t size = ZSTD_compress2(Compression(context_), frame->data(), frame->size(),
                                     record.data(), record.size());
  if (ZSTD_isError(size)) return Status::Corruption("WAL compression", ZSTD_getErrorName(size));
  frame->resize(size);
  return Status::OK();
}

Status WalCompressor::CompressBody(const Slice& body, OpenFrame* frame) {
  assert(frame != nullptr);
  std::string& bytes = frame->bytes_;
  bytes.resize(kBodyOffset + ZSTD_compressBound(body.size()) + kChecksumBytes);
  // ZSTD writes its own frame header in front of the body, where the end of the head overwrites it.
  char* const own = bytes.data() + kBodyOffset - kFrameHeaderBytes;
  const size_t room = bytes.size() - kChecksumBytes - (kBodyOffset - kFrameHeaderBytes);
  ZSTD_CCtx_setParameter(Compression(context_), ZSTD_c_checksumFlag, 0);
  const size_t size = ZSTD_compress2(Compression(context_), own, room, body.data(), body.size());
  if (ZSTD_isError(size)) {
    bytes.clear();
    return Status::Corruption("WAL compression", ZSTD_getErrorName(size));
  }
  assert(size > kFrameHeaderBytes);
  assert(own[4] == kPlainDescriptor);
  const char window = own[5];
  EncodeFixed32(bytes.data(), kZstdMagic);
  bytes[4] = kPlainDescriptor | kChecksumFlag;
  bytes[5] = window;
  constexpr uint32_t kStoredBlock = OpenFrame::kHeadBytes << 3;  // not the last; kind 0
  static_assert(kStoredBlock < 256);
  bytes[6] = static_cast<char>(kStoredBlock);
  bytes[7] = bytes[8] = 0;
  std::memset(bytes.data() + kHeadOffset, 0, OpenFrame::kHeadBytes);
  bytes.resize(kBodyOffset - kFrameHeaderBytes + size + kChecksumBytes);
  return Status::OK();
}

void OpenFrame::Close(const Slice& head, const Slice& body) {
  assert(head.size() == kHeadBytes);
  assert(bytes_.size() > kBodyOffset + kChecksumBytes);
  std::memcpy(bytes_.data() + kHeadOffset, head.data(), kHeadBytes);
  EncodeFixed32(bytes_.data() + bytes_.size() - kChecksumBytes,
                static_cast<uint32_t>(XxHash64OfParts(head, body)));
}

Result<std::unique_ptr<WalDecompressor>> WalDecompressor::Create() {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) return Status::MemoryLimit("WAL decompression: no ZSTD context");
  return std::unique_ptr<WalDecompressor>(new WalDecompressor(context));
}

WalDecompressor::~WalDecompressor() { ZSTD_freeDCtx(Decompression(context_)); }

bool WalDecompressor::IsFrame(const Slice& bytes) {
  return bytes.size() > kFrameHeaderBytes && DecodeFixed32(bytes.data()) == kZstdMagic;
}

bool WalDecompressor::Decompress(const Slice& frame, std::string* record) {
  assert(record != nullptr);
  record->clear();
  if (frame.empty()) return true;
  ZSTD_DCtx_reset(Decompression(context_), ZSTD_reset_session_only);
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  size_t used = 0;
  while (true) {
    // The buffer grows with the bytes that really come out, never by a size that the frame claims.
    record->resize(std::max<size_t>(2 * used, used + ZSTD_DStreamOutSize()));
    ZSTD_outBuffer out{record->data(), record->size(), used};
    const size_t result = ZSTD_decompressStream(Decompression(context_), &out, &in);
    if (ZSTD_isError(result) || out.pos >= kMaxCompressedRecordBytes) return false;
    if (result == 0) {
      record->resize(out.pos);
      return in.pos == in.size;
    }
    if (in.pos == in.size && out.pos < out.size) return false;  // the frame is cut off
    used = out.pos;
  }
}

#else

Result<std::unique_ptr<WalCompressor>> WalCompressor::Create() {
  return Status::NotSupported("WAL compression: built without ZSTD");
}
WalCompressor::~WalCompressor() = default;
Status WalCompressor::Compress(const Slice&, std::string*) {
  return Status::NotSupported("WAL compression: built without ZSTD");
}
Status WalCompressor::CompressBody(const Slice&, OpenFrame*) {
  return Status::NotSupported("WAL compression: built without ZSTD");
}
void OpenFrame::Close(const Slice&, const Slice&) {}
Result<std::unique_ptr<WalDecompressor>> WalDecompressor::Create() {
  return Status::NotSupported("WAL decompression: built without ZSTD");
}
WalDecompressor::~WalDecompressor() = default;
bool WalDecompressor::IsFrame(const Slice&) { return false; }
bool WalDecompressor::Decompress(const Slice&, std::string*) { return false; }

#endif

// ---- Pool of compressors

namespace {

// Each idle compressor holds about a megabyte. So many concurrent writers find one ready.
constexpr size_t kMaxIdle = 16;

}  // namespace

WalCompressors::WalCompressors() { idle_.reserve(kMaxIdle); }

Result<std::unique_ptr<WalCompressor>> WalCompressors::Borrow() {
  {
    SpinLockGuard guard(&lock_);
    if (!idle_.empty()) {
      std::unique_ptr<WalCompressor> compressor = std::move(idle_.back());
      idle_.pop_back();
      return compressor;
    }
  }
  return WalCompressor::Create();
}

void WalCompressors::GiveBack(std::unique_ptr<WalCompressor> compressor) {
  assert(compressor != nullptr);
  SpinLockGuard guard(&lock_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(compressor));
}

Status WalCompressors::Compress(const Slice& record, std::string* frame) {
  ASSIGN_OR_RETURN(auto compressor, Borrow());
  const Status status = compressor->Compress(record, frame);
  GiveBack(std::move(compressor));
  return status;
}

Status WalCompressors::CompressBody(const Slice& body, OpenFrame* frame) {
  ASSIGN_OR_RETURN(auto compressor, Borrow());
  const Status status = compressor->CompressBody(body, frame);
  GiveBack(std::move(compressor));
  return status;
}

}  // namespace ashlar
