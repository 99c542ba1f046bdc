// SPDX-License-Identifier: Apache-2.0
//
// Every sample table of RocksDB reads exactly as in its listing, with and without a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "cache/block_cache.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

enum class Caching { kNone, kCache, kTinyCache };

const Comparator* ComparatorByName(const std::string& name) {
  return name == "rocksdb.ReverseBytewiseComparator" ? ReverseBytewiseComparator()
                                                     : BytewiseComparator();
}

bool IsOldFormat(const std::string& name) { return name.find("_old_") != std::string::npos; }
bool HasTimestamps(const std::string& name) { return name.find("_udt_") != std::string::npos; }

std::string CaseName(const std::string& name, Caching caching) {
  return name + (caching == Caching::kNone ? "" : caching == Caching::kCache ? "_cache" : "_tiny");
}

struct SampleCase {
  std::string name;
  Caching caching;
};

std::vector<SampleCase> Cases() {
  std::vector<SampleCase> cases;
  for (const std::string& name : SampleTableNames()) {
    if (IsOldFormat(name) || HasTimestamps(name)) continue;
    for (const Caching caching : {Caching::kNone, Caching::kCache, Caching::kTinyCache}) {
      cases.push_back({name, caching});
    }
  }
  return cases;
}

class SampleTables : public testing::TestWithParam<SampleCase> {
 protected:
  void SetUp() override {
    sample_ = LoadSampleTable(GetParam().name);
    icmp_ = std::make_unique<InternalKeyComparator>(ComparatorByName(sample_.comparator));
    if (GetParam().caching != Caching::kNone) {
      const size_t capacity = GetParam().caching == Caching::kCache ? 8 << 20 : 2048;
      cache_ = std::make_unique<BlockCacheView>(NewLRUCache(capacity, 0));
    }
    TableReaderOptions options;
    options.icmp = icmp_.get();
    options.block_cache = cache_.get();
    options.manifest_largest_seqno = sample_.manifest_seqno;
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, sample_.name), options);
    ASSERT_OK(opened);
    reader_ = opened.Take();
    iterator_.reset(reader_->NewIterator(ReadOptions(), nullptr));
  }
  void TearDown() override {
    iterator_.reset();
    reader_.reset();
    EpochDrain();
  }

  void ExpectAt(size_t i) {
    ASSERT_OK(iterator_->status());
    if (i >= sample_.entries.size()) {
      EXPECT_FALSE(iterator_->Valid());
      return;
    }
    ASSERT_TRUE(iterator_->Valid()) << i;
    EXPECT_EQ(iterator_->key().ToString(true),
              Slice(sample_.entries[i].internal_key).ToString(true));
    EXPECT_EQ(iterator_->value().ToString(true), Slice(sample_.entries[i].value).ToString(true));
  }

  void ExpectGet(const SampleEntry& entry) {
    const Slice user_key = ExtractUserKey(entry.internal_key);
    const uint64_t trailer = ExtractTrailer(entry.internal_key);
    const LookupKey key(user_key, TrailerSeqno(trailer), icmp_->order());
    PinnableSlice value;
    PointLookup lookup(key, &value);
    ASSERT_OK(LookUp(*reader_, ReadOptions(), &lookup));
    switch (TrailerType(trailer)) {
      case kTypeValue:
        ASSERT_EQ(lookup.outcome(), PointLookup::Outcome::kFound);
        EXPECT_EQ(value.ToString(), entry.value);
        break;
      case kTypeDeletion:
      case kTypeSingleDeletion: EXPECT_EQ(lookup.outcome(), PointLookup::Outcome::kDeleted); break;
      case kTypeMerge:
        ASSERT_NE(lookup.operands(), nullptr);
        EXPECT_EQ(lookup.operands()->all().front(), Slice(entry.value));
        return;  // older ones may follow
      default:
        // Entries of kinds that this lookup refuses must never be reported as absent.
        EXPECT_NE(lookup.outcome(), PointLookup::Outcome::kUndecided);
        return;
    }
    EXPECT_EQ(lookup.seqno(), TrailerSeqno(trailer));
  }

  SampleTable sample_;
  std::unique_ptr<InternalKeyComparator> icmp_;
  std::unique_ptr<BlockCacheView> cache_;
  std::unique_ptr<TableReader> reader_;
  std::unique_ptr<InternalIterator> iterator_;
};

