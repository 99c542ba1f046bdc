// SPDX-License-Identifier: Apache-2.0
//
// All forms of single writes and of reads: pinned, into buffers, of many keys, iterators,
// snapshots.
#include "tests/capi/check.h"

void capi_test_reads(const char* directory);

static ashlar_column_family_handle_t* family;

static void test_writes(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  ashlar_put_cf(db, NULL, family, "b", 1, "B", 1, &error);
  ashlar_put_cf(db, NULL, family, "c", 1, "C", 1, &error);
  ashlar_put_cf(db, NULL, family, "d", 1, "D", 1, &error);
  ashlar_put_cf(db, NULL, family, "e", 1, "E", 1, &error);
  CHECK_OK(error);
  ashlar_delete_cf(db, NULL, family, "b", 1, &error);
  ashlar_singledelete_cf(db, NULL, family, "c", 1, &error);
  ashlar_delete_range_cf(db, NULL, family, "d", 1, "e", 1, &error);
  CHECK_OK(error);
  CHECK(ashlar_get_cf(db, NULL, family, "b", 1, &length, &error) == NULL);
  CHECK(ashlar_get_cf(db, NULL, family, "c", 1, &length, &error) == NULL);
  CHECK(ashlar_get_cf(db, NULL, family, "d", 1, &length, &error) == NULL);
  CHECK_TEXT(ashlar_get_cf(db, NULL, family, "e", 1, &length, &error), length, "E");
  put_text(db, "once", "1");
  ashlar_singledelete(db, NULL, "once", 4, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "once", NULL));
  ashlar_merge(db, NULL, "sum", 3, "1", 1, &error);
  ashlar_merge(db, NULL, "sum", 3, "2", 1, &error);
  ashlar_merge_cf(db, NULL, family, "sum", 3, "x", 1, &error);
  CHECK_OK(error);
}

