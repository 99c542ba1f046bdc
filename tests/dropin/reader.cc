// SPDX-License-Identifier: Apache-2.0
//
// Prints every entry of a database, written against RocksDB's headers only: built against RocksDB
// and against the drop-in without a change, the two must print the same.
//
//   reader DIRECTORY      one line an entry: family, key in hex, value in hex
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

int Fail(const std::string& what, const rocksdb::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), status.ToString().c_str());
  return 1;
}

// Forwards, and each key again by Get and while going backwards.
rocksdb::Status PrintFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), family));
  std::vector<std::string> keys;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string value;
    rocksdb::Status status = db->Get(rocksdb::ReadOptions(), family, it->key(), &value);
    if (!status.ok()) return status;
    if (rocksdb::Slice(value) != it->value()) return rocksdb::Status::Corruption("Get differs");
    std::printf("%s\t%s\t%s\n", family->GetName().c_str(), it->key().ToString(true).c_str(),
                it->value().ToString(true).c_str());
    keys.push_back(it->key().ToString());
  }
  if (!it->status().ok()) return it->status();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    if (keys.empty() || it->key() != rocksdb::Slice(keys.back())) {
      return rocksdb::Status::Corruption("backwards differs");
    }
    keys.pop_back();
  }
  if (!keys.empty()) return rocksdb::Status::Corruption("backwards ends early");
  return it->status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  rocksdb::DBOptions options;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, argv[1], &names);
  if (!status.ok()) return Fail("list", status);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, argv[1], families, &handles, &db);
  if (!status.ok()) return Fail("open", status);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (status.ok()) status = PrintFamily(db, handle);
    delete handle;
  }
  delete db;
  return status.ok() ? 0 : Fail("read", status);
}
