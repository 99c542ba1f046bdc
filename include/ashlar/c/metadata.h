// SPDX-License-Identifier: Apache-2.0
//
// The C API: facts about the files of an open database. A null column family is the default family.
// Texts that are not `const` are freed by the caller; the others live as long as the object that
// they belong to.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// All tables, each with its index from 0.
const ashlar_livefiles_t* ashlar_livefiles(ashlar_t* db);
int ashlar_livefiles_count(const ashlar_livefiles_t*);
const char* ashlar_livefiles_column_family_name(const ashlar_livefiles_t*, int index);
const char* ashlar_livefiles_name(const ashlar_livefiles_t*, int index);
const char* ashlar_livefiles_directory(const ashlar_livefiles_t*, int index);
int ashlar_livefiles_level(const ashlar_livefiles_t*, int index);
size_t ashlar_livefiles_size(const ashlar_livefiles_t*, int index);
const char* ashlar_livefiles_smallestkey(const ashlar_livefiles_t*, int index, size_t* size);
const char* ashlar_livefiles_largestkey(const ashlar_livefiles_t*, int index, size_t* size);
uint64_t ashlar_livefiles_smallest_seqno(const ashlar_livefiles_t*, int index);
uint64_t ashlar_livefiles_largest_seqno(const ashlar_livefiles_t*, int index);
uint64_t ashlar_livefiles_entries(const ashlar_livefiles_t*, int index);
uint64_t ashlar_livefiles_deletions(const ashlar_livefiles_t*, int index);
void ashlar_livefiles_destroy(const ashlar_livefiles_t*);

// Makes a list, for an import. `livefiles_add` copies the file.
ashlar_livefiles_t* ashlar_livefiles_create(void);
void ashlar_livefiles_add(ashlar_livefiles_t*, ashlar_livefile_t*);
ashlar_livefile_t* ashlar_livefile_create(void);
void ashlar_livefile_destroy(ashlar_livefile_t*);
void ashlar_livefile_set_column_family_name(ashlar_livefile_t*, const char*);
void ashlar_livefile_set_name(ashlar_livefile_t*, const char*);
void ashlar_livefile_set_directory(ashlar_livefile_t*, const char*);
void ashlar_livefile_set_level(ashlar_livefile_t*, int);
void ashlar_livefile_set_size(ashlar_livefile_t*, size_t);
void ashlar_livefile_set_smallest_key(ashlar_livefile_t*, const char*, size_t);
void ashlar_livefile_set_largest_key(ashlar_livefile_t*, const char*, size_t);
void ashlar_livefile_set_smallest_seqno(ashlar_livefile_t*, uint64_t);
void ashlar_livefile_set_largest_seqno(ashlar_livefile_t*, uint64_t);
void ashlar_livefile_set_num_entries(ashlar_livefile_t*, uint64_t);
void ashlar_livefile_set_num_deletions(ashlar_livefile_t*, uint64_t);

// The levels of a column family and the tables in them. The handles of levels and tables must be
// destroyed before that of the family.
ashlar_column_family_metadata_t* ashlar_get_column_family_metadata(ashlar_t* db);
ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_cf(
    ashlar_t* db, ashlar_column_family_handle_t* column_family);
ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_with_options(
    ashlar_t* db, const ashlar_column_family_metadata_options_t* options);
ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_cf_with_options(
    ashlar_t* db, ashlar_column_family_handle_t* column_family,
    const ashlar_column_family_metadata_options_t* options);
void ashlar_column_family_metadata_destroy(ashlar_column_family_metadata_t* cf_meta);
uint64_t ashlar_column_family_metadata_get_size(ashlar_column_family_metadata_t* cf_meta);
size_t ashlar_column_family_metadata_get_file_count(ashlar_column_family_metadata_t* cf_meta);
char* ashlar_column_family_metadata_get_name(ashlar_column_family_metadata_t* cf_meta);
size_t ashlar_column_family_metadata_get_level_count(ashlar_column_family_metadata_t* cf_meta);
ashlar_level_metadata_t* ashlar_column_family_metadata_get_level_metadata(
    ashlar_column_family_metadata_t* cf_meta, size_t i);
void ashlar_level_metadata_destroy(ashlar_level_metadata_t* level_meta);
int ashlar_level_metadata_get_level(ashlar_level_metadata_t* level_meta);
uint64_t ashlar_level_metadata_get_size(ashlar_level_metadata_t* level_meta);
size_t ashlar_level_metadata_get_file_count(ashlar_level_metadata_t* level_meta);
ashlar_sst_file_metadata_t* ashlar_level_metadata_get_sst_file_metadata(
    ashlar_level_metadata_t* level_meta, size_t i);
void ashlar_sst_file_metadata_destroy(ashlar_sst_file_metadata_t* file_meta);
char* ashlar_sst_file_metadata_get_relative_filename(ashlar_sst_file_metadata_t* file_meta);
char* ashlar_sst_file_metadata_get_directory(ashlar_sst_file_metadata_t* file_meta);
uint64_t ashlar_sst_file_metadata_get_size(ashlar_sst_file_metadata_t* file_meta);
char* ashlar_sst_file_metadata_get_smallestkey(ashlar_sst_file_metadata_t* file_meta, size_t* len);
char* ashlar_sst_file_metadata_get_largestkey(ashlar_sst_file_metadata_t* file_meta, size_t* len);

// All files that make a copy of the present state. `replacement_contents` is what a file is to
// contain instead of its own bytes, if it is not empty; of a file to trim, the first `size` bytes
// are copied.
ashlar_livefiles_storage_info_t* ashlar_get_livefiles_storage_info(
    ashlar_t* db, const ashlar_livefiles_storage_info_options_t* options, char** errptr);
size_t ashlar_livefiles_storage_info_count(const ashlar_livefiles_storage_info_t* info);
const char* ashlar_livefiles_storage_info_relative_filename(
    const ashlar_livefiles_storage_info_t* info, size_t index);
const char* ashlar_livefiles_storage_info_directory(const ashlar_livefiles_storage_info_t* info,
                                                    size_t index);
uint64_t ashlar_livefiles_storage_info_file_number(const ashlar_livefiles_storage_info_t* info,
                                                   size_t index);
int ashlar_livefiles_storage_info_file_type(const ashlar_livefiles_storage_info_t* info,
                                            size_t index);
uint64_t ashlar_livefiles_storage_info_size(const ashlar_livefiles_storage_info_t* info,
                                            size_t index);
int ashlar_livefiles_storage_info_temperature(const ashlar_livefiles_storage_info_t* info,
                                              size_t index);
const char* ashlar_livefiles_storage_info_file_checksum(const ashlar_livefiles_storage_info_t* info,
                                                        size_t index);
const char* ashlar_livefiles_storage_info_file_checksum_func_name(
    const ashlar_livefiles_storage_info_t* info, size_t index);
const char* ashlar_livefiles_storage_info_replacement_contents(
    const ashlar_livefiles_storage_info_t* info, size_t index, size_t* size);
unsigned char ashlar_livefiles_storage_info_trim_to_size(
    const ashlar_livefiles_storage_info_t* info, size_t index);
void ashlar_livefiles_storage_info_destroy(ashlar_livefiles_storage_info_t* info);

ASHLAR_C_END
