// SPDX-License-Identifier: Apache-2.0
//
// A database stores the options that it was opened with. This program reads them from the
// directory, adds the objects that a file cannot contain, and opens the database again.
//
//   options_file_example FOLDER
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"

#include "examples/rocksdb/example.h"

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::DBOptions;

namespace {

class KeepEverything : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "KeepEverything"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice&, std::string*,
              bool*) const override {
    return false;
  }
};

void Close(DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle), "let go of a family");
  }
  delete db;
}

constexpr size_t kCacheBytes = 8 << 20;
constexpr size_t kBlockBytes = 8 << 10;

std::vector<ColumnFamilyDescriptor> FirstFamilies(const rocksdb::CompactionFilter* filter) {
  std::vector<ColumnFamilyDescriptor> families;
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, ColumnFamilyOptions());
  families.emplace_back("deposits", ColumnFamilyOptions());
  families[0].options.write_buffer_size = 16 << 20;
  families[1].options.compaction_filter = filter;
  BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  table.block_size = kBlockBytes;
  for (ColumnFamilyDescriptor& family : families) {
    family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }
  return families;
}

// Loads the stored options. A file cannot contain filters, caches and an Env.
void OpenAgain(const std::string& folder, const rocksdb::CompactionFilter* filter) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Require(rocksdb::LoadLatestOptions(config, folder, &db_options, &families), "load options");
  Require(families.size() == 2, "both families");
  Require(families[0].options.write_buffer_size == 16 << 20, "an option of the first family");

  auto cache = rocksdb::NewLRUCache(kCacheBytes);
  for (ColumnFamilyDescriptor& family : families) {
    auto* table = family.options.table_factory->GetOptions<BlockBasedTableOptions>();
    Require(table != nullptr && table->block_size == kBlockBytes, "options of the table");
    table->block_cache = cache;
  }
  families[1].options.compaction_filter = filter;

  // Checks whether these options fit the files of the database, without changing anything.
  Require(rocksdb::CheckOptionsCompatibility(config, folder, db_options, families), "compatible");
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  Require(DB::Open(db_options, folder, families, &handles, &db), "open again");
  std::string value;
  Require(db->Get(rocksdb::ReadOptions(), handles[1], "clay", &value), "get");
  Require(value == "blue", "what was written before");
  Close(db, handles);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  const KeepEverything filter;
  DBOptions db_options;
  db_options.create_if_missing = true;
  db_options.create_missing_column_families = true;
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  Require(DB::Open(db_options, folder, FirstFamilies(&filter), &handles, &db), "open");
  Require(db->Put(rocksdb::WriteOptions(), handles[1], "clay", "blue"), "put");
  Close(db, handles);

  OpenAgain(folder, &filter);
  std::printf("options_file_example: ok\n");
  return 0;
}
