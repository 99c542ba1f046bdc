// SPDX-License-Identifier: Apache-2.0
//
// Compression: one class for each library. Each writes the varint32 with the size and the bytes of
// the library into the same reused buffer. The buffer is as large as the caller's limit if the
// library can stop there, else as large as the worst case of the library.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <vector>

#include "table/format/compression.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

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
#include <lz4hc.h>
#endif
#if ASHLAR_WITH_ZSTD
#include <zstd.h>
#endif

namespace ashlar {

namespace {

// Blocks of this size and larger are never compressed, because the libraries use int for sizes.
constexpr size_t kMaxCompressibleBytes = INT_MAX;

// In a build without libraries these helpers have no callers.
[[maybe_unused]] bool IsDefaultLevel(const CompressionOptions& options) {
  return options.level == CompressionOptions::kDefaultCompressionLevel;
}

// Writes the size to the begin of `output` and makes room for `capacity` bytes in total. Returns
// the length of the size, or 0 if even that does not fit.
[[maybe_unused]] size_t StartOutput(const Slice& raw, size_t capacity, PageString* output) {
  if (capacity <= kMaxVarint32Bytes || raw.size() >= kMaxCompressibleBytes) return 0;
  // The buffer only grows, so that its memory is reused.
  if (output->size() < capacity) output->resize(capacity);
  const char* end = EncodeVarint32(output->data(), static_cast<uint32_t>(raw.size()));
  return static_cast<size_t>(end - output->data());
}

#if ASHLAR_WITH_SNAPPY
class SnappyCompressor final : public Compressor {
  // Snappy needs room for its worst case. It has no levels and no dictionary.
 public:
  SnappyCompressor() : Compressor(kSnappyCompression) {}
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    if (raw.size() >= kMaxCompressibleBytes) return false;
    output->resize(snappy::MaxCompressedLength(raw.size()));
    size_t bytes = 0;
    snappy::RawCompress(raw.data(), raw.size(), output->data(), &bytes);
    output->resize(bytes);
    return bytes <= limit;
  }
};
#endif

#if ASHLAR_WITH_ZLIB
class ZlibCompressor final : public Compressor {
  // The stream is initialized once and reset for each block.
 public:
  ZlibCompressor(const CompressionOptions& options, const Slice& dictionary)
      : Compressor(kZlibCompression), dictionary_(dictionary.ToString()) {
    // Readers expect raw streams with a window of at most 2^14.
    const int window_bits = std::clamp(std::abs(options.window_bits), 9, 14);
    const int level =
        IsDefaultLevel(options) ? Z_DEFAULT_COMPRESSION : std::clamp(options.level, -1, 9);
    constexpr int kMemoryLevel = 8;
    is_ready_ = deflateInit2(&stream_, level, Z_DEFLATED, -window_bits, kMemoryLevel,
                             options.strategy) == Z_OK;
  }
  ~ZlibCompressor() override {
    if (is_ready_) deflateEnd(&stream_);
  }

  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0 || !is_ready_ || deflateReset(&stream_) != Z_OK) return false;
    if (!dictionary_.empty() &&
        deflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(dictionary_.data()),
                             static_cast<uInt>(dictionary_.size())) != Z_OK) {
      return false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    stream_.avail_in = static_cast<uInt>(raw.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output->data() + prefix);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(limit - prefix, UINT_MAX));
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) return false;
    output->resize(prefix + stream_.total_out);
    return true;
  }

 private:
  const std::string dictionary_;
  z_stream stream_{};
  bool is_ready_ = false;
};
#endif

#if ASHLAR_WITH_BZIP2
class Bzip2Compressor final : public Compressor {
  // Blocks of 100 kB are enough, because a table block is smaller.
 public:
  Bzip2Compressor() : Compressor(kBZip2Compression) {}
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0) return false;
    constexpr int kBlockSize100k = 1, kWorkFactor = 30;
    auto bytes = static_cast<unsigned>(std::min<size_t>(limit - prefix, UINT_MAX));
    if (BZ2_bzBuffToBuffCompress(output->data() + prefix, &bytes, const_cast<char*>(raw.data()),
                                 static_cast<unsigned>(raw.size()), kBlockSize100k,
                                 /*verbosity=*/0, kWorkFactor) != BZ_OK) {
      return false;
    }
    output->resize(prefix + bytes);
    return true;
  }
};
#endif

