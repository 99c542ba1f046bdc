// SPDX-License-Identifier: Apache-2.0
//
// Cache: the interface of a cache, for programs that implement their own. cache.h has the functions
// that create the built-in caches.
//
// An entry is an object with a key. Lookup() and Insert() return a Handle, a counted reference that
// keeps the object alive until Release(). Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/compression_type.h"
#include "ashlar/export.h"
#include "ashlar/memory_allocator.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Logger;
class SecondaryCacheResultHandle;
class Statistics;
enum class CacheTier : uint8_t;

// The interface of a cache.
class ASHLAR_EXPORT Cache : public Customizable {
 public:
  struct Handle {};
  using ObjectPtr = void*;

  // Index and filter blocks have HIGH priority, data blocks LOW, blob values BOTTOM.
  enum class Priority { HIGH, LOW, BOTTOM };

  // Data for CreateCallback; defined by the caller of Lookup().
  struct CreateContext {};

  // Functions for second tiers: return the size of the saved form of an object, write a part of
  // that form, and create an object from it.
  using SizeCallback = size_t (*)(ObjectPtr obj);
  using SaveToCallback = Status (*)(ObjectPtr from_obj, size_t from_offset, size_t length,
                                    char* out_buf);
  using CreateCallback = Status (*)(const Slice& data, CompressionType type, CacheTier source,
                                    CreateContext* context, MemoryAllocator* allocator,
                                    ObjectPtr* out_obj, size_t* out_charge);
  using DeleterFn = void (*)(ObjectPtr obj, MemoryAllocator* allocator);
  using EvictionCallback = std::function<bool(const Slice& key, Handle* h, bool was_hit)>;

  // Describes one kind of object to the cache. Helpers are static: they outlive every cache.
  struct CacheItemHelper {
    DeleterFn del_cb;  // nullptr: nothing to delete
    SizeCallback size_cb;
    SaveToCallback saveto_cb;
    CreateCallback create_cb;
    CacheEntryRole role;
    const CacheItemHelper* without_secondary_compat;

    // For objects that a second tier cannot store.
    explicit constexpr CacheItemHelper(CacheEntryRole _role, DeleterFn _del_cb = nullptr)
        : CacheItemHelper(_role, _del_cb, nullptr, nullptr, nullptr, this) {}
    explicit constexpr CacheItemHelper(CacheEntryRole _role, DeleterFn _del_cb,
                                       SizeCallback _size_cb, SaveToCallback _saveto_cb,
                                       CreateCallback _create_cb,
                                       const CacheItemHelper* _without_secondary_compat)
        : del_cb(_del_cb),
          size_cb(_size_cb),
          saveto_cb(_saveto_cb),
          create_cb(_create_cb),
          role(_role),
          without_secondary_compat(_without_secondary_compat) {}
    bool IsSecondaryCacheCompatible() const { return size_cb != nullptr; }
  };

  explicit Cache(std::shared_ptr<MemoryAllocator> allocator = nullptr)
      : memory_allocator_(std::move(allocator)) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  // Deletes all entries. No handle may exist any more.
  ~Cache() override {}

