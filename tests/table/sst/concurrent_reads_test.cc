// SPDX-License-Identifier: Apache-2.0
//
// Threads look up, scan and seek in one table, while a cache that is far too small evicts their
// blocks and hot blocks are decoded. Run it under the thread and address sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
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
#include "util/random.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

struct ReadCase {
  const char* sample;
  size_t cache_bytes;
};

class ConcurrentReads : public testing::TestWithParam<ReadCase> {
 protected:
  ConcurrentReads()
      : sample_(LoadSampleTable(GetParam().sample)),
        cache_(NewLRUCache(GetParam().cache_bytes, 0)) {
    TableReaderOptions options;
    options.icmp = &icmp_;
    options.block_cache = &cache_;
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, sample_.name), options);
    EXPECT_OK(opened);
    reader_ = opened.Take();
  }
  void TearDown() override {
    reader_.reset();
    EpochDrain();
  }

  bool GetIsRight(const SampleEntry& entry) const {
    PinnableSlice value;
    {
      const LookupKey key(ExtractUserKey(entry.internal_key),
                          TrailerSeqno(ExtractTrailer(entry.internal_key)), icmp_.order());
      PointLookup lookup(key, &value);
      if (!LookUp(*reader_, ReadOptions(), &lookup).ok()) return false;
      if (lookup.outcome() != PointLookup::Outcome::kFound) return false;
    }
    return value == Slice(entry.value);  // pinned or copied: good without the guard
  }

  bool ScanIsRight(size_t from, size_t count) const {
    std::unique_ptr<InternalIterator> iterator(reader_->NewIterator(ReadOptions(), nullptr));
    iterator->Seek(sample_.entries[from].internal_key);
    for (size_t i = from; i < std::min(from + count, sample_.entries.size()); ++i) {
      if (!iterator->Valid() || iterator->key() != Slice(sample_.entries[i].internal_key) ||
          iterator->value() != Slice(sample_.entries[i].value)) {
        return false;
      }
      iterator->Next();
    }
    return iterator->status().ok();
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  const SampleTable sample_;
  BlockCacheView cache_;
  std::unique_ptr<TableReader> reader_;
};

TEST_P(ConcurrentReads, SeeEveryEntryWhileBlocksComeAndGo) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      Random64 random(seed);
      for (int i = 0; i < 3000; ++i) {
        const size_t at = random.Uniform(sample_.entries.size());
        const bool is_right = random.OneIn(10) ? ScanIsRight(at, random.Uniform(100))
                                               : GetIsRight(sample_.entries[at]);
        if (!is_right) wrong.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Caches, ConcurrentReads,
                         testing::Values(ReadCase{"v78_index_twolevel_fv5", 12 << 10},
                                         ReadCase{"v78_index_twolevel_fv5", 1 << 20},
                                         ReadCase{"v78_partitioned_filter_prefix_fv5", 8 << 10},
                                         ReadCase{"v119_dict_zstd_fv7", 6 << 10}));

}  // namespace
}  // namespace ashlar
