// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing databases, column families, single reads and writes.
#include "tests/capi/check.h"

void capi_test_db(const char* directory);
void capi_test_column_families(const char* directory);

static void test_errors(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  CHECK(ashlar_open(options, directory, &error) == NULL);
  CHECK(error != NULL);
  ashlar_free(error);
  // An error frees the old text and takes its place.
  error = malloc(8);
  strcpy(error, "old");
  CHECK(ashlar_open_for_read_only(options, directory, 0, &error) == NULL);
  CHECK(strcmp(error, "old") != 0);
  CHECK_ERROR(error, "");
  // Errors that nobody wants to know are dropped.
  CHECK(ashlar_open(options, directory, NULL) == NULL);
  ashlar_options_destroy(options);
}

static void test_reads_and_writes(ashlar_t* db) {
  char* error = NULL;
  size_t length = 7;
  ashlar_writeoptions_t* write = ashlar_writeoptions_create();
  ashlar_readoptions_t* read = ashlar_readoptions_create();
  ashlar_put(db, write, "key", 3, "value", 5, &error);
  ashlar_put(db, NULL, NULL, 0, NULL, 0, &error);
  ashlar_put(db, NULL, "a\0b", 3, "\0", 1, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get(db, read, "key", 3, &length, &error), length, "value");
  CHECK_TEXT(ashlar_get(db, NULL, "", 0, &length, &error), length, "");
  char* zero = ashlar_get(db, NULL, "a\0b", 3, &length, &error);
  CHECK(zero != NULL && length == 1 && zero[0] == '\0');
  ashlar_free(zero);
  ashlar_delete(db, write, "key", 3, &error);
  CHECK(ashlar_get(db, read, "key", 3, &length, &error) == NULL);
  CHECK(length == 0);
  // A success does not touch an old error.
  error = malloc(8);
  strcpy(error, "old");
  CHECK(ashlar_get(db, read, "key", 3, &length, &error) == NULL);
  CHECK(strcmp(error, "old") == 0);
  ashlar_free(error);
  ashlar_readoptions_destroy(read);
  ashlar_writeoptions_destroy(write);
}

static void test_forms_of_opening(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_t* db = open_database(directory, NULL);
  put_text(db, "first", "1");
  ashlar_t* secondary =
      ashlar_open_as_secondary(options, directory, beside(directory, "-second"), &error);
  CHECK_OK(error);
  CHECK(has_text(secondary, "first", "1"));
  put_text(db, "second", "2");
  CHECK(has_text(secondary, "second", NULL));
  ashlar_try_catch_up_with_primary(secondary, &error);
  CHECK_OK(error);
  CHECK(has_text(secondary, "second", "2"));
  ashlar_close(secondary);
  CHECK(ashlar_get_latest_sequence_number(db) == 2);
  size_t length = 0;
  char* identity = ashlar_get_db_identity(db, &length);
  CHECK(identity != NULL && length == strlen(identity) && length > 10);
  ashlar_free(identity);
  ashlar_cancel_all_background_work(db, 1);
  ashlar_close(db);

  CHECK(ashlar_open_for_read_only(options, directory, 1, &error) == NULL);
  CHECK_ERROR(error, "Corruption: ");
  db = ashlar_open_for_read_only(options, directory, 0, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "second", "2"));
  ashlar_put(db, NULL, "third", 5, "3", 1, &error);
  CHECK_ERROR(error, "Not implemented: ");
  ashlar_close(db);

  ashlar_repair_db(options, directory, &error);
  CHECK_OK(error);
  db = open_database(directory, NULL);
  CHECK(has_text(db, "first", "1"));
  ashlar_destroy_db(options, directory, &error);
  CHECK_ERROR(error, "");  // it is open
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
  CHECK(ashlar_open(options, directory, &error) == NULL);
  CHECK_ERROR(error, "");
  ashlar_options_destroy(options);
}

void capi_test_db(const char* directory) {
  test_errors(directory);
  ashlar_t* db = open_database(directory, NULL);
  test_reads_and_writes(db);
  ashlar_close(db);
  ashlar_close(NULL);
  test_forms_of_opening(beside(directory, "-forms"));
}

static void test_creating(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_column_family_handle_t* one = ashlar_create_column_family(db, options, "one", &error);
  CHECK_OK(error);
  CHECK(ashlar_create_column_family(db, options, "one", &error) == NULL);
  CHECK_ERROR(error, "Invalid argument: ");
  CHECK(ashlar_column_family_handle_get_id(one) == 1);
  CHECK_TEXT(ashlar_column_family_handle_get_name(one, &length), length, "one");
  const char* names[] = {"two", "three"};
  size_t count = 0;
  ashlar_column_family_handle_t** both =
      ashlar_create_column_families(db, options, 2, names, &count, &error);
  CHECK_OK(error);
  CHECK(count == 2 && ashlar_column_family_handle_get_id(both[1]) == 3);
  ashlar_drop_column_family(db, both[1], &error);
  CHECK_OK(error);
  ashlar_column_family_handle_t* standard = ashlar_get_default_column_family_handle(db);
  CHECK(ashlar_column_family_handle_get_id(standard) == 0);
  ashlar_put_cf(db, NULL, one, "k", 1, "in one", 6, &error);
  ashlar_put_cf(db, NULL, standard, "k", 1, "in default", 10, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(db, NULL, one, "k", 1, &length, &error), length, "in one");
  CHECK_TEXT(ashlar_get_cf(db, NULL, NULL, "k", 1, &length, &error), length, "in default");
  ashlar_column_family_handle_destroy(both[0]);
  ashlar_column_family_handle_destroy(both[1]);
  ashlar_create_column_families_destroy(both);
  ashlar_column_family_handle_destroy(standard);
  ashlar_column_family_handle_destroy(one);
  ashlar_options_destroy(options);
}

