// SPDX-License-Identifier: Apache-2.0
//
// The built-in orders and prefix extractors: sorting, shortening and names.
#include "ashlar/comparator.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/slice_transform.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

namespace {

std::string Separator(const Comparator* order, std::string a, const std::string& b) {
  order->FindShortestSeparator(&a, b);
  return a;
}
std::string Successor(const Comparator* order, std::string key) {
  order->FindShortSuccessor(&key);
  return key;
}
std::string RandomKey(std::mt19937* random) {
  std::string key((*random)() % 6, '\0');
  constexpr char kBytes[] = {'\x00', '\x01', '\x7f', '\xfe', '\xff'};
  for (char& c : key) c = kBytes[(*random)() % 5];
  return key;
}
std::string WithTs(const std::string& key, uint64_t ts) {
  std::string space;
  return key + EncodeU64Ts(ts, &space).ToString();
}

}  // namespace

TEST(BytewiseOrder, ShortensSeparators) {
  struct Case {
    const char *name, *a, *b, *separator;
  };
  constexpr Case kCases[] = {
      {"room at the difference", "abcdef", "abzz", "abd"},
      {"limit goes on", "abc", "abdx", "abd"},
      {"limit ends, look behind", "abcq", "abd", "abcr"},
      {"behind all ff", "abc\xff\xff", "abd", "abc\xff\xff"},
      {"skips ff", "abc\xffq", "abd", "abc\xffr"},
      {"no room", "abc", "abd", "abc"},
      {"prefix", "ab", "abcd", "ab"},
      {"equal", "ab", "ab", "ab"},
      {"wrong order", "b", "a", "b"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Separator(BytewiseComparator(), c.a, c.b), c.separator) << c.name;
  }
}

TEST(BytewiseOrder, ShortensSuccessors) {
  EXPECT_EQ(Successor(BytewiseComparator(), "abc"), "b");
  EXPECT_EQ(Successor(BytewiseComparator(),
                      "\xff\xff"
                      "abc"),
            "\xff\xff"
            "b");
  EXPECT_EQ(Successor(BytewiseComparator(), "\xff\xff"), "\xff\xff");
  EXPECT_EQ(Successor(BytewiseComparator(), ""), "");
}

TEST(ReverseBytewiseOrder, CutsAsInTheSampleTable) {
  EXPECT_EQ(Separator(ReverseBytewiseComparator(), "key000070", "key000069"), "key00007");
  EXPECT_EQ(Separator(ReverseBytewiseComparator(), "key000085", "key000084"), "key000085");
  EXPECT_EQ(Successor(ReverseBytewiseComparator(), "key"), "key");
}

TEST(Comparators, SeparatorsStayBetweenTheirKeys) {
  std::mt19937 random(7);
  for (const Comparator* order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    for (int round = 0; round < 20000; ++round) {
      const std::string a = RandomKey(&random), b = RandomKey(&random);
      const std::string successor = Successor(order, a);
      ASSERT_LE(order->Compare(a, successor), 0);
      ASSERT_LE(successor.size(), a.size());
      if (order->Compare(a, b) >= 0) continue;
      const std::string separator = Separator(order, a, b);
      ASSERT_LE(order->Compare(a, separator), 0) << Slice(a).ToString(true);
      ASSERT_LT(order->Compare(separator, b), 0) << Slice(b).ToString(true);
      ASSERT_LE(separator.size(), a.size());
    }
  }
}

