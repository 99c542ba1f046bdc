// SPDX-License-Identifier: Apache-2.0
//
// Page buffers: whole, writable, aligned, moved with their contents, and given back.
#include "util/page_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace ashlar {
namespace {

TEST(PageBuffer, HoldsAtLeastWhatWasAskedFor) {
  for (const size_t bytes : {size_t{1}, PageBuffer::kPageBytes + 1, PageBuffer::kMinMappedBytes,
                             PageBuffer::kHugePageBytes + 5}) {
    const PageBuffer buffer(bytes);
    ASSERT_GE(buffer.size(), bytes);
    std::memset(buffer.data(), 0x5a, buffer.size());
    EXPECT_EQ(buffer.data()[buffer.size() - 1], 0x5a);
  }
}

TEST(PageBuffer, IsAlignedToHugePagesWhenLarge) {
  const PageBuffer buffer(3 * PageBuffer::kHugePageBytes / 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % PageBuffer::kHugePageBytes, 0u);
}

TEST(PageBuffer, MovesWithItsContents) {
  PageBuffer from(100);
  from.data()[7] = 'x';
  PageBuffer to(std::move(from));
  EXPECT_EQ(to.data()[7], 'x');
  PageBuffer third;
  EXPECT_EQ(third.data(), nullptr);
  third = std::move(to);
  EXPECT_EQ(third.data()[7], 'x');
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Bytes of memory this process holds, as the system counts them.
size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * PageBuffer::kPageBytes;
}

TEST(PageBuffer, GoesBackToTheSystem) {
  constexpr size_t kBytes = size_t{64} << 20;
  const size_t before = ResidentBytes();
  {
    const PageBuffer buffer(kBytes);
    std::memset(buffer.data(), 1, kBytes);
    EXPECT_GE(ResidentBytes(), before + kBytes / 2);
  }
  EXPECT_LT(ResidentBytes(), before + kBytes / 2);
}
#endif

}  // namespace
}  // namespace ashlar
