// SPDX-License-Identifier: Apache-2.0
//
// What the C tests share. Each file tests one subject of the C API in a function
// `capi_test_<subject>`, which programs_test.cc calls; the argument is a directory that does not
// exist yet, whose parent does.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Counts failed checks of the test that runs. Declared as bindings declare what they add to the
// API.
#ifdef ASHLAR_TEST_DROPIN
#include "rocksdb/c.h"
extern ROCKSDB_LIBRARY_API int capi_failures;
#else
#include "ashlar/c.h"
extern ASHLAR_LIBRARY_API int capi_failures;
#endif

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++capi_failures;                                                        \
    }                                                                         \
  } while (0)

// The call before it succeeded.
#define CHECK_OK(error) check_ok(__FILE__, __LINE__, &(error))
// The call before it failed, with a text that contains `part`. Frees the text.
#define CHECK_ERROR(error, part) check_error(__FILE__, __LINE__, &(error), part)
// A buffer that a call returned is this string. Frees it.
#define CHECK_TEXT(call, length, expected)                      \
  do {                                                          \
    char* returned = call; /* sets `length` */                  \
    check_text(__FILE__, __LINE__, returned, length, expected); \
  } while (0)

// Opens or creates a database; the options may be null.
ashlar_t* open_database(const char* directory, const ashlar_options_t* options);
void put_text(ashlar_t* db, const char* key, const char* value);
void flush_all(ashlar_t* db);
// Whether the key has the value; null: none.
int has_text(ashlar_t* db, const char* key, const char* value);
// `directory` with a suffix; valid until the next call but seven.
const char* beside(const char* directory, const char* suffix);

void check_ok(const char* file, int line, char** error);
void check_error(const char* file, int line, char** error, const char* part);
void check_text(const char* file, int line, char* buffer, size_t length, const char* expected);
