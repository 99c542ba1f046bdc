// SPDX-License-Identifier: Apache-2.0
//
// Write batches, with and without an index.
#include "tests/capi/check.h"

void capi_test_batches(const char* directory);
void capi_test_indexed_batches(const char* directory);

// What the callbacks of an iteration saw, as text.
static char seen[512];

static void see(const char* kind, uint32_t id, const char* k, size_t klen, const char* v,
                size_t vlen) {
  size_t used = strlen(seen);
  snprintf(seen + used, sizeof(seen) - used, "%s%u %.*s=%.*s;", kind, id, (int)klen, k, (int)vlen,
           v);
}
static void on_put(void* state, const char* k, size_t klen, const char* v, size_t vlen) {
  see((const char*)state, 0, k, klen, v, vlen);
}
static void on_delete(void* state, const char* k, size_t klen) {
  see("delete", *(char*)state != 's', k, klen, "", 0);
}
static void on_log_data(void* state, const char* blob, size_t length) {
  (void)state;
  see("log", 0, "", 0, blob, length);
}
static void on_put_cf(void* state, uint32_t id, const char* k, size_t klen, const char* v,
                      size_t vlen) {
  (void)state;
  see("put", id, k, klen, v, vlen);
}
static void on_delete_cf(void* state, uint32_t id, const char* k, size_t klen) {
  (void)state;
  see("delete", id, k, klen, "", 0);
}
static void on_merge_cf(void* state, uint32_t id, const char* k, size_t klen, const char* v,
                        size_t vlen) {
  (void)state;
  see("merge", id, k, klen, v, vlen);
}

static size_t no_timestamps(void* state, uint32_t family) {
  (void)state;
  (void)family;
  return 0;
}

static const char* const key_pieces[] = {"ke", "y"};
static const size_t key_sizes[] = {2, 1};
static const char* const value_pieces[] = {"va", "", "lue"};
static const size_t value_sizes[] = {2, 0, 3};

static void test_pieces(ashlar_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_putv(batch, 2, key_pieces, key_sizes, 3, value_pieces, value_sizes);
  ashlar_writebatch_putv_cf(batch, family, 2, key_pieces, key_sizes, 3, value_pieces, value_sizes);
  ashlar_writebatch_mergev(batch, 2, key_pieces, key_sizes, 1, value_pieces, value_sizes);
  ashlar_writebatch_mergev_cf(batch, family, 2, key_pieces, key_sizes, 1, value_pieces,
                              value_sizes);
  ashlar_writebatch_deletev(batch, 2, key_pieces, key_sizes);
  ashlar_writebatch_deletev_cf(batch, family, 2, key_pieces, key_sizes);
  seen[0] = '\0';
  ashlar_writebatch_iterate_cf(batch, NULL, on_put_cf, on_delete_cf, on_merge_cf);
  CHECK(strcmp(seen,
               "put0 key=value;put1 key=value;merge0 key=va;merge1 key=va;delete0 key=;"
               "delete1 key=;") == 0);
  ashlar_writebatch_clear(batch);
  put_text(db, "key", "in range");
  const char* ends[] = {"kez"};
  const size_t end_sizes[] = {3};
  ashlar_writebatch_delete_rangev(batch, 1, key_pieces, key_sizes, ends, end_sizes);
  ashlar_writebatch_delete_rangev_cf(batch, family, 1, key_pieces, key_sizes, ends, end_sizes);
  CHECK(ashlar_writebatch_count(batch) == 2);
  ashlar_write(db, NULL, batch, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "key", NULL));
  ashlar_writebatch_destroy(batch);
}