// Several passes, because with a cache blocks are decoded after they become hot.
TEST_P(SampleTables, ScanForwardsIsTheListing) {
  for (int round = 0; round < 4; ++round) {
    iterator_->SeekToFirst();
    for (size_t i = 0; i < sample_.entries.size(); ++i) {
      ExpectAt(i);
      if (HasFatalFailure()) return;
      iterator_->Next();
    }
    ExpectAt(sample_.entries.size());
  }
}

TEST_P(SampleTables, ScanBackwardsIsTheListing) {
  for (int round = 0; round < 4; ++round) {
    iterator_->SeekToLast();
    for (size_t i = sample_.entries.size(); i-- > 0;) {
      ExpectAt(i);
      if (HasFatalFailure()) return;
      iterator_->Prev();
    }
    ExpectAt(sample_.entries.size());
  }
}

TEST_P(SampleTables, SeeksFindEveryKey) {
  for (size_t i = 0; i < sample_.entries.size(); ++i) {
    const std::string& key = sample_.entries[i].internal_key;
    iterator_->Seek(key);
    ExpectAt(i);
    iterator_->SeekForPrev(key);
    ExpectAt(i);
    // A key directly before this one: all versions of the user key are at or behind it.
    std::string before = ExtractUserKey(key).ToString();
    const std::string user_key = before;
    before = MakeInternalKey(before, kMaxSequenceNumber, kValueTypeForSeek);
    size_t first = i;
    while (first > 0 &&
           ExtractUserKey(sample_.entries[first - 1].internal_key) == Slice(user_key)) {
      --first;
    }
    iterator_->Seek(before);
    ExpectAt(first);
    iterator_->SeekForPrev(before);
    ExpectAt(first == 0 ? sample_.entries.size() : first - 1);
    if (HasFailure()) return;
  }
}

TEST_P(SampleTables, StepsMayTurnAround) {
  for (size_t i = 1; i + 1 < sample_.entries.size(); i += 7) {
    iterator_->Seek(sample_.entries[i].internal_key);
    iterator_->Next();
    ExpectAt(i + 1);
    iterator_->Prev();
    ExpectAt(i);
    iterator_->Prev();
    ExpectAt(i - 1);
    iterator_->Next();
    ExpectAt(i);
    if (HasFailure()) return;
  }
}

TEST_P(SampleTables, GetFindsEveryVersion) {
  for (int round = 0; round < 4; ++round) {
    for (const SampleEntry& entry : sample_.entries) {
      ExpectGet(entry);
      if (HasFailure()) return;
    }
  }
}

TEST_P(SampleTables, GetFindsNothingBetweenTheKeys) {
  std::set<std::string> user_keys;
  for (const SampleEntry& entry : sample_.entries) {
    user_keys.insert(ExtractUserKey(entry.internal_key).ToString());
  }
  std::vector<std::string> absent = {"", "~~~", std::string(300, 'k')};
  for (const std::string& key : user_keys) {
    absent.push_back(key + "a");
    absent.push_back(key + std::string(1, '\0'));
    if (!key.empty()) absent.push_back(key.substr(0, key.size() - 1));
  }
  for (const std::string& user_key : absent) {
    if (user_keys.count(user_key) != 0) continue;
    const LookupKey key(user_key, kMaxSequenceNumber, icmp_->order());
    PinnableSlice value;
    PointLookup lookup(key, &value);
    ASSERT_OK(LookUp(*reader_, ReadOptions(), &lookup));
    EXPECT_FALSE(lookup.decided()) << Slice(user_key).ToString(true);
  }
}

