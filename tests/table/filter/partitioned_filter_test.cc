// SPDX-License-Identifier: Apache-2.0
//
// Filter partitions: what each contains, their bounds, and the prefixes at their borders.
#include "table/filter/partitioned_filter_builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "table/filter/filter_view.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kPartitionBytes = 231;  // 153 keys at 10 bits

std::string KeyAt(int i) { return StrCat("key", 10'000 + i); }

// Ends a partition when it is full, before the next key.
std::vector<FilterPartition> Build(const FullFilterOptions& options, int key_count,
                                   size_t* entry_count = nullptr) {
  PartitionedFilterBuilder builder(options, kPartitionBytes, /*checks_filters=*/true);
  for (int i = 0; i < key_count; ++i) {
    if (builder.IsFull()) {
      EXPECT_OK(builder.EndPartition(builder.last_key(), KeyAt(i)));
    }
    builder.AddKey(KeyAt(i));
  }
  EXPECT_OK(builder.Finish(builder.last_key()));
  if (entry_count != nullptr) *entry_count = builder.entry_count();
  return builder.partitions();
}

TEST(PartitionedFilter, EachHoldsTheKeysUpToItsBound) {
  for (const FilterForm form :
       {FilterForm::kCacheLocal, FilterForm::kLegacy, FilterForm::kRibbon}) {
    const std::vector<FilterPartition> partitions = Build({.kind = form}, 1000);
    ASSERT_GT(partitions.size(), 4u);
    EXPECT_EQ(partitions.back().upper_bound, KeyAt(999));
    size_t partition = 0;
    for (int i = 0; i < 1000; ++i) {
      if (KeyAt(i) > partitions[partition].upper_bound) ++partition;
      ASSERT_LT(partition, partitions.size());
      EXPECT_TRUE(FilterView(Slice(partitions[partition].contents)).MayContain(KeyAt(i))) << i;
      EXPECT_LE(partitions[partition].contents.size(), kPartitionBytes + 16);
    }
    EXPECT_EQ(partition + 1, partitions.size());
  }
}

TEST(PartitionedFilter, ExactlyTheCapacityIsAPartition) {
  EXPECT_EQ(Build({}, 153).size(), 1u);
  const std::vector<FilterPartition> two = Build({}, 154);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].upper_bound, KeyAt(152));
}

TEST(PartitionedFilter, NeighboursKnowEachOthersPrefixes) {
  for (const bool whole_keys : {true, false}) {
    // Every key has its own prefix; the prefixes at the borders are in both partitions.
    const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(8));
    const std::vector<FilterPartition> partitions =
        Build({.add_whole_keys = whole_keys, .prefix_extractor = extractor.get()}, 600);
    ASSERT_GT(partitions.size(), 2u);
    for (size_t p = 0; p + 1 < partitions.size(); ++p) {
      const std::string& last = partitions[p].upper_bound;
      const std::string next = KeyAt(std::stoi(last.substr(3)) - 10'000 + 1);
      EXPECT_TRUE(FilterView(Slice(partitions[p].contents)).MayContain(next)) << "seek forwards";
      EXPECT_TRUE(FilterView(Slice(partitions[p + 1].contents)).MayContain(last))
          << "seek backwards";
    }
  }
}

TEST(PartitionedFilter, SharedPrefixesCountOnceInEachPartition) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(3));
  size_t entry_count = 0;
  const size_t partitions = Build({.prefix_extractor = extractor.get()}, 400, &entry_count).size();
  EXPECT_EQ(entry_count, 400 + partitions);
}

TEST(PartitionedFilter, NothingAddedIsNoPartition) {
  EXPECT_TRUE(Build({}, 0).empty());
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(20));
  EXPECT_TRUE(Build({.add_whole_keys = false, .prefix_extractor = extractor.get()}, 50).empty());
}

// Some partitions have no entries. An empty partition would be read as damage, or as "matches
// nothing".
TEST(PartitionedFilter, PartitionWithoutPrefixesMatchesEverything) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(4));
  PartitionedFilterBuilder builder({.add_whole_keys = false, .prefix_extractor = extractor.get()},
                                   kPartitionBytes, /*checks_filters=*/true);
  builder.AddKey("aaaa");
  ASSERT_OK(builder.EndPartition("aaaa", "b"));
  builder.AddKey("b");
  ASSERT_OK(builder.EndPartition("b", "c"));
  builder.AddKey("c");
  ASSERT_OK(builder.Finish("c"));
  ASSERT_EQ(builder.partitions().size(), 3u);
  EXPECT_FALSE(FilterView(Slice(builder.partitions()[2].contents)).CanReject());
  EXPECT_EQ(builder.partitions()[2].contents.size(), 6u);
}

}  // namespace
}  // namespace ashlar
