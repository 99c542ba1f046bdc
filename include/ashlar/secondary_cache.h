// SPDX-License-Identifier: Apache-2.0
//
// SecondaryCache: the second tier of a block cache, set as ShardedCacheOptions::secondary_cache.
// NewCompressedSecondaryCache() in cache.h creates one; programs may implement their own. Its
// functions are called from any thread, without locks.
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

// The result of a lookup, which may still be in progress.
class ASHLAR_EXPORT SecondaryCacheResultHandle {
 public:
  virtual ~SecondaryCacheResultHandle() {}
  // Whether the result is available.
  virtual bool IsReady() = 0;
  // Blocks until it is.
  virtual void Wait() = 0;
  // The object; nullptr if the lookup failed. The caller owns it.
  virtual Cache::ObjectPtr Value() = 0;
  // The charge of the object in bytes.
  virtual size_t Size() = 0;
};

// The second tier of a block cache.
class ASHLAR_EXPORT SecondaryCache : public Customizable {
 public:
  ~SecondaryCache() override {}
  static const char* Type() { return "SecondaryCache"; }
  // Creates a secondary cache from text, such as "compressed_secondary_cache://capacity=64M".
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<SecondaryCache>* result);

  // Offers an object that is leaving the first tier; `helper` can save it. The caller keeps the
  // object. Unless force_insert is true, the cache may refuse it, with any status.
  virtual Status Insert(const Slice& key, Cache::ObjectPtr obj,
                        const Cache::CacheItemHelper* helper, bool force_insert) = 0;
  // Offers an object in the form in which `helper` saves it.
  virtual Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                             CacheTier source) = 0;
  // Looks up an object; nullptr if it is not there. If `wait` is true, the result is available at
  // return. advise_erase: the first tier will keep the object, so this tier may erase it.
  // kept_in_sec_cache tells whether it stays.
  virtual std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) = 0;
  // Whether Erase() always erases.
  virtual bool SupportForceErase() const = 0;
  virtual void Erase(const Slice& key) = 0;
  // Blocks until all these results are available.
  virtual void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) = 0;
  // Change and return the capacity in bytes.
  virtual Status SetCapacity(size_t /*capacity*/) {
    return Status::NotSupported("SecondaryCache::SetCapacity: not implemented");
  }
  virtual Status GetCapacity(size_t& /*capacity*/) {
    return Status::NotSupported("SecondaryCache::GetCapacity: not implemented");
  }
  // Decrease or increase the capacity by this many bytes, while another part of a tiered cache does
  // the opposite.
  virtual Status Deflate(size_t /*decrease*/) {
    return Status::NotSupported("SecondaryCache::Deflate: not implemented");
  }
  virtual Status Inflate(size_t /*increase*/) {
    return Status::NotSupported("SecondaryCache::Inflate: not implemented");
  }
};

// Forwards all calls to another secondary cache.
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
