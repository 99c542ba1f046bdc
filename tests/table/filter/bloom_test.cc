// SPDX-License-Identifier: Apache-2.0
//
// Bloom filters: whole filter blocks are compared with RocksDB's (tests/data/vectors/filters.json);
// which hashes are added, and the probes.
#include "table/filter/bloom.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "table/filter/full_filter_builder.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/interfaces/filter_policy_impl.h"

namespace ashlar {
namespace {

std::string NumberedKey(uint64_t i) {
  char key[32];
  std::snprintf(key, sizeof(key), "key%06llu", static_cast<unsigned long long>(i));
  return key;
}

uint32_t Millibits(double bits_per_key) {
  const std::unique_ptr<const FilterPolicy> policy(NewBloomFilterPolicy(bits_per_key));
  return static_cast<uint32_t>(DescribeFilterPolicy(policy.get()).millibits_per_key);
}

bool MayMatch(const std::string& filter, FilterForm kind, const std::string& key) {
  const size_t bits_bytes = filter.size() - kBloomMetadataBytes;
  const char* metadata = filter.data() + bits_bytes;
  if (kind == FilterForm::kCacheLocal) {
    const uint64_t hash = FilterHash64(key);
    const char* line =
        filter.data() + cache_local_bloom::LineOffset(hash, static_cast<uint32_t>(bits_bytes));
    return cache_local_bloom::MayMatch(hash, metadata[2], line);
  }
  const uint32_t hash = Hash32(key.data(), key.size(), kLegacyBloomSeed);
  const auto line_count = static_cast<uint32_t>(bits_bytes / kBloomLineBytes);
  const char* line = filter.data() + legacy_bloom::LineOffset(hash, line_count, 6);
  return legacy_bloom::MayMatch(hash, metadata[0], 6, line);
}

TEST(Bloom, FilterBlocksEqualVectors) {
  const Json json = Json::ParseFile(SourcePath("tests/data/vectors/filters.json"));
  size_t compared = 0;
  for (const Json& v : json["vectors"].elements()) {
    if (v["kind"].text() != "bloom") continue;
    FullFilterBuilder builder(
        {.kind = v["format_version"].number() >= 5 ? FilterForm::kCacheLocal : FilterForm::kLegacy,
         .millibits_per_key = Millibits(std::stod(v["bits_per_key"].text()))});
    for (uint64_t i = 0; i < v["n"].number(); ++i) builder.AddKey(NumberedKey(i));
    EXPECT_EQ(builder.EstimateBytes(), v["size"].number());
    EXPECT_EQ(std::string(builder.Finish()), FromHex(v["hex"].text()))
        << v["bits_per_key"].text() << " bits, version " << v["format_version"].text();
    ++compared;
  }
  EXPECT_GT(compared, 20u);
}

class BloomOfForm : public testing::TestWithParam<FilterForm> {};

TEST_P(BloomOfForm, FindsEveryKeyAndFewOthers) {
  constexpr uint64_t kKeyCount = 10'000;
  FullFilterBuilder builder({.kind = GetParam(), .millibits_per_key = 10'000});
  for (uint64_t i = 0; i < kKeyCount; ++i) builder.AddKey(NumberedKey(i));
  const std::string filter(builder.Finish());
  for (uint64_t i = 0; i < kKeyCount; ++i) {
    ASSERT_TRUE(MayMatch(filter, GetParam(), NumberedKey(i))) << i;
  }
  int false_positives = 0;
  for (uint64_t i = 0; i < kKeyCount; ++i) {
    false_positives += MayMatch(filter, GetParam(), "absent" + NumberedKey(i));
  }
  EXPECT_LT(false_positives, 200);  // 2 %; 10 bits give about 1 %
}

TEST_P(BloomOfForm, ProbesStopAtNoLineBoundary) {
  // For every number of probes, bits must be set and found within the 64 bytes of the line.
  const int most = GetParam() == FilterForm::kCacheLocal ? cache_local_bloom::kMaxProbes : 30;
  for (int probes = 1; probes <= most; ++probes) {
    std::string line(kBloomLineBytes + 2, '\0');
    const uint64_t hash = FilterHash64(NumberedKey(static_cast<uint64_t>(probes)));
    const auto hash32 = static_cast<uint32_t>(hash);
    if (GetParam() == FilterForm::kCacheLocal) {
      cache_local_bloom::Add(hash, probes, line.data() + 1);
      EXPECT_TRUE(cache_local_bloom::MayMatch(hash, probes, line.data() + 1));
      EXPECT_FALSE(cache_local_bloom::MayMatch(hash ^ 0xffffffff00000000, probes, line.data() + 1));
    } else {
      legacy_bloom::Add(hash32, probes, 6, line.data() + 1);
      EXPECT_TRUE(legacy_bloom::MayMatch(hash32, probes, 6, line.data() + 1));
    }
    EXPECT_EQ(line.front(), '\0');
    EXPECT_EQ(line.back(), '\0');
  }
}

TEST_P(BloomOfForm, CheckFilterNoticesALostBit) {
  FullFilterBuilder builder({.kind = GetParam(), .millibits_per_key = 10'000});
  for (uint64_t i = 0; i < 100; ++i) builder.AddKey(NumberedKey(i));
  std::string filter(builder.Finish());
  EXPECT_OK(builder.CheckFilter(filter));
  for (char& c : filter) {
    if (c == 0) continue;
    c = static_cast<char>(c & (c - 1));
    break;
  }
  EXPECT_TRUE(builder.CheckFilter(filter).IsCorruption());
  EXPECT_TRUE(builder.CheckFilter(Slice()).IsCorruption());
}

INSTANTIATE_TEST_SUITE_P(Kinds, BloomOfForm,
                         testing::Values(FilterForm::kCacheLocal, FilterForm::kLegacy));

size_t EntriesOf(const FullFilterOptions& options, std::initializer_list<const char*> keys) {
  FullFilterBuilder builder(options);
  for (const char* key : keys) builder.AddKey(key);
  return builder.entry_count();
}

TEST(FilterEntries, CountVersionsOfAKeyOnce) {
  EXPECT_EQ(EntriesOf({}, {"a", "a", "b", "b", "b", "a"}), 3u);
  EXPECT_EQ(EntriesOf({}, {}), 0u);
}

TEST(FilterEntries, OfPrefixesOnlySkipKeysOutsideTheDomain) {
  const std::unique_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(2));
  EXPECT_EQ(EntriesOf({.add_whole_keys = false, .prefix_extractor = fixed.get()},
                      {"a", "ab1", "ab2", "b", "cd1"}),
            2u);
}

TEST(FilterEntries, OfKeysAndPrefixesCountEachPrefixRunOnce) {
  const std::unique_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(2));
  const FullFilterOptions options{.prefix_extractor = fixed.get()};
  EXPECT_EQ(EntriesOf(options, {"ab1", "ab2", "ab3", "cd1"}), 6u);
  EXPECT_EQ(EntriesOf(options, {"ab"}), 1u);          // the key is its own prefix
  EXPECT_EQ(EntriesOf(options, {"a", "ab1"}), 3u);    // a key outside the domain
  EXPECT_EQ(EntriesOf(options, {"ab", "ab1"}), 2u);   // the prefix was added as a key
  EXPECT_EQ(EntriesOf(options, {"ab1", "ab1"}), 2u);  // two versions
}

TEST(FilterEntries, WithNeitherKeysNorPrefixesAreNone) {
  EXPECT_EQ(EntriesOf({.add_whole_keys = false}, {"a", "b"}), 0u);
}

}  // namespace
}  // namespace ashlar
