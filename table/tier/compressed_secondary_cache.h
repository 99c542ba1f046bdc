// SPDX-License-Identifier: Apache-2.0
//
// CompressedSecondaryCache: saved entries of a block cache, compressed, in memory of a capacity of
// their own. They are kept in a built-in cache, whose CLOCK chooses what leaves.
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

class CompressedSecondaryCache final : public SecondaryCache {
 public:
  // NotSupported when the build lacks the compression library, InvalidArgument if the options
  // contradict each other.
  static Result<std::shared_ptr<CompressedSecondaryCache>> Make(
      const CompressedSecondaryCacheOptions& options);

  const char* Name() const override { return "CompressedSecondaryCache"; }
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

  // Bytes held.
  size_t usage() const { return store_->GetUsage(); }

 private:
  CompressedSecondaryCache(const CompressedSecondaryCacheOptions& options,
                           std::shared_ptr<Cache> store);
  Status Store(const Slice& key, const Slice& raw, bool may_compress);
  // Whether the key was offered lately; notes that it is offered now.
  bool WasOffered(const Slice& key);

  const CompressedSecondaryCacheOptions options_;
  const std::shared_ptr<Cache> store_;
  // Fingerprints of keys that were offered once, by hash; overwritten in place. Any thread writes,
  // and a lost one only means that its entry is taken a little later.
  static constexpr size_t kTraces = size_t{1} << 14;
  const std::unique_ptr<std::atomic<uint32_t>[]> traces_;
};

}  // namespace ashlar
