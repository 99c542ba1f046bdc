// SPDX-License-Identifier: Apache-2.0
//
// The C API: backups.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Opens the directory of the backups. Null after an error.
ashlar_backup_engine_t* ashlar_backup_engine_open(const ashlar_options_t* options, const char* path,
                                                  char** errptr);
ashlar_backup_engine_t* ashlar_backup_engine_open_opts(
    const ashlar_backup_engine_options_t* options, ashlar_env_t* env, char** errptr);
void ashlar_backup_engine_close(ashlar_backup_engine_t* be);

// Makes a backup of an open database. Its number goes to `*backup_id`, unless that is null.
void ashlar_backup_engine_create_new_backup(ashlar_backup_engine_t* be, ashlar_t* db,
                                            char** errptr);
void ashlar_backup_engine_create_new_backup_flush(ashlar_backup_engine_t* be, ashlar_t* db,
                                                  unsigned char flush_before_backup, char** errptr);
void ashlar_backup_engine_create_new_backup_with_options(
    ashlar_backup_engine_t* be, ashlar_t* db, const ashlar_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr);
void ashlar_backup_engine_create_new_backup_with_metadata(
    ashlar_backup_engine_t* be, ashlar_t* db, const ashlar_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_len, uint32_t* backup_id, char** errptr);

// Stops a backup in another thread, and prevents further ones.
void ashlar_backup_engine_stop_backup(ashlar_backup_engine_t* be);

// Deletes all but the newest.
void ashlar_backup_engine_purge_old_backups(ashlar_backup_engine_t* be,
                                            uint32_t num_backups_to_keep, char** errptr);

// Checks that the files of a backup are there with their sizes.
void ashlar_backup_engine_verify_backup(ashlar_backup_engine_t* be, uint32_t backup_id,
                                        char** errptr);

// Makes a database of a backup. It must not be open.
void ashlar_backup_engine_restore_db_from_latest_backup(
    ashlar_backup_engine_t* be, const char* db_dir, const char* wal_dir,
    const ashlar_restore_options_t* restore_options, char** errptr);
void ashlar_backup_engine_restore_db_from_backup(ashlar_backup_engine_t* be, const char* db_dir,
                                                 const char* wal_dir,
                                                 const ashlar_restore_options_t* restore_options,
                                                 uint32_t backup_id, char** errptr);

// The backups, oldest first, from index 0. Strings live as long as the list.
const ashlar_backup_engine_info_t* ashlar_backup_engine_get_backup_info(ashlar_backup_engine_t* be);
int ashlar_backup_engine_info_count(const ashlar_backup_engine_info_t* info);
int64_t ashlar_backup_engine_info_timestamp(const ashlar_backup_engine_info_t* info, int index);
uint32_t ashlar_backup_engine_info_backup_id(const ashlar_backup_engine_info_t* info, int index);
uint64_t ashlar_backup_engine_info_size(const ashlar_backup_engine_info_t* info, int index);
uint32_t ashlar_backup_engine_info_number_files(const ashlar_backup_engine_info_t* info, int index);
const char* ashlar_backup_engine_info_app_metadata(const ashlar_backup_engine_info_t* info,
                                                   int index, size_t* len);
void ashlar_backup_engine_info_destroy(const ashlar_backup_engine_info_t* info);

ASHLAR_C_END
