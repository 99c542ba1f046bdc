// SPDX-License-Identifier: Apache-2.0
//
// The 32-bit checksums of tables: five kinds, and the context that ties a block to its file and
// place from format_version 6 on. docs/formats/checksums_and_hashes.md, section 2.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/format/block_handle.h"

namespace ashlar {

enum ChecksumType : char;              // ashlar/table.h
enum CompressionType : unsigned char;  // ashlar/compression_type.h

// How the blocks of one file are summed. `base` is 0 before format_version 6, never 0 after.
struct ChecksumContext {
  ChecksumType type{};
  uint32_t base = 0;
};

// True for the kinds this engine knows: none, CRC-32C, xxHash, xxHash64, XXH3.
bool IsKnownChecksumType(uint8_t type);
const char* ChecksumTypeName(ChecksumType type);

// Checksum of `n` bytes.
uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n);
// Checksum of `n` bytes followed by `last_byte`, which need not lie behind them in memory.
uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n, char last_byte);

// What is added to the checksum of a block or footer that starts at `offset`.
constexpr uint32_t ChecksumModifier(uint32_t base, uint64_t offset) {
  const uint32_t folded = static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32);
  return base == 0 ? 0 : base ^ folded;
}

// The five bytes behind a block that is stored at `offset`.
void EncodeBlockTrailer(const ChecksumContext& context, uint64_t offset, const Slice& stored,
                        CompressionType compression, char* trailer);

// Names a block in messages: "data block", "index".
struct BlockName {
  std::string_view path;
  std::string_view kind;
};

// Checks the `handle.size + kBlockTrailerBytes` bytes at `block` against their trailer. Files
// without checksums always pass. Corruption names file, offset, expected and found.
Status VerifyBlock(const ChecksumContext& context, const BlockHandle& handle, const char* block,
                   const BlockName& name);

// The compression type of a block read through a handle of `size` stored bytes.
inline CompressionType StoredCompressionType(const char* block, uint64_t size) {
  return static_cast<CompressionType>(static_cast<unsigned char>(block[size]));
}

}  // namespace ashlar
