// SPDX-License-Identifier: Apache-2.0
//
// The range deletion block: what is read and what is refused.
#include "table/range_del/range_del_block.h"

#include <gtest/gtest.h>

#include <string>

#include "table/block/block_builder.h"
#include "table/format/properties.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class RangeDelBlock : public testing::Test {
 protected:
  void Add(const Slice& begin, const Slice& end, SequenceNumber seqno,
           ValueType type = kTypeRangeDeletion) {
    block_.Add(MakeInternalKey(begin, seqno, type), end);
  }
  std::string Show(SequenceNumber global_seqno = kNoGlobalSeqno) {
    Result<StoredTombstones> parsed = ParseRangeDelBlock(block_.Finish(), global_seqno);
    if (!parsed.ok()) return parsed.status().ToString();
    std::string text;
    for (const RangeTombstone& t : parsed->tombstones) {
      text += t.begin.ToString() + "-" + t.end.ToString() + "@" + std::to_string(t.seqno) + " ";
    }
    return text;
  }

  BlockBuilder block_{{.restart_interval = 1}};
};

TEST_F(RangeDelBlock, GivesTombstonesInTheOrderOfTheBlock) {
  Add("m", "z", 4);
  Add("a", "c", 9);
  Add("", "c", 2);
  EXPECT_EQ(Show(), "m-z@4 a-c@9 -c@2 ");
}

TEST_F(RangeDelBlock, OfAnIngestedFileHasItsOneNumber) {
  Add("a", "c", 0);
  EXPECT_EQ(Show(17), "a-c@17 ");
  EXPECT_EQ(Show(0), "a-c@0 ");
}

TEST_F(RangeDelBlock, HoldsNothingElse) {
  Add("a", "c", 9, kTypeValue);
  EXPECT_EQ(Show(), "Corruption: block byte 12: kind expected 15, found 1");
}

TEST_F(RangeDelBlock, ItsKeysHaveATrailer) {
  block_.Add("short", "end");
  EXPECT_EQ(Show(), "Corruption: block byte 8: a key of 5 bytes has no room for a trailer");
}

TEST_F(RangeDelBlock, CutOffBytesAreRefused) {
  Add("a", "c", 9);
  const std::string whole = block_.Finish().ToString();
  constexpr size_t kTailBytes = 2 * sizeof(uint32_t);  // a restart and their count
  for (size_t size = 0; size < whole.size() - kTailBytes; size++) {
    Result<StoredTombstones> parsed = ParseRangeDelBlock(Slice(whole.data(), size), kNoGlobalSeqno);
    EXPECT_TRUE(!parsed.ok() || parsed->tombstones.empty()) << size;
  }
}

}  // namespace
}  // namespace ashlar
