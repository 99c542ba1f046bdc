// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases whose entries expire. An entry that is older than `ttl` seconds is dropped
// by the next compaction that reaches it; 0 or less: never.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Null after an error. As ashlar_open() and ashlar_open_column_families(), with a time for each
// family.
ashlar_t* ashlar_open_with_ttl(const ashlar_options_t* options, const char* name, int ttl,
                               char** errptr);
ashlar_t* ashlar_open_column_families_with_ttl(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, const int* ttls, char** errptr);

// Only in a database that was opened so.
ashlar_column_family_handle_t* ashlar_create_column_family_with_ttl(
    ashlar_t* db, const ashlar_options_t* column_family_options, const char* column_family_name,
    int ttl, char** errptr);

ASHLAR_C_END
