// SPDX-License-Identifier: Apache-2.0
//
// Block compression: round trips of every type, and damaged input of every kind.
#include "table/format/compression.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr CompressionType kAllCompressions[] = {kSnappyCompression, kZlibCompression,
                                                kBZip2Compression,  kLZ4Compression,
                                                kLZ4HCCompression,  kZSTD};

std::string Compressible(size_t n) {
  std::string text;
  for (size_t i = 0; text.size() < n; ++i) text += "entry " + std::to_string(i / 3) + "; ";
  text.resize(n);
  return text;
}

std::string Noise(size_t n) {
  Random64 random(301);
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

class Compression : public testing::TestWithParam<CompressionType> {
 protected:
  void SetUp() override {
    if (!IsCompressionSupported(GetParam())) return SkipAsMissing("compression");
    compressor_ = Compressor::Create(GetParam(), CompressionOptions()).Take();
  }
  std::string Compress(const std::string& raw) {
    PageString stored;
    EXPECT_TRUE(compressor_->Compress(raw, raw.size() * 2 + 100, &stored));
    return std::string(stored);
  }
  std::unique_ptr<Compressor> compressor_;
};

TEST_P(Compression, ReturnsTheSameBytes) {
  for (const size_t n : {1u, 8u, 100u, 4096u, 70'000u, 1'000'000u}) {
    const std::string raw = Compressible(n);
    std::string result;
    ASSERT_OK(UncompressToString(GetParam(), Compress(raw), nullptr, &result)) << n;
    EXPECT_EQ(result, raw);
  }
}

TEST_P(Compression, MakesTextSmallerWithinTheLimit) {
  const std::string raw = Compressible(4096);
  const size_t limit = CompressedSizeLimit(raw.size(), CompressionOptions());
  EXPECT_EQ(limit, 3584u);
  PageString stored;
  ASSERT_TRUE(compressor_->Compress(raw, limit, &stored));
  EXPECT_LE(stored.size(), limit);
}

TEST_P(Compression, GivesUpOnNoise) {
  const std::string raw = Noise(4096);
  PageString stored;
  EXPECT_FALSE(compressor_->Compress(raw, 3584, &stored));
  // The compressor still works afterwards.
  EXPECT_TRUE(compressor_->Compress(Compressible(4096), 3584, &stored));
}

TEST_P(Compression, GivesUpOnTinyLimits) {
  PageString stored;
  for (size_t limit = 0; limit < 8; ++limit) {
    EXPECT_FALSE(compressor_->Compress(Compressible(4096), limit, &stored)) << limit;
  }
}

TEST_P(Compression, RefusesInputThatIsCutOff) {
  const std::string stored = Compress(Compressible(3000));
  std::string result;
  for (size_t n = 0; n < stored.size(); ++n) {
    const Status status = UncompressToString(GetParam(), stored.substr(0, n), nullptr, &result);
    EXPECT_TRUE(status.IsCorruption()) << n << ": " << status.ToString();
  }
}

TEST_P(Compression, RefusesAnotherSizeThanAnnounced) {
  if (GetParam() == kSnappyCompression) GTEST_SKIP() << "its size is part of the stream";
  const std::string stored = Compress(Compressible(3000));
  const std::string payload = stored.substr(VarintLength(3000));
  for (const uint32_t size : {0u, 1u, 2999u, 3001u, 30000u}) {
    std::string lying;
    PutVarint32(&lying, size);
    std::string result;
    EXPECT_TRUE(UncompressToString(GetParam(), lying + payload, nullptr, &result).IsCorruption())
        << size;
  }
}

TEST_P(Compression, RefusesImpossibleSizesBeforeAllocating) {
  std::string stored;
  PutVarint32(&stored, 0xf0000000);
  stored += "tiny";
  EXPECT_TRUE(ParseCompressedBlock(GetParam(), stored).status().IsCorruption());
}

TEST_P(Compression, SurvivesDamage) {
  Random64 random(17);
  const std::string stored = Compress(Compressible(1500));
  std::string result;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = stored;
    for (uint64_t flips = 1 + random.Uniform(4); flips > 0; --flips) {
      damaged[random.Uniform(damaged.size())] = static_cast<char>(random.Next());
    }
    const Result<CompressedBlock> block = ParseCompressedBlock(GetParam(), damaged);
    if (!block.ok() || block.value().raw_bytes > (1u << 22)) continue;
    IgnoreError(UncompressToString(GetParam(), damaged, nullptr, &result), "any answer is fine");
  }
}

TEST_P(Compression, IgnoresALeftOverDictionaryItCannotUse) {
  if (GetParam() != kSnappyCompression && GetParam() != kBZip2Compression) GTEST_SKIP();
  const std::string raw = Compressible(500);
  const UncompressionDict dict("some dictionary bytes");
  std::string result;
  ASSERT_OK(UncompressToString(GetParam(), Compress(raw), &dict, &result));
  EXPECT_EQ(result, raw);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Compression, testing::ValuesIn(kAllCompressions),
                         [](const auto& info) {
                           return std::string(CompressionPropertyName(info.param));
                         });

TEST(CompressionTypes, UnknownOnesAreNotSupported) {
  for (const unsigned type : {6u, 8u, 0x41u, 0x80u, 0xffu}) {
    const auto unknown = static_cast<CompressionType>(type);
    EXPECT_FALSE(IsCompressionSupported(unknown)) << type;
    EXPECT_TRUE(ParseCompressedBlock(unknown, "xyz").status().IsNotSupported()) << type;
    EXPECT_TRUE(Compressor::Create(unknown, {}).status().IsNotSupported()) << type;
  }
}

TEST(CompressionTypes, NoneCopiesTheBlock) {
  std::string result;
  ASSERT_OK(UncompressToString(kNoCompression, "plain", nullptr, &result));
  EXPECT_EQ(result, "plain");
}

TEST(CompressedSizeLimit, NeverExceedsTheRawSize) {
  CompressionOptions options;
  options.max_compressed_bytes_per_kb = 5000;
  EXPECT_EQ(CompressedSizeLimit(100, options), 100u);
  options.max_compressed_bytes_per_kb = -1;
  EXPECT_EQ(CompressedSizeLimit(100, options), 0u);
}

}  // namespace
}  // namespace ashlar
