// SPDX-License-Identifier: Apache-2.0
//
// The C API: caches, allocators of their memory, and what databases and caches use of it.
//
// The handle of a shared object has one reference. Options take further ones, so a handle may be
// destroyed as soon as the options have the object.
#include <cassert>

#include "ashlar/c/cache.h"

#include "capi/option_handles.h"

using ashlar::HyperClockCacheOptions;
using ashlar::LRUCacheOptions;
using ashlar::MemoryUtil;
using ashlar::WriteBufferManager;
using ashlar::capi::Failed;
using ashlar::capi::ObjectIn;

namespace {

// A handle for a new cache. A function that makes caches returns null for options that contradict
// each other.
ashlar_cache_t* NewHandle(std::shared_ptr<ashlar::Cache> cache) {
  // Null goes through as null, so that programs see the failure although these functions have no
  // errptr.
  return cache == nullptr ? nullptr : new ashlar_cache_t{std::move(cache)};
}

}  // namespace

// ---- caches

ashlar_cache_t* ashlar_cache_create_lru(size_t capacity) {
  return NewHandle(ashlar::NewLRUCache(capacity));
}
ashlar_cache_t* ashlar_cache_create_lru_with_strict_capacity_limit(size_t capacity) {
  LRUCacheOptions options;
  options.capacity = capacity;
  options.strict_capacity_limit = true;
  return NewHandle(options.MakeSharedCache());
}
ashlar_cache_t* ashlar_cache_create_lru_opts(const ashlar_lru_cache_options_t* opt) {
  return NewHandle(ashlar::capi::OptionsIn(opt).MakeSharedCache());
}
ashlar_cache_t* ashlar_cache_create_hyper_clock(size_t capacity, size_t estimated_entry_charge) {
  return NewHandle(HyperClockCacheOptions(capacity, estimated_entry_charge).MakeSharedCache());
}
ashlar_cache_t* ashlar_cache_create_hyper_clock_opts(
    const ashlar_hyper_clock_cache_options_t* opt) {
  assert(opt != nullptr);
  return NewHandle(opt->rep.MakeSharedCache());
}
void ashlar_cache_destroy(ashlar_cache_t* cache) { delete cache; }

// For programs that end without freeing memory: the cache then keeps its entries when it is
// destroyed.
void ashlar_cache_disown_data(ashlar_cache_t* cache) { cache->rep->DisownData(); }
void ashlar_cache_set_capacity(ashlar_cache_t* cache, size_t capacity) {
  assert(cache != nullptr);
  cache->rep->SetCapacity(capacity);
}
size_t ashlar_cache_get_capacity(const ashlar_cache_t* cache) { return cache->rep->GetCapacity(); }
size_t ashlar_cache_get_usage(const ashlar_cache_t* cache) { return cache->rep->GetUsage(); }
size_t ashlar_cache_get_pinned_usage(const ashlar_cache_t* cache) {
  return cache->rep->GetPinnedUsage();
}
size_t ashlar_cache_get_table_address_count(const ashlar_cache_t* cache) {
  return cache->rep->GetTableAddressCount();
}
size_t ashlar_cache_get_occupancy_count(const ashlar_cache_t* cache) {
  return cache->rep->GetOccupancyCount();
}

ashlar_hyper_clock_cache_options_t* ashlar_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge) {
  // The options are a plain struct; the cache copies them when it is made.
  return new ashlar_hyper_clock_cache_options_t{
      HyperClockCacheOptions(capacity, estimated_entry_charge)};
}

// ---- allocators

ashlar_memory_allocator_t* ashlar_jemalloc_nodump_allocator_create(char** errptr) {
  std::shared_ptr<ashlar::MemoryAllocator> allocator;
  if (Failed(errptr, ashlar::NewJemallocNodumpAllocator({}, &allocator))) return nullptr;
  return new ashlar_memory_allocator_t{allocator};
}
void ashlar_memory_allocator_destroy(ashlar_memory_allocator_t* allocator) { delete allocator; }
void ashlar_lru_cache_options_set_memory_allocator(ashlar_lru_cache_options_t* opt,
                                                   ashlar_memory_allocator_t* allocator) {
  assert(opt != nullptr);
  opt->rep.memory_allocator = ObjectIn(allocator);
}
void ashlar_hyper_clock_cache_options_set_memory_allocator(ashlar_hyper_clock_cache_options_t* opt,
                                                           ashlar_memory_allocator_t* allocator) {
  assert(opt != nullptr);
  opt->rep.memory_allocator = ObjectIn(allocator);
}

// ---- memory of memtables

