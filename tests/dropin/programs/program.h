// SPDX-License-Identifier: Apache-2.0
//
// What the counterparts of programs share. Each is a function that gets an empty folder and does
// what the storage layer of a known program does with RocksDB: the same calls in the same order, in
// our own words. The sources are built with the drop-in and, where it is installed, with RocksDB
// itself, so that an expectation that is only ours fails.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/status.h"

namespace programs {

#define REQUIRE(condition)                                                          \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)

#define REQUIRE_OK(call)                                                 \
  do {                                                                   \
    const rocksdb::Status required_status(call);                         \
    if (!required_status.ok()) {                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   required_status.ToString().c_str());                  \
      std::exit(1);                                                      \
    }                                                                    \
  } while (false)

using Contents = std::map<std::string, std::string>;

// What an iterator shows from its first entry to its last one.
inline Contents All(rocksdb::Iterator* iterator) {
  const std::unique_ptr<rocksdb::Iterator> owner(iterator);
  Contents contents;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    contents[iterator->key().ToString()] = iterator->value().ToString();
  }
  REQUIRE_OK(iterator->status());
  return contents;
}

// The value of a key, or "-".
inline std::string ValueOf(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                           const std::string& key,
                           const rocksdb::ReadOptions& options = rocksdb::ReadOptions()) {
  std::string value;
  const rocksdb::Status status = db->Get(options, family, key, &value);
  if (status.IsNotFound()) return "-";
  REQUIRE_OK(status);
  return value;
}

// An open database with its families; closes it.
template <typename Database>
struct Opened {
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { Close(); }

  void Close() {
    if (db == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      REQUIRE_OK(db->DestroyColumnFamilyHandle(handle));
    }
    handles.clear();
    delete db;
    db = nullptr;
  }

  Database* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
};

inline std::vector<rocksdb::ColumnFamilyDescriptor> Families(
    const std::vector<std::string>& names, const rocksdb::ColumnFamilyOptions& options) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  return families;
}

void Kvrocks(const std::string& folder);
void Pika(const std::string& folder);
void Pegasus(const std::string& folder);
void Nebula(const std::string& folder);
void Memgraph(const std::string& folder);
void MyRocks(const std::string& folder);
void BaikalDb(const std::string& folder);
void ClickHouse(const std::string& folder);
void Ceph(const std::string& folder);
void FoundationDb(const std::string& folder);
void Ton(const std::string& folder);
void Osquery(const std::string& folder);
void NodeLevel(const std::string& folder);
void Erlang(const std::string& folder);
void RocksdbJs(const std::string& folder);
void YcsbCpp(const std::string& folder);

}  // namespace programs
