// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases with transactions that look for conflicts when they are committed.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Null after an error.
ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open(
    const ashlar_options_t* options, const char* name, char** errptr);
ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open_with_otxn_db_options(
    const ashlar_options_t* options,
    const ashlar_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    char** errptr);
ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open_column_families(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr);
ashlar_optimistictransactiondb_t*
ashlar_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const ashlar_options_t* options,
    const ashlar_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr);
void ashlar_optimistictransactiondb_close(ashlar_optimistictransactiondb_t* otxn_db);

// The database underneath, for all other functions. The handle is freed with `close_base_db`, which
// closes nothing.
ashlar_t* ashlar_optimistictransactiondb_get_base_db(ashlar_optimistictransactiondb_t* otxn_db);
void ashlar_optimistictransactiondb_close_base_db(ashlar_t* base_db);

void ashlar_optimistictransactiondb_write(ashlar_optimistictransactiondb_t* otxn_db,
                                          const ashlar_writeoptions_t* options,
                                          ashlar_writebatch_t* batch, char** errptr);
ashlar_checkpoint_t* ashlar_optimistictransactiondb_checkpoint_object_create(
    ashlar_optimistictransactiondb_t* otxn_db, char** errptr);
char* ashlar_optimistictransactiondb_property_value(ashlar_optimistictransactiondb_t* db,
                                                    const char* propname);
int ashlar_optimistictransactiondb_property_int(ashlar_optimistictransactiondb_t* db,
                                                const char* propname, uint64_t* out_val);

ASHLAR_C_END