  static const char* Type() { return "Cache"; }
  // Creates an LRU cache from a capacity ("64M") or from options
  // ("capacity=...;num_shard_bits=...").
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<Cache>* result);

  const char* Name() const override = 0;

  // Inserts `obj`, replacing the entry with the same key. If the result is OK, the cache owns the
  // object, and *handle, if requested, holds a reference. If the capacity limit is strict and there
  // is no room: with a handle, MemoryLimit, and the caller still owns `obj`; without a handle,
  // `obj` is deleted and the result is OK. `charge` is the size in bytes that counts against the
  // capacity.
  virtual Status Insert(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                        size_t charge, Handle** handle = nullptr, Priority priority = Priority::LOW,
                        const Slice& compressed_val = Slice(),
                        CompressionType type = CompressionType::kNoCompression) = 0;
  // Returns a handle to an object that no lookup can find. If the capacity is exceeded and
  // allow_uncharged is false, it may return nullptr.
  virtual Handle* CreateStandalone(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                                   size_t charge, bool allow_uncharged) = 0;
  // Returns a reference to the entry; nullptr if there is none. `helper` and `create_context` are
  // used by second tiers.
  virtual Handle* Lookup(const Slice& key, const CacheItemHelper* helper = nullptr,
                         CreateContext* create_context = nullptr, Priority priority = Priority::LOW,
                         Statistics* stats = nullptr) = 0;

  // Adds a reference; false if the handle is no longer valid.
  virtual bool Ref(Handle* handle) = 0;
  // Releases a reference; true if that deleted the object.
  virtual bool Release(Handle* handle, bool erase_if_last_ref = false) = 0;
  virtual bool Release(Handle* handle, bool /*useful*/, bool erase_if_last_ref) {
    return Release(handle, erase_if_last_ref);
  }
  // The object of an entry.
  virtual ObjectPtr Value(Handle* handle) = 0;
  // Removes an entry, so that lookups do not find it any more. The object is deleted when its last
  // reference is released.
  virtual void Erase(const Slice& key) = 0;
  // Returns a number that has not been returned before, for use in keys.
  virtual uint64_t NewId() = 0;

  // Capacity and usage are in bytes.
  virtual void SetCapacity(size_t capacity) = 0;
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  virtual bool HasStrictCapacityLimit() const = 0;
  virtual size_t GetCapacity() const = 0;
  virtual size_t GetUsage() const = 0;
  virtual size_t GetOccupancyCount() const { return SIZE_MAX; }
  virtual size_t GetTableAddressCount() const { return 0; }
  virtual size_t GetUsage(Handle* handle) const = 0;
  // Bytes of the entries that are referenced.
  virtual size_t GetPinnedUsage() const = 0;
  virtual size_t GetCharge(Handle* handle) const = 0;
  virtual const CacheItemHelper* GetCacheItemHelper(Handle* handle) const = 0;

  // Do not free entries in the destructor: for processes that are about to end.
  virtual void DisownData() {}

  // Options of ApplyToAllEntries().
  struct ApplyToAllEntriesOptions {
    // How many entries are visited while a shard is locked.
    size_t average_entries_per_lock = 256;
  };
  // Calls `callback` for every entry. Entries that are inserted or erased during the call may be
  // missed. The callback must not use the cache.
  virtual void ApplyToAllEntries(
      const std::function<void(const Slice& key, ObjectPtr obj, size_t charge,
                               const CacheItemHelper* helper)>& callback,
      const ApplyToAllEntriesOptions& opts) = 0;
  virtual void ApplyToHandle(
      Cache* cache, Handle* handle,
      const std::function<void(const Slice& key, ObjectPtr obj, size_t charge,
                               const CacheItemHelper* helper)>& callback);

  // Erases all entries that are not referenced.
  virtual void EraseUnRefEntries() = 0;

  std::string GetPrintableOptions() const override { return ""; }
  virtual void ReportProblems(const std::shared_ptr<Logger>& /*info_log*/) const {}

  MemoryAllocator* memory_allocator() const { return memory_allocator_.get(); }

  // A lookup that may wait for a second tier. Without a second tier it completes immediately.
  struct AsyncLookupHandle {
    AsyncLookupHandle() {}
    AsyncLookupHandle(const Slice& _key, const CacheItemHelper* _helper = nullptr,
                      CreateContext* _create_context = nullptr, Priority _priority = Priority::LOW,
                      Statistics* _stats = nullptr)
        : key(_key),
          helper(_helper),
          create_context(_create_context),
          priority(_priority),
          stats(_stats) {}

    // Input.
    Slice key;
    const CacheItemHelper* helper = nullptr;
    CreateContext* create_context = nullptr;
    Priority priority = Priority::LOW;
    Statistics* stats = nullptr;
    // Set by StartAsyncLookup(). Wait() or WaitAll() completes a pending lookup.
    SecondaryCacheResultHandle* pending_handle = nullptr;
    Cache* pending_cache = nullptr;
    bool found_dummy_entry = false;
    bool kept_in_sec_cache = false;
    Handle* result_handle = nullptr;

    bool IsReady() const { return pending_handle == nullptr; }
    bool IsPending() const { return pending_handle != nullptr; }
    Handle* Result() const { return result_handle; }
  };
  virtual void StartAsyncLookup(AsyncLookupHandle& async_handle);
  Handle* Wait(AsyncLookupHandle& async_handle);
  virtual void WaitAll(AsyncLookupHandle* async_handles, size_t count);

  // Called before an entry is evicted; if it returns true, it takes ownership of the object. May be
  // set once, before the cache is used.
  void SetEvictionCallback(EvictionCallback&& fn) { eviction_callback_ = std::move(fn); }

  // Looks up an entry in this tier only.
  Handle* BasicLookup(const Slice& key, Statistics* stats) {
    return Lookup(key, nullptr, nullptr, Priority::LOW, stats);
  }

  // Part of the hash of keys, so that caches with different seeds distribute keys differently.
  virtual uint32_t GetHashSeed() const { return 0; }

 protected:
  std::shared_ptr<MemoryAllocator> memory_allocator_;
  EvictionCallback eviction_callback_;
};

