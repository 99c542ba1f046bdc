// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of the formats are compared with the vectors in tests/data/vectors. The input
// of a vector is the first `len` bytes of b[i] = 131 * i + 17.
#include "util/hash/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "util/hash/crc32c.h"
#include "util/hash/xxh3_x86.h"
#include "util/random.h"

namespace ashlar {
namespace {

// The lines of a vector file with one vector each; all files have this form.
std::vector<std::string> VectorLines(const std::string& name) {
  std::ifstream file(SourcePath("tests/data/vectors/" + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"len\": ") != std::string::npos) lines.push_back(line);
  }
  EXPECT_GT(lines.size(), 10u) << name;
  return lines;
}

// The text after `"field": `, without quotes.
std::string Field(const std::string& line, const std::string& field) {
  const size_t at = line.find("\"" + field + "\": ");
  if (at == std::string::npos) return "";
  const size_t begin = line.find_first_not_of("[\" ", at + field.size() + 3);
  return line.substr(begin, line.find_first_of(",\"}]", begin) - begin);
}

uint64_t HexField(const std::string& line, const std::string& field) {
  return std::stoull(Field(line, field), nullptr, 16);
}

std::string Input(const std::string& line) {
  std::string bytes(std::stoul(Field(line, "len")), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(131 * i + 17);
  return bytes;
}

TEST(FilterHash, MatchesTheVectors) {
  for (const std::string& line : VectorLines("hash64.json")) {
    const std::string input = Input(line);
    ASSERT_EQ(FilterHash64(input), HexField(line, "hash")) << line;
  }
}

TEST(FilterHash, MatchesTheSeededVectors) {
  for (const std::string& line : VectorLines("hash64_seeded.json")) {
    const std::string input = Input(line);
    ASSERT_EQ(FilterHash64(input.data(), input.size(), HexField(line, "seed")),
              HexField(line, "hash"))
        << line;
  }
}

TEST(Hash32, MatchesTheVectorsForAllThreeSeeds) {
  for (const std::string& line : VectorLines("hash32.json")) {
    const std::string input = Input(line);
    const char* data = input.data();
    ASSERT_EQ(Hash32(data, input.size(), kDataBlockHashSeed), HexField(line, "seed397")) << line;
    ASSERT_EQ(Hash32(data, input.size(), kLegacyBloomSeed), HexField(line, "seedbc9f1d34"));
    ASSERT_EQ(Hash32(data, input.size(), 0), HexField(line, "seed0")) << line;
  }
}

TEST(XxHash, MatchesTheChecksumVectors) {
  for (const std::string& line : VectorLines("checksums.json")) {
    if (Field(line, "xxh3").empty()) continue;
    const std::string input = Input(line);
    const char* data = input.data();
    ASSERT_EQ(crc32c::Value(data, input.size()), HexField(line, "crc32c")) << line;
    ASSERT_EQ(XxHash32(data, input.size()), HexField(line, "xxh32")) << line;
    ASSERT_EQ(XxHash64(data, input.size()), HexField(line, "xxh64")) << line;
    ASSERT_EQ(XxHash3_64(data, input.size()), HexField(line, "xxh3")) << line;
    ASSERT_EQ(XxHash3_128(data, input.size()).high, HexField(line, "xxh128")) << line;
  }
}

// HashBytes without a seed uses the portable code.
TEST(XxHash, EveryVectorSetAgreesWithThePortableCode) {
  xxh3::Implementation implementations[xxh3::kMaxImplementations];
  const size_t count = xxh3::Implementations(implementations);
  const std::string bytes = Random64(3).Bytes(9000);
  for (size_t n = 0; n <= bytes.size(); n += n < 1100 ? 1 : 97) {
    const uint64_t expected = HashBytes(bytes.data(), n);
    ASSERT_EQ(XxHash3_64(bytes.data(), n), expected) << n;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(implementations[i].hash(bytes.data(), n), expected) << implementations[i].name;
    }
  }
}

TEST(Mix64, IsABijectionOnASample) {
  std::vector<uint64_t> mixed;
  for (uint64_t i = 0; i < 10000; ++i) mixed.push_back(Mix64(i));
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(std::unique(mixed.begin(), mixed.end()), mixed.end());
}

TEST(FastRange, StaysInsideAndReachesBothEnds) {
  EXPECT_EQ(FastRange32(0, 10), 0u);
  EXPECT_EQ(FastRange32(~uint32_t{0}, 7), 6u);
}

}  // namespace
}  // namespace ashlar
