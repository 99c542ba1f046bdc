// SPDX-License-Identifier: Apache-2.0
//
// Compares counters with docs/statistics.md, which says which counters must count, which never do,
// and which may. Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "env/space/sst_file_manager_impl.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

// The names in the first column of the rows below a heading of docs/statistics.md.
inline std::vector<std::string> ListedUnder(const std::string& heading) {
  std::ifstream file(SourcePath("docs/statistics.md"));
  std::vector<std::string> names;
  bool is_below = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_below = line == "## " + heading;
    if (!is_below || !line.starts_with("| `")) continue;
    const std::string column = line.substr(0, line.find('|', 1));
    for (size_t end, at = column.find('`'); at != std::string::npos;
         at = column.find('`', end + 1)) {
      end = column.find('`', at + 1);
      names.push_back(column.substr(at + 1, end - at - 1));
    }
  }
  EXPECT_FALSE(names.empty()) << heading;
  return names;
}

// Compares each counter with its row in docs/statistics.md.
class CounterDocument {
 public:
  void Visit(const std::string& kind, const std::string& name, bool counts) {
    const bool may_count = FindIn(sometimes_, name) != nullptr;
    const std::string* const row = FindIn(never_, name);
    EXPECT_FALSE(may_count && row != nullptr) << name << " is in both tables";
    if (row != nullptr) used_.insert(*row);
    if (may_count) return;
    EXPECT_NE(counts, row != nullptr) << kind << " " << name;
  }
  void ExpectAllRowsUsed() const {
    for (const std::string& row : never_)
      EXPECT_TRUE(used_.contains(row)) << row << " is the name of no counter";
  }

 private:
  static const std::string* FindIn(const std::vector<std::string>& rows, const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const std::string& row) { return name.starts_with(row); });
    return found == rows.end() ? nullptr : &*found;
  }

  const std::vector<std::string> never_ = ListedUnder("Not counted, and why");
  const std::vector<std::string> sometimes_ = ListedUnder("Counted only under certain conditions");
  std::set<std::string> used_;
};

// "name = value, name = value"
inline std::map<std::string, uint64_t> CountersIn(const std::string& text) {
  std::map<std::string, uint64_t> counters;
  std::istringstream words(text);
  std::string name, equals, value;
  while (words >> name >> equals >> value) counters[name] = std::stoull(value);
  return counters;
}

// Writes values to blob files, reads them with and without a blob cache, and moves them.
inline void UseBlobFiles(Options options, const std::string& dir) {
  options.enable_blob_files = true;
  options.min_blob_size = 50;
  options.blob_compression_type = kZSTD;
  options.blob_cache = NewLRUCache(1 << 20);
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  for (const char* key : {"a", "b", "a"}) {
    ASSERT_OK(db->Put(WriteOptions(), key, std::string(1000, 'v')));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  std::string value;
  for (int i = 0; i < 2; i++) ASSERT_OK(db->Get(ReadOptions(), "b", &value));
  CompactRangeOptions moves_all;
  moves_all.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  moves_all.blob_garbage_collection_age_cutoff = 1;
  ASSERT_OK(db->CompactRange(moves_all, nullptr, nullptr));
  db.reset();
  options.blob_cache = NewLRUCache(1, /*num_shard_bits=*/0, /*strict_capacity_limit=*/true);
  ASSERT_OK(DB::Open(options, dir, &db));
  ASSERT_OK(db->Get(ReadOptions(), "b", &value));
}

// Deletes tables in the background.
inline void DeleteSlowly(Options options, const std::string& dir) {
  const auto space = std::make_shared<SstFileManagerImpl>(
      PacedDeleterOptions{.fs = options.env->GetFileSystem(),
                          .clock = options.env->GetSystemClock(),
                          .bytes_per_second = 1 << 30},
      SstFileManagerImpl::Settings{.max_trash_ratio = 2});
  options.sst_file_manager = space;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  space->AwaitEmptyTrash();
}

// Flips a bit of each table, at this share of its bytes.
inline void DamageTables(Env* env, const std::string& dir, double where) {
  std::vector<std::string> names;
  ASSERT_OK(env->GetChildren(dir, &names));
  for (const std::string& name : names) {
    if (!name.ends_with(".sst")) continue;
    std::string bytes;
    ASSERT_OK(ReadFileToString(env, dir + "/" + name, &bytes));
    bytes[static_cast<size_t>(where * static_cast<double>(bytes.size() - 1))] ^= 1;
    ASSERT_OK(WriteStringToFile(env, bytes, dir + "/" + name));
  }
}

// Reads blocks of tables with dictionaries from a compressed secondary cache.
inline void UseASecondTier(Options options, const std::string& dir) {
  CompressedSecondaryCacheOptions second;
  second.capacity = 8 << 20;
  LRUCacheOptions cache(32 << 10, /*_num_shard_bits=*/0, false, 0.5);
  cache.secondary_cache = second.MakeSharedSecondaryCache();
  BlockBasedTableOptions table;
  table.block_cache = cache.MakeSharedCache();
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  options.compression = kZSTD;
  options.compression_opts.max_dict_bytes = 4096;
  options.target_file_size_base =
      8 << 10;  // so many tables that their filters do not fit into the cache
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  const auto key = [](int i) { return std::to_string(100000 + i); };
  for (int i = 0; i < 20000; i++) ASSERT_OK(db->Put(WriteOptions(), key(i), std::string(50, 'v')));
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  std::string value;
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20000; i += 50) ASSERT_OK(db->Get(ReadOptions(), key(i), &value));
  }
}

// Compares files with their checksums in the MANIFEST.
inline void VerifyWholeFiles(Options options, const std::string& dir) {
  options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "value"));
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(db->VerifyFileChecksums(ReadOptions()));
}

inline void UseACacheThatIsFull(Options options, const std::string& dir) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(100, /*num_shard_bits=*/0, /*strict_capacity_limit=*/true);
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "value"));
  ASSERT_OK(db->Flush(FlushOptions()));
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "a", &value).IsMemoryLimit());
}

}  // namespace ashlar
