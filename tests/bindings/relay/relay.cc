// SPDX-License-Identifier: Apache-2.0
//
// relay DIRECTORY TURN: the C++ program of relay_test.py, which says what a turn does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"

namespace {

void Require(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

std::string KeyOf(int turn) {
  char key[32];
  std::snprintf(key, sizeof(key), "key%03d", turn);
  return key;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int turn = std::atoi(argv[2]);
  rocksdb::Options options;
  options.create_if_missing = true;
  Require(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "uint64add",
                                                   &options.merge_operator),
          "merge operator");
  std::unique_ptr<rocksdb::DB> db;
  Require(rocksdb::DB::Open(options, argv[1], &db), "open");

  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (it->key() == "count") {
      uint64_t count = 0;
      std::memcpy(&count, it->value().data(), sizeof(count));
      std::printf("count=%llu\n", static_cast<unsigned long long>(count));
    } else {
      std::printf("%s=%s\n", it->key().ToString().c_str(), it->value().ToString().c_str());
    }
  }
  Require(it->status(), "iterator");

  rocksdb::WriteOptions write;
  write.sync = true;
  const uint64_t one = 1;
  Require(
      db->Merge(write, "count", rocksdb::Slice(reinterpret_cast<const char*>(&one), sizeof(one))),
      "merge");
  rocksdb::WriteBatch batch;
  Require(batch.Put(KeyOf(turn), "C++ in turn " + std::to_string(turn)), "put");
  if (turn >= 4) Require(batch.Delete(KeyOf(turn - 4)), "delete");
  Require(db->Write(write, &batch), "write");
  if (turn % 2 == 0) Require(db->Flush(rocksdb::FlushOptions()), "flush");
  return 0;
}
