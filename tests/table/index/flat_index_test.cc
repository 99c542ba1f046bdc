// SPDX-License-Identifier: Apache-2.0
//
// FlatIndex is compared with a linear search over the keys that were written, for every encoding
// and order; and damaged index blocks.
#include "table/index/flat_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/block/block_builder.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr uint64_t kDataEnd = uint64_t{1} << 40;

// A bytewise order that is not recognized as one.
class OpaqueComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Opaque"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};
const OpaqueComparator kOpaque;

struct Form {
  const char* name;
  const Comparator* comparator;
  IndexFormat format;
  int restart_interval;
};

class FlatIndexModel : public testing::TestWithParam<Form> {
 protected:
  FlatIndexModel() : icmp_(GetParam().comparator) {}

  int Compare(const std::string& a, const std::string& b) const {
    return GetParam().format.has_user_keys ? icmp_.OrderWithTimestamp(a, b) : icmp_.Compare(a, b);
  }

  // Keys with a long common prefix, or with none, and with many equal heads.
  std::string RandomUserKey(size_t style) {
    std::string key = style == 0 ? "" : style == 1 ? "a-long-common-prefix/" : "abcdefgh";
    const size_t n = style == 2 ? 8 + random_.Uniform(4) : random_.Uniform(12);
    for (size_t i = 0; i < n; ++i) key.push_back(static_cast<char>('x' + random_.Uniform(3)));
    return key;
  }
  std::string RandomKey(size_t style) {
    const std::string user_key = RandomUserKey(style);
    if (GetParam().format.has_user_keys) return user_key;
    return MakeInternalKey(user_key, random_.Uniform(5), kTypeValue);
  }

  void Build(size_t count, size_t style) {
    keys_.clear();
    handles_.clear();
    for (size_t i = 0; i < count; ++i) keys_.push_back(RandomKey(style));
    std::sort(keys_.begin(), keys_.end(),
              [&](const auto& a, const auto& b) { return Compare(a, b) < 0; });
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    const bool is_delta = GetParam().format.has_delta_handles;
    BlockBuilder builder(
        {.restart_interval = GetParam().restart_interval, .has_value_lengths = !is_delta});
    uint64_t offset = 0;
    for (const std::string& key : keys_) {
      const bool has_gap = random_.OneIn(10);
      if (has_gap) offset += 100;
      const BlockHandle handle{.offset = offset, .size = 4000 + random_.Uniform(200)};
      std::string value, delta;
      handle.AppendTo(&value);
      if (!handles_.empty()) {
        PutVarint64(&delta, ZigZagEncode(static_cast<int64_t>(handle.size) -
                                         static_cast<int64_t>(handles_.back().size)));
      }
      if (GetParam().format.has_first_keys) {
        const std::string first = MakeInternalKey(key, 1, kTypeValue);
        PutLengthPrefixedSlice(&value, first);
        PutLengthPrefixedSlice(&delta, first);
      }
      if (is_delta) {
        builder.AddWithDelta(key, value, delta, /*is_chained=*/!has_gap && !handles_.empty());
      } else {
        builder.Add(key, value);
      }
      handles_.push_back(handle);
      offset = handle.end();
    }
    block_ = builder.Finish().ToString();
  }

  Result<std::unique_ptr<FlatIndex>> Parse(const Slice& bytes) {
    return FlatIndex::Parse(
        bytes, {.format = GetParam().format, .comparator = &icmp_, .data_end = kDataEnd});
  }

  size_t Model(const std::string& target) const {
    size_t i = 0;
    while (i < keys_.size() && Compare(keys_[i], target) < 0) ++i;
    return i;
  }
  size_t Find(const FlatIndex& index, const std::string& target) const {
    return GetParam().format.has_user_keys ? index.Find(target, 0) : index.Find(Slice(target));
  }

  Random64 random_{17};
  InternalKeyComparator icmp_;
  std::vector<std::string> keys_;
  std::vector<BlockHandle> handles_;
  std::string block_;
};

TEST_P(FlatIndexModel, FindsTheFirstKeyAtOrBehindTheTarget) {
  for (size_t style = 0; style < 3; ++style) {
    for (size_t count : {1u, 2u, 3u, 7u, 64u, 300u}) {
      Build(count, style);
      auto parsed = Parse(block_);
      ASSERT_OK(parsed);
      const FlatIndex& index = **parsed;
      ASSERT_EQ(index.size(), keys_.size());
      for (size_t i = 0; i < keys_.size(); ++i) {
        ASSERT_EQ(index.handle(i), handles_[i]);
        ASSERT_EQ(Find(index, keys_[i]), i);
        std::string buffer;
        const Slice user_key =
            GetParam().format.has_user_keys ? Slice(keys_[i]) : ExtractUserKey(keys_[i]);
        ASSERT_EQ(index.UserKey(i, &buffer), user_key);
        ASSERT_EQ(index.ContinuesBehind(i, user_key), !GetParam().format.has_user_keys);
        ASSERT_FALSE(index.ContinuesBehind(i, user_key.ToString() + "x"));
      }
      for (int probe = 0; probe < 500; ++probe) {
        const std::string target = RandomKey(random_.Uniform(3));
        ASSERT_EQ(Find(index, target), Model(target)) << Slice(target).ToString(true);
      }
    }
  }
}

