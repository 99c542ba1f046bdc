// SPDX-License-Identifier: Apache-2.0
//
// Column families: several ordered maps in one database, which can be written in one batch. Each
// family has its own options. All share the WAL, so a batch for several families is applied as a
// whole or not at all.
//
//   example_families FOLDER
//
// Prints:
//   created: default users orders
//   users[7] = Ada, orders[7/1] = 2 ropes
//   reopened: default users orders
//   after the drop: default users
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// An open database with its handles, closed in the right order: handles are deleted before the
// database.
struct Opened {
  std::unique_ptr<ashlar::DB> db;
  std::vector<ashlar::ColumnFamilyHandle*> families;

  ~Opened() {
    for (ashlar::ColumnFamilyHandle* family : families) {
      Require(db->DestroyColumnFamilyHandle(family));
    }
  }
};

void PrintNames(const char* when, const std::string& path) {
  std::vector<std::string> names;
  Require(ashlar::DB::ListColumnFamilies(ashlar::DBOptions(), path, &names));
  std::printf("%s:", when);
  for (const std::string& name : names) std::printf(" %s", name.c_str());
  std::printf("\n");
}

// The families of this program. All existing families must be named when a database is opened;
// families that do not exist are created (create_missing_column_families).
void Open(const std::string& path, Opened* opened) {
  ashlar::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  ashlar::ColumnFamilyOptions small;  // for little data a small write buffer is enough
  small.write_buffer_size = 4 << 20;
  Require(ashlar::DB::Open(options, path,
                           {{ashlar::kDefaultColumnFamilyName, ashlar::ColumnFamilyOptions()},
                            {"users", small},
                            {"orders", ashlar::ColumnFamilyOptions()}},
                           &opened->families, &opened->db));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1];
  {
    Opened opened;
    Open(path, &opened);
    PrintNames("created", path);
    ashlar::ColumnFamilyHandle* const users = opened.families[1];
    ashlar::ColumnFamilyHandle* const orders = opened.families[2];

    // The user and the first order are written together or not at all.
    ashlar::WriteBatch batch;
    Require(batch.Put(users, "7", "Ada"));
    Require(batch.Put(orders, "7/1", "2 ropes"));
    Require(opened.db->Write(ashlar::WriteOptions(), &batch));

    std::string name, order;
    Require(opened.db->Get(ashlar::ReadOptions(), users, "7", &name));
    Require(opened.db->Get(ashlar::ReadOptions(), orders, "7/1", &order));
    std::printf("users[7] = %s, orders[7/1] = %s\n", name.c_str(), order.c_str());
  }
  PrintNames("reopened", path);
  {
    // Dropping a family removes all its data at once, without a tombstone for each key.
    Opened opened;
    Open(path, &opened);
    Require(opened.db->DropColumnFamily(opened.families[2]));
  }
  PrintNames("after the drop", path);
  return 0;
}
