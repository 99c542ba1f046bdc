// SPDX-License-Identifier: Apache-2.0
//
// PersistentCache: RocksDB's cache of blocks on another device, which newer releases replaced by
// SecondaryCache. The class exists so that programs compile; no database uses one:
// BlockBasedTableOptions::persistent_cache is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// A cache of blocks that a program may implement for its own use. Threads: as it says.
class ASHLAR_EXPORT PersistentCache {
 public:
  using StatsType = std::vector<std::map<std::string, double>>;  // one map for each tier

  virtual ~PersistentCache() {}
  // Stores `size` bytes under a key.
  virtual Status Insert(const Slice& key, const char* data, const size_t size) = 0;
  // NotFound if there are none.
  virtual Status Lookup(const Slice& key, std::unique_ptr<char[]>* data, size_t* size) = 0;
  // Whether blocks are stored as they are in the file.
  virtual bool IsCompressed() = 0;
  virtual StatsType Stats() = 0;
  virtual std::string GetPrintableOptions() const = 0;
  // A number that the cache has not given before.
  virtual uint64_t NewId() = 0;
};

// NotSupported, and *cache is null: use NewCompressedSecondaryCache() or a SecondaryCache.
ASHLAR_EXPORT Status NewPersistentCache(Env* const env, const std::string& path,
                                        const uint64_t size, const std::shared_ptr<Logger>& log,
                                        const bool optimized_for_nvm,
                                        std::shared_ptr<PersistentCache>* cache);

}  // namespace ashlar
