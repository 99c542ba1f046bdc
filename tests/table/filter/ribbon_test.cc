// SPDX-License-Identifier: Apache-2.0
//
// Ribbon filters: whole filter blocks are compared with RocksDB's
// (tests/data/vectors/filters.json); sizes, when a Bloom filter is built instead, and that no key
// is ever missed.
#include "table/filter/ribbon_builder.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "table/filter/filter_view.h"
#include "table/filter/full_filter_builder.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr char kRibbonMark = static_cast<char>(0xfe);
constexpr char kBloomMark = static_cast<char>(0xff);

std::string RibbonKey(uint64_t i) {
  char key[32];
  std::snprintf(key, sizeof(key), "key%06llu", static_cast<unsigned long long>(i));
  return key;
}

FullFilterBuilder WithKeys(uint64_t count, uint32_t millibits, FilterForm form) {
  FullFilterBuilder builder({.kind = form, .millibits_per_key = millibits});
  for (uint64_t i = 0; i < count; ++i) builder.AddKey(RibbonKey(i));
  return builder;
}

char MarkOf(std::string_view filter) { return filter[filter.size() - kBloomMetadataBytes]; }

TEST(Ribbon, FilterBlocksEqualVectors) {
  const Json json = Json::ParseFile(SourcePath("tests/data/vectors/filters.json"));
  size_t compared = 0;
  for (const Json& v : json["vectors"].elements()) {
    if (v["kind"].text() != "ribbon") continue;
    const auto millibits =
        static_cast<uint32_t>(std::stod(v["bits_per_key"].text()) * 1000 + 0.500001);
    FullFilterBuilder builder = WithKeys(v["n"].number(), millibits, FilterForm::kRibbon);
    EXPECT_EQ(builder.EstimateBytes(), v["size"].number());
    EXPECT_EQ(std::string(builder.Finish()), FromHex(v["hex"].text()))
        << v["bits_per_key"].text() << " bits, " << v["n"].number() << " keys";
    ++compared;
  }
  EXPECT_GT(compared, 2u);
}

TEST(Ribbon, HoldsEveryKeyAtEverySize) {
  for (const uint64_t count : {1u, 2u, 100u, 700u, 1000u, 3000u, 30'000u}) {
    for (const uint32_t millibits : {1000u, 4500u, 10'000u, 23'000u, 60'000u}) {
      FullFilterBuilder builder = WithKeys(count, millibits, FilterForm::kRibbon);
      const size_t estimate = builder.EstimateBytes();
      const std::string filter(builder.Finish());
      EXPECT_EQ(filter.size(), estimate);
      EXPECT_OK(builder.CheckFilter(filter));
      const FilterView view(filter);
      for (uint64_t i = 0; i < count; ++i) ASSERT_TRUE(view.MayContain(RibbonKey(i))) << i;
    }
  }
}

TEST(Ribbon, IsAsPreciseAsTheBloomFilterAndSmaller) {
  constexpr uint64_t kKeys = 20'000;
  const std::string bloom(WithKeys(kKeys, 10'000, FilterForm::kCacheLocal).Finish());
  const std::string ribbon(WithKeys(kKeys, 10'000, FilterForm::kRibbon).Finish());
  EXPECT_EQ(MarkOf(ribbon), kRibbonMark);
  EXPECT_LT(ribbon.size() * 10, bloom.size() * 8);
  const FilterView view(ribbon);
  size_t false_positives = 0;
  for (uint64_t i = kKeys; i < 3 * kKeys; ++i) false_positives += view.MayContain(RibbonKey(i));
  EXPECT_LT(false_positives, 2 * kKeys / 70);  // a Bloom filter has one in a hundred
  EXPECT_GT(false_positives, 2 * kKeys / 150);
}

TEST(Ribbon, IsABloomFilterWhereThatIsSmaller) {
  EXPECT_EQ(MarkOf(WithKeys(50, 10'000, FilterForm::kRibbon).Finish()), kBloomMark);
  EXPECT_EQ(WithKeys(50, 10'000, FilterForm::kRibbon).Finish(),
            WithKeys(50, 10'000, FilterForm::kCacheLocal).Finish());
  EXPECT_EQ(MarkOf(WithKeys(5000, 10'000, FilterForm::kRibbon).Finish()), kRibbonMark);
}

TEST(Ribbon, IsABloomFilterWhereMemoryIsShort) {
  FullFilterBuilder short_of = WithKeys(5000, 10'000, FilterForm::kRibbon);
  EXPECT_GE(short_of.ConstructionBytes(), 5000u * 20);
  EXPECT_LE(short_of.ConstructionBytes(), 5000u * 22);
  FullFilterBuilder bloom = WithKeys(5000, 10'000, FilterForm::kCacheLocal);
  EXPECT_EQ(bloom.ConstructionBytes(), 0u);
  EXPECT_EQ(short_of.Finish(FullFilterBuilder::Memory::kShort), bloom.Finish());
}

TEST(Ribbon, GivesUpWhereTooManyKeysAreForced) {
  // With four keys per slot there is no solution for any seed.
  HashList hashes;
  for (uint64_t i = 0; i < 1024; ++i) hashes.push_back(FilterHash64(RibbonKey(i)));
  EXPECT_EQ(BuildRibbon(&hashes, {.slot_count = 256, .bits_bytes = 256}), "");
}

TEST(Ribbon, NoKeysGiveNoFilter) {
  EXPECT_EQ(WithKeys(0, 10'000, FilterForm::kRibbon).Finish(), "");
  EXPECT_EQ(RibbonShapeFor(0, 1, 10'000).slot_count, 0u);
  EXPECT_EQ(RibbonShapeFor(size_t{1} << 30, 1, 10'000).slot_count, 0u);  // too many: Bloom
}

TEST(Ribbon, DamageIsFound) {
  FullFilterBuilder builder = WithKeys(3000, 10'000, FilterForm::kRibbon);
  const std::string filter(builder.Finish());
  for (const size_t at : {size_t{0}, filter.size() / 2, filter.size() - 5, filter.size() - 4}) {
    std::string damaged = filter;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_TRUE(builder.CheckFilter(damaged).IsCorruption()) << at;
  }
  EXPECT_TRUE(builder.CheckFilter(filter.substr(1)).IsCorruption());
}

TEST(FilterCapacity, IsTheMostThatFits) {
  for (const FilterForm form :
       {FilterForm::kCacheLocal, FilterForm::kLegacy, FilterForm::kRibbon}) {
    for (const size_t bytes : {1u, 69u, 231u, 3687u, 100'000u}) {
      const FullFilterBuilder empty = WithKeys(0, 10'000, form);
      const size_t capacity = empty.CapacityOf(bytes);
      ASSERT_GE(capacity, 1u);
      const size_t limit = std::max<size_t>(bytes, kBloomLineBytes + kBloomMetadataBytes);
      // The size of a Ribbon filter depends slightly on its first hash: it may differ by one column
      // of a block.
      const size_t slack = form == FilterForm::kRibbon ? 16 : 0;
      EXPECT_LE(WithKeys(capacity, 10'000, form).EstimateBytes(), limit + slack);
      EXPECT_GT(WithKeys(capacity + 1, 10'000, form).EstimateBytes() + slack, limit);
    }
  }
}

}  // namespace
}  // namespace ashlar
