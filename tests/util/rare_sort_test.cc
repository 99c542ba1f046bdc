// SPDX-License-Identifier: Apache-2.0
//
// SortRarely gives what std::stable_sort gives.
#include "util/rare_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "util/random.h"

namespace ashlar {
namespace {

// Twelve bytes, of which the order sees four.
struct Item {
  uint32_t key;
  uint32_t number;
  uint32_t check;

  bool operator==(const Item& other) const = default;
};

std::vector<Item> SomeItems(Random64* random, size_t count) {
  std::vector<Item> items;
  for (uint32_t i = 0; i < count; ++i) {
    const auto key = static_cast<uint32_t>(random->Uniform(8));
    items.push_back({key, i, ~(key + i)});
  }
  return items;
}

TEST(RareSort, KeepsTheOrderOfEqualValues) {
  Random64 random(301);
  for (const size_t count : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<Item> sorted = SomeItems(&random, count);
    std::vector<Item> expected = sorted;
    const auto by_key = [](const Item& a, const Item& b) { return a.key < b.key; };
    std::stable_sort(expected.begin(), expected.end(), by_key);
    SortRarely(&sorted, by_key);
    EXPECT_EQ(sorted, expected) << count;
  }
}

TEST(RareSort, SortsNumbersUpAndDown) {
  std::vector<uint64_t> numbers = {5, 3, 9, 3, 0, UINT64_MAX, 1};
  SortRarely(&numbers);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{0, 1, 3, 3, 5, 9, UINT64_MAX}));
  SortRarely(&numbers, std::greater<>());
  EXPECT_EQ(numbers, (std::vector<uint64_t>{UINT64_MAX, 9, 5, 3, 3, 1, 0}));
}

TEST(RareSort, SortsPointersByWhatTheyPointTo) {
  const int two = 2, one = 1, three = 3;
  std::vector<const int*> pointers = {&two, &three, &one};
  const int sign = -1;
  SortRarely(&pointers, [=](const int* a, const int* b) { return sign * *a < sign * *b; });
  EXPECT_EQ(pointers, (std::vector<const int*>{&three, &two, &one}));
}

}  // namespace
}  // namespace ashlar
