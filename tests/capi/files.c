// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints, exported families, external tables, logs, backups.
#include "tests/capi/check.h"

void capi_test_checkpoints(const char* directory);
void capi_test_external_tables(const char* directory);
void capi_test_logs(const char* directory);
void capi_test_backups(const char* directory);

void capi_test_checkpoints(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_t* db = open_database(directory, NULL);
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(db, options, "family", &error);
  put_text(db, "k", "v");
  ashlar_put_cf(db, NULL, family, "in", 2, "family", 6, &error);
  CHECK_OK(error);
  ashlar_checkpoint_t* checkpoint = ashlar_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  ashlar_checkpoint_create(checkpoint, directory, 0, &error);
  CHECK_ERROR(error, "Invalid argument: ");  // it is there
  ashlar_checkpoint_create(checkpoint, beside(directory, "-copy"), 0, &error);
  CHECK_OK(error);
  ashlar_export_import_files_metadata_t* exported = ashlar_checkpoint_export_column_family(
      checkpoint, family, beside(directory, "-exported"), &error);
  CHECK_OK(error);
  ashlar_checkpoint_object_destroy(checkpoint);
  char* name = ashlar_export_import_files_metadata_get_db_comparator_name(exported);
  CHECK(strcmp(name, "leveldb.BytewiseComparator") == 0);
  ashlar_livefiles_t* files = ashlar_export_import_files_metadata_get_files(exported);
  CHECK(ashlar_livefiles_count(files) == 1);
  // Describe it anew, as a program does that got the files from elsewhere.
  ashlar_export_import_files_metadata_t* made = ashlar_export_import_files_metadata_create();
  ashlar_export_import_files_metadata_set_db_comparator_name(made, name);
  ashlar_export_import_files_metadata_set_files(made, files);
  ashlar_free(name);
  ashlar_livefiles_destroy(files);
  ashlar_import_column_family_options_t* import = ashlar_import_column_family_options_create();
  ashlar_column_family_handle_t* imported =
      ashlar_create_column_family_with_import(db, options, "imported", import, made, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(db, NULL, imported, "in", 2, &length, &error), length, "family");
  ashlar_import_column_family_options_destroy(import);
  ashlar_export_import_files_metadata_destroy(made);
  ashlar_export_import_files_metadata_destroy(exported);
  ashlar_column_family_handle_destroy(imported);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  db = ashlar_open_for_read_only(options, beside(directory, "-copy"), 0, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "k", "v"));
  ashlar_close(db);
  ashlar_options_destroy(options);
}

