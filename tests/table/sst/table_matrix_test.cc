// SPDX-License-Identifier: Apache-2.0
//
// Tables with combined options read as they were written: every key, every absent key, both
// directions, batches, prefixes, and VerifyChecksums(). Prints the combinations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/options.h"
#include "cache/block_cache.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "tests/support/table_matrix.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class MatrixReader {
 public:
  explicit MatrixReader(const MatrixTable& matrix) : matrix_(matrix) {
    TableReaderOptions options;
    options.icmp = matrix.icmp.get();
    options.prefix_extractor = matrix.extractor.get();
    if (matrix.uses_cache) cache_ = std::make_unique<BlockCacheView>(NewLRUCache(1 << 20, 0));
    options.block_cache = cache_.get();
    auto opened = TableReader::Open(ReaderOverBytes(matrix.bytes, "matrix.sst"), options);
    EXPECT_OK(opened) << matrix.description;
    if (opened.ok()) reader_ = opened.Take();
    for (const SampleEntry& entry : matrix.points) {
      user_keys_.insert(ExtractUserKey(entry.internal_key).ToString());
    }
  }
  ~MatrixReader() {
    reader_.reset();
    EpochDrain();
  }

  void CheckAll() {
    if (reader_ == nullptr) return;
    CheckProperties();
    CheckScans();
    CheckSeeks();
    for (int round = 0; round < 2; ++round) CheckGets();
    CheckAbsence();
    CheckBatches();
    CheckPrefixes();
    EXPECT_OK(reader_->VerifyChecksums(ReadOptions()));
  }

 private:
  void CheckProperties() {
    const TableProperties& p = reader_->properties();
    EXPECT_EQ(p.num_entries, matrix_.points.size() + matrix_.tombstones.size());
    EXPECT_EQ(p.num_range_deletions, matrix_.tombstones.size());
    EXPECT_EQ(p.num_filter_entries, matrix_.properties.num_filter_entries);
    EXPECT_EQ(p.index_partitions, matrix_.properties.index_partitions);
    EXPECT_EQ(reader_->tombstones() != nullptr, !matrix_.tombstones.empty());
  }

  void ExpectAt(const InternalIterator& it, size_t i) {
    ASSERT_OK(it.status());
    ASSERT_EQ(it.Valid(), i < matrix_.points.size());
    if (!it.Valid()) return;
    ASSERT_EQ(it.key().ToString(true), Slice(matrix_.points[i].internal_key).ToString(true));
    ASSERT_EQ(it.value().ToString(true), Slice(matrix_.points[i].value).ToString(true));
  }

  void CheckScans() {
    const std::unique_ptr<InternalIterator> it(reader_->NewIterator(ReadOptions(), nullptr));
    it->SeekToFirst();
    for (size_t i = 0; i <= matrix_.points.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, i));
      if (it->Valid()) it->Next();
    }
    it->SeekToLast();
    for (size_t i = matrix_.points.size(); i-- > 0;) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, i));
      it->Prev();
    }
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }

  void CheckSeeks() {
    const std::unique_ptr<InternalIterator> it(reader_->NewIterator(ReadOptions(), nullptr));
    for (size_t i = 0; i < matrix_.points.size(); i += 1 + i % 5) {
      const std::string& key = matrix_.points[i].internal_key;
      it->Seek(key);
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, i));
      it->SeekForPrev(key);
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, i));
      // A key directly behind this version, and one before all versions of the key.
      const Slice user_key = ExtractUserKey(key);
      it->Seek(MakeInternalKey(user_key, TrailerSeqno(ExtractTrailer(key)) - 1, kValueTypeForSeek));
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, i + 1));
      it->SeekForPrev(MakeInternalKey(user_key, kMaxSequenceNumber, kValueTypeForSeek));
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, FirstVersionOf(i) - 1));
    }
  }

  size_t FirstVersionOf(size_t i) const {
    while (i > 0 && ExtractUserKey(matrix_.points[i - 1].internal_key) ==
                        ExtractUserKey(matrix_.points[i].internal_key)) {
      --i;
    }
    return i;
  }

  static void ExpectLookup(const PointLookup& lookup, const PinnableSlice& value,
                           const SampleEntry& entry) {
    ASSERT_OK(lookup.status());
    switch (TrailerType(ExtractTrailer(entry.internal_key))) {
      case kTypeValue:
        ASSERT_EQ(lookup.outcome(), PointLookup::Outcome::kFound);
        ASSERT_EQ(value.ToString(), entry.value);
        break;
      case kTypeMerge:
        ASSERT_NE(lookup.operands(), nullptr);
        ASSERT_EQ(lookup.operands()->all().front(), Slice(entry.value));
        break;
      default: ASSERT_EQ(lookup.outcome(), PointLookup::Outcome::kDeleted);
    }
  }

  LookupKey KeyOf(const SampleEntry& entry) const {
    return LookupKey(ExtractUserKey(entry.internal_key),
                     TrailerSeqno(ExtractTrailer(entry.internal_key)), matrix_.icmp->order());
  }

  void CheckGets() {
    for (const SampleEntry& entry : matrix_.points) {
      const LookupKey key = KeyOf(entry);
      PinnableSlice value;
      PointLookup lookup(key, &value);
      ASSERT_OK(LookUp(*reader_, ReadOptions(), &lookup));
      ASSERT_NO_FATAL_FAILURE(ExpectLookup(lookup, value, entry));
    }
  }

  void CheckBatches() {
    std::vector<LookupKey> keys;
    for (const SampleEntry& entry : matrix_.points) keys.push_back(KeyOf(entry));
    LookUpTogether(reader_.get(), keys,
                   [this](size_t i, const PointLookup& lookup, const PinnableSlice& value) {
                     if (!testing::Test::HasFatalFailure())
                       ExpectLookup(lookup, value, matrix_.points[i]);
                   });
  }

  std::vector<std::string> AbsentKeys() const {
    std::vector<std::string> keys = {"~~", std::string(70, 'q')};
    for (const std::string& key : user_keys_) {
      keys.push_back(key + "a");
      if (!key.empty()) keys.push_back(key.substr(0, key.size() - 1));
      if (!key.empty()) keys.push_back("x" + key);
    }
    std::erase_if(keys, [this](const std::string& key) { return user_keys_.contains(key); });
    return keys;
  }

  void CheckAbsence() {
    size_t rejected = 0;
    const std::vector<std::string> keys = AbsentKeys();
    for (const std::string& user_key : keys) {
      const LookupKey key(user_key, kMaxSequenceNumber, matrix_.icmp->order());
      PointLookup lookup(key, nullptr);
      ASSERT_OK(LookUp(*reader_, ReadOptions(), &lookup));
      ASSERT_FALSE(lookup.decided()) << Slice(user_key).ToString(true);
      rejected += lookup.counters.filter_useful;
    }
    // A filter that always matches would pass all checks above.
    const bool has_filter = matrix_.properties.num_filter_entries != 0;
    if (!has_filter || !matrix_.table.whole_key_filtering || keys.size() < 20) return;
    EXPECT_GT(rejected, keys.size() / 2);
  }

  // At or behind the target, or at or before it.
  bool HasPrefixFrom(const Slice& prefix, const Slice& target, bool is_forward) const {
    const Comparator& order = *matrix_.icmp->user_comparator();
    return std::any_of(user_keys_.begin(), user_keys_.end(), [&](const std::string& key) {
      if (!matrix_.extractor->InDomain(key)) return false;
      const int side = order.Compare(key, target);
      return matrix_.extractor->Transform(key) == prefix && (is_forward ? side >= 0 : side <= 0);
    });
  }

  void CheckPrefixes() {
    if (matrix_.extractor == nullptr) return;
    std::vector<std::string> targets = AbsentKeys();
    targets.insert(targets.end(), user_keys_.begin(), user_keys_.end());
    for (size_t i = 0; i < targets.size(); i += 1 + i % 3) {
      if (!matrix_.extractor->InDomain(targets[i])) continue;
      const Slice prefix = matrix_.extractor->Transform(targets[i]);
      for (const bool is_forward : {true, false}) {
        const std::string key = MakeInternalKey(targets[i], is_forward ? kMaxSequenceNumber : 0,
                                                is_forward ? kValueTypeForSeek : kTypeDeletion);
        const FilterAnswer answer =
            reader_->AskForPrefix(ReadOptions(), {.extractor = matrix_.extractor.get(),
                                                  .prefix = prefix,
                                                  .internal_key = key,
                                                  .is_forward = is_forward});
        if (answer != FilterAnswer::kAbsent) continue;
        ASSERT_FALSE(HasPrefixFrom(prefix, targets[i], is_forward))
            << Slice(targets[i]).ToString(true) << (is_forward ? " forwards" : " backwards");
      }
    }
  }

  const MatrixTable& matrix_;
  std::unique_ptr<BlockCacheView> cache_;
  std::unique_ptr<TableReader> reader_;
  std::set<std::string> user_keys_;
};

