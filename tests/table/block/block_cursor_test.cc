// SPDX-License-Identifier: Apache-2.0
//
// BlockCursor is compared with a sorted vector: every form of a block, both directions, all three
// key orders; and damaged blocks.
#include "table/block/block_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/block/block_builder.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/random.h"

namespace ashlar {
namespace {

struct Entry {
  std::string key;
  std::string value;
};

// Orders user keys by their last byte, then bytewise, so that heads tell nothing.
class LastByteComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.LastByte"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const int last_a = a.empty() ? -1 : static_cast<unsigned char>(a[a.size() - 1]);
    const int last_b = b.empty() ? -1 : static_cast<unsigned char>(b[b.size() - 1]);
    return last_a != last_b ? last_a - last_b : a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

const LastByteComparator kLastByte;

std::string RandomUserKey(Random64& random) {
  static const char* const kPrefixes[] = {"", "a", "table/users/", "table/users/00000", "\xff\xff"};
  std::string key = kPrefixes[random.Uniform(5)];
  const size_t length = random.OneIn(20) ? random.Uniform(300) : random.Uniform(8);
  for (size_t i = 0; i < length; ++i) key.push_back(static_cast<char>('a' + random.Uniform(4)));
  return key;
}

std::vector<Entry> RandomEntries(Random64& random, const InternalKeyComparator& icmp,
                                 size_t count) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < count; ++i) {
    const size_t value_bytes = random.OneIn(40) ? random.Uniform(20000) : random.Uniform(130);
    entries.push_back({MakeInternalKey(RandomUserKey(random), random.Uniform(1000), kTypeValue),
                       std::string(value_bytes, static_cast<char>('A' + i % 26))});
  }
  const auto before = [&](const Entry& a, const Entry& b) {
    return icmp.Compare(a.key, b.key) < 0;
  };
  std::sort(entries.begin(), entries.end(), before);
  const auto same = [&](const Entry& a, const Entry& b) { return icmp.Compare(a.key, b.key) == 0; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

std::string BuildBlock(const std::vector<Entry>& entries, const BlockBuilderOptions& options) {
  BlockBuilder builder(options);
  for (const Entry& entry : entries) builder.Add(entry.key, entry.value);
  return builder.Finish().ToString();
}

// A block with keys and values in separate sections.
std::string BuildSeparateBlock(const std::vector<Entry>& entries, size_t restart_interval) {
  std::string keys, values, previous;
  std::vector<uint32_t> restarts;
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool is_restart = i % restart_interval == 0;
    if (is_restart) restarts.push_back(static_cast<uint32_t>(keys.size()));
    const size_t shared = is_restart ? 0 : Slice(previous).difference_offset(entries[i].key);
    PutVarint32(&keys, static_cast<uint32_t>(shared));
    PutVarint32(&keys, static_cast<uint32_t>(entries[i].key.size() - shared));
    PutVarint32(&keys, static_cast<uint32_t>(entries[i].value.size()));
    if (is_restart) PutVarint32(&keys, static_cast<uint32_t>(values.size()));
    keys += entries[i].key.substr(shared);
    values += entries[i].value;
    previous = entries[i].key;
  }
  std::string block = keys + values;
  for (const uint32_t restart : restarts) PutFixed32(&block, restart);
  PutFixed32(&block, static_cast<uint32_t>(keys.size()));
  PutFixed32(&block, static_cast<uint32_t>(restarts.size()) | uint32_t{1} << 28);
  return block;
}

struct Form {
  const char* name;
  int restart_interval;
  bool use_delta;
  bool separate;
  KeyOrder order;
  bool decoded = false;
};

class BlockCursorModel : public testing::TestWithParam<Form> {
 protected:
  BlockCursorModel()
      : icmp_(GetParam().order == KeyOrder::kBytewise          ? BytewiseComparator()
              : GetParam().order == KeyOrder::kReverseBytewise ? ReverseBytewiseComparator()
                                                               : &kLastByte) {}

