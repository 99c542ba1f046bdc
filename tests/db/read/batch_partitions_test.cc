// SPDX-License-Identifier: Apache-2.0
//
// A batch reads the missing partitions of filters and indexes together, whether or not the cache
// keeps them.
#include <algorithm>

#include "tests/support/read_recorder.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// In tables of RocksDB with partitioned filters and indexes, the batch first reads all partitions
// of the filter that it needs, then those of the index, then the blocks.
TEST(PartitionsOfABatch, AreReadTogether) {
  const std::string name = "rocksdb-7.8/partitioned_xxh3";
  const std::vector<std::string> samples = SampleDatabaseNames();
  if (std::find(samples.begin(), samples.end(), name) == samples.end()) {
    return SkipAsMissing("the sample " + name);
  }
  ReadRecorder recorder;
  TestDb test(std::make_shared<RecordingFileSystem>(FileSystem::Default(), &recorder));
  test.dir() = UnpackSampleDatabase(name);
  const auto entries = SampleDatabaseEntries(name)["default"];
  const auto open = [&] {
    test.OpenReadOnly();
    // Opens the tables and caches nothing.
    ReadOptions no_trace;
    no_trace.fill_cache = false;
    for (const size_t i : {size_t{0}, entries.size() / 2, entries.size() - 1}) {
      ASSERT_EQ(test.Get(entries[i].first, no_trace), entries[i].second);
    }
    recorder.Take();
  };
  std::vector<Slice> keys;
  for (size_t i = 0; i < 32; i++) keys.emplace_back(entries[i * (entries.size() - 1) / 31].first);
  std::vector<std::string> values;
  // Kept in the cache, dropped after the batch, and without a cache.
  for (const bool has_cache : {true, false}) {
    for (const bool fills : {false, true}) {
      SCOPED_TRACE(has_cache ? fills ? "kept" : "not kept" : "no cache");
      BlockBasedTableOptions table;
      table.no_block_cache = !has_cache;
      test.options().table_factory.reset(NewBlockBasedTableFactory(table));
      ASSERT_NO_FATAL_FAILURE(open());
      ReadOptions read;
      read.fill_cache = fills;
      for (const Status& status : test.db()->MultiGet(read, keys, &values)) EXPECT_OK(status);
      EXPECT_LE(recorder.Take().size(), keys.size() + 4)
          << "a block for each key; for filter and index one read each in two tables";
      for (size_t i = 0; i < keys.size(); i++) EXPECT_EQ(values[i], test.Get(keys[i]));
    }
  }
}

}  // namespace
}  // namespace ashlar
