// SPDX-License-Identifier: Apache-2.0
//
// The writes of the relay tests: batch after batch over three column families, each determined by
// its number alone, so that another process knows the contents of a database after any of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"

namespace ashlar {

using FamilyContents = std::map<std::string, std::string>;
using RelayContents = std::map<std::string, FamilyContents>;

inline const std::vector<std::string>& RelayFamilies() {
  static const std::vector<std::string> kNames{"default", "users", "cold"};
  return kNames;
}

// A database of the relay, open for writing. Tables and levels are small, so that little data uses
// every feature of the files.
class RelayDatabase {
 public:
  static constexpr int kBatchesPerSnapshot = 40;

  // Creates the database if it is missing.
  static Status Open(const std::string& dir, std::unique_ptr<RelayDatabase>* database,
                     bool compresses_logs = false);
  ~RelayDatabase();

  // Flushes, compacts and takes snapshots at fixed batches.
  Status WriteBatches(int begin, int end, const std::function<void(int)>& acknowledge = nullptr);
  Status Close();
  DB* db() { return db_.get(); }
  ColumnFamilyHandle* family(size_t index) { return handles_[index]; }

 private:
  Status Maintain(int batch);

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  const Snapshot* snapshot_ = nullptr;
};

// Applies batch number `batch` to both; one of the two may be null.
void RelayBatch(int batch, const std::vector<ColumnFamilyHandle*>* handles, WriteBatch* writes,
                RelayContents* contents);

}  // namespace ashlar