static void test_opening(const char* directory) {
  char* error = NULL;
  size_t count = 0, length = 0;
  ashlar_options_t* options = ashlar_options_create();
  char** listed = ashlar_list_column_families(options, directory, &count, &error);
  CHECK_OK(error);
  CHECK(count == 3 && strcmp(listed[0], "default") == 0 && strcmp(listed[2], "two") == 0);
  ashlar_list_column_families_destroy(listed, count);
  CHECK(ashlar_list_column_families(options, beside(directory, "-none"), &count, &error) == NULL);
  CHECK_ERROR(error, "");
  CHECK(count == 0);
  ashlar_list_column_families_destroy(NULL, 0);

  const char* names[] = {"default", "one", "two"};
  const ashlar_options_t* all[] = {options, options, NULL};
  ashlar_column_family_handle_t* handles[3] = {NULL, NULL, NULL};
  CHECK(ashlar_open_column_families(options, directory, 2, names, all, handles, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument: ");
  CHECK(handles[0] == NULL);
  ashlar_t* db = ashlar_open_column_families(options, directory, 3, names, all, handles, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(db, NULL, handles[1], "k", 1, &length, &error), length, "in one");

  ashlar_column_family_handle_t* followed[3];
  ashlar_t* secondary = ashlar_open_as_secondary_column_families(
      options, directory, beside(directory, "-second"), 3, names, all, followed, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(secondary, NULL, followed[1], "k", 1, &length, &error), length,
             "in one");
  // Handles may outlive their database.
  ashlar_close(secondary);
  ashlar_close(db);
  for (int i = 0; i < 3; ++i) ashlar_column_family_handle_destroy(followed[i]);
  for (int i = 0; i < 3; ++i) ashlar_column_family_handle_destroy(handles[i]);

  db = ashlar_open_for_read_only_column_families(options, directory, 2, names, all, handles, 0,
                                                 &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get_cf(db, NULL, handles[1], "k", 1, &length, &error), length, "in one");
  for (int i = 0; i < 2; ++i) ashlar_column_family_handle_destroy(handles[i]);
  ashlar_close(db);

  char time[8] = {1};
  db = ashlar_open_and_trim_history(options, directory, 3, names, all, handles, time, 8, &error);
  CHECK_OK(error);  // the families have no timestamps, so nothing is dropped
  CHECK_TEXT(ashlar_get_cf(db, NULL, handles[1], "k", 1, &length, &error), length, "in one");
  for (int i = 0; i < 3; ++i) ashlar_column_family_handle_destroy(handles[i]);
  ashlar_close(db);
  ashlar_options_destroy(options);
}

static void test_expiring(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_create_if_missing(options, 1);
  const char* names[] = {"default"};
  const ashlar_options_t* all[] = {options};
  const int seconds[] = {3600};
  ashlar_column_family_handle_t* handle = NULL;
  ashlar_t* db = ashlar_open_with_ttl(options, directory, 3600, &error);
  if (db == NULL) {
    CHECK_ERROR(error, "Not implemented: ");
    db = ashlar_open_column_families_with_ttl(options, directory, 1, names, all, &handle, seconds,
                                              &error);
    CHECK(db == NULL);
    CHECK_ERROR(error, "Not implemented: ");
  } else {
    ashlar_column_family_handle_t* added =
        ashlar_create_column_family_with_ttl(db, options, "added", 60, &error);
    CHECK_OK(error);
    ashlar_drop_column_family(db, added, &error);
    CHECK_OK(error);
    ashlar_column_family_handle_destroy(added);
    put_text(db, "k", "v");
    CHECK(has_text(db, "k", "v"));
    ashlar_close(db);
    db = ashlar_open_column_families_with_ttl(options, directory, 1, names, all, &handle, seconds,
                                              &error);
    CHECK_OK(error);
    CHECK(has_text(db, "k", "v"));
    ashlar_column_family_handle_destroy(handle);
    ashlar_close(db);
  }
  db = open_database(beside(directory, "-plain"), NULL);
  CHECK(ashlar_create_column_family_with_ttl(db, options, "c", 60, &error) == NULL);
  CHECK_ERROR(error, "opened without TTL");
  ashlar_close(db);
  ashlar_options_destroy(options);
}

void capi_test_column_families(const char* directory) {
  ashlar_t* db = open_database(directory, NULL);
  test_creating(db);
  ashlar_close(db);
  test_opening(directory);
  test_expiring(beside(directory, "-ttl"));
}
