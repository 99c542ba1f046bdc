// SPDX-License-Identifier: Apache-2.0
//
// Shared by the benchmark programs that need a database of many small tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"

#include "benchmarks/clients/client.h"

namespace client {

inline std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options,
                                         const std::string& folder) {
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, folder, &opened), "open");
  return std::unique_ptr<rocksdb::DB>(opened);
}

// Flags: tables, rows of each, value_bytes. The tables are ingested into the last level.
inline void MakeTables(const Flags& flags, const rocksdb::Options& options) {
  const std::unique_ptr<rocksdb::DB> db = Open(options, flags.db());
  const std::string value(flags["value_bytes"], 'v');
  // Ingestion opens each file more than once, and the number of open files of a process is limited.
  constexpr size_t kIngestedAtOnce = 1000;
  rocksdb::IngestExternalFileOptions ingestion;
  ingestion.move_files = true;
  std::vector<std::string> paths;
  for (uint64_t table = 0; table < flags["tables"]; table++) {
    paths.push_back(flags.db() + "/new" + std::to_string(table) + ".sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    Require(writer.Open(paths.back()), "open a table");
    for (uint64_t row = 0; row < flags["rows"]; row++) {
      Require(writer.Put(KeyOf(table * flags["rows"] + row), value), "add to a table");
    }
    Require(writer.Finish(), "finish a table");
    if (paths.size() < kIngestedAtOnce && table + 1 < flags["tables"]) continue;
    Require(db->IngestExternalFile(paths, ingestion), "ingest");
    paths.clear();
  }
}

}  // namespace client
