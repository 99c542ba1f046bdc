// SPDX-License-Identifier: Apache-2.0
//
// Block checksums are compared with values that RocksDB computed
// (tests/data/vectors/checksums.json).
#include "table/format/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/table.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

constexpr ChecksumType kAllTypes[] = {kNoChecksum, kCRC32c, kxxHash, kxxHash64, kXXH3};

const char* VectorSuffix(ChecksumType type) {
  switch (type) {
    case kCRC32c: return "crc32c";
    case kxxHash: return "xxhash";
    case kxxHash64: return "xxhash64";
    default: return "xxh3";
  }
}

std::string Pattern(size_t n) {
  std::string bytes(n, '\0');
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>((131 * i + 17) % 256);
  return bytes;
}

uint32_t HexNumber(const Json& json) {
  return static_cast<uint32_t>(std::stoul(json.text(), nullptr, 16));
}

Json Vectors() { return Json::ParseFile(SourcePath("tests/data/vectors/checksums.json")); }

TEST(Checksum, OfBlocksEqualsVectors) {
  const Json json = Vectors();
  ASSERT_GT(json["vectors"].size(), 20u);
  for (const Json& v : json["vectors"].elements()) {
    const std::string input = Pattern(v["len"].number());
    const auto last_byte = static_cast<char>(v["ctype"].number());
    for (const ChecksumType type : kAllTypes) {
      if (type == kNoChecksum) continue;
      EXPECT_EQ(ComputeChecksum(type, input.data(), input.size(), last_byte),
                HexNumber(v[std::string("block_") + VectorSuffix(type)]))
          << ChecksumTypeName(type) << ", " << input.size() << " bytes";
    }
  }
}

TEST(Checksum, OfWholeBuffersEqualsVectors) {
  const Json json = Vectors();
  for (const Json& v : json["vectors"].elements()) {
    const std::string input = Pattern(v["len"].number());
    for (const ChecksumType type : kAllTypes) {
      if (type == kNoChecksum) continue;
      EXPECT_EQ(ComputeChecksum(type, input.data(), input.size()),
                HexNumber(v[std::string("footer_") + VectorSuffix(type)]))
          << ChecksumTypeName(type) << ", " << input.size() << " bytes";
    }
  }
}

TEST(Checksum, ModifierEqualsVectors) {
  const Json json = Vectors();
  for (const Json& v : json["context_modifier"].elements()) {
    EXPECT_EQ(ChecksumModifier(HexNumber(v["base"]), v["offset"].number()),
              HexNumber(v["modifier"]));
  }
}

class BlockTrailer : public testing::TestWithParam<ChecksumType> {
 protected:
  // A block of 100 bytes with the trailer that it has at kOffset.
  static constexpr uint64_t kOffset = (uint64_t{5} << 32) + 77;
  std::string Block(uint32_t base) const {
    std::string block = Pattern(100);
    char trailer[kBlockTrailerBytes];
    EncodeBlockTrailer({GetParam(), base}, kOffset, block, kZSTD, trailer);
    return block.append(trailer, sizeof(trailer));
  }
  Status Verify(const std::string& block, uint32_t base, uint64_t offset) const {
    return VerifyBlock({GetParam(), base}, {offset, block.size() - kBlockTrailerBytes},
                       block.data(), {"file.sst", "data block"});
  }
};

TEST_P(BlockTrailer, VerifiesWhatWasEncoded) {
  for (const uint32_t base : {0u, 0x2468ace1u}) {
    const std::string block = Block(base);
    EXPECT_OK(Verify(block, base, kOffset));
    EXPECT_EQ(StoredCompressionType(block.data(), 100), kZSTD);
  }
}

TEST_P(BlockTrailer, NoticesEveryChangedByte) {
  const std::string block = Block(0);
  for (size_t i = 0; i < block.size(); ++i) {
    std::string damaged = block;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(Verify(damaged, 0, kOffset).IsCorruption(), GetParam() != kNoChecksum)
        << "byte " << i;
  }
}

TEST_P(BlockTrailer, WithContextNoticesAnotherPlaceOrFile) {
  if (GetParam() == kNoChecksum) return;
  const std::string block = Block(0x2468ace1);
  EXPECT_TRUE(Verify(block, 0x2468ace1, kOffset + 1).IsCorruption());
  EXPECT_TRUE(Verify(block, 0x2468ace3, kOffset).IsCorruption());
}

TEST_P(BlockTrailer, MessageNamesFileAndOffset) {
  if (GetParam() == kNoChecksum) return;
  std::string block = Block(0);
  block[3] = static_cast<char>(block[3] + 1);
  const std::string message = Verify(block, 0, kOffset).ToString();
  EXPECT_NE(message.find("file.sst"), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(kOffset)), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(AllTypes, BlockTrailer, testing::ValuesIn(kAllTypes));

}  // namespace
}  // namespace ashlar