static void test_timestamps(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0, time_length = 0;
  char* time = NULL;
  const char ts[8] = {1, 0, 0, 0, 0, 0, 0, 0};
  ashlar_put_with_ts(db, NULL, "k", 1, ts, 8, "v", 1, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_put_cf_with_ts(db, NULL, family, "k", 1, ts, 8, "v", 1, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_delete_with_ts(db, NULL, "k", 1, ts, 8, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_delete_cf_with_ts(db, NULL, family, "k", 1, ts, 8, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_singledelete_with_ts(db, NULL, "k", 1, ts, 8, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_singledelete_cf_with_ts(db, NULL, family, "k", 1, ts, 8, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  // Reads without a timestamp find values; theirs is empty.
  CHECK_TEXT(ashlar_get_with_ts(db, NULL, "a", 1, &length, &time, &time_length, &error), length,
             "A");
  CHECK(time != NULL && time_length == 0);
  ashlar_free(time);
  CHECK(ashlar_get_cf_with_ts(db, NULL, family, "none", 4, &length, &time, &time_length, &error) ==
        NULL);
  CHECK(time == NULL && time_length == 0);
  CHECK_OK(error);
  const char* keys[] = {"a", "none"};
  const size_t sizes[] = {1, 4};
  char *values[2], *times[2], *errors[2];
  size_t value_sizes[2], time_sizes[2];
  ashlar_multi_get_with_ts(db, NULL, 2, keys, sizes, values, value_sizes, times, time_sizes,
                           errors);
  CHECK(errors[0] == NULL && errors[1] == NULL && values[1] == NULL && time_sizes[0] == 0);
  CHECK_TEXT(values[0], value_sizes[0], "A");
  ashlar_free(times[0]);
  const ashlar_column_family_handle_t* families[] = {NULL, family};
  ashlar_multi_get_cf_with_ts(db, NULL, families, 2, keys, sizes, values, value_sizes, times,
                              time_sizes, errors);
  CHECK_TEXT(values[0], value_sizes[0], "A");
  CHECK(values[1] == NULL && times[1] == NULL && errors[1] == NULL);
  ashlar_free(times[0]);
}

static void test_pinned(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  ashlar_pinnableslice_t* pinned = ashlar_get_pinned(db, NULL, "a", 1, &error);
  const char* value = ashlar_pinnableslice_value(pinned, &length);
  CHECK(length == 1 && value[0] == 'A');
  ashlar_pinnableslice_destroy(pinned);
  CHECK(ashlar_get_pinned_cf(db, NULL, family, "none", 4, &error) == NULL);
  CHECK(ashlar_pinnableslice_value(NULL, &length) == NULL && length == 0);
  ashlar_pinnableslice_destroy(NULL);
  ashlar_pinnable_handle_t* handle = ashlar_get_pinned_v2(db, NULL, "a", 1, &error);
  value = ashlar_pinnable_handle_get_value(handle, &length);
  CHECK(length == 1 && value[0] == 'A');
  ashlar_pinnable_handle_destroy(handle);
  handle = ashlar_get_pinned_cf_v2(db, NULL, family, "e", 1, &error);
  value = ashlar_pinnable_handle_get_value(handle, &length);
  CHECK(length == 1 && value[0] == 'E');
  ashlar_pinnable_handle_destroy(handle);

  char buffer[4] = "____";
  unsigned char found = 7;
  CHECK(ashlar_get_into_buffer(db, NULL, "a", 1, buffer, 1, &length, &found, &error) == 1);
  CHECK(found == 1 && length == 1 && memcmp(buffer, "A_", 2) == 0);
  CHECK(ashlar_get_into_buffer(db, NULL, "a", 1, buffer, 0, &length, &found, &error) == 0);
  CHECK(found == 1 && length == 1);
  CHECK(ashlar_get_into_buffer_cf(db, NULL, family, "none", 4, buffer, 4, &length, &found,
                                  &error) == 0);
  CHECK(found == 0 && length == 0);

  char* copy = NULL;
  CHECK(ashlar_key_may_exist(db, NULL, "a", 1, &copy, &length, NULL, 0, &found) == 1);
  CHECK(found == 1);
  CHECK_TEXT(copy, length, "A");
  CHECK(ashlar_key_may_exist_cf(db, NULL, family, "e", 1, NULL, NULL, NULL, 0, NULL) == 1);
  CHECK(ashlar_key_may_exist_cf(db, NULL, family, "none", 4, NULL, NULL, NULL, 0, &found) == 0);
  // Without the answer whether there is a value, none is made.
  copy = NULL;
  CHECK(ashlar_key_may_exist(db, NULL, "a", 1, &copy, &length, NULL, 0, NULL) == 1);
  CHECK(copy == NULL);
  CHECK_OK(error);
}

static void test_many(ashlar_t* db) {
  const char* keys[] = {"a", "e", "none"};
  const size_t sizes[] = {1, 1, 4};
  char *values[3], *errors[3];
  size_t value_sizes[3];
  ashlar_multi_get(db, NULL, 3, keys, sizes, values, value_sizes, errors);
  CHECK(values[1] == NULL && value_sizes[2] == 0 && errors[0] == NULL && errors[2] == NULL);
  CHECK_TEXT(values[0], value_sizes[0], "A");
  const ashlar_column_family_handle_t* families[] = {NULL, family, family};
  ashlar_multi_get_cf(db, NULL, families, 3, keys, sizes, values, value_sizes, errors);
  CHECK(values[2] == NULL);
  CHECK_TEXT(values[0], value_sizes[0], "A");
  CHECK_TEXT(values[1], value_sizes[1], "E");

  size_t length = 0;
  ashlar_pinnableslice_t* pinned[3];
  ashlar_batched_multi_get_cf(db, NULL, family, 3, keys, sizes, pinned, errors, true);
  CHECK(pinned[0] == NULL && pinned[2] == NULL && errors[1] == NULL);
  CHECK(ashlar_pinnableslice_value(pinned[1], &length)[0] == 'E' && length == 1);
  ashlar_pinnableslice_destroy(pinned[1]);
  const ashlar_slice_t slices[] = {{"none", 4}, {"a", 1}, {NULL, 0}};
  ashlar_batched_multi_get_cf_slice(db, NULL, NULL, 3, slices, pinned, errors, false);
  CHECK(pinned[0] == NULL && pinned[2] == NULL);
  CHECK(ashlar_pinnableslice_value(pinned[1], &length)[0] == 'A' && length == 1);
  ashlar_pinnableslice_destroy(pinned[1]);

  const char *value = NULL, *text = NULL;
  size_t text_length = 0;
  ashlar_pinnable_multi_get_t* all =
      ashlar_batched_multi_get_pinned_cf(db, NULL, NULL, 3, slices, 0);
  CHECK(ashlar_pinnable_multi_get_count(all) == 3);
  CHECK(ashlar_pinnable_multi_get_result(all, 0, &value, &length, &text, &text_length) ==
        ashlar_pinnable_multi_get_not_found);
  CHECK(length == 0 && text_length == 0);
  CHECK(ashlar_pinnable_multi_get_result(all, 1, &value, &length, NULL, NULL) ==
        ashlar_pinnable_multi_get_found);
  CHECK(length == 1 && value[0] == 'A');
  CHECK(ashlar_pinnable_multi_get_result(all, 3, NULL, NULL, NULL, NULL) ==
        ashlar_pinnable_multi_get_out_of_bounds);
  ashlar_pinnable_multi_get_destroy(all);
}

static void test_iterators(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  put_text(db, "b", "2");
  put_text(db, "c", "3");
  ashlar_iterator_t* iter = ashlar_create_iterator(db, NULL);
  CHECK(!ashlar_iter_valid(iter));
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_valid(iter) && ashlar_iter_key(iter, &length)[0] == 'a' && length == 1);
  ashlar_iter_next(iter);
  CHECK(ashlar_iter_value(iter, &length)[0] == '2' && length == 1);
  ashlar_iter_prev(iter);
  ashlar_slice_t slice = ashlar_iter_key_slice(iter);
  CHECK(slice.size == 1 && slice.data[0] == 'a');
  ashlar_iter_seek(iter, "bb", 2);
  slice = ashlar_iter_value_slice(iter);
  CHECK(slice.size == 1 && slice.data[0] == '3');
  ashlar_iter_timestamp(iter, &length);
  CHECK(length == 0 && ashlar_iter_timestamp_slice(iter).size == 0);
  ashlar_iter_seek_for_prev(iter, "bb", 2);
  CHECK(ashlar_iter_key(iter, &length)[0] == 'b');
  ashlar_iter_seek_to_last(iter);
  CHECK(ashlar_iter_key(iter, &length)[0] == 's');
  put_text(db, "z", "26");
  ashlar_iter_refresh(iter, &error);
  CHECK_OK(error);
  ashlar_iter_seek_to_last(iter);
  CHECK(ashlar_iter_key(iter, &length)[0] == 'z');
  ashlar_iter_get_error(iter, &error);
  CHECK_OK(error);
  ashlar_iter_destroy(iter);
  ashlar_iter_destroy(NULL);

  ashlar_column_family_handle_t* families[] = {NULL, family};
  ashlar_iterator_t* both[2];
  ashlar_create_iterators(db, NULL, families, both, 2, &error);
  CHECK_OK(error);
  ashlar_iter_seek_to_first(both[0]);
  ashlar_iter_seek_to_first(both[1]);
  CHECK(ashlar_iter_key(both[0], &length)[0] == 'a' && ashlar_iter_key(both[1], &length)[0] == 'e');
  ashlar_iter_destroy(both[0]);
  ashlar_iter_destroy(both[1]);
  iter = ashlar_create_iterator_cf(db, NULL, family);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_key(iter, &length)[0] == 'e');
  ashlar_iter_destroy(iter);
}

static void test_snapshots(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  put_text(db, "a", "old");
  const ashlar_snapshot_t* snapshot = ashlar_create_snapshot(db);
  CHECK(ashlar_snapshot_get_sequence_number(snapshot) == ashlar_get_latest_sequence_number(db));
  put_text(db, "a", "new");
  ashlar_readoptions_t* read = ashlar_readoptions_create();
  ashlar_readoptions_set_snapshot(read, snapshot);
  CHECK_TEXT(ashlar_get(db, read, "a", 1, &length, &error), length, "old");
  CHECK(has_text(db, "a", "new"));
  ashlar_readoptions_destroy(read);
  ashlar_release_snapshot(db, snapshot);
  ashlar_release_snapshot(db, NULL);
}

void capi_test_reads(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_t* db = open_database(directory, options);
  family = ashlar_create_column_family(db, options, "family", &error);
  CHECK_OK(error);
  put_text(db, "a", "A");
  test_writes(db);
  test_timestamps(db);
  test_pinned(db);
  test_many(db);
  test_iterators(db);
  test_snapshots(db);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  ashlar_options_destroy(options);
}
