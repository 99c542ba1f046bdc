// SPDX-License-Identifier: Apache-2.0
//
// A value of more than 2 GiB, whose length does not fit into a signed 32-bit number, is written,
// replayed and flushed like any other.
#include <sys/statvfs.h>

#include "tests/support/ample_memory.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr size_t kHugeBytes = (size_t{1} << 31) + 5;
constexpr uint64_t kNeededDisk = uint64_t{6} << 30;  // log and table

uint64_t FreeDisk(const std::string& dir) {
  struct statvfs facts {};
  if (statvfs(dir.c_str(), &facts) != 0) return 0;
  return uint64_t{facts.f_bavail} * facts.f_frsize;
}

// What this build or machine lacks to hold such a value; null: nothing is missing.
const char* WhatIsMissing(const std::string& dir) {
  // For the value, the batch, the memtable and the log record.
  if (!HasAmpleMemory(12)) return "a value of 2 GiB: 12 GiB of free memory";
  if (FreeDisk(dir) < kNeededDisk) return "a value of 2 GiB: 6 GiB of free disk";
  return nullptr;
}

TEST(HugeEntry, IsReplayedAndFlushed) {
  const std::string dir = FreshTempDir("huge_entry");
  if (const char* missing = WhatIsMissing(dir)) return SkipAsImpossible(missing);
  TestDb test(FileSystem::Default());
  test.dir() = dir;
  test.options().create_if_missing = true;
  test.options().compression = kNoCompression;
  test.options().avoid_flush_during_shutdown = true;
  test.Open();
  test.Put("a", "precious");
  {
    std::string huge(kHugeBytes, 'x');
    huge.back() = 'y';
    test.Put("huge", huge);
  }
  test.Put("z", "also");
  test.Reopen();  // replays the log
  ASSERT_NE(test.db(), nullptr);
  test.Flush();
  PinnableSlice value;
  ASSERT_OK(test.db()->Get(ReadOptions(), test.db()->DefaultColumnFamily(), "huge", &value));
  EXPECT_EQ(value.size(), kHugeBytes);
  EXPECT_EQ(value[0], 'x');
  EXPECT_EQ(value[kHugeBytes - 1], 'y');
  value.Reset();
  EXPECT_EQ(test.Get("a"), "precious");
  EXPECT_EQ(test.Get("z"), "also");
}

// A record of more than 4 GiB could not be read from a compressed log.
TEST(HugeEntry, NoBatchOf4GiBGoesIntoACompressedLog) {
  const std::string dir = FreshTempDir("huge_batch");
  if (const char* missing = WhatIsMissing(dir)) return SkipAsImpossible(missing);
  TestDb test(FileSystem::Default());
  test.dir() = dir;
  test.options().create_if_missing = true;
  test.options().wal_compression = kZSTD;
  test.Open();
  WriteBatch batch(/*reserved_bytes=*/(size_t{1} << 32) + (size_t{1} << 20));
  const std::string value(size_t{1} << 29, 'v');
  for (int i = 0; i < 8; i++) ASSERT_OK(batch.Put(std::to_string(i), value));
  const Status status = test.db()->Write(WriteOptions(), &batch);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("wal_compression"), std::string::npos) << status.ToString();
  test.Put("small", "v");
}

}  // namespace
}  // namespace ashlar
