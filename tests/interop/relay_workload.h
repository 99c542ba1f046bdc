// SPDX-License-Identifier: Apache-2.0
//
// What the relay tests write: batch after batch over three column families, each determined by its
// number alone, so that another process can tell what a database must hold after any of them.
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

// A database of the relay, open for writing. Small tables and levels: every feature of the files
// appears with little data.
class RelayDatabase {
 public:
  static constexpr int kBatchesPerSnapshot = 40;

  // The database is made if it is missing.
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

// What batch number `batch` does; one of the two may be null.
void RelayBatch(int batch, const std::vector<ColumnFamilyHandle*>* handles, WriteBatch* writes,
                RelayContents* contents);

}  // namespace ashlar
