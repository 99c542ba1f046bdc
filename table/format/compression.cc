// SPDX-License-Identifier: Apache-2.0
//
// Decompression: names, sizes and decoding. Snappy stores the uncompressed size itself; for the
// other types a varint32 with the size is stored in front of the bytes of the library.
#include "table/format/compression.h"

#include <algorithm>
#include <cassert>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"
#include "util/threads/thread_object.h"

#if ASHLAR_WITH_SNAPPY
#include <snappy.h>
#endif
#if ASHLAR_WITH_ZLIB
#include <zlib.h>
#endif
#if ASHLAR_WITH_BZIP2
#include <bzlib.h>
#endif
#if ASHLAR_WITH_LZ4
#include <lz4.h>
#endif
#if ASHLAR_WITH_ZSTD
#include <zstd.h>
#endif

namespace ashlar {

namespace {

// Written by some old releases before the format of zstd was final; decoded like kZSTD.
constexpr auto kZstdNotFinal = static_cast<CompressionType>(0x40);

constexpr uint64_t kMaxRawBytes = UINT32_MAX;  // a block is smaller than 4 GiB

// The largest number of bytes to which `payload_bytes` of this type can expand. A larger announced
// size must be damage, and refusing it prevents a damaged file from causing a huge allocation.
uint64_t MaxRawBytes(CompressionType type, uint64_t payload_bytes) {
  switch (type) {
    case kSnappyCompression: return payload_bytes * 22 + 64;  // three bytes produce at most 64
    case kLZ4Compression:
    case kLZ4HCCompression: return payload_bytes * 255 + 64;   // a length byte adds at most 255
    case kZlibCompression: return payload_bytes * 1032 + 258;  // two bits produce at most 258
    case kBZip2Compression:
      return (payload_bytes / 32 + 1) * 51 * 900'000;  // run lengths inside of blocks of 900 kB
    default:
      return (payload_bytes / 4 + 1) * 131'072;  // zstd blocks: four bytes produce at most 128 KiB
  }
}

// Lengths are in the message, because they are what damage changes most visibly.
Status Undecodable(const CompressedBlock& block) {
  return Status::Corruption(StrCat(CompressionPropertyName(block.type), " block of ",
                                   block.payload.size(), " bytes: does not decode to the ",
                                   block.raw_bytes, " bytes it announces"));
}

Status Unsupported(CompressionType type) {
  const std::string_view name = CompressionPropertyName(type);
  return Status::NotSupported(StrCat("compression type ", uint32_t{type}, " (",
                                     name.empty() ? "unknown" : name,
                                     ") is not part of this build"));
}

[[maybe_unused]] Status OkIf(bool is_ok, const CompressedBlock& block) {
  return is_ok ? Status::OK() : Undecodable(block);
}

#if ASHLAR_WITH_ZLIB
bool InflateRaw(const CompressedBlock& block, const UncompressionDict* dict, char* raw) {
  z_stream stream{};
  // Raw deflate data, without the header and checksum of zlib.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  if (dict != nullptr) {
    const std::string& bytes = dict->contents();
    inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(bytes.data()),
                         static_cast<uInt>(bytes.size()));
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.payload.data()));
  stream.avail_in = static_cast<uInt>(block.payload.size());
  stream.next_out = reinterpret_cast<Bytef*>(raw);
  stream.avail_out = static_cast<uInt>(block.raw_bytes);
  const int result = inflate(&stream, Z_FINISH);
  // Both conditions: the stream has ended, and with exactly the announced size.
  const bool is_whole = result == Z_STREAM_END && stream.total_out == block.raw_bytes;
  inflateEnd(&stream);
  return is_whole;
}
#endif

#if ASHLAR_WITH_BZIP2
bool Bunzip(const CompressedBlock& block, char* raw) {
  auto raw_bytes = static_cast<unsigned>(block.raw_bytes);
  const int result = BZ2_bzBuffToBuffDecompress(
      raw, &raw_bytes, const_cast<char*>(block.payload.data()),
      static_cast<unsigned>(block.payload.size()), /*small=*/0, /*verbosity=*/0);
  return result == BZ_OK && raw_bytes == block.raw_bytes;
}
#endif