static void test_entries(ashlar_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t size = 0;
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_put(batch, "a", 1, "1", 1);
  ashlar_writebatch_put_cf(batch, family, "b", 1, "2", 1);
  ashlar_writebatch_merge(batch, "c", 1, "3", 1);
  ashlar_writebatch_merge_cf(batch, family, "d", 1, "4", 1);
  ashlar_writebatch_delete(batch, "e", 1);
  ashlar_writebatch_delete_cf(batch, family, "f", 1);
  ashlar_writebatch_put_log_data(batch, "data", 4);
  seen[0] = '\0';
  ashlar_writebatch_iterate(batch, "set", on_put, on_delete);
  CHECK(strcmp(seen, "set0 a=1;delete0 e=;") == 0);
  seen[0] = '\0';
  ashlar_writebatch_iterate_ld(batch, "set", on_put, NULL, on_log_data);
  CHECK(strcmp(seen, "set0 a=1;log0 =data;") == 0);
  seen[0] = '\0';
  ashlar_writebatch_iterate_cf_ld(batch, NULL, on_put_cf, on_delete_cf, on_merge_cf, on_log_data);
  CHECK(strcmp(seen, "put0 a=1;put1 b=2;merge0 c=3;merge1 d=4;delete0 e=;delete1 f=;log0 =data;") ==
        0);
  const char* bytes = ashlar_writebatch_data(batch, &size);
  ashlar_writebatch_t* copy = ashlar_writebatch_create_from(bytes, size);
  CHECK(ashlar_writebatch_count(copy) == 6 && ashlar_writebatch_count(batch) == 6);
  ashlar_write(db, NULL, copy, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "a", "1"));
  ashlar_writebatch_destroy(copy);
  ashlar_writebatch_clear(batch);
  CHECK(ashlar_writebatch_count(batch) == 0);

  ashlar_writebatch_singledelete(batch, "a", 1);
  ashlar_writebatch_singledelete_cf(batch, family, "b", 1);
  ashlar_writebatch_delete_range(batch, "x", 1, "y", 1);
  ashlar_writebatch_delete_range_cf(batch, family, "x", 1, "y", 1);
  CHECK(ashlar_writebatch_count(batch) == 4);
  ashlar_write(db, NULL, batch, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "a", NULL));
  ashlar_writebatch_destroy(batch);
  ashlar_writebatch_destroy(NULL);
}

static void test_limits(ashlar_column_family_handle_t* family) {
  char* error = NULL;
  ashlar_writebatch_t* batch = ashlar_writebatch_create_with_params(100, 60, 8, 0);
  ashlar_writebatch_put(batch, "small", 5, "1", 1);
  ashlar_writebatch_put(batch, "large", 5, "2222222222222222222222222222222222222222222222", 46);
  CHECK(ashlar_writebatch_count(batch) == 1);
  ashlar_writebatch_verify_checksum(batch, &error);
  CHECK_OK(error);
  ashlar_writebatch_set_save_point(batch);
  ashlar_writebatch_put(batch, "more", 4, "3", 1);
  ashlar_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  CHECK(ashlar_writebatch_count(batch) == 1);
  ashlar_writebatch_rollback_to_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound: ");
  ashlar_writebatch_set_save_point(batch);
  ashlar_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  ashlar_writebatch_pop_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound: ");
  // Families without timestamps take none.
  ashlar_writebatch_put_cf_with_ts(batch, family, "k", 1, "12345678", 8, "v", 1);
  ashlar_writebatch_delete_cf_with_ts(batch, family, "k", 1, "12345678", 8);
  ashlar_writebatch_singledelete_cf_with_ts(batch, family, "k", 1, "12345678", 8);
  CHECK(ashlar_writebatch_count(batch) == 1);
  ashlar_writebatch_update_timestamps(batch, "12345678", 8, NULL, no_timestamps, &error);
  CHECK_OK(error);
  ashlar_writebatch_destroy(batch);
}

void capi_test_batches(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_t* db = open_database(directory, options);
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(db, options, "family", &error);
  CHECK_OK(error);
  test_entries(db, family);
  test_pieces(db, family);
  test_limits(family);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  ashlar_options_destroy(options);
}

