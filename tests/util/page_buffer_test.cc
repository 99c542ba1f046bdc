// SPDX-License-Identifier: Apache-2.0
//
// Page buffers: whole pages, writable, aligned, movable with their contents, and returned to the
// system.
#include "util/memory/page_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/skip.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

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
// The number of bytes of memory that this process uses, according to the system.
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

// While an object of this class exists, the process has the maximum number of mappings, so that
// none can be divided.
class AllMappingsTaken {
 public:
  explicit AllMappingsTaken(size_t limit)
      : bytes_(2 * limit * PageBuffer::kPageBytes),
        begin_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (begin_ == MAP_FAILED) return;
    for (size_t at = PageBuffer::kPageBytes; at < bytes_ && !are_taken_;
         at += 2 * PageBuffer::kPageBytes) {
      are_taken_ = mprotect(begin_ + at, PageBuffer::kPageBytes, PROT_READ) != 0;
    }
  }
  ~AllMappingsTaken() {
    if (begin_ != MAP_FAILED) munmap(begin_, bytes_);
  }
  bool are_taken() const { return are_taken_; }

 private:
  const size_t bytes_;
  char* const begin_;
  bool are_taken_ = false;
};

// The system joins adjacent mappings. Then a buffer in the middle of one cannot be unmapped.
TEST(PageBuffer, GivesItsPagesBackAlsoWhereItCannotBeUnmapped) {
  size_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  if (limit == 0 || limit > 300000) return SkipAsImpossible("a limit of mappings within reach");
  std::vector<PageBuffer> buffers;
  for (int i = 0; i < 64; i++) buffers.emplace_back(PageBuffer::kMinMappedBytes);
  std::sort(buffers.begin(), buffers.end(),
            [](const PageBuffer& a, const PageBuffer& b) { return a.data() < b.data(); });
  size_t middle = 1;
  const auto touches = [&](size_t i) {
    return buffers[i].data() + buffers[i].size() == buffers[i + 1].data();
  };
  while (middle + 1 < buffers.size() && !(touches(middle - 1) && touches(middle))) middle++;
  if (middle + 1 == buffers.size()) return SkipAsImpossible("mappings side by side");
  char* const data = buffers[middle].data();
  std::memset(data, 1, PageBuffer::kMinMappedBytes);
  unsigned char resident = 0;
  int result = -1;
  {
    const AllMappingsTaken taken(limit);
    if (!taken.are_taken()) return SkipAsImpossible("a limit of mappings within reach");
    { const PageBuffer freed = std::move(buffers[middle]); }
    result = mincore(data, PageBuffer::kPageBytes, &resident);
  }
  ASSERT_EQ(result, 0) << "it was unmapped after all";
  EXPECT_EQ(resident & 1, 0);
}
#endif

}  // namespace
}  // namespace ashlar
