// SPDX-License-Identifier: Apache-2.0
//
// The C API: column families.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The names of the column families of a database, which may be open or not: an array of `*lencf`
// strings. Null after an error.
char** ashlar_list_column_families(const ashlar_options_t* options, const char* name, size_t* lencf,
                                   char** errptr);
void ashlar_list_column_families_destroy(char** list, size_t len);

// Creates one. Null after an error.
ashlar_column_family_handle_t* ashlar_create_column_family(
    ashlar_t* db, const ashlar_options_t* column_family_options, const char* column_family_name,
    char** errptr);

// Creates several with the same options and returns an array of `*lencfs` handles. After an error
// it has those that were created, if any. Each handle is destroyed with
// ashlar_column_family_handle_destroy(), the array with ashlar_create_column_families_destroy().
ashlar_column_family_handle_t** ashlar_create_column_families(
    ashlar_t* db, const ashlar_options_t* column_family_options, int num_column_families,
    const char* const* column_family_names, size_t* lencfs, char** errptr);
void ashlar_create_column_families_destroy(ashlar_column_family_handle_t** list);

// Drops it. What it holds can be read until its handle is destroyed.
void ashlar_drop_column_family(ashlar_t* db, ashlar_column_family_handle_t* handle, char** errptr);

// A new handle of the default family. It is destroyed like any other.
ashlar_column_family_handle_t* ashlar_get_default_column_family_handle(ashlar_t* db);

void ashlar_column_family_handle_destroy(ashlar_column_family_handle_t*);
uint32_t ashlar_column_family_handle_get_id(ashlar_column_family_handle_t* handle);

// The name; to be freed.
char* ashlar_column_family_handle_get_name(ashlar_column_family_handle_t* handle, size_t* name_len);

ASHLAR_C_END
