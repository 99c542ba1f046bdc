// SPDX-License-Identifier: Apache-2.0
//
// The memory of one huge batch or value returns to the system once a table has it: the memory of
// the batch, the log, the memtable, the table builder and the cache.
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "ashlar/cache.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "util/memory/slab_heap.h"

namespace ashlar {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kHugeBytes = 96 * kMiB;
constexpr size_t kRestBytes = 24 * kMiB;  // a small part of it may stay in memory

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

struct Kind {
  const char* name;
  size_t value_bytes;
  bool disable_wal;
  bool maps_log;
};

class HugeBatchTest : public DbTestWith<Kind> {
 protected:
  void Open() {
    dir_ = GetParam().maps_log ? FreshMappableDir("huge") : FreshTempDir("huge");
    if (dir_.empty()) return SkipAsMissing(kMappableFileSystem);
    UseFiles(FileSystem::Default());
    options_.manual_wal_flush = !GetParam().maps_log;  // which has a buffered log
    options_.max_total_wal_size = 4 * kHugeBytes;
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(kMiB);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DbTest::Open();
    Put("first", std::string(kMiB, 'x'));
    Flush();
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, HugeBatchTest,
                         testing::Values(Kind{"Batch", kMiB, false, false},
                                         Kind{"BatchWithMappedLog", kMiB, false, true},
                                         Kind{"BatchWithoutLog", 1000, true, false},
                                         Kind{"Value", kHugeBytes, false, false}),
                         [](const auto& info) { return info.param.name; });

TEST_P(HugeBatchTest, IsGivenBack) {
  if (kHeapIsWatched) return SkipAsImpossible("memory of freed objects goes back at once");
  Open();
  if (db_ == nullptr) return;
  const size_t before = ResidentBytes();
  size_t during = 0;
  {
    WriteBatch batch(kHugeBytes + kHugeBytes / 8);
    const std::string value(GetParam().value_bytes, 'v');
    for (size_t i = 0; i * value.size() < kHugeBytes; ++i) {
      ASSERT_OK(batch.Put("key" + std::to_string(i), value));
    }
    ASSERT_OK(db_->Write(GetParam().disable_wal ? Unlogged() : WriteOptions(), &batch));
    during = ResidentBytes();
  }
  EXPECT_GT(during, before + kHugeBytes);
  Flush();
  WaitForJobs();
  EXPECT_LT(ResidentBytes(), before + kRestBytes);
  PinnableSlice found;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "key0", &found));
  EXPECT_EQ(found.size(), GetParam().value_bytes);
  found.Reset();
  EXPECT_LT(ResidentBytes(), before + kRestBytes);
}

}  // namespace
}  // namespace ashlar