void capi_test_external_tables(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  uint64_t size = 0;
  char file[2][1024];
  snprintf(file[0], sizeof(file[0]), "%s-1.sst", directory);
  snprintf(file[1], sizeof(file[1]), "%s-2.sst", directory);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_envoptions_t* env = ashlar_envoptions_create();
  ashlar_sstfilewriter_t* writer = ashlar_sstfilewriter_create(env, options);
  ashlar_sstfilewriter_open(writer, file[0], &error);
  ashlar_sstfilewriter_add(writer, "a", 1, "1", 1, &error);
  ashlar_sstfilewriter_put(writer, "b", 1, "2", 1, &error);
  ashlar_sstfilewriter_merge(writer, "c", 1, "12345678", 8, &error);
  ashlar_sstfilewriter_delete(writer, "d", 1, &error);
  ashlar_sstfilewriter_delete_range(writer, "e", 1, "f", 1, &error);
  CHECK_OK(error);
  ashlar_sstfilewriter_put_with_ts(writer, "g", 1, "12345678", 8, "v", 1, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_sstfilewriter_delete_with_ts(writer, "g", 1, "12345678", 8, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  ashlar_sstfilewriter_file_size(writer, &size);
  CHECK(size > 100);
  ashlar_sstfilewriter_open(writer, file[1], &error);
  ashlar_sstfilewriter_put(writer, "k", 1, "family", 6, &error);
  ashlar_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  ashlar_sstfilewriter_destroy(writer);
  ashlar_envoptions_destroy(env);

  ashlar_t* db = open_database(directory, options);
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(db, options, "family", &error);
  put_text(db, "d", "old");
  put_text(db, "e", "old");
  ashlar_ingestexternalfileoptions_t* ingest = ashlar_ingestexternalfileoptions_create();
  const char* files[] = {file[0]};
  ashlar_ingest_external_file(db, files, 1, ingest, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "a", "1") && has_text(db, "b", "2") && has_text(db, "d", NULL) &&
        has_text(db, "e", NULL));
  files[0] = file[1];
  ashlar_ingest_external_file_cf(db, family, files, 1, NULL, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(db, NULL, family, "k", 1, &length, &error), length, "family");
  files[0] = "/nowhere.sst";
  ashlar_ingest_external_file(db, files, 1, ingest, &error);
  CHECK_ERROR(error, "");
  ashlar_ingestexternalfileoptions_destroy(ingest);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  ashlar_options_destroy(options);
}

// The number of archived logs. The name of the last one that is archived, or not, is copied to
// `name`.
static size_t count_archived(ashlar_t* db, int wants_archived, char* name, size_t room) {
  char* error = NULL;
  size_t count = 0;
  ashlar_wal_files_t* files = ashlar_get_sorted_wal_files(db, &error);
  CHECK_OK(error);
  for (size_t i = 0; i < ashlar_wal_files_count(files); i++) {
    const ashlar_wal_file_t* file = ashlar_wal_files_get_wal_file(files, i);
    const int is_archived = ashlar_wal_file_type(file) == ashlar_wal_file_type_archived_log;
    if (is_archived) count++;
    if (is_archived == wants_archived) snprintf(name, room, "%s", ashlar_wal_file_path_name(file));
  }
  ashlar_wal_files_destroy(files);
  return count;
}

static void test_deleted_logs(const char* directory) {
  char* error = NULL;
  char name[64] = "";
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_WAL_ttl_seconds(options, 3600);
  ashlar_t* db = open_database(directory, options);
  for (int i = 0; i < 2; i++) {
    put_text(db, "k", "archived");
    flush_all(db);
  }
  put_text(db, "k", "v");
  ashlar_wait_for_compact_options_t* wait = ashlar_wait_for_compact_options_create();
  ashlar_wait_for_compact(db, wait, &error);
  CHECK_OK(error);
  ashlar_wait_for_compact_options_destroy(wait);
  // Neither the log in use nor a table goes.
  CHECK(count_archived(db, 0, name, sizeof(name)) == 2);
  ashlar_delete_file(db, name);
  const ashlar_livefiles_t* tables = ashlar_livefiles(db);
  ashlar_delete_file(db, ashlar_livefiles_name(tables, 0));
  ashlar_livefiles_destroy(tables);
  CHECK(count_archived(db, 1, name, sizeof(name)) == 2);
  ashlar_delete_file(db, name);
  CHECK(count_archived(db, 1, name, sizeof(name)) == 1);
  ashlar_delete_file(db, name + 1);  // without the slash
  CHECK(count_archived(db, 1, name, sizeof(name)) == 0);
  ashlar_close(db);
  db = open_database(directory, options);
  CHECK(has_text(db, "k", "v"));
  ashlar_close(db);
  ashlar_options_destroy(options);
}

void capi_test_logs(const char* directory) {
  char* error = NULL;
  uint64_t seqno = 0;
  ashlar_t* db = open_database(directory, NULL);
  put_text(db, "a", "1");
  put_text(db, "b", "2");
  ashlar_wal_readoptions_t* read = ashlar_wal_readoptions_create();
  CHECK(ashlar_wal_readoptions_get_verify_checksums(read) == 1);
  ashlar_wal_readoptions_set_verify_checksums(read, 0);
  CHECK(ashlar_wal_readoptions_get_verify_checksums(read) == 0);
  ashlar_wal_iterator_t* iter = ashlar_get_updates_since(db, 2, read, &error);
  CHECK_OK(error);
  CHECK(ashlar_wal_iter_valid(iter));
  ashlar_writebatch_t* batch = ashlar_wal_iter_get_batch(iter, &seqno);
  CHECK(seqno == 2 && ashlar_writebatch_count(batch) == 1);
  ashlar_writebatch_destroy(batch);
  ashlar_wal_iter_next(iter);
  CHECK(!ashlar_wal_iter_valid(iter));
  ashlar_wal_iter_status(iter, &error);
  CHECK_OK(error);
  ashlar_wal_iter_destroy(iter);
  CHECK(ashlar_get_updates_since(db, 100, NULL, &error) == NULL);
  CHECK_ERROR(error, "NotFound: ");
  ashlar_wal_readoptions_destroy(read);

  ashlar_wal_files_t* files = ashlar_get_sorted_wal_files(db, &error);
  CHECK_OK(error);
  CHECK(ashlar_wal_files_count(files) == 1);
  CHECK(ashlar_wal_files_get_wal_file(files, 1) == NULL);
  const ashlar_wal_file_t* file = ashlar_wal_files_get_wal_file(files, 0);
  CHECK(strstr(ashlar_wal_file_path_name(file), ".log") != NULL);
  CHECK(ashlar_wal_file_type(file) == ashlar_wal_file_type_alive_log);
  CHECK(ashlar_wal_file_start_sequence(file) == 1);
  CHECK(ashlar_wal_file_size_file_bytes(file) > 20);
  ashlar_wal_file_t* current = ashlar_get_current_wal_file(db, &error);
  CHECK_OK(error);
  CHECK(ashlar_wal_file_log_number(current) == ashlar_wal_file_log_number(file));
  ashlar_wal_file_destroy(current);
  ashlar_wal_files_destroy(files);
  ashlar_close(db);
  test_deleted_logs(beside(directory, "_archive"));
}

static void check_restored(const char* directory, const char* value) {
  ashlar_t* db = open_database(directory, NULL);
  CHECK(has_text(db, "k", value));
  ashlar_close(db);
}

void capi_test_backups(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  uint32_t id = 0;
  char backups[1024], restored[1024];
  snprintf(backups, sizeof(backups), "%s-backups", directory);
  snprintf(restored, sizeof(restored), "%s-restored", directory);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_t* db = open_database(directory, options);
  put_text(db, "k", "1");
  ashlar_backup_engine_t* engine = ashlar_backup_engine_open(options, backups, &error);
  CHECK_OK(error);
  ashlar_backup_engine_create_new_backup(engine, db, &error);
  CHECK_OK(error);
  put_text(db, "k", "2");
  ashlar_backup_engine_create_new_backup_flush(engine, db, 1, &error);
  CHECK_OK(error);
  ashlar_backup_engine_close(engine);
  ashlar_backup_engine_options_t* how = ashlar_backup_engine_options_create(backups);
  engine = ashlar_backup_engine_open_opts(how, NULL, &error);
  CHECK_OK(error);
  ashlar_backup_engine_options_destroy(how);
  put_text(db, "k", "3");
  ashlar_create_backup_options_t* create = ashlar_create_backup_options_create();
  ashlar_backup_engine_create_new_backup_with_options(engine, db, create, &id, &error);
  CHECK_OK(error);
  CHECK(id == 3);
  ashlar_backup_engine_create_new_backup_with_metadata(engine, db, create, "my\0data", 7, &id,
                                                       &error);
  CHECK_OK(error);
  CHECK(id == 4);
  ashlar_create_backup_options_destroy(create);
  ashlar_backup_engine_verify_backup(engine, 4, &error);
  CHECK_OK(error);
  ashlar_backup_engine_verify_backup(engine, 9, &error);
  CHECK_ERROR(error, "NotFound: ");

  const ashlar_backup_engine_info_t* info = ashlar_backup_engine_get_backup_info(engine);
  CHECK(ashlar_backup_engine_info_count(info) == 4);
  CHECK(ashlar_backup_engine_info_backup_id(info, 3) == 4);
  CHECK(ashlar_backup_engine_info_timestamp(info, 0) > 1600000000);
  CHECK(ashlar_backup_engine_info_size(info, 0) > 0);
  CHECK(ashlar_backup_engine_info_number_files(info, 0) > 2);
  const char* data = ashlar_backup_engine_info_app_metadata(info, 3, &length);
  CHECK(length == 7 && memcmp(data, "my\0data", 7) == 0);
  ashlar_backup_engine_info_destroy(info);

  ashlar_restore_options_t* restore = ashlar_restore_options_create();
  ashlar_backup_engine_restore_db_from_backup(engine, restored, restored, restore, 1, &error);
  CHECK_OK(error);
  check_restored(restored, "1");
  ashlar_backup_engine_restore_db_from_latest_backup(engine, restored, restored, restore, &error);
  CHECK_OK(error);
  check_restored(restored, "3");
  ashlar_restore_options_destroy(restore);
  ashlar_backup_engine_purge_old_backups(engine, 1, &error);
  CHECK_OK(error);
  info = ashlar_backup_engine_get_backup_info(engine);
  CHECK(ashlar_backup_engine_info_count(info) == 1);
  ashlar_backup_engine_info_destroy(info);
  ashlar_backup_engine_stop_backup(engine);
  ashlar_backup_engine_create_new_backup(engine, db, &error);
  CHECK_ERROR(error, "Result incomplete: ");
  ashlar_backup_engine_close(engine);
  ashlar_backup_engine_close(NULL);
  ashlar_close(db);
  ashlar_options_destroy(options);
}
