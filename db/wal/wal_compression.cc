// SPDX-License-Identifier: Apache-2.0
//
// Frames need not tell their content size, so decompression streams into a string that grows.
#include "db/wal/wal_compression.h"

#include <algorithm>

#if ASHLAR_WITH_ZSTD
#include <zstd.h>
#endif

namespace ashlar {

#if ASHLAR_WITH_ZSTD

namespace {

// A write batch is never larger.
constexpr uint64_t kMaxRecordBytes = uint64_t{4} << 30;

ZSTD_CCtx* Compression(void* context) { return static_cast<ZSTD_CCtx*>(context); }
ZSTD_DCtx* Decompression(void* context) { return static_cast<ZSTD_DCtx*>(context); }

}  // namespace

Result<std::unique_ptr<WalCompressor>> WalCompressor::Create() {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return Status::MemoryLimit("WAL compression: no ZSTD context");
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  return std::unique_ptr<WalCompressor>(new WalCompressor(context));
}

WalCompressor::~WalCompressor() { ZSTD_freeCCtx(Compression(context_)); }

Status WalCompressor::Compress(const Slice& record, std::string* frame) {
  frame->clear();
  if (record.empty()) return Status::OK();
  frame->resize(ZSTD_compressBound(record.size()));
  const size_t size = ZSTD_compress2(Compression(context_), frame->data(), frame->size(),
                                     record.data(), record.size());
  if (ZSTD_isError(size)) return Status::Corruption("WAL compression", ZSTD_getErrorName(size));
  frame->resize(size);
  return Status::OK();
}

Result<std::unique_ptr<WalDecompressor>> WalDecompressor::Create() {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) return Status::MemoryLimit("WAL decompression: no ZSTD context");
  return std::unique_ptr<WalDecompressor>(new WalDecompressor(context));
}

WalDecompressor::~WalDecompressor() { ZSTD_freeDCtx(Decompression(context_)); }

bool WalDecompressor::Decompress(const Slice& frame, std::string* record) {
  record->clear();
  if (frame.empty()) return true;
  ZSTD_DCtx_reset(Decompression(context_), ZSTD_reset_session_only);
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  size_t used = 0;
  while (true) {
    // Room grows with what really came out, never by what the frame claims.
    record->resize(std::max<size_t>(2 * used, used + ZSTD_DStreamOutSize()));
    ZSTD_outBuffer out{record->data(), record->size(), used};
    const size_t result = ZSTD_decompressStream(Decompression(context_), &out, &in);
    if (ZSTD_isError(result) || out.pos >= kMaxRecordBytes) return false;
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
Result<std::unique_ptr<WalDecompressor>> WalDecompressor::Create() {
  return Status::NotSupported("WAL decompression: built without ZSTD");
}
WalDecompressor::~WalDecompressor() = default;
bool WalDecompressor::Decompress(const Slice&, std::string*) { return false; }

#endif

}  // namespace ashlar
