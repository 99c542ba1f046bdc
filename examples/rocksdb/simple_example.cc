// SPDX-License-Identifier: Apache-2.0
//
// One family: single keys, a batch, and reads without copying the value (PinnableSlice).
//
//   simple_example FOLDER
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/write_batch.h"

#include "examples/rocksdb/example.h"

using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::WriteOptions;

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  rocksdb::Options options;
  options.IncreaseParallelism();
  options.OptimizeLevelStyleCompaction();
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  Require(rocksdb::DB::Open(options, folder, &db), "open");

  Require(db->Put(WriteOptions(), "basalt", "volcanic"), "put");
  std::string value;
  Require(db->Get(ReadOptions(), "basalt", &value), "get");
  Require(value == "volcanic", "the value that was written is read");

  // Renames a key atomically: no reader sees both names, or neither.
  {
    rocksdb::WriteBatch batch;
    batch.Delete("basalt");
    batch.Put("dolerite", value);
    Require(db->Write(WriteOptions(), &batch), "write a batch");
  }
  Require(db->Get(ReadOptions(), "basalt", &value).IsNotFound(), "the old name is gone");

  // Reads without a copy: the value stays in the memtable or block.
  {
    PinnableSlice pinned;
    Require(db->Get(ReadOptions(), db->DefaultColumnFamily(), "dolerite", &pinned), "get pinned");
    Require(pinned == "volcanic", "the pinned value");
  }

  // Reads into a string of the program if the value cannot be pinned.
  {
    std::string buffer;
    PinnableSlice pinned(&buffer);
    Require(db->Get(ReadOptions(), db->DefaultColumnFamily(), "dolerite", &pinned), "get pinned");
    Require(pinned == "volcanic", "the value, pinned or in the buffer");
    Require(pinned.IsPinned() || pinned.data() == buffer.data(), "where the value is");

    pinned.Reset();  // makes it ready for another read
    Require(db->Get(ReadOptions(), db->DefaultColumnFamily(), "basalt", &pinned).IsNotFound(),
            "the old name is still gone");
  }
  delete db;
  std::printf("simple_example: ok\n");
  return 0;
}