// `bytes` are those of the batch in test_indexed_entries().
static void test_indexed_copy(const char* bytes, size_t size,
                              ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_writebatch_wi_t* copy = ashlar_writebatch_wi_create_from(bytes, size);
  CHECK(copy != NULL && ashlar_writebatch_wi_count(copy) == 8);
  const char* copied = ashlar_writebatch_wi_data(copy, &length);
  CHECK(length == size && memcmp(copied, bytes, size) == 0);
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch(copy, options, "a", 1, &length, &error), length,
             "1");
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch_cf(copy, options, family, "b", 1, &length, &error),
             length, "2");
  CHECK(ashlar_writebatch_wi_get_from_batch(copy, options, "e", 1, &length, &error) == NULL);
  CHECK_OK(error);
  ashlar_writebatch_wi_destroy(copy);
  ashlar_options_destroy(options);

  // Damaged bytes, none at all, and a range, for which there is no index.
  CHECK(ashlar_writebatch_wi_create_from(bytes, size - 1) == NULL);
  CHECK(ashlar_writebatch_wi_create_from(NULL, 0) == NULL);
  ashlar_writebatch_t* range = ashlar_writebatch_create();
  ashlar_writebatch_delete_range(range, "a", 1, "b", 1);
  const char* of_range = ashlar_writebatch_data(range, &length);
  CHECK(ashlar_writebatch_wi_create_from(of_range, length) == NULL);
  ashlar_writebatch_destroy(range);
}

static void test_indexed_entries(ashlar_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t size = 0;
  ashlar_writebatch_wi_t* batch = ashlar_writebatch_wi_create(0, 1);
  ashlar_writebatch_wi_put(batch, "a", 1, "1", 1);
  ashlar_writebatch_wi_put_cf(batch, family, "b", 1, "2", 1);
  ashlar_writebatch_wi_merge(batch, "c", 1, "3", 1);
  ashlar_writebatch_wi_merge_cf(batch, family, "d", 1, "4", 1);
  ashlar_writebatch_wi_delete(batch, "e", 1);
  ashlar_writebatch_wi_delete_cf(batch, family, "f", 1);
  ashlar_writebatch_wi_singledelete(batch, "g", 1);
  ashlar_writebatch_wi_singledelete_cf(batch, family, "h", 1);
  ashlar_writebatch_wi_put_log_data(batch, "data", 4);
  CHECK(ashlar_writebatch_wi_count(batch) == 8);
  seen[0] = '\0';
  ashlar_writebatch_wi_iterate(batch, "set", on_put, on_delete);
  CHECK(strcmp(seen, "set0 a=1;delete0 e=;") == 0);
  ashlar_writebatch_t* plain = NULL;
  const char* bytes = ashlar_writebatch_wi_data(batch, &size);
  plain = ashlar_writebatch_create_from(bytes, size);
  CHECK(ashlar_writebatch_count(plain) == 8);
  ashlar_writebatch_destroy(plain);
  test_indexed_copy(bytes, size, family);
  ashlar_writebatch_wi_set_save_point(batch);
  ashlar_writebatch_wi_put(batch, "z", 1, "26", 2);
  ashlar_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  CHECK(ashlar_writebatch_wi_count(batch) == 8);
  ashlar_writebatch_wi_update_timestamps(batch, "12345678", 8, NULL, no_timestamps, &error);
  CHECK_OK(error);
  ashlar_write_writebatch_wi(db, NULL, batch, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "a", "1"));
  ashlar_writebatch_wi_clear(batch);
  CHECK(ashlar_writebatch_wi_count(batch) == 0);

  // Ranges are refused.
  const char* ends[] = {"kez", "y"};
  ashlar_writebatch_wi_delete_range(batch, "a", 1, "b", 1);
  ashlar_writebatch_wi_delete_range_cf(batch, family, "a", 1, "b", 1);
  ashlar_writebatch_wi_delete_rangev(batch, 2, key_pieces, key_sizes, ends, key_sizes);
  ashlar_writebatch_wi_delete_rangev_cf(batch, family, 2, key_pieces, key_sizes, ends, key_sizes);
  CHECK(ashlar_writebatch_wi_count(batch) == 0);
  ashlar_writebatch_wi_destroy(batch);
}

static void test_indexed_pieces(ashlar_column_family_handle_t* family) {
  ashlar_writebatch_wi_t* batch = ashlar_writebatch_wi_create_with_params(NULL, 0, 0, 0, 0);
  ashlar_writebatch_wi_putv(batch, 2, key_pieces, key_sizes, 3, value_pieces, value_sizes);
  ashlar_writebatch_wi_putv_cf(batch, family, 2, key_pieces, key_sizes, 3, value_pieces,
                               value_sizes);
  ashlar_writebatch_wi_mergev(batch, 2, key_pieces, key_sizes, 1, value_pieces, value_sizes);
  ashlar_writebatch_wi_mergev_cf(batch, family, 2, key_pieces, key_sizes, 1, value_pieces,
                                 value_sizes);
  ashlar_writebatch_wi_deletev(batch, 2, key_pieces, key_sizes);
  ashlar_writebatch_wi_deletev_cf(batch, family, 2, key_pieces, key_sizes);
  CHECK(ashlar_writebatch_wi_count(batch) == 6);
  seen[0] = '\0';
  ashlar_writebatch_wi_iterate(batch, "set", on_put, on_delete);
  CHECK(strcmp(seen, "set0 key=value;delete0 key=;") == 0);
  ashlar_writebatch_wi_destroy(batch);
}

