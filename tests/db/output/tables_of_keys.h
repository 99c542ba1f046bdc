// SPDX-License-Identifier: Apache-2.0
//
// TablesOfKeys stands for a level: one table of 60 bytes for each letter, holding that key only,
// unless it is told otherwise.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/manifest/file_metadata.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class TablesOfKeys {
 public:
  explicit TablesOfKeys(const std::string& keys) {
    for (const char key : keys) Add(std::string(1, key), std::string(1, key), 60);
  }
  struct Table {
    const char* smallest;
    const char* largest;
    uint64_t bytes;
  };
  explicit TablesOfKeys(const std::vector<Table>& tables) {
    for (const Table& table : tables) Add(table.smallest, table.largest, table.bytes);
  }

  const std::vector<TableFile*>& files() const { return files_; }

 private:
  void Add(const std::string& smallest, const std::string& largest, uint64_t bytes) {
    FileMetadata meta;
    meta.file_size = bytes;
    meta.smallest = MakeInternalKey(smallest, 100, kTypeValue);
    meta.largest = MakeInternalKey(largest, 1, kTypeValue);
    owned_.push_back(std::make_unique<TableFile>(std::move(meta)));
    files_.push_back(owned_.back().get());
  }

  std::vector<std::unique_ptr<TableFile>> owned_;
  std::vector<TableFile*> files_;
};

}  // namespace ashlar
