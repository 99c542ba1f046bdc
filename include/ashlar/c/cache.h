// SPDX-License-Identifier: Apache-2.0
//
// The C API: caches, allocators of their memory, and what databases and caches use of it. Options
// of caches are in object_options.h.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// ---- caches; a handle shares its cache with the options in which it was put

// Capacities and sizes are in bytes.
ashlar_cache_t* ashlar_cache_create_lru(size_t capacity);
// Insertions that find no room fail instead of exceeding the capacity.
ashlar_cache_t* ashlar_cache_create_lru_with_strict_capacity_limit(size_t capacity);
ashlar_cache_t* ashlar_cache_create_lru_opts(const ashlar_lru_cache_options_t* opt);
// estimated_entry_charge: the expected average size of an entry; 0 = the table grows as needed.
ashlar_cache_t* ashlar_cache_create_hyper_clock(size_t capacity, size_t estimated_entry_charge);
ashlar_cache_t* ashlar_cache_create_hyper_clock_opts(const ashlar_hyper_clock_cache_options_t* opt);
void ashlar_cache_destroy(ashlar_cache_t* cache);

// The memory of the cache is not freed when the process ends, which makes that faster.
void ashlar_cache_disown_data(ashlar_cache_t* cache);
void ashlar_cache_set_capacity(ashlar_cache_t* cache, size_t capacity);
size_t ashlar_cache_get_capacity(const ashlar_cache_t* cache);
// Bytes of all entries, and of those that are in use.
size_t ashlar_cache_get_usage(const ashlar_cache_t* cache);
size_t ashlar_cache_get_pinned_usage(const ashlar_cache_t* cache);
// Number of slots of the hash table, and of those that are occupied.
size_t ashlar_cache_get_table_address_count(const ashlar_cache_t* cache);
size_t ashlar_cache_get_occupancy_count(const ashlar_cache_t* cache);

ashlar_hyper_clock_cache_options_t* ashlar_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge);

// ---- allocators: shared by the options and caches that use them

// jemalloc is not linked in: the result is null, with an error.
ashlar_memory_allocator_t* ashlar_jemalloc_nodump_allocator_create(char** errptr);
void ashlar_memory_allocator_destroy(ashlar_memory_allocator_t* allocator);
void ashlar_lru_cache_options_set_memory_allocator(ashlar_lru_cache_options_t* opt,
                                                   ashlar_memory_allocator_t* allocator);
void ashlar_hyper_clock_cache_options_set_memory_allocator(ashlar_hyper_clock_cache_options_t* opt,
                                                           ashlar_memory_allocator_t* allocator);

// ---- memory of memtables that several databases share

// buffer_size: the limit in bytes; 0 only counts. allow_stall: writers wait while it is exceeded.
ashlar_write_buffer_manager_t* ashlar_write_buffer_manager_create(size_t buffer_size,
                                                                  bool allow_stall);
// The same, and the memory is charged to the cache, if that is not null.
ashlar_write_buffer_manager_t* ashlar_write_buffer_manager_create_with_cache(
    size_t buffer_size, const ashlar_cache_t* cache, bool allow_stall);
void ashlar_write_buffer_manager_destroy(ashlar_write_buffer_manager_t* wbm);
// Whether there is a limit, and whether memory is charged to a cache.
bool ashlar_write_buffer_manager_enabled(ashlar_write_buffer_manager_t* wbm);
bool ashlar_write_buffer_manager_cost_to_cache(ashlar_write_buffer_manager_t* wbm);
// Bytes used by all memtables, bytes used by active memtables, bytes charged to the cache, limit.
size_t ashlar_write_buffer_manager_memory_usage(ashlar_write_buffer_manager_t* wbm);
size_t ashlar_write_buffer_manager_mutable_memtable_memory_usage(
    ashlar_write_buffer_manager_t* wbm);
size_t ashlar_write_buffer_manager_dummy_entries_in_cache_usage(ashlar_write_buffer_manager_t* wbm);
size_t ashlar_write_buffer_manager_buffer_size(ashlar_write_buffer_manager_t* wbm);
// new_size must not be 0; 0 changes nothing.
void ashlar_write_buffer_manager_set_buffer_size(ashlar_write_buffer_manager_t* wbm,
                                                 size_t new_size);
void ashlar_write_buffer_manager_set_allow_stall(ashlar_write_buffer_manager_t* wbm,
                                                 bool new_allow_stall);

// ---- memory that databases and caches use

// A list of databases and caches, which must live until the measurement.
ashlar_memory_consumers_t* ashlar_memory_consumers_create(void);
void ashlar_memory_consumers_destroy(ashlar_memory_consumers_t* consumers);
void ashlar_memory_consumers_add_db(ashlar_memory_consumers_t* consumers, ashlar_t* db);
void ashlar_memory_consumers_add_cache(ashlar_memory_consumers_t* consumers, ashlar_cache_t* cache);

// Measures now; null after an error.
ashlar_memory_usage_t* ashlar_approximate_memory_usage_create(ashlar_memory_consumers_t* consumers,
                                                              char** errptr);
void ashlar_approximate_memory_usage_destroy(ashlar_memory_usage_t* usage);
// Bytes of all memtables, of those that are not flushed, of indexes and filters that are not in a
// cache, and of the caches.
uint64_t ashlar_approximate_memory_usage_get_mem_table_total(ashlar_memory_usage_t* memory_usage);
uint64_t ashlar_approximate_memory_usage_get_mem_table_unflushed(
    ashlar_memory_usage_t* memory_usage);
uint64_t ashlar_approximate_memory_usage_get_mem_table_readers_total(
    ashlar_memory_usage_t* memory_usage);
uint64_t ashlar_approximate_memory_usage_get_cache_total(ashlar_memory_usage_t* memory_usage);

ASHLAR_C_END