static void test_reads_of_batch(ashlar_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  put_text(db, "below", "B");
  ashlar_writebatch_wi_t* batch = ashlar_writebatch_wi_create(0, 1);
  ashlar_writebatch_wi_put(batch, "k", 1, "v", 1);
  ashlar_writebatch_wi_put_cf(batch, family, "k", 1, "in family", 9);
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch(batch, options, "k", 1, &length, &error), length,
             "v");
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch_cf(batch, NULL, family, "k", 1, &length, &error),
             length, "in family");
  CHECK(ashlar_writebatch_wi_get_from_batch(batch, options, "below", 5, &length, &error) == NULL);
  CHECK_TEXT(
      ashlar_writebatch_wi_get_from_batch_and_db(batch, db, NULL, "below", 5, &length, &error),
      length, "B");
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch_and_db_cf(batch, db, NULL, family, "k", 1, &length,
                                                           &error),
             length, "in family");
  ashlar_pinnableslice_t* pinned =
      ashlar_writebatch_wi_get_pinned_from_batch_and_db(batch, db, NULL, "k", 1, &error);
  CHECK(ashlar_pinnableslice_value(pinned, &length)[0] == 'v' && length == 1);
  ashlar_pinnableslice_destroy(pinned);
  pinned = ashlar_writebatch_wi_get_pinned_from_batch_and_db_cf(batch, db, NULL, family, "none", 4,
                                                                &error);
  CHECK(pinned == NULL);
  CHECK_OK(error);

  ashlar_readoptions_t* read = ashlar_readoptions_create();
  ashlar_iterator_t* iter =
      ashlar_writebatch_wi_create_iterator_with_base(batch, ashlar_create_iterator(db, read));
  ashlar_iter_seek(iter, "below", 5);
  CHECK(ashlar_iter_value(iter, &length)[0] == 'B');
  ashlar_iter_seek(iter, "k", 1);
  CHECK(ashlar_iter_value(iter, &length)[0] == 'v');
  ashlar_iter_destroy(iter);
  iter = ashlar_writebatch_wi_create_iterator_with_base_readopts(
      batch, ashlar_create_iterator(db, read), read);
  ashlar_iter_seek(iter, "k", 1);
  CHECK(ashlar_iter_valid(iter) && ashlar_iter_value(iter, &length)[0] == 'v');
  ashlar_iter_destroy(iter);
  iter = ashlar_writebatch_wi_create_iterator_with_base_cf(
      batch, ashlar_create_iterator_cf(db, read, family), family);
  ashlar_iter_seek(iter, "k", 1);
  CHECK(ashlar_iter_valid(iter) && ashlar_iter_value(iter, &length)[0] == 'i');
  ashlar_iter_destroy(iter);
  iter = ashlar_writebatch_wi_create_iterator_with_base_cf_readopts(
      batch, ashlar_create_iterator_cf(db, read, family), family, read);
  ashlar_iter_seek_to_last(iter);
  CHECK(ashlar_iter_valid(iter) && ashlar_iter_value(iter, &length)[0] == 'i');
  ashlar_iter_destroy(iter);
  ashlar_readoptions_destroy(read);
  ashlar_writebatch_wi_destroy(batch);
  ashlar_writebatch_wi_destroy(NULL);
  ashlar_options_destroy(options);
}

void capi_test_indexed_batches(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_t* db = open_database(directory, options);
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(db, options, "family", &error);
  CHECK_OK(error);
  test_indexed_entries(db, family);
  test_indexed_pieces(family);
  test_reads_of_batch(db, family);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  ashlar_options_destroy(options);
}