// Forwards all calls to another cache. Override the functions that should differ.
class ASHLAR_EXPORT CacheWrapper : public Cache {
 public:
  explicit CacheWrapper(std::shared_ptr<Cache> target) : target_(std::move(target)) {}

  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle = nullptr, Priority priority = Priority::LOW,
                const Slice& compressed_val = Slice(),
                CompressionType type = CompressionType::kNoCompression) override {
    return target_->Insert(key, value, helper, charge, handle, priority, compressed_val, type);
  }
  Handle* CreateStandalone(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                           size_t charge, bool allow_uncharged) override {
    return target_->CreateStandalone(key, obj, helper, charge, allow_uncharged);
  }
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper = nullptr,
                 CreateContext* create_context = nullptr, Priority priority = Priority::LOW,
                 Statistics* stats = nullptr) override {
    return target_->Lookup(key, helper, create_context, priority, stats);
  }
  bool Ref(Handle* handle) override { return target_->Ref(handle); }
  using Cache::Release;
  bool Release(Handle* handle, bool erase_if_last_ref = false) override {
    return target_->Release(handle, erase_if_last_ref);
  }
  ObjectPtr Value(Handle* handle) override { return target_->Value(handle); }
  void Erase(const Slice& key) override { target_->Erase(key); }
  uint64_t NewId() override { return target_->NewId(); }
  void SetCapacity(size_t capacity) override { target_->SetCapacity(capacity); }
  void SetStrictCapacityLimit(bool strict_capacity_limit) override {
    target_->SetStrictCapacityLimit(strict_capacity_limit);
  }
  bool HasStrictCapacityLimit() const override { return target_->HasStrictCapacityLimit(); }
  size_t GetCapacity() const override { return target_->GetCapacity(); }
  size_t GetUsage() const override { return target_->GetUsage(); }
  size_t GetUsage(Handle* handle) const override { return target_->GetUsage(handle); }
  size_t GetOccupancyCount() const override { return target_->GetOccupancyCount(); }
  size_t GetTableAddressCount() const override { return target_->GetTableAddressCount(); }
  size_t GetPinnedUsage() const override { return target_->GetPinnedUsage(); }
  size_t GetCharge(Handle* handle) const override { return target_->GetCharge(handle); }
  const CacheItemHelper* GetCacheItemHelper(Handle* handle) const override {
    return target_->GetCacheItemHelper(handle);
  }
  void ApplyToAllEntries(const std::function<void(const Slice& key, ObjectPtr value, size_t charge,
                                                  const CacheItemHelper* helper)>& callback,
                         const ApplyToAllEntriesOptions& opts) override {
    target_->ApplyToAllEntries(callback, opts);
  }
  void EraseUnRefEntries() override { target_->EraseUnRefEntries(); }
  void DisownData() override { target_->DisownData(); }
  uint32_t GetHashSeed() const override { return target_->GetHashSeed(); }

  const std::shared_ptr<Cache>& GetTarget() { return target_; }

 protected:
  std::shared_ptr<Cache> target_;
};

}  // namespace ashlar
