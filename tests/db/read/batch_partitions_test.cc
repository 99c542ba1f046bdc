// SPDX-License-Identifier: Apache-2.0
//
// A batch that needs partitions of filters and indexes reads those that are missing together, where
// they can be kept for the keys that come to them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "tests/support/read_recorder.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Of a table that RocksDB wrote with partitions of filter and index: first all partitions of the
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
  size_t reads = 0, reads_one_by_one = 0;
  for (const bool fills : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(open());
    ReadOptions read;
    read.fill_cache = fills;
    for (const Status& status : db->MultiGet(read, keys, &values)) EXPECT_OK(status);
    (fills ? reads : reads_one_by_one) = recorder.Take().size();
    for (size_t i = 0; i < keys.size(); i++) {
      std::string value;
      EXPECT_OK(db->Get(ReadOptions(), keys[i], &value));
      EXPECT_EQ(values[i], value);
    }
  }
  EXPECT_GT(reads_one_by_one, 12u) << "where partitions cannot be kept, each key reads its own";
  EXPECT_LE(reads, 6u) << "of the filter, of the index, and blocks; neighbours are one read";
}

}  // namespace
}  // namespace ashlar
