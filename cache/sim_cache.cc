// SPDX-License-Identifier: Apache-2.0
//
// The simulated cache contains keys without objects. Each is charged like the block with this key,
// so hits and misses are those of a cache with the simulated capacity.
#include "ashlar/utilities/sim_cache.h"

#include <atomic>
#include <cassert>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr Cache::CacheItemHelper kKeyOnly(CacheEntryRole::kMisc);

// The log that StartActivityLogging() begins. Any thread may call its functions.
class ActivityLog {
 public:
  // A log that is running is ended first.
  Status Start(const std::string& path, Env* env, uint64_t max_bytes) {
    assert(env != nullptr);
    MutexLock lock(&mutex_);
    StopLocked();
    status_ = Status::OK();
    max_bytes_ = max_bytes;
    bytes_ = 0;
    const Status status = env->NewWritableFile(path, &file_, EnvOptions());
    is_on_.store(status.ok(), std::memory_order_relaxed);
    return status;
  }
  void Stop() {
    MutexLock lock(&mutex_);
    StopLocked();
  }
  Status status() {
    MutexLock lock(&mutex_);
    return status_;
  }
  // Whether lines are wanted. This is only a hint: Add() checks again.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // The log ends by itself when it has max_bytes, or at the first error.
  void Add(const std::string& line) {
    MutexLock lock(&mutex_);
    if (file_ == nullptr) return;
    status_ = file_->Append(line);
    bytes_ += line.size();
    if (!status_.ok() || (max_bytes_ > 0 && bytes_ >= max_bytes_)) StopLocked();
  }

 private:
  void StopLocked() REQUIRES(mutex_) {
    if (file_ == nullptr) return;
    const Status closed = file_->Close();
    if (status_.ok()) status_ = closed;
    file_.reset();
    is_on_.store(false, std::memory_order_relaxed);
  }

  // Held during calls of the file system, so it has the rank of loggers.
  Mutex mutex_{LockRank::kLogger};
  std::atomic<bool> is_on_{false};
  std::unique_ptr<WritableFile> file_ GUARDED_BY(mutex_);  // null: no log
  uint64_t max_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  Status status_ GUARDED_BY(mutex_);
};

class SimulatingCache final : public SimCache {
 public:
  SimulatingCache(std::shared_ptr<Cache> keys, std::shared_ptr<Cache> cache)
      : SimCache(std::move(cache)), keys_(std::move(keys)) {
    assert(keys_ != nullptr);
    assert(target_ != nullptr);
  }

  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed_val,
                CompressionType type) override {
    // Only lookups change the position of a key, so a key that is present already stays where it
    // is.
    if (Handle* const known = keys_->Lookup(key)) {
      keys_->Release(known);
    } else {
      const Status status = keys_->Insert(key, nullptr, &kKeyOnly, charge, nullptr, priority);
      IgnoreError(status, "the simulated cache is full of what cannot be evicted");
    }
    if (log_.is_on()) log_.Add(StrCat("ADD - ", key.ToString(true), " - ", charge, "\n"));
    return CacheWrapper::Insert(key, value, helper, charge, handle, priority, compressed_val, type);
  }
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, CreateContext* create_context,
                 Priority priority, Statistics* stats) override {
    Count(key, stats);
    return CacheWrapper::Lookup(key, helper, create_context, priority, stats);
  }
  void StartAsyncLookup(AsyncLookupHandle& async_handle) override {
    Count(async_handle.key, async_handle.stats);
    target_->StartAsyncLookup(async_handle);
  }
  void WaitAll(AsyncLookupHandle* async_handles, size_t count) override {
    target_->WaitAll(async_handles, count);
  }
  void Erase(const Slice& key) override {
    keys_->Erase(key);
    CacheWrapper::Erase(key);
  }
  void EraseUnRefEntries() override {
    keys_->EraseUnRefEntries();
    CacheWrapper::EraseUnRefEntries();
  }

  size_t GetSimCapacity() const override { return keys_->GetCapacity(); }
  size_t GetSimUsage() const override { return keys_->GetUsage(); }
  void SetSimCapacity(size_t capacity) override { keys_->SetCapacity(capacity); }
  uint64_t get_miss_counter() const override { return misses_.load(std::memory_order_relaxed); }
  uint64_t get_hit_counter() const override { return hits_.load(std::memory_order_relaxed); }
  void reset_counter() override {
    misses_.store(0, std::memory_order_relaxed);
    hits_.store(0, std::memory_order_relaxed);
  }
  using SimCache::ToString;
  std::string ToString() const override {
    return StrCat("SimCache MISSes:  ", get_miss_counter(),
                  "\nSimCache HITs:    ", get_hit_counter(), "\nSimCache USAGE:   ", GetSimUsage(),
                  "\nSimCache CAPACITY: ", GetSimCapacity(), "\n");
  }
  std::string GetPrintableOptions() const override {
    return StrCat(target_->GetPrintableOptions(), "    sim_capacity : ", GetSimCapacity(), "\n");
  }

  Status StartActivityLogging(const std::string& activity_log_file, Env* env,
                              uint64_t max_logging_size) override {
    return log_.Start(activity_log_file, env, max_logging_size);
  }
  void StopActivityLogging() override { log_.Stop(); }
  Status GetActivityLoggingStatus() override { return log_.status(); }

 private:
  // Each lookup counts once, before the lookup in the real cache.
  void Count(const Slice& key, Statistics* stats) {
    Handle* const known = keys_->Lookup(key);
    if (known != nullptr) keys_->Release(known);
    (known != nullptr ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
    RecordTick(stats, known != nullptr ? SIM_BLOCK_CACHE_HIT : SIM_BLOCK_CACHE_MISS);
    if (log_.is_on()) log_.Add(StrCat("LOOKUP - ", key.ToString(true), "\n"));
  }

  const std::shared_ptr<Cache> keys_;
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> hits_{0};
  ActivityLog log_;
};

}  // namespace

std::shared_ptr<SimCache> NewSimCache(std::shared_ptr<Cache> cache, size_t sim_capacity,
                                      int num_shard_bits) {
  LRUCacheOptions options;
  options.capacity = sim_capacity;
  options.num_shard_bits = num_shard_bits;
  // Charges are those of the blocks, which are not there, so the keys themselves are not charged.
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  return NewSimCache(NewLRUCache(options), std::move(cache), num_shard_bits);
}

std::shared_ptr<SimCache> NewSimCache(std::shared_ptr<Cache> sim_cache,
                                      std::shared_ptr<Cache> cache, int /*num_shard_bits*/) {
  return std::make_shared<SimulatingCache>(std::move(sim_cache), std::move(cache));
}

}  // namespace ashlar
