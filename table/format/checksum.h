// SPDX-License-Identifier: Apache-2.0
//
// The 32-bit checksums of tables: five kinds, and from format_version 6 on a context that ties a
// block to its file and offset. docs/formats/checksums_and_hashes.md, section 2.
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

// How the checksums of one file are computed. `base` is 0 before format_version 6, and never 0 from
// then on.
struct ChecksumContext {
  ChecksumType type{};
  uint32_t base = 0;
};

// True for the known kinds: none, CRC-32C, xxHash, xxHash64, XXH3.
bool IsKnownChecksumType(uint8_t type);
// The name of the type for use in messages.
const char* ChecksumTypeName(ChecksumType type);

// The checksum of `n` bytes.
uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n);
// The checksum of `n` bytes followed by `last_byte`, which may be in another place in memory.
uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n, char last_byte);

// The number that the context adds to the checksum of a block or footer at `offset`.
constexpr uint32_t ChecksumModifier(uint32_t base, uint64_t offset) {
  const uint32_t folded = static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32);
  return base == 0 ? 0 : base ^ folded;
}

// Writes the five bytes behind a block that is stored at `offset`.
void EncodeBlockTrailer(const ChecksumContext& context, uint64_t offset, const Slice& stored,
                        CompressionType compression, char* trailer);

// A block in error messages; the kind is for example "data block" or "index".
struct BlockName {
  std::string_view path;
  std::string_view kind;
};

// Compares the checksum of the `handle.size + kBlockTrailerBytes` bytes at `block` with their
// trailer. Files without checksums always pass. Corruption names file, offset, and the expected and
// found checksums.
Status VerifyBlock(const ChecksumContext& context, const BlockHandle& handle, const char* block,
                   const BlockName& name);

// The compression type of a block with `size` stored bytes, from its trailer.
inline CompressionType StoredCompressionType(const char* block, uint64_t size) {
  return static_cast<CompressionType>(static_cast<unsigned char>(block[size]));
}

}  // namespace ashlar
