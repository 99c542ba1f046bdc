// SPDX-License-Identifier: Apache-2.0
//
// The C API: the logs of a database.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The batches from a sequence number on. Null after an error.
ashlar_wal_iterator_t* ashlar_get_updates_since(ashlar_t* db, uint64_t seq_number,
                                                const ashlar_wal_readoptions_t* options,
                                                char** errptr);
unsigned char ashlar_wal_iter_valid(const ashlar_wal_iterator_t*);
void ashlar_wal_iter_next(ashlar_wal_iterator_t* iter);
void ashlar_wal_iter_status(const ashlar_wal_iterator_t* iter, char** errptr);
void ashlar_wal_iter_destroy(const ashlar_wal_iterator_t* iter);

// The batch under a valid iterator, to be destroyed, and its first sequence number.
ashlar_writebatch_t* ashlar_wal_iter_get_batch(const ashlar_wal_iterator_t* iter, uint64_t* seq);

// The files of the logs, oldest first, and the one that is written. Files of a list belong to it.
ashlar_wal_files_t* ashlar_get_sorted_wal_files(ashlar_t* db, char** errptr);
size_t ashlar_wal_files_count(const ashlar_wal_files_t* files);
const ashlar_wal_file_t* ashlar_wal_files_get_wal_file(const ashlar_wal_files_t* files,
                                                       size_t index);
void ashlar_wal_files_destroy(ashlar_wal_files_t* files);
ashlar_wal_file_t* ashlar_get_current_wal_file(ashlar_t* db, char** errptr);
const char* ashlar_wal_file_path_name(const ashlar_wal_file_t* file);
uint64_t ashlar_wal_file_log_number(const ashlar_wal_file_t* file);
int ashlar_wal_file_type(const ashlar_wal_file_t* file);
uint64_t ashlar_wal_file_start_sequence(const ashlar_wal_file_t* file);
uint64_t ashlar_wal_file_size_file_bytes(const ashlar_wal_file_t* file);
void ashlar_wal_file_destroy(ashlar_wal_file_t* file);

// For older programs. Deletes an archived log, whose name is its path_name; other names, those of
// tables too, are ignored. Errors are not reported.
void ashlar_delete_file(ashlar_t* db, const char* name);

ashlar_wal_readoptions_t* ashlar_wal_readoptions_create(void);
void ashlar_wal_readoptions_destroy(ashlar_wal_readoptions_t* options);
void ashlar_wal_readoptions_set_verify_checksums(ashlar_wal_readoptions_t* options,
                                                 unsigned char verify_checksums);
unsigned char ashlar_wal_readoptions_get_verify_checksums(ashlar_wal_readoptions_t* options);

ASHLAR_C_END