TEST_P(FlatIndexModel, DamagedBytesGiveAStatusOrAnIndexInsideTheFile) {
  Build(40, 1);
  for (int round = 0; round < 5000; ++round) {
    const std::unique_ptr<char[]> copy(new char[block_.size()]);  // exact, for the sanitizers
    std::copy(block_.begin(), block_.end(), copy.get());
    for (uint64_t flips = 1 + random_.Uniform(3); flips > 0; --flips) {
      copy[random_.Uniform(block_.size())] = static_cast<char>(random_.Next());
    }
    auto parsed = Parse(Slice(copy.get(), block_.size()));
    if (!parsed.ok()) {
      ASSERT_TRUE(parsed.status().IsCorruption());
      continue;
    }
    const FlatIndex& index = **parsed;
    for (size_t i = 0; i < index.size(); ++i) ASSERT_TRUE(index.handle(i).FitsBefore(kDataEnd));
    for (const std::string& key : keys_) ASSERT_LE(Find(index, key), index.size());
  }
}

constexpr IndexFormat kInternalFull{};
constexpr IndexFormat kUserDelta{.has_user_keys = true, .has_delta_handles = true};
INSTANTIATE_TEST_SUITE_P(
    Forms, FlatIndexModel,
    testing::Values(Form{"InternalFull", BytewiseComparator(), kInternalFull, 1},
                    Form{"InternalFullInterval8", BytewiseComparator(), kInternalFull, 8},
                    Form{"UserFull", BytewiseComparator(), {.has_user_keys = true}, 4},
                    Form{"UserDelta", BytewiseComparator(), kUserDelta, 1},
                    Form{"UserDeltaInterval16", BytewiseComparator(), kUserDelta, 16},
                    Form{"InternalDelta", BytewiseComparator(), {.has_delta_handles = true}, 16},
                    Form{"FirstKey",
                         BytewiseComparator(),
                         {.has_user_keys = true, .has_delta_handles = true, .has_first_keys = true},
                         8},
                    Form{"FirstKeyFull", BytewiseComparator(), {.has_first_keys = true}, 2},
                    Form{"Reverse", ReverseBytewiseComparator(), kUserDelta, 8},
                    Form{"ReverseInternal", ReverseBytewiseComparator(), kInternalFull, 1},
                    Form{"Custom", &kOpaque, kUserDelta, 8},
                    Form{"CustomInternal", &kOpaque, kInternalFull, 8}),
    [](const auto& info) { return info.param.name; });

Status ParseEntries(std::string entries, IndexFormat format) {
  const InternalKeyComparator icmp(BytewiseComparator());
  PutFixed32(&entries, 0);
  PutFixed32(&entries, 1);
  return FlatIndex::Parse(entries, {.format = format, .comparator = &icmp, .data_end = 1000})
      .status();
}

TEST(FlatIndexLies, AreCorruption) {
  constexpr IndexFormat kUser{.has_user_keys = true};
  const std::string good("\0\1\2m\x05\x20", 6);  // key "m", block at 5 of 32 bytes
  EXPECT_OK(ParseEntries(good, kUser));
  EXPECT_TRUE(ParseEntries(std::string("\0\1\1m\x05", 5), kUser).IsCorruption());
  EXPECT_TRUE(ParseEntries(std::string("\0\1\3m\x05\x20\x20", 7), kUser).IsCorruption());
  EXPECT_TRUE(ParseEntries(std::string("\0\1\3m\x05\xff\x07", 7), kUser).IsCorruption());
  EXPECT_TRUE(ParseEntries(std::string("\1\1\2m\x05\x20", 6), kUser).IsCorruption());
  EXPECT_TRUE(ParseEntries(good, IndexFormat{}).IsCorruption());  // no room for a trailer
  EXPECT_TRUE(ParseEntries(good + std::string("\0\1\2a\x05\x20", 6), kUser).IsCorruption());
  EXPECT_OK(ParseEntries(good + std::string("\0\1\2z\x05\x20", 6), kUser));
}

TEST(FlatIndexLies, HandlesThatWrapAroundAreCorruption) {
  constexpr IndexFormat kDelta{.has_user_keys = true, .has_delta_handles = true};
  std::string entries("\0\1m", 3);
  PutVarint64Varint64(&entries, 10, 20);
  entries += std::string("\1\1n", 3);
  PutVarint64(&entries, ZigZagEncode(-21));
  EXPECT_TRUE(ParseEntries(entries, kDelta).IsCorruption());
}

}  // namespace
}  // namespace ashlar
