// SPDX-License-Identifier: Apache-2.0
//
// The C API: opening and closing a database, and what concerns the whole of it.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Opens the database in the directory `name`. Null after an error. The second directory of a
// secondary gets its info log.
ashlar_t* ashlar_open(const ashlar_options_t* options, const char* name, char** errptr);
ashlar_t* ashlar_open_for_read_only(const ashlar_options_t* options, const char* name,
                                    unsigned char error_if_wal_file_exists, char** errptr);
ashlar_t* ashlar_open_as_secondary(const ashlar_options_t* options, const char* name,
                                   const char* secondary_path, char** errptr);

// The same, with the column families of the names, each with its own options. `options` are those
// of the database. The handles go to the array `column_family_handles`; each is destroyed by the
// caller. After an error the array is not changed.
ashlar_t* ashlar_open_column_families(const ashlar_options_t* options, const char* name,
                                      int num_column_families,
                                      const char* const* column_family_names,
                                      const ashlar_options_t* const* column_family_options,
                                      ashlar_column_family_handle_t** column_family_handles,
                                      char** errptr);
ashlar_t* ashlar_open_for_read_only_column_families(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, unsigned char error_if_wal_file_exists,
    char** errptr);
ashlar_t* ashlar_open_as_secondary_column_families(
    const ashlar_options_t* options, const char* name, const char* secondary_path,
    int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr);

// Opens the database and drops what is newer than the timestamp. Families without timestamps are
// not changed.
ashlar_t* ashlar_open_and_trim_history(const ashlar_options_t* options, const char* name,
                                       int num_column_families,
                                       const char* const* column_family_names,
                                       const ashlar_options_t* const* column_family_options,
                                       ashlar_column_family_handle_t** column_family_handles,
                                       char* trim_ts, size_t trim_tslen, char** errptr);

// Closes the database. Iterators, snapshots and transactions must be gone; the handles of column
// families may be destroyed later.
void ashlar_close(ashlar_t* db);

// Reads what the primary has written since. Only for a secondary.
void ashlar_try_catch_up_with_primary(ashlar_t* db, char** errptr);

// Deletes a database that is not open, with all its files.
void ashlar_destroy_db(const ashlar_options_t* options, const char* name, char** errptr);

// Makes a database again of the files that are left of one.
void ashlar_repair_db(const ashlar_options_t* options, const char* name, char** errptr);

// The identity of the database; to be freed.
char* ashlar_get_db_identity(ashlar_t* db, size_t* id_len);

// The sequence number of the last write.
uint64_t ashlar_get_latest_sequence_number(ashlar_t* db);

// Stops flushes and compactions, and with `wait` returns when none runs.
void ashlar_cancel_all_background_work(ashlar_t* db, unsigned char wait);

// Frees what another call returned. Null does nothing.
void ashlar_free(void* ptr);

ASHLAR_C_END
