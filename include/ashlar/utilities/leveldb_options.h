// SPDX-License-Identifier: Apache-2.0
//
// The options of LevelDB, for programs that were written for LevelDB.
#pragma once

#include <cstddef>

#include "ashlar/compression_type.h"
#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

class Cache;
class Comparator;
class Env;
class FilterPolicy;
class Logger;

// The comments show the defaults.
struct ASHLAR_EXPORT LevelDBOptions {
  LevelDBOptions();

  const Comparator* comparator;  // bytewise
  bool create_if_missing;        // false
  bool error_if_exists;          // false
  bool paranoid_checks;          // false
  Env* env;                      // Env::Default()
  Logger* info_log;              // nullptr: the file LOG in the directory of the database
  size_t write_buffer_size;      // bytes, 4 MiB
  int max_open_files;            // 1000
  // nullptr: a cache of 8 MiB. The caller owns the cache, the comparator, the Env and the logger,
  // and keeps them until the database is closed.
  Cache* block_cache;
  size_t block_size;                  // bytes, 4 KiB
  int block_restart_interval;         // 16
  CompressionType compression;        // Snappy
  const FilterPolicy* filter_policy;  // nullptr: no filter
};

// Converts the settings to Options. The caller still owns the objects named above; the Options own
// the filter policy.
ASHLAR_EXPORT Options ConvertOptions(const LevelDBOptions& leveldb_options);

}  // namespace ashlar