ashlar_write_buffer_manager_t* ashlar_write_buffer_manager_create(size_t buffer_size,
                                                                  bool allow_stall) {
  return ashlar_write_buffer_manager_create_with_cache(buffer_size, nullptr, allow_stall);
}
ashlar_write_buffer_manager_t* ashlar_write_buffer_manager_create_with_cache(
    size_t buffer_size, const ashlar_cache_t* cache, bool allow_stall) {
  return new ashlar_write_buffer_manager_t{
      std::make_shared<WriteBufferManager>(buffer_size, ObjectIn(cache), allow_stall)};
}
void ashlar_write_buffer_manager_destroy(ashlar_write_buffer_manager_t* wbm) { delete wbm; }
bool ashlar_write_buffer_manager_enabled(ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->enabled();
}
bool ashlar_write_buffer_manager_cost_to_cache(ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->cost_to_cache();
}
size_t ashlar_write_buffer_manager_memory_usage(ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->memory_usage();
}
size_t ashlar_write_buffer_manager_mutable_memtable_memory_usage(
    ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->mutable_memtable_memory_usage();
}
size_t ashlar_write_buffer_manager_dummy_entries_in_cache_usage(
    ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->dummy_entries_in_cache_usage();
}
size_t ashlar_write_buffer_manager_buffer_size(ashlar_write_buffer_manager_t* wbm) {
  return wbm->rep->buffer_size();
}
// A size of 0 would turn the limit off, which the C API does not offer; the call is ignored.
void ashlar_write_buffer_manager_set_buffer_size(ashlar_write_buffer_manager_t* wbm,
                                                 size_t new_size) {
  assert(wbm != nullptr);
  if (new_size != 0) wbm->rep->SetBufferSize(new_size);
}
void ashlar_write_buffer_manager_set_allow_stall(ashlar_write_buffer_manager_t* wbm,
                                                 bool new_allow_stall) {
  assert(wbm != nullptr);
  wbm->rep->SetAllowStall(new_allow_stall);
}

// ---- memory that databases and caches use

// Borrowed: the program keeps databases and caches until it has asked for their memory.
struct ashlar_memory_consumers_t {
  std::vector<ashlar::DB*> databases;
  std::unordered_set<const ashlar::Cache*> caches;
};
// Bytes by kind of use.
struct ashlar_memory_usage_t {
  std::map<MemoryUtil::UsageType, uint64_t> bytes;
};

ashlar_memory_consumers_t* ashlar_memory_consumers_create() {
  return new ashlar_memory_consumers_t;
}
void ashlar_memory_consumers_destroy(ashlar_memory_consumers_t* consumers) { delete consumers; }
void ashlar_memory_consumers_add_db(ashlar_memory_consumers_t* consumers, ashlar_t* db) {
  assert(consumers != nullptr && db != nullptr);
  consumers->databases.push_back(db->rep);
}
void ashlar_memory_consumers_add_cache(ashlar_memory_consumers_t* consumers,
                                       ashlar_cache_t* cache) {
  assert(consumers != nullptr && cache != nullptr);
  consumers->caches.insert(cache->rep.get());
}

ashlar_memory_usage_t* ashlar_approximate_memory_usage_create(ashlar_memory_consumers_t* consumers,
                                                              char** errptr) {
  assert(consumers != nullptr);
  ashlar_memory_usage_t usage;
  // Built on the stack, so that nothing must be freed after an error.
  if (Failed(errptr, MemoryUtil::GetApproximateMemoryUsageByType(
                         consumers->databases, consumers->caches, &usage.bytes))) {
    return nullptr;
  }
  return new ashlar_memory_usage_t(std::move(usage));
}
void ashlar_approximate_memory_usage_destroy(ashlar_memory_usage_t* usage) { delete usage; }
uint64_t ashlar_approximate_memory_usage_get_mem_table_total(ashlar_memory_usage_t* memory_usage) {
  // A kind that was not reported has no element; the operator then adds one with 0.
  return memory_usage->bytes[MemoryUtil::kMemTableTotal];
}
uint64_t ashlar_approximate_memory_usage_get_mem_table_unflushed(
    ashlar_memory_usage_t* memory_usage) {
  return memory_usage->bytes[MemoryUtil::kMemTableUnFlushed];
}
uint64_t ashlar_approximate_memory_usage_get_mem_table_readers_total(
    ashlar_memory_usage_t* memory_usage) {
  return memory_usage->bytes[MemoryUtil::kTableReadersTotal];
}
uint64_t ashlar_approximate_memory_usage_get_cache_total(ashlar_memory_usage_t* memory_usage) {
  return memory_usage->bytes[MemoryUtil::kCacheTotal];
}