// ASHLAR_MATRIX_TABLES sets the number of tables, ASHLAR_MATRIX_SEED the seed.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(TableMatrix, CrossedOptionsReadAsTheyWereWritten) {
  const uint64_t count = FromEnvironment("ASHLAR_MATRIX_TABLES", 600);
  const uint64_t seed = FromEnvironment("ASHLAR_MATRIX_SEED", 20'000'000);
  MatrixCoverage coverage;
  for (uint64_t i = 0; i < count; ++i) {
    const std::unique_ptr<MatrixTable> matrix = MakeMatrixTable(seed + i, false);
    ASSERT_FALSE(HasFatalFailure()) << matrix->description;
    SCOPED_TRACE(matrix->description);
    MatrixReader(*matrix).CheckAll();
    ASSERT_FALSE(HasFailure());
    coverage.Add(matrix->choices);
  }
  std::printf("table matrix: seed %llu, %zu combinations, %zu of %zu pairs of values\n",
              static_cast<unsigned long long>(seed), coverage.combinations(), coverage.pairs(),
              coverage.possible_pairs());
  EXPECT_GE(coverage.combinations(), std::min<uint64_t>(count, 500));
  if (count >= 500) {
    EXPECT_GE(coverage.pairs() * 100, coverage.possible_pairs() * 99);
  }
}

}  // namespace
}  // namespace ashlar
