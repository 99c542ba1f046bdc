// SPDX-License-Identifier: Apache-2.0
//
// XXH3 checksums treat the last byte separately: the bytes before it are hashed, and the last byte
// is multiplied and XORed, so that a block and its type byte do not need to be adjacent. The other
// kinds hash both as one string.
#include "table/format/checksum.h"

#include <cassert>

#define XXH_STATIC_LINKING_ONLY  // for states on the stack
#include <xxhash.h>

#include "ashlar/compression_type.h"
#include "ashlar/table.h"
#include "util/hash/crc32c.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint32_t kLastByteMultiplier = 0x6b9083d9;

// Hashes both parts as one string, without copying them together.
uint32_t XxHash32WithLastByte(const char* data, size_t n, char last_byte) {
  XXH32_state_t state;
  XXH32_reset(&state, 0);
  XXH32_update(&state, data, n);
  XXH32_update(&state, &last_byte, 1);
  return XXH32_digest(&state);
}

uint32_t XxHash64WithLastByte(const char* data, size_t n, char last_byte) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, data, n);
  XXH64_update(&state, &last_byte, 1);
  return static_cast<uint32_t>(XXH64_digest(&state));
}

}  // namespace

bool IsKnownChecksumType(uint8_t type) { return type <= kXXH3; }

const char* ChecksumTypeName(ChecksumType type) {
  switch (type) {
    case kNoChecksum: return "no checksum";
    case kCRC32c: return "CRC-32C";
    case kxxHash: return "xxHash";
    case kxxHash64: return "xxHash64";
    case kXXH3: return "XXH3";
  }
  return "unknown checksum";
}

uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n) {
  // The last byte is treated separately, so that there must be one.
  if (n > 0) return ComputeChecksum(type, data, n - 1, data[n - 1]);
  switch (type) {
    case kCRC32c: return crc32c::Mask(crc32c::Value(data, 0));
    case kxxHash: return XxHash32(data, 0);
    case kxxHash64: return static_cast<uint32_t>(XxHash64(data, 0));
    default: return 0;
  }
}

uint32_t ComputeChecksum(ChecksumType type, const char* data, size_t n, char last_byte) {
  switch (type) {
    case kCRC32c: return crc32c::Mask(crc32c::Extend(crc32c::Value(data, n), &last_byte, 1));
    case kxxHash: return XxHash32WithLastByte(data, n, last_byte);
    case kxxHash64: return XxHash64WithLastByte(data, n, last_byte);
    case kXXH3:
      return static_cast<uint32_t>(XxHash3_64(data, n)) ^
             static_cast<unsigned char>(last_byte) * kLastByteMultiplier;
    default: return 0;
  }
}

void EncodeBlockTrailer(const ChecksumContext& context, uint64_t offset, const Slice& stored,
                        CompressionType compression, char* trailer) {
  assert(trailer != nullptr);
  trailer[0] = static_cast<char>(compression);
  const uint32_t sum = ComputeChecksum(context.type, stored.data(), stored.size(), trailer[0]);
  EncodeFixed32(trailer + 1, sum + ChecksumModifier(context.base, offset));
}

Status VerifyBlock(const ChecksumContext& context, const BlockHandle& handle, const char* block,
                   const BlockName& name) {
  if (context.type == kNoChecksum) return Status::OK();
  // The type byte follows the block and is covered by the checksum.
  const size_t n = static_cast<size_t>(handle.size);
  const uint32_t expected = ComputeChecksum(context.type, block, n, block[n]) +
                            ChecksumModifier(context.base, handle.offset);
  const uint32_t found = DecodeFixed32(block + n + 1);
  if (expected == found) [[likely]]
    return Status::OK();
  return Status::Corruption(StrCat(name.kind, ": ", name.path, ", offset ", handle.offset, ", ",
                                   handle.size, " bytes: ", ChecksumTypeName(context.type),
                                   " checksum expected ", expected, ", found ", found,
                                   "; restore the file or repair the database"));
}

}  // namespace ashlar
