// SPDX-License-Identifier: Apache-2.0
//
// Searches over key heads, alone and several together, are compared with std::lower_bound.
#include "util/keys/key_head_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/random.h"

namespace ashlar {
namespace {

std::vector<uint64_t> SortedHeads(Random64* random, size_t count) {
  std::vector<uint64_t> heads;
  for (size_t i = 0; i < count; i++) heads.push_back(2 + random->Uniform(2 * count));
  std::sort(heads.begin(), heads.end());
  return heads;
}

size_t BelowIn(const std::vector<uint64_t>& heads, uint64_t head) {
  return static_cast<size_t>(std::lower_bound(heads.begin(), heads.end(), head) - heads.begin());
}

TEST(HeadSearches, OneAloneFindsTheFirstHeadThatIsNotBelow) {
  Random64 random(5);
  for (size_t count = 0; count <= 40; count++) {
    const std::vector<uint64_t> heads = SortedHeads(&random, count);
    for (uint64_t head = 0; head <= 2 * count + 3; head++) {
      EXPECT_EQ(LowerBoundHead(heads.data(), count, head), BelowIn(heads, head));
    }
  }
}

// Arrays of all sizes are searched at the same time; searches that end early wait for the others.
TEST(HeadSearches, SideBySideEachFindsWhatItFindsAlone) {
  Random64 random(6);
  std::vector<std::vector<uint64_t>> arrays;
  for (size_t count = 1; count <= 33; count++) arrays.push_back(SortedHeads(&random, count));
  for (uint64_t head = 0; head <= 70; head++) {
    std::vector<HeadSearch> searches;
    for (const auto& heads : arrays) searches.push_back({heads.data(), heads.size(), head});
    AdvanceHeadSearches(searches.data(), searches.size());
    for (size_t i = 0; i < arrays.size(); i++) {
      EXPECT_EQ(searches[i].Result(arrays[i].data()), BelowIn(arrays[i], head))
          << head << " among " << arrays[i].size();
    }
  }
}

}  // namespace
}  // namespace ashlar