  void Build(size_t count) {
    entries_ = RandomEntries(random_, icmp_, count);
    bytes_ = GetParam().separate
                 ? BuildSeparateBlock(entries_, static_cast<size_t>(GetParam().restart_interval))
                 : BuildBlock(entries_, {.restart_interval = GetParam().restart_interval,
                                         .use_delta_encoding = GetParam().use_delta});
    ASSERT_OK(Block::Parse(bytes_, &block_));
    cursor_.Attach(&block_, BlockKeyFormat());
    if (GetParam().decoded) Decode();
  }

  void Decode() {
    const auto plan = DecodedBlock::Prepare(block_, icmp_.order());
    if (!plan.is_worthwhile) return;
    ++decoded_count_;
    memory_ = std::make_unique<uint64_t[]>(plan.memory_bytes / sizeof(uint64_t) + 1);
    auto* const memory = reinterpret_cast<char*>(memory_.get());
    ASSERT_TRUE(DecodedBlock::Build(block_, plan, icmp_.order(), memory, &decoded_));
    cursor_.Attach(&decoded_);
  }

  void Expect(bool moved, size_t i) {
    ASSERT_EQ(cursor_.error(), nullptr);
    ASSERT_EQ(moved, i < entries_.size());
    if (!moved) return;
    ASSERT_EQ(key_.ToString(), entries_[i].key);
    ASSERT_EQ(value_.ToString(), entries_[i].value);
  }

  size_t LowerBound(const Slice& key) {
    size_t i = 0;
    while (i < entries_.size() && icmp_.Compare(entries_[i].key, key) < 0) ++i;
    return i;
  }

