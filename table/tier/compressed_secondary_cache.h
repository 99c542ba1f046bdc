// SPDX-License-Identifier: Apache-2.0
//
// CompressedSecondaryCache keeps saved entries of a block cache in compressed form, in memory with
// a capacity of its own. It stores them in a built-in cache, which decides what is evicted.
//
// Threads: any number.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/secondary_cache.h"
#include "util/result.h"

namespace ashlar {

// Owned by the first tier through a shared pointer.
class CompressedSecondaryCache final : public SecondaryCache {
 public:
  // NotSupported if the build lacks the compression library, InvalidArgument if the options
  // contradict each other.
  static Result<std::shared_ptr<CompressedSecondaryCache>> Make(
      const CompressedSecondaryCacheOptions& options);

  const char* Name() const override { return "CompressedSecondaryCache"; }
  // The functions of SecondaryCache. Insert() saves an entry that leaves the first tier; without
  // `force_insert` only at the second offer of the key.
  Status Insert(const Slice& key, Cache::ObjectPtr obj, const Cache::CacheItemHelper* helper,
                bool force_insert) override;
  Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                     CacheTier source) override;
  std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) override;
  bool SupportForceErase() const override { return true; }
  void Erase(const Slice& key) override { store_->Erase(key); }
  void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) override;
  Status SetCapacity(size_t capacity) override;
  Status GetCapacity(size_t& capacity) override;
  Status Deflate(size_t decrease) override;
  Status Inflate(size_t increase) override;
  std::string GetPrintableOptions() const override;

  // Bytes of the stored entries.
  size_t usage() const { return store_->GetUsage(); }

 private:
  CompressedSecondaryCache(const CompressedSecondaryCacheOptions& options,
                           std::shared_ptr<Cache> store);
  // Compresses the bytes if that makes them smaller, and stores them.
  Status Store(const Slice& key, const Slice& raw, bool may_compress);
  // True if the key was offered recently. Records that it is offered now.
  bool WasOffered(const Slice& key);

  const CompressedSecondaryCacheOptions options_;
  const std::shared_ptr<Cache> store_;
  // Fingerprints of the keys that were offered once, in a hash table whose places are overwritten.
  // All threads write without a lock; a lost fingerprint only delays the admission of its entry.
  static constexpr size_t kTraces = size_t{1} << 14;
  const std::unique_ptr<std::atomic<uint32_t>[]> traces_;
};

}  // namespace ashlar
