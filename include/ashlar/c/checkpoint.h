// SPDX-License-Identifier: Apache-2.0
//
// The C API: checkpoints, and column families that are moved between databases.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Makes checkpoints of a database; destroyed before it is closed.
ashlar_checkpoint_t* ashlar_checkpoint_object_create(ashlar_t* db, char** errptr);
void ashlar_checkpoint_object_destroy(ashlar_checkpoint_t* checkpoint);

// Makes an openable copy in a directory that does not exist yet. Logs of at least
// `log_size_for_flush` bytes are flushed instead of copied (0: always; with allow_2pc always).
void ashlar_checkpoint_create(ashlar_checkpoint_t* checkpoint, const char* checkpoint_dir,
                              uint64_t log_size_for_flush, char** errptr);

// Copies or links the tables of a family to a new directory, and describes them. Null after an
// error.
ashlar_export_import_files_metadata_t* ashlar_checkpoint_export_column_family(
    ashlar_checkpoint_t* checkpoint, ashlar_column_family_handle_t* column_family,
    const char* export_dir, char** errptr);

// The description: comparator and files, which are copied in both directions. The name is freed,
// the list destroyed.
ashlar_export_import_files_metadata_t* ashlar_export_import_files_metadata_create(void);
void ashlar_export_import_files_metadata_destroy(ashlar_export_import_files_metadata_t*);
char* ashlar_export_import_files_metadata_get_db_comparator_name(
    ashlar_export_import_files_metadata_t*);
void ashlar_export_import_files_metadata_set_db_comparator_name(
    ashlar_export_import_files_metadata_t*, const char*);
ashlar_livefiles_t* ashlar_export_import_files_metadata_get_files(
    ashlar_export_import_files_metadata_t*);
void ashlar_export_import_files_metadata_set_files(ashlar_export_import_files_metadata_t*,
                                                   ashlar_livefiles_t*);

// Creates a column family of exported tables. Null after an error.
ashlar_column_family_handle_t* ashlar_create_column_family_with_import(
    ashlar_t* db, ashlar_options_t* column_family_options, const char* column_family_name,
    ashlar_import_column_family_options_t* import_options,
    ashlar_export_import_files_metadata_t* metadata, char** errptr);

ASHLAR_C_END