#if ASHLAR_WITH_LZ4
class Lz4Compressor final : public Compressor {
  // The state is allocated once, and is initialized by each call.
 public:
  explicit Lz4Compressor(const CompressionOptions& options)
      : Compressor(kLZ4Compression), acceleration_(options.level < 0 ? -options.level : 1) {
    state_.resize(static_cast<size_t>(LZ4_sizeofState()) / sizeof(uint64_t) + 1);
  }
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0) return false;
    const int room = static_cast<int>(std::min<size_t>(limit - prefix, INT_MAX));
    const int bytes = LZ4_compress_fast_extState(state_.data(), raw.data(), output->data() + prefix,
                                                 static_cast<int>(raw.size()), room, acceleration_);
    if (bytes <= 0) return false;
    output->resize(prefix + static_cast<size_t>(bytes));
    return true;
  }

 private:
  int acceleration_;
  std::vector<uint64_t> state_;
};

// LZ4 with a dictionary. The digest of the dictionary is made once and copied for each block,
// because compressing changes the copy.
class Lz4DictionaryCompressor final : public Compressor {
 public:
  Lz4DictionaryCompressor(const CompressionOptions& options, const Slice& dictionary)
      : Compressor(kLZ4Compression),
        acceleration_(options.level < 0 ? -options.level : 1),
        dictionary_(dictionary.ToString()) {
    LZ4_initStream(&digest_, sizeof(digest_));
    LZ4_loadDict(&digest_, dictionary_.data(), static_cast<int>(dictionary_.size()));
  }
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0) return false;
    const int room = static_cast<int>(std::min<size_t>(limit - prefix, INT_MAX));
    state_ = digest_;
    const int bytes = LZ4_compress_fast_continue(&state_, raw.data(), output->data() + prefix,
                                                 static_cast<int>(raw.size()), room, acceleration_);
    if (bytes <= 0) return false;
    output->resize(prefix + static_cast<size_t>(bytes));
    return true;
  }

 private:
  int acceleration_;
  const std::string dictionary_;
  LZ4_stream_t digest_;  // points to dictionary_
  LZ4_stream_t state_;
};

class Lz4hcCompressor final : public Compressor {
 public:
  explicit Lz4hcCompressor(const CompressionOptions& options)
      : Compressor(kLZ4HCCompression), level_(IsDefaultLevel(options) ? 0 : options.level) {
    state_.resize(static_cast<size_t>(LZ4_sizeofStateHC()) / sizeof(uint64_t) + 1);
  }
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0) return false;
    const int room = static_cast<int>(std::min<size_t>(limit - prefix, INT_MAX));
    const int bytes = LZ4_compress_HC_extStateHC(state_.data(), raw.data(), output->data() + prefix,
                                                 static_cast<int>(raw.size()), room, level_);
    if (bytes <= 0) return false;
    output->resize(prefix + static_cast<size_t>(bytes));
    return true;
  }

 private:
  int level_;
  std::vector<uint64_t> state_;
};
#endif

#if ASHLAR_WITH_LZ4
class Lz4hcDictionaryCompressor final : public Compressor {
  // The stream is reset and the dictionary loaded for each block, because LZ4 HC cannot copy a
  // digest.
 public:
  Lz4hcDictionaryCompressor(const CompressionOptions& options, const Slice& dictionary)
      : Compressor(kLZ4HCCompression),
        level_(IsDefaultLevel(options) ? 0 : options.level),
        dictionary_(dictionary.ToString()),
        stream_(LZ4_createStreamHC()) {}
  ~Lz4hcDictionaryCompressor() override { LZ4_freeStreamHC(stream_); }
  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0 || stream_ == nullptr) return false;
    const int room = static_cast<int>(std::min<size_t>(limit - prefix, INT_MAX));
    LZ4_resetStreamHC(stream_, level_);
    LZ4_loadDictHC(stream_, dictionary_.data(), static_cast<int>(dictionary_.size()));
    const int bytes = LZ4_compress_HC_continue(stream_, raw.data(), output->data() + prefix,
                                               static_cast<int>(raw.size()), room);
    if (bytes <= 0) return false;
    output->resize(prefix + static_cast<size_t>(bytes));
    return true;
  }

 private:
  int level_;
  const std::string dictionary_;
  LZ4_streamHC_t* const stream_;  // null if memory was missing
};
#endif

