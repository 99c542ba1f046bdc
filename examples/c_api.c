// SPDX-License-Identifier: Apache-2.0
//
// The C API: counters with a merge operator of the program, an atomic batch, a snapshot, and a scan
// with an upper bound. Every error is checked.
//
//   example_c_api FOLDER
//
// Prints:
//   apples = 7, pears = 1
//   before the batch: apples = 5
//   apples 7
//   pears 1
//   the operator was destroyed
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ashlar/c.h"

static char* error = NULL;

static void require(void) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

// ---- the merge operator: values are decimal numbers, which are added

static long number_in(const char* text, size_t length) {
  char copy[32] = "";
  memcpy(copy, text, length < sizeof(copy) - 1 ? length : sizeof(copy) - 1);
  return strtol(copy, NULL, 10);
}

// Called by reads and compactions, in any thread. The result goes to free(), because the operator
// has no function of its own for that.
static char* add_all(void* state, const char* key, size_t key_length, const char* existing,
                     size_t existing_length, const char* const* operands, const size_t* lengths,
                     int count, unsigned char* success, size_t* new_length) {
  (void)state, (void)key, (void)key_length;
  long sum = existing == NULL ? 0 : number_in(existing, existing_length);
  for (int i = 0; i < count; ++i) sum += number_in(operands[i], lengths[i]);
  char* result = malloc(32);
  *success = result != NULL;
  *new_length = result == NULL ? 0 : (size_t)snprintf(result, 32, "%ld", sum);
  return result;
}

static const char* name_of_operator(void* state) {
  (void)state;
  return "example.add";
}

static void destroy_operator(void* state) { *(int*)state = 1; }

// ---- the program

static long get_number(ashlar_t* db, const ashlar_readoptions_t* options, const char* key) {
  size_t length = 0;
  char* value = ashlar_get(db, options, key, strlen(key), &length, &error);
  require();
  long number = value == NULL ? 0 : number_in(value, length);
  ashlar_free(value);
  return number;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int destroyed = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_create_if_missing(options, 1);
  // The options own the operator from here on.
  ashlar_options_set_merge_operator(
      options, ashlar_mergeoperator_create(&destroyed, destroy_operator, add_all, NULL, NULL,
                                           name_of_operator));
  ashlar_t* db = ashlar_open(options, argv[1], &error);
  require();
  ashlar_options_destroy(options);

  ashlar_merge(db, NULL, "apples", 6, "2", 1, &error);
  require();
  ashlar_merge(db, NULL, "apples", 6, "3", 1, &error);
  require();
  const ashlar_snapshot_t* snapshot = ashlar_create_snapshot(db);

  // Both changes, or none.
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_merge(batch, "apples", 6, "2", 1);
  ashlar_writebatch_put(batch, "pears", 5, "1", 1);
  ashlar_write(db, NULL, batch, &error);
  require();
  ashlar_writebatch_destroy(batch);
  printf("apples = %ld, pears = %ld\n", get_number(db, NULL, "apples"),
         get_number(db, NULL, "pears"));

  ashlar_readoptions_t* then = ashlar_readoptions_create();
  ashlar_readoptions_set_snapshot(then, snapshot);
  printf("before the batch: apples = %ld\n", get_number(db, then, "apples"));
  ashlar_readoptions_destroy(then);
  ashlar_release_snapshot(db, snapshot);

  ashlar_readoptions_t* scan = ashlar_readoptions_create();
  ashlar_readoptions_set_iterate_upper_bound(scan, "z", 1);
  ashlar_iterator_t* iter = ashlar_create_iterator(db, scan);
  for (ashlar_iter_seek(iter, "a", 1); ashlar_iter_valid(iter); ashlar_iter_next(iter)) {
    const ashlar_slice_t key = ashlar_iter_key_slice(iter);
    const ashlar_slice_t value = ashlar_iter_value_slice(iter);
    printf("%.*s %.*s\n", (int)key.size, key.data, (int)value.size, value.data);
  }
  ashlar_iter_get_error(iter, &error);
  require();
  ashlar_iter_destroy(iter);
  ashlar_readoptions_destroy(scan);
  ashlar_close(db);
  printf("the operator was %sdestroyed\n", destroyed ? "" : "not ");
  return 0;
}
