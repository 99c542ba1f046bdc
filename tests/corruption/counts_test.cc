// SPDX-License-Identifier: Apache-2.0
//
// A table whose properties have more entries than it contains, with matching checksums: a
// compaction that reads it misses entries and must fail.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/corruption/records.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// The value of the property rocksdb.num.entries, one byte; keys are stored without their shared
// prefix.
size_t FindEntryCount(const std::string& table, const TableBlock& properties) {
  const std::string name = "entries";
  size_t at = table.find(name, properties.offset);
  while (at != std::string::npos && table[at - 1] == '_') at = table.find(name, at + 1);
  return at == std::string::npos || at > properties.end() ? 0 : at + name.size();
}

TEST(EntryCounts, ACompactionThatReadsTooFewEntriesFails) {
  constexpr char kEntries = 10;
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (int flush = 0; flush < 2; flush++) {
    for (char key = 'a'; key < 'a' + kEntries; key++) {
      ASSERT_OK(db->Put(WriteOptions(), std::string(1, key), std::to_string(flush)));
    }
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  std::vector<LiveFileMetaData> tables;
  db->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_OK(db->Close());
  db.reset();

  const std::string path = "/db/" + tables[0].relative_filename;
  std::string table;
  ASSERT_OK(ReadFileToString(env.get(), path, &table));
  const TableLayout layout = FindBlocks(table);
  bool is_changed = false;
  for (const TableBlock& block : layout.blocks) {
    if (block.kind != "properties") continue;
    const size_t at = FindEntryCount(table, block);
    ASSERT_GT(at, 0u);
    ASSERT_EQ(table[at], kEntries);
    table[at] = kEntries + 1;
    FixBlock(layout, block, &table);
    is_changed = true;
  }
  ASSERT_TRUE(is_changed);
  ASSERT_OK(WriteStringToFile(env.get(), table, path));

  ASSERT_OK(DB::Open(options, "/db", &db));
  const Status status = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "1");
}

}  // namespace
}  // namespace ashlar