#if ASHLAR_WITH_LZ4
// The library uses int for sizes.
bool DecodeLz4(const CompressedBlock& block, const UncompressionDict* dict, char* raw) {
  if (block.raw_bytes > INT32_MAX || block.payload.size() > INT32_MAX) return false;
  const auto payload_bytes = static_cast<int>(block.payload.size());
  const auto raw_bytes = static_cast<int>(block.raw_bytes);
  if (dict == nullptr) {
    return LZ4_decompress_safe(block.payload.data(), raw, payload_bytes, raw_bytes) == raw_bytes;
  }
  const std::string& bytes = dict->contents();
  return LZ4_decompress_safe_usingDict(block.payload.data(), raw, payload_bytes, raw_bytes,
                                       bytes.data(), static_cast<int>(bytes.size())) == raw_bytes;
}
#endif

#if ASHLAR_WITH_ZSTD
// One for each thread, because otherwise 160 KB would be allocated for every block.
struct ZstdContext {
  ZstdContext() : context(ZSTD_createDCtx()) {}
  ~ZstdContext() { ZSTD_freeDCtx(context); }
  ZstdContext(const ZstdContext&) = delete;
  ZstdContext& operator=(const ZstdContext&) = delete;
  ZSTD_DCtx* const context;  // null if memory was missing
};

bool DecodeZstd(const CompressedBlock& block, const UncompressionDict* dict, char* raw) {
  ZSTD_DCtx* const context = ThreadObject<ZstdContext>::Get().context;
  if (context == nullptr) return false;
  const char* payload = block.payload.data();
  const size_t payload_bytes = block.payload.size();
  const size_t result =
      dict == nullptr
          ? ZSTD_decompressDCtx(context, raw, block.raw_bytes, payload, payload_bytes)
          : ZSTD_decompress_usingDDict(context, raw, block.raw_bytes, payload, payload_bytes,
                                       static_cast<const ZSTD_DDict*>(dict->zstd_digest()));
  return !ZSTD_isError(result) && result == block.raw_bytes;
}
#endif

// Reads the size that Snappy stores.
Status ParseSnappySize(const Slice& stored, CompressedBlock* block) {
  assert(block != nullptr);
  block->payload = stored;
#if ASHLAR_WITH_SNAPPY
  size_t raw_bytes = 0;
  if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &raw_bytes)) {
    return Status::Corruption("Snappy block without a size");
  }
  block->raw_bytes = raw_bytes;
#endif
  return Status::OK();
}

// Reads the varint32 in front of the payload.
Status ParseSizePrefix(const Slice& stored, CompressedBlock* block) {
  assert(block != nullptr);
  block->payload = stored;
  uint32_t raw_bytes = 0;
  if (!GetVarint32(&block->payload, &raw_bytes)) {
    return Status::Corruption(
        StrCat(CompressionPropertyName(block->type), " block without a size"));
  }
  block->raw_bytes = raw_bytes;
  return Status::OK();
}

}  // namespace

std::string_view CompressionPropertyName(CompressionType type) {
  switch (static_cast<unsigned>(type)) {
    case kNoCompression: return "NoCompression";
    case kSnappyCompression: return "Snappy";
    case kZlibCompression: return "Zlib";
    case kBZip2Compression: return "BZip2";
    case kLZ4Compression: return "LZ4";
    case kLZ4HCCompression: return "LZ4HC";
    case kXpressCompression: return "Xpress";
    case kZSTD: return "ZSTD";
    case kZstdNotFinal: return "ZSTDNotFinal";
    default: return "";
  }
}

