// SPDX-License-Identifier: Apache-2.0
//
// Internal keys: bytes, order and heads.
#include "util/keys/internal_key.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ashlar {

namespace {

class LengthOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.LengthOrder"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return static_cast<int>(a.size()) - static_cast<int>(b.size());
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

}  // namespace

TEST(InternalKey, EndsWithTypeThenSeqno) {
  EXPECT_EQ(MakeInternalKey("k", 0x010203, kTypeMerge),
            std::string("k\x02\x03\x02\x01\0\0\0\0", 9));
}

TEST(InternalKey, ParsesWhatItMakes) {
  ParsedInternalKey parsed;
  const std::string key = MakeInternalKey("key", kMaxSequenceNumber, kTypeValue);
  ASSERT_TRUE(ParseInternalKey(key, &parsed));
  EXPECT_EQ(parsed.user_key, Slice("key"));
  EXPECT_EQ(parsed.seqno, kMaxSequenceNumber);
  EXPECT_EQ(parsed.type, kTypeValue);
}

TEST(InternalKey, RefusesShortKeysAndForeignTypes) {
  ParsedInternalKey parsed;
  EXPECT_FALSE(ParseInternalKey("1234567", &parsed));
  EXPECT_TRUE(ParseInternalKey(MakeInternalKey("", 1, kTypeRangeDeletion), &parsed));
  for (const ValueType type : {kTypeLogData, kTypeColumnFamilyValue, kTypeNoop, kTypeCommitXID,
                               kTypeColumnFamilyBlobIndex, kMaxValue}) {
    EXPECT_FALSE(ParseInternalKey(MakeInternalKey("k", 1, type), &parsed)) << int{type};
  }
}

TEST(InternalKey, TellsWhatDeletes) {
  for (const ValueType type : {kTypeDeletion, kTypeSingleDeletion}) {
    EXPECT_TRUE(IsPointTombstone(type)) << int{type};
    EXPECT_TRUE(IsTombstone(type)) << int{type};
  }
  for (const ValueType type : {kTypeRangeDeletion, kTypeDeletionWithTimestamp}) {
    EXPECT_FALSE(IsPointTombstone(type)) << int{type};
    EXPECT_TRUE(IsTombstone(type)) << int{type};
  }
  for (const ValueType type :
       {kTypeValue, kTypeMerge, kTypeBlobIndex, kTypeWideColumnEntity, kTypeValuePreferredSeqno}) {
    EXPECT_FALSE(IsPointTombstone(type)) << int{type};
    EXPECT_FALSE(IsTombstone(type)) << int{type};
  }
}

TEST(InternalKeyOrder, PutsNewerVersionsFirst) {
  const InternalKeyComparator order(BytewiseComparator());
  const std::string newer = MakeInternalKey("k", 9, kTypeDeletion);
  const std::string older = MakeInternalKey("k", 8, kTypeValue);
  EXPECT_LT(order.Compare(newer, older), 0);
  EXPECT_LT(order.Compare(older, MakeInternalKey("k", 8, kTypeDeletion)), 0);
  EXPECT_LT(order.Compare(older, MakeInternalKey("l", 100, kTypeValue)), 0);
  EXPECT_EQ(order.Compare(older, older), 0);
}

TEST(InternalKeyOrder, SeekKeyComesBeforeEveryVisibleVersion) {
  const InternalKeyComparator order(BytewiseComparator());
  const std::string seek = MakeInternalKey("k", 8, kValueTypeForSeek);
  EXPECT_LE(order.Compare(seek, MakeInternalKey("k", 8, kTypeValuePreferredSeqno)), 0);
  EXPECT_GT(order.Compare(seek, MakeInternalKey("k", 9, kTypeDeletion)), 0);
}

TEST(InternalKeyOrder, KnowsTheBuiltInOrders) {
  EXPECT_EQ(InternalKeyComparator(BytewiseComparator()).order(), KeyOrder::kBytewise);
  EXPECT_EQ(InternalKeyComparator(ReverseBytewiseComparator()).order(), KeyOrder::kReverseBytewise);
  EXPECT_EQ(InternalKeyComparator(BytewiseComparatorWithU64Ts()).order(), KeyOrder::kCustom);
}

TEST(InternalKeyOrder, HeadsNeverContradictTheOrder) {
  const LengthOrder by_length;
  std::mt19937 random(3);
  for (const Comparator* user : {BytewiseComparator(), ReverseBytewiseComparator(),
                                 static_cast<const Comparator*>(&by_length)}) {
    const InternalKeyComparator order(user);
    for (int round = 0; round < 5000; ++round) {
      std::string keys[2];
      for (std::string& key : keys) {
        key.resize(random() % 12);
        for (char& c : key) c = static_cast<char>(random() % 2 ? 0 : 0xff);
      }
      const uint64_t a = order.Head(keys[0]), b = order.Head(keys[1]);
      const int order_of_keys = order.OrderWithTimestamp(keys[0], keys[1]);
      ASSERT_TRUE(a == b || (a < b) == (order_of_keys < 0)) << keys[0] << " " << keys[1];
    }
  }
}

TEST(InternalKey, DescribesItself) {
  EXPECT_EQ(DescribeInternalKey(MakeInternalKey("ab", 17, kTypeValue), /*hex=*/false),
            "'ab' seq:17, type:1");
  EXPECT_EQ(DescribeInternalKey(MakeInternalKey("ab", 17, kTypeValue), /*hex=*/true),
            "'6162' seq:17, type:1");
  EXPECT_EQ(DescribeInternalKey("x", false), "(too short for an internal key)'78'");
}

}  // namespace ashlar
