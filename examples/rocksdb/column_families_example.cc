// SPDX-License-Identifier: Apache-2.0
//
// Column families: create them, open the database with all of them, write to several in one batch,
// drop them.
//
//   column_families_example FOLDER
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"

#include "examples/rocksdb/example.h"

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;

namespace {

void CreateWithSecondFamily(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  DB* db = nullptr;
  Require(DB::Open(options, folder, &db), "create");
  ColumnFamilyHandle* quarries = nullptr;
  Require(db->CreateColumnFamily(ColumnFamilyOptions(), "quarries", &quarries), "create a family");
  Require(db->DestroyColumnFamilyHandle(quarries), "let go of a family");
  delete db;
}

void UseAndDrop(const std::string& folder) {
  // All families must be named when a database is opened, including the default family.
  const std::vector<ColumnFamilyDescriptor> families = {
      ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, ColumnFamilyOptions()),
      ColumnFamilyDescriptor("quarries", ColumnFamilyOptions())};
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  Require(DB::Open(rocksdb::DBOptions(), folder, families, &handles, &db), "open with families");
  ColumnFamilyHandle* stones = handles[0];
  ColumnFamilyHandle* quarries = handles[1];

  Require(db->Put(WriteOptions(), quarries, Slice("north"), Slice("slate")), "put");
  std::string value;
  Require(db->Get(ReadOptions(), quarries, Slice("north"), &value), "get");
  Require(value == "slate", "what the family holds");
  Require(db->Get(ReadOptions(), stones, Slice("north"), &value).IsNotFound(),
          "no other family has it");

  // A batch for several families is applied atomically, like a batch for one family.
  rocksdb::WriteBatch batch;
  batch.Put(stones, Slice("slate"), Slice("metamorphic"));
  batch.Put(quarries, Slice("south"), Slice("marl"));
  batch.Delete(quarries, Slice("north"));
  Require(db->Write(WriteOptions(), &batch), "write to both");
  Require(db->Get(ReadOptions(), stones, Slice("slate"), &value), "get from the first");
  Require(db->Get(ReadOptions(), quarries, Slice("south"), &value), "get from the second");

  Require(db->DropColumnFamily(quarries), "drop");
  for (ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle), "let go of a family");
  }
  delete db;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  CreateWithSecondFamily(folder);
  UseAndDrop(folder);
  std::vector<std::string> names;
  Require(DB::ListColumnFamilies(rocksdb::DBOptions(), folder, &names), "list");
  Require(names == std::vector<std::string>{rocksdb::kDefaultColumnFamilyName},
          "only the default family is left");
  std::printf("column_families_example: ok\n");
  return 0;
}