bool IsCompressionSupported(CompressionType type) {
  switch (static_cast<unsigned>(type)) {
    case kNoCompression: return true;
#if ASHLAR_WITH_SNAPPY
    case kSnappyCompression: return true;
#endif
#if ASHLAR_WITH_ZLIB
    case kZlibCompression: return true;
#endif
#if ASHLAR_WITH_BZIP2
    case kBZip2Compression: return true;
#endif
#if ASHLAR_WITH_LZ4
    case kLZ4Compression:
    case kLZ4HCCompression: return true;
#endif
#if ASHLAR_WITH_ZSTD
    case kZSTD:
    case kZstdNotFinal: return true;
#endif
    default: return false;
  }
}

UncompressionDict::UncompressionDict(const Slice& contents)
    // Copied, because the block of the dictionary may be evicted.
    : contents_(contents.data(), contents.size()) {
#if ASHLAR_WITH_ZSTD
  zstd_digest_ = ZSTD_createDDict(contents_.data(), contents_.size());
#endif
}

UncompressionDict::~UncompressionDict() {
#if ASHLAR_WITH_ZSTD
  ZSTD_freeDDict(static_cast<ZSTD_DDict*>(zstd_digest_));
#endif
}

size_t UncompressionDict::MemoryUsage() const {
  size_t bytes = sizeof(*this) + contents_.capacity();
#if ASHLAR_WITH_ZSTD
  bytes += ZSTD_sizeof_DDict(static_cast<const ZSTD_DDict*>(zstd_digest_));
#endif
  return bytes;
}

Result<CompressedBlock> ParseCompressedBlock(CompressionType type, const Slice& stored) {
  if (type == kNoCompression) return CompressedBlock{type, stored.size(), stored};
  if (!IsCompressionSupported(type)) return Unsupported(type);
  CompressedBlock block;
  // Both have the same encoding.
  block.type = type == kZstdNotFinal ? kZSTD : type;
  RETURN_IF_ERROR(type == kSnappyCompression ? ParseSnappySize(stored, &block)
                                             : ParseSizePrefix(stored, &block));
  const uint64_t most = std::min(kMaxRawBytes, MaxRawBytes(block.type, block.payload.size()));
  if (block.raw_bytes > most) return Undecodable(block);
  return block;
}

Status UncompressBlock(const CompressedBlock& block, const UncompressionDict* dict, char* raw) {
  assert(raw != nullptr || block.raw_bytes == 0);
  // Without a digest (out of memory) the block would be decoded without its dictionary, with a
  // wrong result.
  if (block.type == kZSTD && dict != nullptr && dict->zstd_digest() == nullptr) {
    return Undecodable(block);
  }
  switch (block.type) {
    case kNoCompression:
      std::copy_n(block.payload.data(), block.raw_bytes, raw);
      return Status::OK();
#if ASHLAR_WITH_SNAPPY
    case kSnappyCompression:
      return OkIf(snappy::RawUncompress(block.payload.data(), block.payload.size(), raw), block);
#endif
#if ASHLAR_WITH_ZLIB
    case kZlibCompression: return OkIf(InflateRaw(block, dict, raw), block);
#endif
#if ASHLAR_WITH_BZIP2
    case kBZip2Compression: return OkIf(Bunzip(block, raw), block);
#endif
#if ASHLAR_WITH_LZ4
    case kLZ4Compression:
    case kLZ4HCCompression: return OkIf(DecodeLz4(block, dict, raw), block);
#endif
#if ASHLAR_WITH_ZSTD
    case kZSTD: return OkIf(DecodeZstd(block, dict, raw), block);
#endif
    default: return Unsupported(block.type);
  }
}

Status UncompressToString(CompressionType type, const Slice& stored, const UncompressionDict* dict,
                          std::string* raw) {
  assert(raw != nullptr);
  ASSIGN_OR_RETURN(const CompressedBlock block, ParseCompressedBlock(type, stored));
  raw->resize(block.raw_bytes);
  return UncompressBlock(block, dict, raw->data());
}

}  // namespace ashlar
