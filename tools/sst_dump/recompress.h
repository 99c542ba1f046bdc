// SPDX-License-Identifier: Apache-2.0
//
// --command=recompress: how large a table would be, and how long it would take to write, with each
// compression. Tables are built and thrown away; nothing is written to any disk.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/compression_type.h"
#include "tools/lib/command_line.h"
#include "util/result.h"

namespace ashlar {

struct RecompressPlan {
  std::vector<CompressionType> types;  // in the order in which they are tried
  // Inclusive; both are CompressionOptions::kDefaultCompressionLevel if none is asked for.
  int first_level = CompressionOptions::kDefaultCompressionLevel;
  int last_level = CompressionOptions::kDefaultCompressionLevel;
  uint64_t block_bytes = 16384;  // of data blocks before compression, as RocksDB's tool has it
  CompressionOptions options;    // but for the level
};

// InvalidArgument names the flag.
Result<RecompressPlan> ParseRecompressPlan(const CommandLine& line);

}  // namespace ashlar
