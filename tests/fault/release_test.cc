// SPDX-License-Identifier: Apache-2.0
//
// Releasing resources never fails: if a destructor needs memory to delete files and has none, they
// stay until a later deletion or the next open.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "tests/fault/allocation_hook.h"
#include "tests/support/paths.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

size_t CountTables(const std::string& dir) {
  std::vector<std::string> names;
  EXPECT_TRUE(Env::Default()->GetChildren(dir, &names).ok());
  return static_cast<size_t>(std::count_if(
      names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); }));
}

// The iterator is the last user of two tables that a compaction has replaced.
TEST(ReleaseFaults, AnIteratorIsDestroyedWithoutMemoryForObsoleteFiles) {
  BeginCase("iterator released without memory");
  bool has_failed = true;
  for (uint64_t which = 0; has_failed; ++which) {
    const std::string dir = FreshTempDir("release_" + std::to_string(which));
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, dir, &db).ok());
    for (const char* value : {"old", "new"}) {
      ASSERT_TRUE(db->Put(WriteOptions(), "key", value).ok());
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    }
    std::unique_ptr<Iterator> iterator(db->NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    ASSERT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    uint64_t countdown = which;
    {
      const AllocationFault armed(&countdown);
      iterator.reset();
    }
    has_failed = countdown == UINT64_MAX;
    ASSERT_TRUE(db->Close().ok());
    ASSERT_TRUE(DB::Open(options, dir, &db).ok());
    std::string value;
    ASSERT_TRUE(db->Get(ReadOptions(), "key", &value).ok()) << which;
    EXPECT_EQ(value, "new");
    EXPECT_EQ(CountTables(dir), 1u) << "allocation " << which;
    EXPECT_TRUE(has_failed || which > 0);
  }
  EndCases();
}

// Releases of closing a database: versions, tables, families, memtables.
TEST(ReleaseFaults, ADatabaseIsClosedWithoutMemory) {
  BeginCase("database destroyed without memory");
  bool has_failed = true;
  uint64_t failures = 0;
  for (uint64_t which = 0; has_failed; ++which) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    Options options;
    options.env = env.get();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.disable_auto_compactions = true;
    const std::vector<ColumnFamilyDescriptor> families = {{"default", options}, {"other", options}};
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/db", families, &handles, &db).ok());
    for (const char* key : {"a", "b", "c"}) {
      for (ColumnFamilyHandle* handle : handles) {
        ASSERT_TRUE(db->Put(WriteOptions(), handle, key, key).ok());
        ASSERT_TRUE(db->Flush(FlushOptions(), handle).ok());
      }
    }
    for (ColumnFamilyHandle* handle : handles) delete handle;
    ASSERT_TRUE(db->Close().ok());
    uint64_t countdown = which;
    {
      const AllocationFault armed(&countdown);
      db.reset();
    }
    has_failed = countdown == UINT64_MAX;
    failures += has_failed ? 1 : 0;
  }
  EXPECT_EQ(failures, 0u) << "the end asks for memory, and lives without it";
  EndCases();
}

}  // namespace
}  // namespace ashlar
