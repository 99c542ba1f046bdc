// SPDX-License-Identifier: Apache-2.0
//
// Merge operands are copied, or kept alive in place by references to their owners. A reference is
// taken once for consecutive operands of one owner, and returned once.
#include "table/iterator/merge_operands.h"

#include <gtest/gtest.h>

#include <string>

namespace ashlar {
namespace {

// The memory that contains an operand. It counts its references.
struct OperandBlock {
  explicit OperandBlock(char fill) : bytes(2 * kCopiedValueBytes, fill) {}
  ValuePin pin() {
    return {.acquire = [](void* owner) { static_cast<OperandBlock*>(owner)->references++; },
            .release = [](void* owner, void*) { static_cast<OperandBlock*>(owner)->references--; },
            .owner = this};
  }
  std::string bytes;
  int references = 0;
};

TEST(MergeOperands, EachIsKeptAliveByItsOwnBlock) {
  OperandBlock first('a'), second('b');
  {
    MergeOperands operands;
    operands.Add(first.bytes, first.pin());
    operands.Add(Slice(first.bytes.data() + 1, kCopiedValueBytes + 1), first.pin());
    operands.Add(second.bytes, second.pin());
    operands.Add("small", second.pin());
    EXPECT_EQ(first.references, 1) << "one for both";
    EXPECT_EQ(second.references, 1);
    EXPECT_EQ(operands.PinOf(0).owner, &first);
    EXPECT_EQ(operands.PinOf(1).owner, &first);
    EXPECT_EQ(operands.PinOf(2).owner, &second);
    EXPECT_EQ(operands.PinOf(3).acquire, nullptr) << "a copy";
    EXPECT_EQ(operands.all()[2].data(), second.bytes.data());
    EXPECT_EQ(operands.all()[3].ToString(), "small");
    operands.Truncate(2);
    EXPECT_EQ(first.references, 1);
    EXPECT_EQ(second.references, 0);
  }
  EXPECT_EQ(first.references, 0);
}

}  // namespace
}  // namespace ashlar
