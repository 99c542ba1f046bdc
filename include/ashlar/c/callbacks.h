// SPDX-License-Identifier: Apache-2.0
//
// The C API: objects that call functions of the program: comparators, merge operators, prefix
// extractors, filters.
//
// `state` is passed to each function; `destructor` is called with it once, when the last owner of
// the object goes. `name` returns a string that lives as long as `state`. The functions are called
// from several threads at once, and must not call back into the database.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Results of a filter of logs.
enum {
  ashlar_wal_filter_continue_processing = 0,
  ashlar_wal_filter_ignore_current_record = 1,
  ashlar_wal_filter_stop_replay = 2,
  ashlar_wal_filter_corrupted_record = 3
};

typedef void (*ashlar_walfilter_column_family_log_number_map_cb)(
    void*, const uint32_t* ids, const uint64_t* log_numbers, size_t count, const char* const* names,
    const size_t* name_sizes, const uint32_t* ids_of_names, size_t name_count);
typedef int (*ashlar_walfilter_log_record_found_cb)(void*, unsigned long long log_number,
                                                    const char* file_name, size_t file_name_size,
                                                    const ashlar_writebatch_t* batch,
                                                    ashlar_writebatch_t* new_batch,
                                                    unsigned char* batch_changed);

// Orders keys: negative, 0 or positive as strcmp(). It is not owned by options: it is destroyed
// after all databases that use it.
ashlar_comparator_t* ashlar_comparator_create(void* state, void (*destructor)(void*),
                                              int (*compare)(void*, const char* a, size_t alen,
                                                             const char* b, size_t blen),
                                              const char* (*name)(void*));
void ashlar_comparator_destroy(ashlar_comparator_t*);

// The same for keys that end in a timestamp of this size. `compare_without_ts` is told whether its
// keys have one.
ashlar_comparator_t* ashlar_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    int (*compare_ts)(void*, const char* a_ts, size_t a_tslen, const char* b_ts, size_t b_tslen),
    int (*compare_without_ts)(void*, const char* a, size_t alen, unsigned char a_has_ts,
                              const char* b, size_t blen, unsigned char b_has_ts),
    const char* (*name)(void*), size_t timestamp_size);

// `full_merge` makes the value of a key of the existing one (null: none) and the operands, oldest
// first; `partial_merge` one operand of several, and may be null. Both return a buffer and set
// `*success` to 1, or to 0 if they cannot. The buffer is given to `delete_value`, or freed if that
// is null. Options take the operator over; it is destroyed by the caller only if no options got it.
ashlar_mergeoperator_t* ashlar_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (*full_merge)(void*, const char* key, size_t key_length, const char* existing_value,
                        size_t existing_value_length, const char* const* operands_list,
                        const size_t* operands_list_length, int num_operands,
                        unsigned char* success, size_t* new_value_length),
    char* (*partial_merge)(void*, const char* key, size_t key_length,
                           const char* const* operands_list, const size_t* operands_list_length,
                           int num_operands, unsigned char* success, size_t* new_value_length),
    void (*delete_value)(void*, const char* value, size_t value_length),
    const char* (*name)(void*));
void ashlar_mergeoperator_destroy(ashlar_mergeoperator_t*);

// The prefix of a key, for which `in_domain` is asked first. `transform` returns a pointer into the
// key, or into memory of the program that stays as it is until the object is destroyed. Options
// take the extractor over; it is destroyed by the caller only if no options got it.
ashlar_slicetransform_t* ashlar_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (*name)(void*));
ashlar_slicetransform_t* ashlar_slicetransform_create_fixed_prefix(size_t);
ashlar_slicetransform_t* ashlar_slicetransform_create_noop(void);
void ashlar_slicetransform_destroy(ashlar_slicetransform_t*);

// Called for each value of a compaction: 1 drops it. To change it, set `*value_changed` to 1 and
// `*new_value`, which must stay as it is until the next call in the same thread or until the filter
// is destroyed, and return 0. Not owned by options: the filter is destroyed after the database.
ashlar_compactionfilter_t* ashlar_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length,
                            const char* existing_value, size_t value_length, char** new_value,
                            size_t* new_value_length, unsigned char* value_changed),
    const char* (*name)(void*));
void ashlar_compactionfilter_destroy(ashlar_compactionfilter_t*);

// Must be 1, the default; compactions with a filter that says 0 fail.
void ashlar_compactionfilter_set_ignore_snapshots(ashlar_compactionfilter_t*, unsigned char);

// Makes a filter for each compaction, which owns it. Options take the factory over; it is destroyed
// by the caller only if no options got it.
ashlar_compactionfilterfactory_t* ashlar_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    ashlar_compactionfilter_t* (*create_compaction_filter)(
        void*, ashlar_compactionfiltercontext_t* context),
    const char* (*name)(void*));
void ashlar_compactionfilterfactory_destroy(ashlar_compactionfilterfactory_t*);
unsigned char ashlar_compactionfiltercontext_is_full_compaction(
    ashlar_compactionfiltercontext_t* context);
unsigned char ashlar_compactionfiltercontext_is_manual_compaction(
    ashlar_compactionfiltercontext_t* context);

// Called when a database is opened: once with the oldest log of each family (by id) and with the
// ids of their names, then for each batch in the logs. `log_record_found` returns one of the values
// below; to replace the batch it fills the second one and sets the flag. The filter is not owned by
// options.
ashlar_walfilter_t* ashlar_walfilter_create(
    void* state, void (*destructor)(void*),
    ashlar_walfilter_column_family_log_number_map_cb column_family_log_number_map,
    ashlar_walfilter_log_record_found_cb log_record_found, const char* (*name)(void*));
void ashlar_walfilter_destroy(ashlar_walfilter_t*);

ASHLAR_C_END