  Random64 random_{301};
  InternalKeyComparator icmp_;
  std::vector<Entry> entries_;
  std::string bytes_;
  Block block_;
  DecodedBlock decoded_;
  std::unique_ptr<uint64_t[]> memory_;
  int decoded_count_ = 0;
  BlockCursor cursor_;
  Slice key_, value_;
};

TEST_P(BlockCursorModel, RandomMovesAgreeWithTheModel) {
  for (size_t count : {1u, 2u, 3u, 16u, 17u, 60u, 200u}) {
    Build(count);
    size_t at = entries_.size();  // past the end
    for (int step = 0; step < 3000 && !HasFatalFailure(); ++step) {
      const bool on_entry = at < entries_.size();
      const uint64_t move = random_.Uniform(on_entry ? 12 : 4);
      if (move == 0) {
        at = 0;
        Expect(cursor_.First(&key_, &value_), at);
      } else if (move == 1) {
        at = entries_.size() - 1;
        Expect(cursor_.Last(&key_, &value_), at);
      } else if (move <= 3) {
        const std::string target =
            random_.OneIn(2)
                ? entries_[random_.Uniform(entries_.size())].key
                : MakeInternalKey(RandomUserKey(random_), random_.Uniform(1000), kTypeValue);
        at = LowerBound(target);
        Expect(cursor_.Seek(icmp_, SeekTarget(Slice(target)), &key_, &value_), at);
      } else if (move <= 8) {
        ++at;
        Expect(cursor_.Next(&key_, &value_), at);
        // After the end, a step back leads to the last entry again.
        if (at == entries_.size() && random_.OneIn(2)) {
          Expect(cursor_.Prev(&key_, &value_), --at);
        }
      } else {
        at = at == 0 ? entries_.size() : at - 1;
        Expect(cursor_.Prev(&key_, &value_), at);
      }
    }
  }
  EXPECT_EQ(decoded_count_ > 2, GetParam().decoded);
}

TEST_P(BlockCursorModel, GlobalSequenceNumberReplacesEveryStoredOne) {
  Build(100);
  BlockKeyFormat format;
  format.global_seqno = 77;
  cursor_.Attach(&block_, format);
  size_t i = 0;
  for (bool more = cursor_.First(&key_, &value_); more; more = cursor_.Next(&key_, &value_), ++i) {
    ASSERT_EQ(ExtractUserKey(key_), ExtractUserKey(entries_[i].key));
    ASSERT_EQ(ExtractTrailer(key_), PackTrailer(77, kTypeValue));
    ASSERT_EQ(value_.ToString(), entries_[i].value);
  }
  EXPECT_EQ(i, entries_.size());
  for (bool more = cursor_.Last(&key_, &value_); more; more = cursor_.Prev(&key_, &value_)) {
    --i;
    ASSERT_EQ(ExtractUserKey(key_), ExtractUserKey(entries_[i].key));
    ASSERT_EQ(ExtractTrailer(key_), PackTrailer(77, kTypeValue));
  }
  EXPECT_EQ(i, 0u);
}

TEST_P(BlockCursorModel, DamagedBytesNeverLeadOutOfTheBlock) {
  for (int round = 0; round < 400; ++round) {
    Build(1 + random_.Uniform(30));
    // An exact copy on the heap, so that a sanitizer detects every read outside of it.
    const size_t flips = 1 + random_.Uniform(4);
    const std::unique_ptr<char[]> copy(new char[bytes_.size()]);
    std::copy(bytes_.begin(), bytes_.end(), copy.get());
    for (size_t i = 0; i < flips; ++i) {
      const size_t at = random_.OneIn(2) ? bytes_.size() - 1 -
                                               random_.Uniform(std::min<size_t>(bytes_.size(), 40))
                                         : random_.Uniform(bytes_.size());
      copy[at] = static_cast<char>(random_.Next());
    }
    Block block;
    if (!Block::Parse(Slice(copy.get(), bytes_.size()), &block).ok()) continue;
    BlockCursor cursor;
    cursor.Attach(&block, BlockKeyFormat());
    size_t steps = 0, sum = 0;
    const auto use = [&] {
      ASSERT_GE(key_.size(), kTrailerBytes);
      for (const char c : key_.ToString() + value_.ToString()) sum += static_cast<size_t>(c);
      ASSERT_LE(++steps, bytes_.size());
    };
    for (bool more = cursor.First(&key_, &value_); more; more = cursor.Next(&key_, &value_)) use();
    cursor.Attach(&block, BlockKeyFormat());
    steps = 0;
    for (bool more = cursor.Last(&key_, &value_); more; more = cursor.Prev(&key_, &value_)) use();
    for (const Entry& entry : entries_) {
      cursor.Attach(&block, BlockKeyFormat());
      steps = 0;
      if (cursor.Seek(icmp_, SeekTarget(Slice(entry.key)), &key_, &value_)) use();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BlockCursorModel,
    testing::Values(Form{"Default", 16, true, false, KeyOrder::kBytewise},
                    Form{"Interval1", 1, true, false, KeyOrder::kBytewise},
                    Form{"Interval3", 3, true, false, KeyOrder::kBytewise},
                    Form{"OneInterval", 1000, true, false, KeyOrder::kBytewise},
                    Form{"WholeKeys", 16, false, false, KeyOrder::kBytewise},
                    Form{"Separate", 8, true, true, KeyOrder::kBytewise},
                    Form{"Reverse", 16, true, false, KeyOrder::kReverseBytewise},
                    Form{"ReverseSeparate", 4, true, true, KeyOrder::kReverseBytewise},
                    Form{"Custom", 16, true, false, KeyOrder::kCustom},
                    Form{"Decoded", 16, true, false, KeyOrder::kBytewise, true},
                    Form{"DecodedWholeKeys", 1, true, false, KeyOrder::kBytewise, true},
                    Form{"DecodedSeparate", 8, true, true, KeyOrder::kBytewise, true},
                    Form{"DecodedReverse", 16, true, false, KeyOrder::kReverseBytewise, true},
                    Form{"DecodedCustom", 16, true, false, KeyOrder::kCustom, true}),
    [](const auto& info) { return info.param.name; });

std::string TwoEntryBlock() {
  return BuildBlock({{MakeInternalKey("alpha", 1, kTypeValue), "one"},
                     {MakeInternalKey("alpine", 2, kTypeValue), "two"}},
                    BlockBuilderOptions());
}

const char* ErrorOfScan(const std::string& bytes) {
  Block block;
  EXPECT_OK(Block::Parse(bytes, &block));
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat());
  Slice key, value;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
  }
  return cursor.error();
}

TEST(BlockLies, AnIntactBlockHasNoError) { EXPECT_EQ(ErrorOfScan(TwoEntryBlock()), nullptr); }

TEST(BlockLies, SharingMoreThanTheKeyBefore) {
  std::string bytes = TwoEntryBlock();
  bytes[0] = 1;  // the first entry has nothing to share with
  EXPECT_STREQ(ErrorOfScan(bytes), "an entry shares more than the key before it");
}

TEST(BlockLies, AValueBeyondTheEntries) {
  std::string bytes = TwoEntryBlock();
  bytes[2] = 0x7f;
  EXPECT_STREQ(ErrorOfScan(bytes), "malformed entry");
}

TEST(BlockLies, AKeyShorterThanItsTrailer) {
  std::string bytes;
  bytes += std::string("\0\3\0abc", 6);
  PutFixed32(&bytes, 0);
  PutFixed32(&bytes, 1);
  EXPECT_STREQ(ErrorOfScan(bytes), "a key is shorter than its trailer");
}

TEST(BlockLies, AnUnfinishedVarint) {
  std::string bytes(5, '\xff');
  PutFixed32(&bytes, 0);
  PutFixed32(&bytes, 1);
  EXPECT_STREQ(ErrorOfScan(bytes), "malformed entry");
}

TEST(BlockTail, EmptyBlocksHaveNoEntries) {
  Block block;
  for (const std::string& bytes : {std::string(4, '\0'), std::string("\0\0\0\0\1\0\0\0", 8)}) {
    ASSERT_OK(Block::Parse(bytes, &block));
    BlockCursor cursor;
    cursor.Attach(&block, BlockKeyFormat());
    Slice key, value;
    EXPECT_FALSE(cursor.First(&key, &value));
    EXPECT_FALSE(cursor.Last(&key, &value));
    EXPECT_EQ(cursor.error(), nullptr);
  }
}

TEST(BlockTail, RefusesWhatDoesNotFit) {
  const auto parse = [](const std::string& bytes) {
    Block block;
    return Block::Parse(bytes, &block);
  };
  const auto tail = [](std::string entries, std::vector<uint32_t> words) {
    for (const uint32_t word : words) PutFixed32(&entries, word);
    return entries;
  };
  EXPECT_TRUE(parse("").IsCorruption());
  EXPECT_TRUE(parse("abc").IsCorruption());
  EXPECT_TRUE(parse(tail("", {9})).IsCorruption());                  // more restarts than bytes
  EXPECT_TRUE(parse(tail("entries", {0})).IsCorruption());           // entries, no restart
  EXPECT_TRUE(parse(tail("entries", {1, 1})).IsCorruption());        // first is not 0
  EXPECT_TRUE(parse(tail("entries", {0, 7, 2})).IsCorruption());     // behind the entries
  EXPECT_TRUE(parse(tail("entries", {0, 3, 3, 3})).IsCorruption());  // does not ascend
  EXPECT_TRUE(parse(tail("entries", {0, 1u << 30 | 1})).IsCorruption());  // reserved bit
  EXPECT_TRUE(parse(tail("", {1u << 31})).IsCorruption());                // no room for buckets
  EXPECT_TRUE(parse(tail("", {99, 1u << 28})).IsCorruption());            // values outside
  EXPECT_TRUE(parse(std::string(100000, 'x') + tail("", {0, 1u << 31 | 1})).IsCorruption());
  EXPECT_OK(parse(tail("entries", {0, 3, 2})));
  EXPECT_OK(parse(tail("entries", {0, 1u << 29 | 1})));  // uniform keys: a hint
}

// Keys with a common prefix, as in most tables.
TEST(DecodedBlock, FindsKeysAndTheGapsBetweenThem) {
  std::vector<Entry> entries;
  for (int i = 0; i < 40; ++i) {
    const std::string user_key = "table/users/" + std::to_string(1000 + 2 * i / 3 * 2);
    entries.push_back({MakeInternalKey(user_key, 100 - static_cast<uint64_t>(i), kTypeValue), "v"});
  }
  const std::string bytes = BuildBlock(entries, BlockBuilderOptions());
  Block block;
  ASSERT_OK(Block::Parse(bytes, &block));
  auto plan = DecodedBlock::Prepare(block, KeyOrder::kBytewise);
  EXPECT_EQ(plan.prefix_bytes, std::string("table/users/10").size());
  plan.is_worthwhile = true;
  const auto memory = std::make_unique<uint64_t[]>(plan.memory_bytes / sizeof(uint64_t) + 1);
  DecodedBlock decoded;
  ASSERT_TRUE(DecodedBlock::Build(block, plan, KeyOrder::kBytewise,
                                  reinterpret_cast<char*>(memory.get()), &decoded));
  const InternalKeyComparator icmp(BytewiseComparator());
  const auto find = [&](const std::string& key) {
    return decoded.LowerBound(icmp, SeekTarget(Slice(key)));
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    const Slice user_key = ExtractUserKey(entries[i].key);
    EXPECT_EQ(find(entries[i].key), i);
    EXPECT_TRUE(decoded.HoldsUserKey(icmp, i, user_key));
    EXPECT_FALSE(decoded.HoldsUserKey(icmp, i, "table/users/1"));
    EXPECT_EQ(decoded.Trailer(i), ExtractTrailer(entries[i].key));
  }
  EXPECT_EQ(find(MakeInternalKey("table/users/1", 5, kTypeValue)), 0u);
  EXPECT_EQ(find(MakeInternalKey("table/users/0", 5, kTypeValue)), 0u);
  EXPECT_EQ(find(MakeInternalKey("table/users/2", 5, kTypeValue)), entries.size());
  EXPECT_EQ(find(MakeInternalKey("zzz", 5, kTypeValue)), entries.size());
}

TEST(DecodedBlock, IsNotWorthwhileForDamageFewEntriesOrLargeBlocks) {
  const auto is_worthwhile = [](const std::string& bytes) {
    Block block;
    EXPECT_OK(Block::Parse(bytes, &block));
    return DecodedBlock::Prepare(block, KeyOrder::kBytewise).is_worthwhile;
  };
  std::vector<Entry> entries;
  for (int i = 0; i < 40; ++i) {
    entries.push_back(
        {MakeInternalKey(std::to_string(1000 + i), 1, kTypeValue), std::string(60, 'v')});
  }
  const std::string bytes = BuildBlock(entries, BlockBuilderOptions());
  EXPECT_TRUE(is_worthwhile(bytes));
  std::string damaged = bytes;
  damaged[0] = 1;
  EXPECT_FALSE(is_worthwhile(damaged));
  EXPECT_FALSE(is_worthwhile(BuildBlock({entries[0], entries[1]}, BlockBuilderOptions())));
  entries.back().value = std::string(70000, 'v');
  EXPECT_FALSE(is_worthwhile(BuildBlock(entries, BlockBuilderOptions())));
}

TEST(BlockHashIndex, LeadsToTheIntervalOfEveryKey) {
  std::vector<Entry> entries;
  for (int i = 0; i < 200; ++i) {
    entries.push_back({MakeInternalKey("key" + std::to_string(10000 + i), 5, kTypeValue), "v"});
  }
  const std::string bytes = BuildBlock(entries, {.restart_interval = 4, .hash_util_ratio = 0.75});
  Block block;
  ASSERT_OK(Block::Parse(bytes, &block));
  ASSERT_TRUE(block.has_hash_index());
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockCursor cursor;
  Slice key, value;
  size_t direct = 0;
  for (const Entry& entry : entries) {
    const uint8_t interval = block.HashLookup(ExtractUserKey(entry.key));
    ASSERT_NE(interval, Block::kNoSuchKey);
    if (interval == Block::kHashCollision) continue;
    ++direct;
    cursor.Attach(&block, BlockKeyFormat());
    ASSERT_TRUE(cursor.SeekInInterval(icmp, interval, SeekTarget(Slice(entry.key)), &key, &value));
    EXPECT_EQ(key, Slice(entry.key));
  }
  EXPECT_GT(direct, 50u);
  EXPECT_FALSE(cursor.SeekInInterval(icmp, 200, SeekTarget(Slice(entries[0].key)), &key, &value));
  EXPECT_NE(cursor.error(), nullptr);
}

}  // namespace
}  // namespace ashlar