TEST(BytewiseOrder, KnowsImmediateSuccessors) {
  const Comparator* order = BytewiseComparator();
  EXPECT_TRUE(order->IsSameLengthImmediateSuccessor("ab", "ac"));
  EXPECT_TRUE(order->IsSameLengthImmediateSuccessor("a\xff", Slice("b\0", 2)));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("ab", "ad"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("ab", "abc"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a\xff", "b\x01"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("ab", "ab"));
}

TEST(U64TsOrder, PutsNewerFirst) {
  for (const Comparator* order :
       {BytewiseComparatorWithU64Ts(), ReverseBytewiseComparatorWithU64Ts()}) {
    EXPECT_EQ(order->timestamp_size(), 8u);
    EXPECT_LT(order->Compare(WithTs("k", 300), WithTs("k", 2)), 0);
    EXPECT_EQ(order->CompareWithoutTimestamp(WithTs("k", 300), WithTs("k", 2)), 0);
    EXPECT_EQ(order->CompareWithoutTimestamp(WithTs("k", 300), true, "k", false), 0);
    EXPECT_EQ(Separator(order, WithTs("abc", 1), WithTs("xyz", 1)), WithTs("abc", 1));
    EXPECT_GT(order->CompareTimestamp(order->GetMaxTimestamp(), order->GetMinTimestamp()), 0);
  }
  EXPECT_LT(BytewiseComparatorWithU64Ts()->Compare(WithTs("a", 1), WithTs("b", 9)), 0);
  EXPECT_GT(ReverseBytewiseComparatorWithU64Ts()->Compare(WithTs("a", 1), WithTs("b", 9)), 0);
}

TEST(U64Ts, RefusesOtherSizes) {
  uint64_t ts = 0;
  EXPECT_TRUE(DecodeU64Ts("short", &ts).IsInvalidArgument());
  std::string space;
  EXPECT_OK(DecodeU64Ts(EncodeU64Ts(0x0102, &space), &ts));
  EXPECT_EQ(ts, 0x0102u);
  EXPECT_EQ(space, std::string("\x02\x01\0\0\0\0\0\0", 8));
}

TEST(Comparators, AreFoundByName) {
  for (const Comparator* order :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    const Comparator* found = nullptr;
    ASSERT_OK(Comparator::CreateFromString(ConfigOptions(), order->Name(), &found));
    EXPECT_EQ(found, order);
  }
  EXPECT_STREQ(BytewiseComparator()->Name(), "leveldb.BytewiseComparator");
  EXPECT_STREQ(ReverseBytewiseComparator()->Name(), "rocksdb.ReverseBytewiseComparator");
  EXPECT_STREQ(BytewiseComparatorWithU64Ts()->Name(), "leveldb.BytewiseComparator.u64ts");
}

TEST(Comparators, UnknownNameIsAnErrorOnlyIfAsked) {
  const Comparator* found = nullptr;
  ConfigOptions options;
  EXPECT_OK(Comparator::CreateFromString(options, "mine", &found));
  EXPECT_EQ(found, nullptr);
  options.ignore_unsupported_options = false;
  EXPECT_TRUE(Comparator::CreateFromString(options, "mine", &found).IsNotSupported());
}

TEST(PrefixExtractors, CutAndName) {
  std::unique_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(3));
  EXPECT_FALSE(fixed->InDomain("ab"));
  EXPECT_EQ(fixed->Transform("abcd"), Slice("abc"));
  EXPECT_TRUE(fixed->SameResultWhenAppended("abc"));
  EXPECT_EQ(fixed->AsString(), "rocksdb.FixedPrefix.3");
  std::unique_ptr<const SliceTransform> capped(NewCappedPrefixTransform(3));
  EXPECT_TRUE(capped->InDomain("ab"));
  EXPECT_EQ(capped->Transform("ab"), Slice("ab"));
  EXPECT_FALSE(capped->SameResultWhenAppended("ab"));
  EXPECT_EQ(capped->AsString(), "rocksdb.CappedPrefix.3");
  std::unique_ptr<const SliceTransform> noop(NewNoopTransform());
  EXPECT_EQ(noop->Transform("ab"), Slice("ab"));
  EXPECT_EQ(noop->AsString(), "rocksdb.Noop");
}

// Programs that were written when InRange() was abstract override it.
class OldExtractor final : public SliceTransform {
 public:
  const char* Name() const override { return "test.Old"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override { return !key.empty(); }
  bool InRange(const Slice& dst) const override { return dst.size() == 1; }
};

TEST(PrefixExtractors, OfOlderProgramsCompile) {
  const OldExtractor old;
  EXPECT_TRUE(old.InRange("a"));
  const std::unique_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(3));
  EXPECT_FALSE(fixed->InRange("abc"));
}

TEST(PrefixExtractors, AreMadeFromTheirNames) {
  struct Case {
    const char *id, *name;
  };
  constexpr Case kCases[] = {{"rocksdb.FixedPrefix.8", "rocksdb.FixedPrefix.8"},
                             {"fixed:8", "rocksdb.FixedPrefix.8"},
                             {"rocksdb.CappedPrefix.4", "rocksdb.CappedPrefix.4"},
                             {"capped:4", "rocksdb.CappedPrefix.4"},
                             {"rocksdb.Noop", "rocksdb.Noop"}};
  for (const Case& c : kCases) {
    std::shared_ptr<const SliceTransform> made;
    ASSERT_OK(SliceTransform::CreateFromString(ConfigOptions(), c.id, &made));
    ASSERT_NE(made, nullptr) << c.id;
    EXPECT_EQ(made->AsString(), c.name);
  }
  for (const char* id : {"", "nullptr", "fixed:", "fixed:x", "other"}) {
    std::shared_ptr<const SliceTransform> made;
    EXPECT_OK(SliceTransform::CreateFromString(ConfigOptions(), id, &made));
    EXPECT_EQ(made, nullptr) << id;
  }
}

}  // namespace ashlar
