// SPDX-License-Identifier: Apache-2.0
//
// Which calls of a program's comparator the index of a table needs.
#include "table/index/index_builder.h"

#include <gtest/gtest.h>

#include <string>

#include "ashlar/comparator.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

// A bytewise order that is not recognized as one, and counts its calls.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    ++calls;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  mutable int calls = 0;
};

// A binding's test of the lifetime of comparators ends the process when its comparator is called,
// and flushes a table with one key.
TEST(IndexBuilder, TheOnlyKeyIsNotComparedWithItself) {
  const CountingComparator comparator;
  const InternalKeyComparator order(&comparator);
  for (const IndexShortening shortening : {IndexShortening::kNone, IndexShortening::kSeparators,
                                           IndexShortening::kSeparatorsAndLast}) {
    IndexBuilder index({.icmp = &order, .shortening = shortening});
    const std::string only = MakeInternalKey("k", 9, kTypeValue);
    index.StartBlock(only);
    index.AddBlock(only, /*next_key=*/nullptr, {.offset = 0, .size = 100});
    EXPECT_EQ(index.last_separator(), Slice(only));
    EXPECT_OK(index
                  .WriteTo([](const Slice& block) -> Result<BlockHandle> {
                    return BlockHandle{.offset = 105, .size = block.size()};
                  })
                  .status());
  }
  EXPECT_EQ(comparator.calls, 0);
}

}  // namespace
}  // namespace ashlar
