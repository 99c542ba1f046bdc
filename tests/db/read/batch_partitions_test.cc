// SPDX-License-Identifier: Apache-2.0
//
// A batch that needs partitions of filters and indexes reads those that are missing together,
// whether or not the cache keeps them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "tests/support/read_recorder.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Of tables that RocksDB wrote with partitions of filter and index: first all partitions of the
// filter that the batch needs, then those of the index, then the blocks.
TEST(PartitionsOfABatch, AreReadTogether) {
  const std::string name = "rocksdb-7.8/partitioned_xxh3";
  const std::vector<std::string> samples = SampleDatabaseNames();
  if (std::find(samples.begin(), samples.end(), name) == samples.end()) {
    return SkipAsMissing("the sample " + name);
  }
  const std::string dir = UnpackSampleDatabase(name);
  ReadRecorder recorder;
  const std::unique_ptr<Env> env(
      NewCompositeEnv(std::make_shared<RecordingFileSystem>(FileSystem::Default(), &recorder)));
  Options options;
  options.env = env.get();
  std::unique_ptr<DB> db;
  std::vector<std::string> names;
  auto families = SampleDatabaseEntries(name);
  for (const auto& [key, value] : families["default"]) names.push_back(key);
  const auto open = [&] {
    db.reset();
    ASSERT_OK(DB::OpenForReadOnly(options, dir, &db));
    // Opens the tables and keeps nothing of them.
    ReadOptions no_trace;
    no_trace.fill_cache = false;
    std::string value;
    for (const std::string& key : {names.front(), names[names.size() / 2], names.back()}) {
      ASSERT_OK(db->Get(no_trace, key, &value));
    }
    recorder.Take();
  };
  std::vector<Slice> keys;
  for (size_t i = 0; i < 32; i++) keys.emplace_back(names[i * (names.size() - 1) / 31]);
  std::vector<std::string> values;
  // Kept in the cache, thrown away behind the batch, and without a cache.
  for (const bool has_cache : {true, false}) {
    for (const bool fills : {false, true}) {
      SCOPED_TRACE(has_cache ? fills ? "kept" : "not kept" : "no cache");
      BlockBasedTableOptions table;
      table.no_block_cache = !has_cache;
      options.table_factory.reset(NewBlockBasedTableFactory(table));
      ASSERT_NO_FATAL_FAILURE(open());
      ReadOptions read;
      read.fill_cache = fills;
      for (const Status& status : db->MultiGet(read, keys, &values)) EXPECT_OK(status);
      EXPECT_LE(recorder.Take().size(), keys.size() + 4)
          << "a block for each key; for filter and index one read each in two tables";
      for (size_t i = 0; i < keys.size(); i++) {
        std::string value;
        EXPECT_OK(db->Get(ReadOptions(), keys[i], &value));
        EXPECT_EQ(values[i], value);
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