TEST_P(SampleTables, VerifyChecksumsPasses) { EXPECT_OK(reader_->VerifyChecksums(ReadOptions())); }

TEST_P(SampleTables, OffsetsAscendWithTheKeys) {
  uint64_t previous = 0;
  for (const SampleEntry& entry : sample_.entries) {
    const uint64_t offset = reader_->ApproximateOffsetOf(entry.internal_key);
    EXPECT_GE(offset, previous);
    EXPECT_LT(offset, sample_.bytes.size());
    previous = offset;
  }
}

TEST_P(SampleTables, PropertiesCountTheEntries) {
  EXPECT_EQ(reader_->properties().num_entries,
            sample_.entries.size() + sample_.range_tombstone_count);
  EXPECT_EQ(reader_->tombstones() != nullptr, sample_.range_tombstone_count > 0);
  EXPECT_GT(reader_->MemoryUsage(), sizeof(TableReader));
}

INSTANTIATE_TEST_SUITE_P(All, SampleTables, testing::ValuesIn(Cases()), [](const auto& info) {
  return CaseName(info.param.name, info.param.caching);
});

TEST(RefusedTables, OldFormatsAndTimestampsAreNotSupported) {
  const InternalKeyComparator icmp(BytewiseComparator());
  for (const std::string& name : SampleTableNames()) {
    if (!IsOldFormat(name) && !HasTimestamps(name)) continue;
    TableReaderOptions options;
    options.icmp = &icmp;
    auto opened = TableReader::Open(ReaderOverBytes(LoadSampleTable(name).bytes, name), options);
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_TRUE(opened.status().IsNotSupported() || opened.status().IsInvalidArgument())
        << name << ": " << opened.status().ToString();
  }
}

TEST(RefusedTables, AnotherComparatorIsInvalidArgument) {
  const InternalKeyComparator icmp(ReverseBytewiseComparator());
  TableReaderOptions options;
  options.icmp = &icmp;
  const SampleTable sample = LoadSampleTable("v78_basic20_fv5");
  auto opened = TableReader::Open(ReaderOverBytes(sample.bytes, "basic20"), options);
  EXPECT_TRUE(opened.status().IsInvalidArgument()) << opened.status().ToString();
}

TEST(RefusedTables, AnotherUniqueIdIsCorruption) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TableReaderOptions options;
  options.icmp = &icmp;
  options.expected_unique_id = "0123456789abcdef";
  const SampleTable sample = LoadSampleTable("v78_basic20_fv5");
  auto opened = TableReader::Open(ReaderOverBytes(sample.bytes, "basic20"), options);
  EXPECT_TRUE(opened.status().IsCorruption()) << opened.status().ToString();
}

TEST(CacheOnlyReads, AreIncompleteUntilTheBlockIsLoaded) {
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockCacheView cache(NewLRUCache(8 << 20));
  TableReaderOptions options;
  options.icmp = &icmp;
  options.block_cache = &cache;
  const SampleTable sample = LoadSampleTable("v78_basic20_fv5");
  auto opened = TableReader::Open(ReaderOverBytes(sample.bytes, "basic20"), options);
  ASSERT_OK(opened);
  const auto get = [&](ReadTier tier) {
    const LookupKey key(ExtractUserKey(sample.entries[3].internal_key), kMaxSequenceNumber,
                        icmp.order());
    PointLookup lookup(key, nullptr);
    ReadOptions read;
    read.read_tier = tier;
    return LookUp(**opened, read, &lookup);
  };
  EXPECT_TRUE(get(kBlockCacheTier).IsIncomplete());
  EXPECT_OK(get(kReadAllTier));
  EXPECT_OK(get(kBlockCacheTier));
}

}  // namespace
}  // namespace ashlar
