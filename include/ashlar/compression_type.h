// SPDX-License-Identifier: Apache-2.0
//
// Compression algorithms and their parameters.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ashlar {

// The numbers are stored in table files and used by the C API. GetSupportedCompressions() in
// convenience.h returns the algorithms that are linked in.
enum CompressionType : unsigned char {
  kNoCompression = 0x0,
  kSnappyCompression = 0x1,
  kZlibCompression = 0x2,
  kBZip2Compression = 0x3,
  kLZ4Compression = 0x4,
  kLZ4HCCompression = 0x5,
  kXpressCompression = 0x6,  // never available
  kZSTD = 0x7,
  kLastBuiltinCompression = kZSTD,

  // Reserved for algorithms of programs.
  kFirstCustomCompression = 0x80,
  kCustomCompression80 = 0x80,
  kCustomCompression81 = 0x81,
  kCustomCompression82 = 0x82,
  kCustomCompression83 = 0x83,
  kCustomCompression84 = 0x84,
  kCustomCompression85 = 0x85,
  kCustomCompression86 = 0x86,
  kCustomCompression87 = 0x87,
  kCustomCompression88 = 0x88,
  kCustomCompression89 = 0x89,
  kCustomCompression8A = 0x8a,
  kCustomCompression8B = 0x8b,
  kCustomCompression8C = 0x8c,
  kCustomCompression8D = 0x8d,
  kCustomCompression8E = 0x8e,
  kCustomCompression8F = 0x8f,
  kCustomCompression90 = 0x90,
  kCustomCompression91 = 0x91,
  kCustomCompression92 = 0x92,
  kCustomCompression93 = 0x93,
  kCustomCompression94 = 0x94,
  kCustomCompression95 = 0x95,
  kCustomCompression96 = 0x96,
  kCustomCompression97 = 0x97,
  kCustomCompression98 = 0x98,
  kCustomCompression99 = 0x99,
  kCustomCompression9A = 0x9a,
  kCustomCompression9B = 0x9b,
  kCustomCompression9C = 0x9c,
  kCustomCompression9D = 0x9d,
  kCustomCompression9E = 0x9e,
  kCustomCompression9F = 0x9f,
  kCustomCompressionA0 = 0xa0,
  kCustomCompressionA1 = 0xa1,
  kCustomCompressionA2 = 0xa2,
  kCustomCompressionA3 = 0xa3,
  kCustomCompressionA4 = 0xa4,
  kCustomCompressionA5 = 0xa5,
  kCustomCompressionA6 = 0xa6,
  kCustomCompressionA7 = 0xa7,
  kCustomCompressionA8 = 0xa8,
  kCustomCompressionA9 = 0xa9,
  kCustomCompressionAA = 0xaa,
  kCustomCompressionAB = 0xab,
  kCustomCompressionAC = 0xac,
  kCustomCompressionAD = 0xad,
  kCustomCompressionAE = 0xae,
  kCustomCompressionAF = 0xaf,
  kCustomCompressionB0 = 0xb0,
  kCustomCompressionB1 = 0xb1,
  kCustomCompressionB2 = 0xb2,
  kCustomCompressionB3 = 0xb3,
  kCustomCompressionB4 = 0xb4,
  kCustomCompressionB5 = 0xb5,
  kCustomCompressionB6 = 0xb6,
  kCustomCompressionB7 = 0xb7,
  kCustomCompressionB8 = 0xb8,
  kCustomCompressionB9 = 0xb9,
  kCustomCompressionBA = 0xba,
  kCustomCompressionBB = 0xbb,
  kCustomCompressionBC = 0xbc,
  kCustomCompressionBD = 0xbd,
  kCustomCompressionBE = 0xbe,
  kCustomCompressionBF = 0xbf,
  kCustomCompressionC0 = 0xc0,
  kCustomCompressionC1 = 0xc1,
  kCustomCompressionC2 = 0xc2,
  kCustomCompressionC3 = 0xc3,
  kCustomCompressionC4 = 0xc4,
  kCustomCompressionC5 = 0xc5,
  kCustomCompressionC6 = 0xc6,
  kCustomCompressionC7 = 0xc7,
  kCustomCompressionC8 = 0xc8,
  kCustomCompressionC9 = 0xc9,
  kCustomCompressionCA = 0xca,
  kCustomCompressionCB = 0xcb,
  kCustomCompressionCC = 0xcc,
  kCustomCompressionCD = 0xcd,
  kCustomCompressionCE = 0xce,
  kCustomCompressionCF = 0xcf,
  kCustomCompressionD0 = 0xd0,
  kCustomCompressionD1 = 0xd1,
  kCustomCompressionD2 = 0xd2,
  kCustomCompressionD3 = 0xd3,
  kCustomCompressionD4 = 0xd4,
  kCustomCompressionD5 = 0xd5,
  kCustomCompressionD6 = 0xd6,
  kCustomCompressionD7 = 0xd7,
  kCustomCompressionD8 = 0xd8,
  kCustomCompressionD9 = 0xd9,
  kCustomCompressionDA = 0xda,
  kCustomCompressionDB = 0xdb,
  kCustomCompressionDC = 0xdc,
  kCustomCompressionDD = 0xdd,
  kCustomCompressionDE = 0xde,
  kCustomCompressionDF = 0xdf,
  kCustomCompressionE0 = 0xe0,
  kCustomCompressionE1 = 0xe1,
  kCustomCompressionE2 = 0xe2,
  kCustomCompressionE3 = 0xe3,
  kCustomCompressionE4 = 0xe4,
  kCustomCompressionE5 = 0xe5,
  kCustomCompressionE6 = 0xe6,
  kCustomCompressionE7 = 0xe7,
  kCustomCompressionE8 = 0xe8,
  kCustomCompressionE9 = 0xe9,
  kCustomCompressionEA = 0xea,
  kCustomCompressionEB = 0xeb,
  kCustomCompressionEC = 0xec,
  kCustomCompressionED = 0xed,
  kCustomCompressionEE = 0xee,
  kCustomCompressionEF = 0xef,
  kCustomCompressionF0 = 0xf0,
  kCustomCompressionF1 = 0xf1,
  kCustomCompressionF2 = 0xf2,
  kCustomCompressionF3 = 0xf3,
  kCustomCompressionF4 = 0xf4,
  kCustomCompressionF5 = 0xf5,
  kCustomCompressionF6 = 0xf6,
  kCustomCompressionF7 = 0xf7,
  kCustomCompressionF8 = 0xf8,
  kCustomCompressionF9 = 0xf9,
  kCustomCompressionFA = 0xfa,
  kCustomCompressionFB = 0xfb,
  kCustomCompressionFC = 0xfc,
  kCustomCompressionFD = 0xfd,
  kCustomCompressionFE = 0xfe,
  kLastCustomCompression = 0xfe,

