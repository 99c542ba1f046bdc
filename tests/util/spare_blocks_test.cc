// SPDX-License-Identifier: Apache-2.0
//
// Spare blocks: blocks of a destroyed arena are used by the next one, within a limit, and are
// returned to the system in times without demand.
#include "util/memory/spare_blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "util/memory/arena.h"

namespace ashlar {
namespace {

constexpr size_t kBlock = SpareBlocks::kBlockBytes;

std::vector<PageBuffer> Blocks(size_t count) {
  std::vector<PageBuffer> blocks;
  for (size_t i = 0; i < count; ++i) blocks.emplace_back(kBlock);
  return blocks;
}

class SpareBlocksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kHeapIsWatched) GTEST_SKIP() << "sanitizers watch memory that is freed";
  }
  SpareBlocks spare_;
};

TEST_F(SpareBlocksTest, GivesOutWhatItWasGiven) {
  std::vector<PageBuffer> blocks = Blocks(2);
  const std::set<char*> addresses = {blocks[0].data(), blocks[1].data()};
  spare_.Give(std::move(blocks), 8 * kBlock);
  EXPECT_EQ(spare_.bytes(), 2 * kBlock);
  const PageBuffer first = spare_.Take(), second = spare_.Take(), third = spare_.Take();
  EXPECT_EQ((std::set<char*>{first.data(), second.data()}), addresses);
  EXPECT_EQ(third.size(), kBlock);
  EXPECT_EQ(addresses.count(third.data()), 0u);
  EXPECT_EQ(spare_.bytes(), 0u);
}

TEST_F(SpareBlocksTest, KeepsNoMoreThanTheLimitAndNoOtherSize) {
  spare_.Give(Blocks(3), 2 * kBlock + kBlock / 2);
  EXPECT_EQ(spare_.bytes(), 2 * kBlock);
  std::vector<PageBuffer> large;
  large.emplace_back(2 * kBlock);
  spare_.Give(std::move(large), 8 * kBlock);
  EXPECT_EQ(spare_.bytes(), 2 * kBlock);
}

TEST_F(SpareBlocksTest, RestsUntilSomebodyTakes) {
  spare_.Give(Blocks(2), 8 * kBlock);
  spare_.Rest();
  EXPECT_EQ(spare_.bytes(), 0u);
  spare_.Give(Blocks(2), 8 * kBlock);
  EXPECT_EQ(spare_.bytes(), 0u);
  (void)spare_.Take();
  spare_.Give(Blocks(2), 8 * kBlock);
  EXPECT_EQ(spare_.bytes(), 2 * kBlock);
}

TEST_F(SpareBlocksTest, ServeArenasInTurn) {
  auto spare = std::make_shared<SpareBlocks>();
  const BlockSource source{.spare = spare, .limit_bytes = 4 * kBlock};
  const auto fill = [&](Arena* arena) {
    for (size_t i = 0; i < 1000; ++i) arena->Allocate(8 << 10);
  };
  auto first = std::make_unique<Arena>(kBlock, source);
  fill(first.get());
  const size_t allocated = first->MemoryAllocatedBytes();
  EXPECT_EQ(spare->bytes(), 0u);
  first.reset();
  const size_t kept = spare->bytes();
  EXPECT_GE(kept, 2 * kBlock);
  Arena second(kBlock, source);
  fill(&second);
  EXPECT_EQ(second.MemoryAllocatedBytes(), allocated);
  EXPECT_EQ(spare->bytes(), 0u);
}

}  // namespace
}  // namespace ashlar
