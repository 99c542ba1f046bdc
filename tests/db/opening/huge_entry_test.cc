// SPDX-License-Identifier: Apache-2.0
//
// A value of more than 2 GiB, which some lengths of 32 bits could not say: it is written, replayed
// and flushed like any other.
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "tests/support/ample_memory.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr size_t kHugeBytes = (size_t{1} << 31) + 5;
constexpr uint64_t kNeededDisk = uint64_t{6} << 30;  // log and table

uint64_t FreeDisk(const std::string& dir) {
  struct statvfs facts {};
  if (statvfs(dir.c_str(), &facts) != 0) return 0;
  return uint64_t{facts.f_bavail} * facts.f_frsize;
}

// What this build or machine lacks to hold such a value; null: nothing.
const char* WhatIsMissing(const std::string& dir) {
  // Value, batch, memtable, log record.
  if (!HasAmpleMemory(12)) return "a value of 2 GiB: 12 GiB of free memory";
  if (FreeDisk(dir) < kNeededDisk) return "a value of 2 GiB: 6 GiB of free disk";
  return nullptr;
}

TEST(HugeEntry, IsReplayedAndFlushed) {
  const std::string dir = FreshTempDir("huge_entry");
  if (const char* missing = WhatIsMissing(dir)) return SkipAsImpossible(missing);
  Options options;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.avoid_flush_during_shutdown = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "precious"));
  {
    std::string huge(kHugeBytes, 'x');
    huge.back() = 'y';
    ASSERT_OK(db->Put(WriteOptions(), "huge", huge));
  }
  ASSERT_OK(db->Put(WriteOptions(), "z", "also"));
  db.reset();
  ASSERT_OK(DB::Open(options, dir, &db)) << "replayed from the log";
  ASSERT_OK(db->Flush(FlushOptions()));
  PinnableSlice value;
  ASSERT_OK(db->Get(ReadOptions(), db->DefaultColumnFamily(), "huge", &value));
  EXPECT_EQ(value.size(), kHugeBytes);
  EXPECT_EQ(value[0], 'x');
  EXPECT_EQ(value[kHugeBytes - 1], 'y');
  value.Reset();
  for (const auto& [key, expected] : {std::pair{"a", "precious"}, std::pair{"z", "also"}}) {
    std::string found;
    ASSERT_OK(db->Get(ReadOptions(), key, &found));
    EXPECT_EQ(found, expected);
  }
}

// A compressed log could not be read beyond 4 GiB of one record.
TEST(HugeEntry, NoBatchOf4GiBGoesIntoACompressedLog) {
  const std::string dir = FreshTempDir("huge_batch");
  if (const char* missing = WhatIsMissing(dir)) return SkipAsImpossible(missing);
  Options options;
  options.create_if_missing = true;
  options.wal_compression = kZSTD;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  WriteBatch batch(/*reserved_bytes=*/(size_t{1} << 32) + (size_t{1} << 20));
  const std::string value(size_t{1} << 29, 'v');
  for (int i = 0; i < 8; i++) ASSERT_OK(batch.Put(std::to_string(i), value));
  const Status status = db->Write(WriteOptions(), &batch);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("wal_compression"), std::string::npos) << status.ToString();
  ASSERT_OK(db->Put(WriteOptions(), "small", "v"));
}

}  // namespace
}  // namespace ashlar
