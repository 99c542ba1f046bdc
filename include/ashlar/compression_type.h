// SPDX-License-Identifier: Apache-2.0
//
// Compression algorithms and their tuning.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ashlar {

// The numbers are stored in table files and exposed by the C API. Which algorithms are linked in:
// GetSupportedCompressions() in convenience.h.
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

  // Reserved for plug-in compression.
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

  // For ColumnFamilyOptions::bottommost_compression only: use `compression` there too.
  kDisableCompressionOption = 0xff,
};

// Tuning of one algorithm.
struct CompressionOptions {
  // Stands for the algorithm's own default level.
  static constexpr int kDefaultCompressionLevel = 32767;

  // zlib: base-two logarithm of the window; negative for a raw stream.
  int window_bits = -14;
  // Higher is smaller and slower; the range is the algorithm's.
  int level = kDefaultCompressionLevel;
  // zlib only.
  int strategy = 0;
  // Above 0, the data blocks of a file are compressed with a dictionary of at most this many bytes,
  // made of its first blocks.
  uint32_t max_dict_bytes = 0;
  // Bytes of samples handed to zstd's dictionary trainer; 0 uses the samples as they are.
  uint32_t zstd_max_train_bytes = 0;
  // Above 1, so many threads, at most 64, compress the blocks of one file; its bytes are the same.
  uint32_t parallel_threads = 1;
  // For bottommost_compression_opts only: false means that compression_opts hold there too.
  bool enabled = false;
  // Bytes of blocks buffered while samples are taken; 0 is the target file size, if there is one.
  // Never more than 64 MiB.
  uint64_t max_dict_buffer_bytes = 0;
  // Let zstd train the dictionary, rather than finalize one from raw samples.
  bool use_zstd_dict_trainer = true;
  // A block is stored as it is when it does not shrink to this many bytes per KiB.
  int max_compressed_bytes_per_kb = 1024 * 7 / 8;
  // Ask zstd for a checksum in each frame, besides the block's own.
  bool checksum = false;

  // Sets max_compressed_bytes_per_kb so that blocks shrink by at least this factor (>= 1).
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