#if ASHLAR_WITH_ZSTD
class ZstdCompressor final : public Compressor {
  // The context keeps level and dictionary between blocks.
 public:
  ZstdCompressor(const CompressionOptions& options, const Slice& dictionary)
      : Compressor(kZSTD), context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) return;
    const int level = IsDefaultLevel(options) ? ZSTD_CLEVEL_DEFAULT : options.level;
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
    if (dictionary.empty()) return;
    digest_ = ZSTD_createCDict(dictionary.data(), dictionary.size(), level);
    // A block compressed without the dictionary would not decompress, so without a digest no block
    // is compressed.
    is_ready_ = digest_ != nullptr && !ZSTD_isError(ZSTD_CCtx_refCDict(context_, digest_));
  }
  ~ZstdCompressor() override {
    ZSTD_freeCCtx(context_);
    ZSTD_freeCDict(digest_);
  }

  bool Compress(const Slice& raw, size_t limit, PageString* output) override {
    const size_t prefix = StartOutput(raw, limit, output);
    if (prefix == 0 || context_ == nullptr || !is_ready_) return false;
    // The library stops when the room is used up, which counts as "too large".
    const size_t bytes =
        ZSTD_compress2(context_, output->data() + prefix, limit - prefix, raw.data(), raw.size());
    if (ZSTD_isError(bytes)) return false;
    output->resize(prefix + bytes);
    return true;
  }

 private:
  ZSTD_CCtx* context_;            // null if memory was missing
  ZSTD_CDict* digest_ = nullptr;  // digest of the dictionary; null: no dictionary
  bool is_ready_ = true;
};
#endif

}  // namespace

size_t CompressedSizeLimit(size_t raw_bytes, const CompressionOptions& options) {
  constexpr uint64_t kKilo = 1024;
  const auto per_kilo = static_cast<uint64_t>(std::max(0, options.max_compressed_bytes_per_kb));
  // Never larger than the uncompressed block, even if the option permits it.
  return static_cast<size_t>(std::min<uint64_t>(raw_bytes, raw_bytes * per_kilo / kKilo));
}

Result<std::unique_ptr<Compressor>> Compressor::Create(CompressionType type,
                                                       const CompressionOptions& options,
                                                       const Slice& dictionary) {
  static_cast<void>(options);  // unused in a build without libraries
  static_cast<void>(dictionary);
  switch (type) {
#if ASHLAR_WITH_SNAPPY
    case kSnappyCompression: return std::unique_ptr<Compressor>(new SnappyCompressor());
#endif
#if ASHLAR_WITH_ZLIB
    case kZlibCompression:
      return std::unique_ptr<Compressor>(new ZlibCompressor(options, dictionary));
#endif
#if ASHLAR_WITH_BZIP2
    case kBZip2Compression: return std::unique_ptr<Compressor>(new Bzip2Compressor());
#endif
#if ASHLAR_WITH_LZ4
    case kLZ4Compression:
      if (!dictionary.empty()) {
        return std::unique_ptr<Compressor>(new Lz4DictionaryCompressor(options, dictionary));
      }
      return std::unique_ptr<Compressor>(new Lz4Compressor(options));
    case kLZ4HCCompression:
      if (!dictionary.empty()) {
        return std::unique_ptr<Compressor>(new Lz4hcDictionaryCompressor(options, dictionary));
      }
      return std::unique_ptr<Compressor>(new Lz4hcCompressor(options));
#endif
#if ASHLAR_WITH_ZSTD
    case kZSTD: return std::unique_ptr<Compressor>(new ZstdCompressor(options, dictionary));
#endif
    default: break;
  }
  const std::string_view name = CompressionPropertyName(type);
  return Status::NotSupported(StrCat("compression type ", uint32_t{type}, " (",
                                     name.empty() ? "unknown" : name,
                                     ") is not part of this build"));
}

}  // namespace ashlar