  // Only for ColumnFamilyOptions::bottommost_compression: use `compression` for the last level too.
  kDisableCompressionOption = 0xff,
};

// Parameters of a compression algorithm.
struct CompressionOptions {
  // The default level of the algorithm.
  static constexpr int kDefaultCompressionLevel = 32767;

  // zlib only: base-two logarithm of the window size; negative for a raw stream.
  int window_bits = -14;
  // Compression level: higher levels give smaller results and are slower. The range depends on the
  // algorithm.
  int level = kDefaultCompressionLevel;
  // zlib only: compression strategy.
  int strategy = 0;
  // If not 0, the data blocks of a table are compressed with a dictionary of at most this many
  // bytes, which is made from the first blocks of the table.
  uint32_t max_dict_bytes = 0;
  // Bytes of samples for the dictionary trainer of zstd; 0 = the samples themselves are the
  // dictionary.
  uint32_t zstd_max_train_bytes = 0;
  // Number of threads, at most 64, that compress the blocks of one table. The contents of the table
  // do not depend on it.
  uint32_t parallel_threads = 1;
  // Only for bottommost_compression_opts: false = compression_opts apply to the last level too.
  bool enabled = false;
  // Maximum bytes of blocks that are buffered to take samples; 0 = the target file size, if there
  // is one. Never more than 64 MiB.
  uint64_t max_dict_buffer_bytes = 0;
  // Train the dictionary with zstd, instead of only finalizing it from raw samples.
  bool use_zstd_dict_trainer = true;
  // A block is stored uncompressed if its compressed size exceeds this many bytes per KiB.
  int max_compressed_bytes_per_kb = 1024 * 7 / 8;
  // Let zstd add a checksum to each frame, in addition to the block checksum.
  bool checksum = false;

  // Sets max_compressed_bytes_per_kb so that blocks are stored compressed only if they shrink by at
  // least this factor (>= 1).
  void SetMinRatio(double min_ratio) {
    max_compressed_bytes_per_kb = static_cast<int>(1024.0 / std::max(1.0, min_ratio) + 0.5);
  }

  bool operator==(const CompressionOptions& rhs) const {
    return window_bits == rhs.window_bits && level == rhs.level && strategy == rhs.strategy &&
           max_dict_bytes == rhs.max_dict_bytes &&
           zstd_max_train_bytes == rhs.zstd_max_train_bytes &&
           parallel_threads == rhs.parallel_threads && enabled == rhs.enabled &&
           max_dict_buffer_bytes == rhs.max_dict_buffer_bytes &&
           use_zstd_dict_trainer == rhs.use_zstd_dict_trainer &&
           max_compressed_bytes_per_kb == rhs.max_compressed_bytes_per_kb &&
           checksum == rhs.checksum;
  }
  bool operator!=(const CompressionOptions& rhs) const { return !(*this == rhs); }
};

}  // namespace ashlar
