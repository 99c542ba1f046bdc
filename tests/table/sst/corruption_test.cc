// SPDX-License-Identifier: Apache-2.0
//
// Damaged tables. With checksums, whichever bit is flipped and wherever the file ends, a read is
// right or returns an error. Without checksums the result may be anything, but a read must stay
// within the file and end.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "table/format/footer.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/random.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

const Comparator* ComparatorOf(const SampleTable& sample) {
  return sample.comparator == "rocksdb.ReverseBytewiseComparator" ? ReverseBytewiseComparator()
                                                                  : BytewiseComparator();
}

// Reads one version of a table in every way.
class Examiner {
 public:
  explicit Examiner(const SampleTable& sample, BlockCacheView* cache = nullptr)
      : sample_(sample), icmp_(ComparatorOf(sample)), cache_(cache) {}

  // Whether everything that was returned with OK is as in the listing.
  bool IsHonest(const std::string& bytes) {
    TableReaderOptions options;
    options.icmp = &icmp_;
    options.manifest_largest_seqno = sample_.manifest_seqno;
    options.block_cache = cache_;
    auto opened = TableReader::Open(ReaderOverBytes(bytes, sample_.name), options);
    if (!opened.ok()) return !opened.status().ToString().empty();
    ++opened_count_;
    reader_ = opened.Take();
    bool honest = ScanIsHonest(/*forwards=*/true) && ScanIsHonest(/*forwards=*/false);
    for (size_t i = 0; i < sample_.entries.size() && honest; i += get_stride_) {
      honest = GetIsHonest(sample_.entries[i]);
    }
    IgnoreError(reader_->VerifyChecksums(ReadOptions()), "only that it returns");
    reader_.reset();
    return honest;
  }
  void SetGetStride(size_t stride) { get_stride_ = stride; }
  size_t opened_count() const { return opened_count_; }

 private:
  bool ScanIsHonest(bool forwards) {
    const size_t count = sample_.entries.size();
    std::unique_ptr<InternalIterator> iterator(reader_->NewIterator(ReadOptions(), nullptr));
    size_t seen = 0;
    for (forwards ? iterator->SeekToFirst() : iterator->SeekToLast(); iterator->Valid();
         forwards ? iterator->Next() : iterator->Prev()) {
      // Without checksums an index may lead to a block several times, but not endlessly.
      if (seen > kMaxSteps) return false;
      if (seen < count) {
        const SampleEntry& expected = sample_.entries[forwards ? seen : count - 1 - seen];
        is_equal_ = is_equal_ && iterator->key() == Slice(expected.internal_key) &&
                    iterator->value() == Slice(expected.value);
      }
      ++seen;
    }
    const bool told_the_truth = !iterator->status().ok() || (seen == count && is_equal_);
    is_equal_ = true;
    return told_the_truth || any_content_;
  }

  bool GetIsHonest(const SampleEntry& entry) {
    const LookupKey key(ExtractUserKey(entry.internal_key),
                        TrailerSeqno(ExtractTrailer(entry.internal_key)), icmp_.order());
    PinnableSlice value;
    PointLookup lookup(key, &value);
    const Status status = LookUp(*reader_, ReadOptions(), &lookup);
    if (!status.ok() || any_content_) return true;
    if (lookup.operands() != nullptr) {
      return lookup.operands()->all().front() == Slice(entry.value);
    }
    if (lookup.outcome() == PointLookup::Outcome::kFound) return value == Slice(entry.value);
    return lookup.decided();
  }

 public:
  bool any_content_ = false;  // nothing but crashes and endless loops is wrong

 private:
  static constexpr size_t kMaxSteps = 2'000'000;
  const SampleTable& sample_;
  const InternalKeyComparator icmp_;
  BlockCacheView* const cache_;
  std::unique_ptr<TableReader> reader_;
  size_t opened_count_ = 0;
  size_t get_stride_ = 1;
  bool is_equal_ = true;
};

struct CorruptionCase {
  const char* name;
  size_t bit_stride;  // 1: every bit
};

class DamagedTable : public testing::TestWithParam<CorruptionCase> {
 protected:
  DamagedTable() : sample_(LoadSampleTable(GetParam().name)) {}
  SampleTable sample_;
};

TEST_P(DamagedTable, EveryBitFlipIsNoticedOrHarmless) {
  Examiner examiner(sample_);
  examiner.SetGetStride(sample_.entries.size() / 20 + 1);
  std::string bytes = sample_.bytes;
  ASSERT_TRUE(examiner.IsHonest(bytes));
  ASSERT_EQ(examiner.opened_count(), 1u);
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += GetParam().bit_stride) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(examiner.IsHonest(bytes)) << "bit " << bit % 8 << " of byte " << bit / 8;
    bytes[bit / 8] = sample_.bytes[bit / 8];
  }
}

TEST_P(DamagedTable, EveryTruncationIsNoticed) {
  Examiner examiner(sample_);
  for (size_t n = 0; n < sample_.bytes.size(); ++n) {
    ASSERT_TRUE(examiner.IsHonest(sample_.bytes.substr(0, n))) << n << " bytes";
  }
  EXPECT_EQ(examiner.opened_count(), 0u);
}

