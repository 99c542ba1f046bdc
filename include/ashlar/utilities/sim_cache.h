// SPDX-License-Identifier: Apache-2.0
//
// SimCache is a block cache that also simulates one of another capacity: it forwards all calls to a
// real cache, and a second cache keeps only the keys and the sizes of blocks. Its counters say how
// many lookups a cache of the simulated capacity would have answered, without the memory for it.
//
// Give it to BlockBasedTableOptions::block_cache. The tickers SIM_BLOCK_CACHE_HIT and
// SIM_BLOCK_CACHE_MISS of the database count too. A key costs about 100 bytes in addition to its
// length.
//
// Threads: as for Cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/advanced_cache.h"
#include "ashlar/cache.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Env;
class SimCache;

// Simulates an LRU cache of `sim_capacity` bytes with 2^num_shard_bits shards (-1: by capacity).
// `cache` must not be null.
ASHLAR_EXPORT std::shared_ptr<SimCache> NewSimCache(std::shared_ptr<Cache> cache,
                                                    size_t sim_capacity, int num_shard_bits);
// Keeps the keys in a cache of the program, which is used for nothing else. `num_shard_bits` is not
// used.
ASHLAR_EXPORT std::shared_ptr<SimCache> NewSimCache(std::shared_ptr<Cache> sim_cache,
                                                    std::shared_ptr<Cache> cache,
                                                    int num_shard_bits);

// A block cache with a simulation.
class ASHLAR_EXPORT SimCache : public CacheWrapper {
 public:
  const char* Name() const override { return "SimCache"; }

  // Bytes of the simulated cache: its capacity, and the charges of the blocks that it would have.
  virtual size_t GetSimCapacity() const = 0;
  virtual size_t GetSimUsage() const = 0;
  virtual void SetSimCapacity(size_t capacity) = 0;

  // Lookups that the simulated cache would not have answered, and those that it would have, since
  // the last reset.
  virtual uint64_t get_miss_counter() const = 0;
  virtual uint64_t get_hit_counter() const = 0;
  virtual void reset_counter() = 0;
  using Cache::ToString;
  // The numbers above as text.
  virtual std::string ToString() const = 0;

  // Writes a line for each lookup, "LOOKUP - <key>", and each insertion, "ADD - <key> - <bytes>",
  // with the key in hexadecimal, to a new file until that has `max_logging_size` bytes (0: without
  // limit) or a write fails. An error if the file cannot be created; a log that is being written is
  // ended.
  virtual Status StartActivityLogging(const std::string& activity_log_file, Env* env,
                                      uint64_t max_logging_size = 0) = 0;
  virtual void StopActivityLogging() = 0;
  // The error that ended the last log.
  virtual Status GetActivityLoggingStatus() = 0;

 protected:
  explicit SimCache(std::shared_ptr<Cache> target) : CacheWrapper(std::move(target)) {}
};

}  // namespace ashlar
