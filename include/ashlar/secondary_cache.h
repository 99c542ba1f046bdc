// SPDX-License-Identifier: Apache-2.0
//
// SecondaryCache: a second tier behind a block cache, for ShardedCacheOptions::secondary_cache.
// NewCompressedSecondaryCache() in cache.h makes one; programs may bring their own. Its functions
// are called from any thread, under no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/advanced_cache.h"
#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// The result of a lookup, which may still be under way.
class ASHLAR_EXPORT SecondaryCacheResultHandle {
 public:
  virtual ~SecondaryCacheResultHandle() {}
  virtual bool IsReady() = 0;
  virtual void Wait() = 0;
  // nullptr if the lookup failed. The caller owns the object.
  virtual Cache::ObjectPtr Value() = 0;
  virtual size_t Size() = 0;
};

class ASHLAR_EXPORT SecondaryCache : public Customizable {
 public:
  ~SecondaryCache() override {}
  static const char* Type() { return "SecondaryCache"; }
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<SecondaryCache>* result);

  // Offers an object that leaves the first tier, which `helper` can save. It stays the caller's.
  // May refuse it, with any status, unless `force_insert`.
  virtual Status Insert(const Slice& key, Cache::ObjectPtr obj,
                        const Cache::CacheItemHelper* helper, bool force_insert) = 0;
  // The same of bytes as `helper` has saved them.
  virtual Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                             CacheTier source) = 0;
  // nullptr if nothing is there. With `wait` the result is ready. `advise_erase`: the first tier
  // takes the object over.
  virtual std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) = 0;
  virtual bool SupportForceErase() const = 0;
  virtual void Erase(const Slice& key) = 0;
  virtual void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) = 0;
  virtual Status SetCapacity(size_t /*capacity*/) {
    return Status::NotSupported("SecondaryCache::SetCapacity: not implemented");
  }
  virtual Status GetCapacity(size_t& /*capacity*/) {
    return Status::NotSupported("SecondaryCache::GetCapacity: not implemented");
  }
  virtual Status Deflate(size_t /*decrease*/) {
    return Status::NotSupported("SecondaryCache::Deflate: not implemented");
  }
  virtual Status Inflate(size_t /*increase*/) {
    return Status::NotSupported("SecondaryCache::Inflate: not implemented");
  }
};

// Forwards to another.
class ASHLAR_EXPORT SecondaryCacheWrapper : public SecondaryCache {
 public:
  explicit SecondaryCacheWrapper(std::shared_ptr<SecondaryCache> target)
      : target_(std::move(target)) {}
  Status Insert(const Slice& key, Cache::ObjectPtr obj, const Cache::CacheItemHelper* helper,
                bool force_insert) override {
    return target_->Insert(key, obj, helper, force_insert);
  }
  Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                     CacheTier source) override {
    return target_->InsertSaved(key, saved, type, source);
  }
  std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) override {
    return target_->Lookup(key, helper, create_context, wait, advise_erase, stats,
                           kept_in_sec_cache);
  }
  bool SupportForceErase() const override { return target_->SupportForceErase(); }
  void Erase(const Slice& key) override { target_->Erase(key); }
  void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) override {
    target_->WaitAll(std::move(handles));
  }
  Status SetCapacity(size_t capacity) override { return target_->SetCapacity(capacity); }
  Status GetCapacity(size_t& capacity) override { return target_->GetCapacity(capacity); }
  Status Deflate(size_t decrease) override { return target_->Deflate(decrease); }
  Status Inflate(size_t increase) override { return target_->Inflate(increase); }

 protected:
  SecondaryCache* target() const { return target_.get(); }

 private:
  std::shared_ptr<SecondaryCache> target_;
};

}  // namespace ashlar