TEST_P(DamagedTable, BytesBehindTheEndAreNoticed) {
  Examiner examiner(sample_);
  Random64 random(3);
  for (const size_t n : {1, 7, 53, 512, 4096}) {
    EXPECT_TRUE(examiner.IsHonest(sample_.bytes + std::string(n, '\0'))) << n << " zero bytes";
    EXPECT_TRUE(examiner.IsHonest(sample_.bytes + random.Bytes(n))) << n << " random bytes";
  }
}

TEST_P(DamagedTable, ZeroedPiecesAreNoticed) {
  Examiner examiner(sample_);
  examiner.SetGetStride(sample_.entries.size() / 50 + 1);
  for (size_t at = 0; at < sample_.bytes.size(); at += 64) {
    std::string bytes = sample_.bytes;
    for (size_t i = at; i < std::min(at + 64, bytes.size()); ++i) bytes[i] = '\0';
    EXPECT_TRUE(examiner.IsHonest(bytes)) << "64 bytes at " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, DamagedTable,
                         testing::Values(CorruptionCase{"v78_basic20_fv5", 1},
                                         CorruptionCase{"v78_crc32c_fv2", 3},
                                         CorruptionCase{"v119_checksum_xxh3_fv6", 3},
                                         CorruptionCase{"v119_checksum_crc32c_fv7", 5},
                                         CorruptionCase{"v78_checksum_xxhash64_fv5", 7},
                                         CorruptionCase{"v78_nofilter_fv5", 7},
                                         CorruptionCase{"v119_separate_kv_hash_fv7", 7},
                                         CorruptionCase{"v78_index_firstkey_fv5", 7},
                                         CorruptionCase{"v78_versions_fv5", 7},
                                         CorruptionCase{"v78_ingested_written_seqno_fv5", 3},
                                         CorruptionCase{"v119_dict_zstd_fv7", 31}),
                         [](const auto& info) { return info.param.name; });

// The same table, with a footer that says that its blocks have no checksums.
std::string WithoutChecksums(const std::string& bytes) {
  const uint64_t footer_offset = bytes.size() - kFooterBytes;
  auto footer = DecodeFooter(Slice(bytes.data() + footer_offset, kFooterBytes), bytes.size(), "");
  EXPECT_OK(footer);
  footer->checksum.type = kNoChecksum;
  std::string result = bytes.substr(0, footer_offset);
  AppendFooter(*footer, footer_offset, &result);
  return result;
}

std::string Mutated(const std::string& bytes, Random64* random) {
  std::string result = bytes;
  for (uint64_t i = 1 + random->Uniform(6); i > 0; --i) {
    // The tail has the index and the properties; it is damaged as often as the data.
    const size_t n = random->OneIn(2) ? result.size() : std::min<size_t>(result.size(), 1500);
    const size_t at = result.size() - 1 - random->Uniform(n);
    switch (random->Uniform(4)) {
      case 0: result[at] = static_cast<char>(random->Next()); break;
      case 1: result[at] = static_cast<char>(result[at] + (random->OneIn(2) ? 1 : -1)); break;
      case 2: result[at] = random->OneIn(2) ? '\xff' : '\0'; break;
      default: result[at] = bytes[random->Uniform(bytes.size())];
    }
  }
  return result;
}

class LyingTable : public testing::TestWithParam<std::string> {};

TEST_P(LyingTable, IsReadWithoutHarm) {
  const SampleTable sample = LoadSampleTable(GetParam());
  const std::string intact = WithoutChecksums(sample.bytes);
  BlockCacheView cache(NewLRUCache(1 << 20));
  for (const bool use_cache : {false, true}) {
    Examiner examiner(sample, use_cache ? &cache : nullptr);
    ASSERT_TRUE(examiner.IsHonest(intact));
    examiner.any_content_ = true;
    examiner.SetGetStride(sample.entries.size() / 20 + 1);
    Random64 random(11);
    for (int round = 0; round < 700; ++round) {
      ASSERT_TRUE(examiner.IsHonest(Mutated(intact, &random))) << "round " << round;
    }
    EXPECT_GT(examiner.opened_count(), 100u);
  }
  EpochDrain();
}

std::vector<std::string> ReadableSmallSamples() {
  std::vector<std::string> names;
  for (const std::string& name : SmallSampleTableNames()) {
    if (name.find("_old_") == std::string::npos && name.find("_udt_") == std::string::npos) {
      names.push_back(name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Samples, LyingTable, testing::ValuesIn(ReadableSmallSamples()),
                         [](const auto& info) { return info.param; });

TEST(DamageReport, NamesFileOffsetExpectedAndFound) {
  const SampleTable sample = LoadSampleTable("v78_basic20_fv5");
  std::string bytes = sample.bytes;
  bytes[10] = static_cast<char>(bytes[10] ^ 1);  // in the first data block
  const InternalKeyComparator icmp(BytewiseComparator());
  TableReaderOptions options;
  options.icmp = &icmp;
  auto opened = TableReader::Open(ReaderOverBytes(bytes, "/db/000017.sst"), options);
  ASSERT_OK(opened);
  std::unique_ptr<InternalIterator> iterator((*opened)->NewIterator(ReadOptions(), nullptr));
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  const std::string text = iterator->status().ToString();
  for (const char* part : {"/db/000017.sst", "offset 0", "expected", "found", "data block"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ashlar
