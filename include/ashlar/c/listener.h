// SPDX-License-Identifier: Apache-2.0
//
// The C API: event listeners and info logs.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

typedef void (*ashlar_on_flush_begin_cb)(void*, ashlar_t*, const ashlar_flushjobinfo_t*);
typedef void (*ashlar_on_flush_completed_cb)(void*, ashlar_t*, const ashlar_flushjobinfo_t*);
typedef void (*ashlar_on_compaction_begin_cb)(void*, ashlar_t*, const ashlar_compactionjobinfo_t*);
typedef void (*ashlar_on_compaction_completed_cb)(void*, ashlar_t*,
                                                  const ashlar_compactionjobinfo_t*);
typedef void (*ashlar_on_subcompaction_begin_cb)(void*, const ashlar_subcompactionjobinfo_t*);
typedef void (*ashlar_on_subcompaction_completed_cb)(void*, const ashlar_subcompactionjobinfo_t*);
typedef void (*ashlar_on_external_file_ingested_cb)(void*, ashlar_t*,
                                                    const ashlar_externalfileingestioninfo_t*);
typedef void (*ashlar_on_background_error_cb)(void*, uint32_t reason, ashlar_status_ptr_t*);
typedef void (*ashlar_on_stall_conditions_changed_cb)(void*, const ashlar_writestallinfo_t*);
typedef void (*ashlar_on_memtable_sealed_cb)(void*, const ashlar_memtableinfo_t*);

// Is told of what the database does; functions that are null are not called. They are called in the
// threads that do the work, which wait: the functions should be fast and must not wait for the
// database. The handle of the database is valid during the call. Options take the listener over: it
// is destroyed by the caller only if no options got it.
ashlar_eventlistener_t* ashlar_eventlistener_create(
    void* state, void (*destructor)(void*), ashlar_on_flush_begin_cb on_flush_begin,
    ashlar_on_flush_completed_cb on_flush_completed,
    ashlar_on_compaction_begin_cb on_compaction_begin,
    ashlar_on_compaction_completed_cb on_compaction_completed,
    ashlar_on_subcompaction_begin_cb on_subcompaction_begin,
    ashlar_on_subcompaction_completed_cb on_subcompaction_completed,
    ashlar_on_external_file_ingested_cb on_external_file_ingested,
    ashlar_on_background_error_cb on_background_error,
    ashlar_on_stall_conditions_changed_cb on_stall_conditions_changed,
    ashlar_on_memtable_sealed_cb on_memtable_sealed);
void ashlar_eventlistener_destroy(ashlar_eventlistener_t*);
void ashlar_options_add_eventlistener(ashlar_options_t* options, ashlar_eventlistener_t* listener);

// The error that is about to stop writes: as a text, and no error from now on, so that the database
// goes on.
void ashlar_status_ptr_get_error(ashlar_status_ptr_t* status, char** errptr);
void ashlar_reset_status(ashlar_status_ptr_t* status_ptr);

// Info logs: to stderr, each line after a prefix, and to a function of the program. Messages below
// the level (0 debug, 1 info, 2 warning, 3 error, 4 fatal, 5 header, 6 nothing) are left out.
ashlar_logger_t* ashlar_logger_create_stderr_logger(int log_level, const char* prefix);
ashlar_logger_t* ashlar_logger_create_callback_logger(
    int log_level, void (*log)(void* priv, unsigned lev, char* msg, size_t len), void* priv);
void ashlar_logger_destroy(ashlar_logger_t* logger);

ASHLAR_C_END
