// SPDX-License-Identifier: Apache-2.0
//
// A value of more than 2 GiB, which some lengths of 32 bits could not say: it is written, replayed
// and flushed like any other.
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <fstream>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr size_t kHugeBytes = (size_t{1} << 31) + 5;
constexpr uint64_t kNeededMemory = uint64_t{12} << 30;  // value, batch, memtable, log record
constexpr uint64_t kNeededDisk = uint64_t{6} << 30;     // log and table

uint64_t AvailableMemory() {
  std::ifstream facts("/proc/meminfo");
  std::string name, unit;
  uint64_t kilobytes = 0;
  while (facts >> name >> kilobytes) {
    std::getline(facts, unit);
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

uint64_t FreeDisk(const std::string& dir) {
  struct statvfs facts {};
  if (statvfs(dir.c_str(), &facts) != 0) return 0;
  return uint64_t{facts.f_bavail} * facts.f_frsize;
}

// What this build or machine lacks to hold such a value; null: nothing.
const char* WhatIsMissing(const std::string& dir) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "a value of 2 GiB under a sanitizer";
#endif
  if (AvailableMemory() < kNeededMemory) return "a value of 2 GiB: 12 GiB of free memory";
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

}  // namespace
}  // namespace ashlar
