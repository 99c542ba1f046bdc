// SPDX-License-Identifier: Apache-2.0
//
// The checks of the C tests.
#include "tests/capi/check.h"

int capi_failures = 0;

static void fail(const char* file, int line, const char* what, const char* text) {
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, text == NULL ? "(null)" : text);
  ++capi_failures;
}

void check_ok(const char* file, int line, char** error) {
  if (*error == NULL) return;
  fail(file, line, "unexpected error", *error);
  ashlar_free(*error);
  *error = NULL;
}

void check_error(const char* file, int line, char** error, const char* part) {
  if (*error == NULL || strstr(*error, part) == NULL)
    fail(file, line, "another error was expected", *error);
  ashlar_free(*error);
  *error = NULL;
}

void check_text(const char* file, int line, char* buffer, size_t length, const char* expected) {
  if (expected == NULL
          ? buffer != NULL
          : buffer == NULL || length != strlen(expected) || memcmp(buffer, expected, length) != 0) {
    fail(file, line, "another text was expected", buffer);
  }
  ashlar_free(buffer);
}

ashlar_t* open_database(const char* directory, const ashlar_options_t* options) {
  char* error = NULL;
  ashlar_options_t* made = options == NULL ? ashlar_options_create()
                                           : ashlar_options_create_copy((ashlar_options_t*)options);
  ashlar_options_set_create_if_missing(made, 1);
  ashlar_t* db = ashlar_open(made, directory, &error);
  CHECK_OK(error);
  ashlar_options_destroy(made);
  if (db == NULL) abort();
  return db;
}

void put_text(ashlar_t* db, const char* key, const char* value) {
  char* error = NULL;
  ashlar_put(db, NULL, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

void flush_all(ashlar_t* db) {
  char* error = NULL;
  ashlar_flush(db, NULL, &error);
  CHECK_OK(error);
}

int has_text(ashlar_t* db, const char* key, const char* value) {
  char* error = NULL;
  size_t length = 0;
  char* found = ashlar_get(db, NULL, key, strlen(key), &length, &error);
  int same = found == NULL
                 ? value == NULL
                 : value != NULL && length == strlen(value) && memcmp(found, value, length) == 0;
  CHECK_OK(error);
  ashlar_free(found);
  return same;
}

const char* beside(const char* directory, const char* suffix) {
  static char names[8][1024];
  static unsigned next = 0;
  char* name = names[next++ % 8];
  snprintf(name, sizeof(names[0]), "%s%s", directory, suffix);
  return name;
}
