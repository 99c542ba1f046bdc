// SPDX-License-Identifier: Apache-2.0
//
// Transactions that lock, and optimistic ones.
#include "tests/capi/check.h"

void capi_test_transaction_databases(const char* directory);
void capi_test_transactions(const char* directory);
void capi_test_optimistic_transactions(const char* directory);

static ashlar_transactiondb_t* open_transactions(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_transactiondb_options_t* how = ashlar_transactiondb_options_create();
  ashlar_transactiondb_t* db = ashlar_transactiondb_open(options, how, directory, &error);
  CHECK_OK(error);
  ashlar_transactiondb_options_destroy(how);
  ashlar_options_destroy(options);
  if (db == NULL) abort();
  return db;
}

static void test_reads(ashlar_transactiondb_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t length = 0;
  CHECK_TEXT(ashlar_transactiondb_get(db, NULL, "a", 1, &length, &error), length, "1");
  CHECK_TEXT(ashlar_transactiondb_get_cf(db, NULL, family, "a", 1, &length, &error), length, "2");
  CHECK(ashlar_transactiondb_get(db, NULL, "none", 4, &length, &error) == NULL);
  ashlar_pinnableslice_t* pinned = ashlar_transactiondb_get_pinned(db, NULL, "a", 1, &error);
  CHECK(ashlar_pinnableslice_value(pinned, &length)[0] == '1' && length == 1);
  ashlar_pinnableslice_destroy(pinned);
  pinned = ashlar_transactiondb_get_pinned_cf(db, NULL, family, "a", 1, &error);
  CHECK(ashlar_pinnableslice_value(pinned, &length)[0] == '2' && length == 1);
  ashlar_pinnableslice_destroy(pinned);
  const char* keys[] = {"a", "a"};
  const size_t sizes[] = {1, 1};
  char *values[2], *errors[2];
  size_t value_sizes[2];
  ashlar_transactiondb_multi_get(db, NULL, 2, keys, sizes, values, value_sizes, errors);
  CHECK(errors[0] == NULL && errors[1] == NULL);
  CHECK_TEXT(values[0], value_sizes[0], "1");
  CHECK_TEXT(values[1], value_sizes[1], "1");
  const ashlar_column_family_handle_t* families[] = {NULL, family};
  ashlar_transactiondb_multi_get_cf(db, NULL, families, 2, keys, sizes, values, value_sizes,
                                    errors);
  CHECK_TEXT(values[0], value_sizes[0], "1");
  CHECK_TEXT(values[1], value_sizes[1], "2");
  ashlar_iterator_t* iter = ashlar_transactiondb_create_iterator(db, NULL);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_value(iter, &length)[0] == '1');
  ashlar_iter_destroy(iter);
  iter = ashlar_transactiondb_create_iterator_cf(db, NULL, family);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_value(iter, &length)[0] == '2');
  ashlar_iter_destroy(iter);
  CHECK_OK(error);
}

static void test_writes(ashlar_transactiondb_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t length = 0;
  ashlar_transactiondb_merge(db, NULL, "m", 1, "12345678", 8, &error);
  ashlar_transactiondb_merge_cf(db, NULL, family, "m", 1, "12345678", 8, &error);
  CHECK_TEXT(ashlar_transactiondb_get_cf(db, NULL, family, "m", 1, &length, &error), length,
             "12345678");
  ashlar_transactiondb_delete(db, NULL, "m", 1, &error);
  ashlar_transactiondb_delete_cf(db, NULL, family, "m", 1, &error);
  CHECK(ashlar_transactiondb_get(db, NULL, "m", 1, &length, &error) == NULL);
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_put(batch, "batch", 5, "B", 1);
  ashlar_transactiondb_write(db, NULL, batch, &error);
  ashlar_writebatch_destroy(batch);
  CHECK_TEXT(ashlar_transactiondb_get(db, NULL, "batch", 5, &length, &error), length, "B");
  ashlar_transactiondb_flush(db, NULL, &error);
  ashlar_transactiondb_flush_cf(db, NULL, family, &error);
  ashlar_column_family_handle_t* both[] = {NULL, family};
  ashlar_transactiondb_flush_cfs(db, NULL, both, 2, &error);
  ashlar_transactiondb_flush_wal(db, 1, &error);
  ashlar_transactiondb_flush_wal_with_options(db, NULL, &error);
  CHECK_OK(error);
  uint64_t entries = 7;
  CHECK(ashlar_transactiondb_property_int(db, "rocksdb.num-entries-active-mem-table", &entries) ==
        0);
  CHECK(entries == 0);
  CHECK_TEXT(ashlar_transactiondb_property_value(db, "rocksdb.num-files-at-level0"), 1, "1");
  CHECK(ashlar_transactiondb_property_value(db, "rocksdb.none") == NULL);

  const ashlar_snapshot_t* snapshot = ashlar_transactiondb_create_snapshot(db);
  ashlar_transactiondb_put(db, NULL, "batch", 5, "C", 1, &error);
  ashlar_readoptions_t* read = ashlar_readoptions_create();
  ashlar_readoptions_set_snapshot(read, snapshot);
  CHECK_TEXT(ashlar_transactiondb_get(db, read, "batch", 5, &length, &error), length, "B");
  ashlar_readoptions_destroy(read);
  ashlar_transactiondb_release_snapshot(db, snapshot);
  ashlar_transactiondb_release_snapshot(db, NULL);
}

void capi_test_transaction_databases(const char* directory) {
  char* error = NULL;
  size_t length = 0, count = 7;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_transactiondb_t* db = open_transactions(directory);
  ashlar_column_family_handle_t* family =
      ashlar_transactiondb_create_column_family(db, options, "family", &error);
  CHECK_OK(error);
  ashlar_transactiondb_put(db, NULL, "a", 1, "1", 1, &error);
  ashlar_transactiondb_put_cf(db, NULL, family, "a", 1, "2", 1, &error);
  CHECK_OK(error);
  test_reads(db, family);
  test_writes(db, family);
  ashlar_checkpoint_t* checkpoint = ashlar_transactiondb_checkpoint_object_create(db, &error);
  ashlar_checkpoint_create(checkpoint, beside(directory, "-copy"), 0, &error);
  CHECK_OK(error);
  ashlar_checkpoint_object_destroy(checkpoint);
  ashlar_t* base = ashlar_transactiondb_get_base_db(db);
  CHECK(has_text(base, "a", "1"));
  ashlar_column_family_handle_t* standard = ashlar_get_default_column_family_handle(base);
  ashlar_transactiondb_close_base_db(base);
  ashlar_column_family_handle_destroy(standard);
  CHECK(ashlar_transactiondb_get_prepared_transactions(db, &count) == NULL && count == 0);

  // A prepared transaction survives.
  ashlar_transaction_t* prepared = ashlar_transaction_begin(db, NULL, NULL, NULL);
  ashlar_transaction_set_name(prepared, "mine", 4, &error);
  ashlar_transaction_put(prepared, "p", 1, "prepared", 8, &error);
  ashlar_transaction_prepare(prepared, &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(prepared);
  ashlar_column_family_handle_destroy(family);
  ashlar_transactiondb_close(db);
  ashlar_transactiondb_close(NULL);

  const char* names[] = {"default", "family"};
  const ashlar_options_t* all[] = {options, options};
  ashlar_column_family_handle_t* handles[2];
  db = ashlar_transactiondb_open_column_families(options, NULL, directory, 2, names, all, handles,
                                                 &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_transactiondb_get_cf(db, NULL, handles[1], "a", 1, &length, &error), length,
             "2");
  ashlar_transaction_t** left = ashlar_transactiondb_get_prepared_transactions(db, &count);
  CHECK(count == 1);
  CHECK_TEXT(ashlar_transaction_get_name(left[0], &length), length, "mine");
  ashlar_transaction_commit(left[0], &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(left[0]);
  CHECK_TEXT(ashlar_transactiondb_get(db, NULL, "p", 1, &length, &error), length, "prepared");
  ashlar_free(left);
  ashlar_transactiondb_close(db);
  for (int i = 0; i < 2; ++i) ashlar_column_family_handle_destroy(handles[i]);
  CHECK(ashlar_transactiondb_open(options, NULL, beside(directory, "-none"), &error) == NULL);
  CHECK_ERROR(error, "");
  ashlar_options_destroy(options);
}

static void test_transaction_reads(ashlar_transaction_t* txn,
                                   ashlar_column_family_handle_t* family) {
  char* error = NULL;
  size_t length = 0;
  CHECK_TEXT(ashlar_transaction_get(txn, NULL, "a", 1, &length, &error), length, "1");
  CHECK_TEXT(ashlar_transaction_get_cf(txn, NULL, family, "a", 1, &length, &error), length, "2");
  CHECK_TEXT(ashlar_transaction_get_for_update(txn, NULL, "a", 1, &length, 1, &error), length, "1");
  CHECK_TEXT(ashlar_transaction_get_for_update_cf(txn, NULL, family, "a", 1, &length, 0, &error),
             length, "2");
  ashlar_pinnableslice_t* pinned[4] = {
      ashlar_transaction_get_pinned(txn, NULL, "a", 1, &error),
      ashlar_transaction_get_pinned_cf(txn, NULL, family, "a", 1, &error),
      ashlar_transaction_get_pinned_for_update(txn, NULL, "a", 1, 1, &error),
      ashlar_transaction_get_pinned_for_update_cf(txn, NULL, family, "a", 1, 1, &error)};
  for (int i = 0; i < 4; ++i) {
    CHECK(ashlar_pinnableslice_value(pinned[i], &length)[0] == '1' + i % 2 && length == 1);
    ashlar_pinnableslice_destroy(pinned[i]);
  }
  CHECK(ashlar_transaction_get_pinned(txn, NULL, "none", 4, &error) == NULL);
  CHECK_OK(error);
  const char* keys[] = {"a", "none"};
  const size_t sizes[] = {1, 4};
  const ashlar_column_family_handle_t* families[] = {family, NULL};
  char *values[2], *errors[2];
  size_t value_sizes[2];
  ashlar_transaction_multi_get(txn, NULL, 2, keys, sizes, values, value_sizes, errors);
  CHECK(values[1] == NULL && errors[0] == NULL && errors[1] == NULL);
  CHECK_TEXT(values[0], value_sizes[0], "1");
  ashlar_transaction_multi_get_cf(txn, NULL, families, 2, keys, sizes, values, value_sizes, errors);
  CHECK_TEXT(values[0], value_sizes[0], "2");
  ashlar_transaction_multi_get_for_update(txn, NULL, 2, keys, sizes, values, value_sizes, errors);
  CHECK(values[1] == NULL && errors[1] == NULL);
  CHECK_TEXT(values[0], value_sizes[0], "1");
  ashlar_transaction_multi_get_for_update_cf(txn, NULL, families, 2, keys, sizes, values,
                                             value_sizes, errors);
  CHECK_TEXT(values[0], value_sizes[0], "2");
  ashlar_iterator_t* iter = ashlar_transaction_create_iterator(txn, NULL);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_value(iter, &length)[0] == '1');
  ashlar_iter_destroy(iter);
  iter = ashlar_transaction_create_iterator_cf(txn, NULL, family);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_value(iter, &length)[0] == '2');
  ashlar_iter_destroy(iter);
}

// Another transaction holds the second of three keys: a failed lock is the error of each key.
static void test_locked_reads(ashlar_transaction_t* other, ashlar_column_family_handle_t* family) {
  const char* keys[] = {"b", "a", "c"};
  const size_t sizes[] = {1, 1, 1};
  const ashlar_column_family_handle_t* families[] = {NULL, family, family};
  for (int with_families = 0; with_families < 2; ++with_families) {
    char *values[3], *errors[3];
    size_t value_sizes[] = {7, 7, 7};
    if (with_families) {
      ashlar_transaction_multi_get_for_update_cf(other, NULL, families, 3, keys, sizes, values,
                                                 value_sizes, errors);
    } else {
      ashlar_transaction_multi_get_for_update(other, NULL, 3, keys, sizes, values, value_sizes,
                                              errors);
    }
    for (int i = 0; i < 3; ++i) {
      CHECK(values[i] == NULL && value_sizes[i] == 0);
      CHECK_ERROR(errors[i], "Operation timed out: ");
    }
  }
}

static void test_locks(ashlar_transactiondb_t* db, ashlar_column_family_handle_t* family) {
  char* error = NULL;
  ashlar_transaction_options_t* options = ashlar_transaction_options_create();
  ashlar_transaction_options_set_lock_timeout(options, 1);
  ashlar_transaction_t* other = ashlar_transaction_begin(db, NULL, options, NULL);
  ashlar_transaction_put(other, "a", 1, "other", 5, &error);
  CHECK_ERROR(error, "Operation timed out: ");
  test_locked_reads(other, family);
  ashlar_transaction_rollback(other, &error);
  CHECK_OK(error);
  // Its memory is used again.
  CHECK(ashlar_transaction_begin(db, NULL, options, other) == other);
  ashlar_transaction_put(other, "free", 4, "other", 5, &error);
  ashlar_transaction_commit(other, &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(other);
  ashlar_transaction_destroy(NULL);
  ashlar_transaction_options_destroy(options);
}

static void test_batches(ashlar_transactiondb_t* db) {
  char* error = NULL;
  size_t length = 0;
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_put(batch, "r1", 2, "1", 1);
  ashlar_writebatch_wi_t* indexed = ashlar_writebatch_wi_create(0, 1);
  ashlar_writebatch_wi_put(indexed, "r2", 2, "2", 1);
  ashlar_transaction_t* txn = ashlar_transaction_begin(db, NULL, NULL, NULL);
  ashlar_transaction_rebuild_from_writebatch(txn, batch, &error);
  ashlar_transaction_rebuild_from_writebatch_wi(txn, indexed, &error);
  ashlar_transaction_put_log_data(txn, "data", 4);
  CHECK_OK(error);
  ashlar_writebatch_wi_t* inside = ashlar_transaction_get_writebatch_wi(txn);
  CHECK(ashlar_writebatch_wi_count(inside) == 2);
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch(inside, NULL, "r2", 2, &length, &error), length,
             "2");
  ashlar_free(inside);
  ashlar_transaction_set_commit_timestamp(txn, 1);  // drops: there are no timestamps
  ashlar_transaction_set_read_timestamp_for_validation(txn, 1);
  ashlar_transaction_commit(txn, &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(txn);
  CHECK_TEXT(ashlar_transactiondb_get(db, NULL, "r1", 2, &length, &error), length, "1");
  ashlar_writebatch_wi_destroy(indexed);
  ashlar_writebatch_destroy(batch);
}

void capi_test_transactions(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_transactiondb_t* db = open_transactions(directory);
  ashlar_column_family_handle_t* family =
      ashlar_transactiondb_create_column_family(db, options, "family", &error);
  ashlar_transaction_options_t* how = ashlar_transaction_options_create();
  ashlar_transaction_options_set_set_snapshot(how, 1);
  ashlar_transaction_t* txn = ashlar_transaction_begin(db, NULL, how, NULL);
  ashlar_transaction_options_destroy(how);
  ashlar_transaction_put(txn, "a", 1, "1", 1, &error);
  ashlar_transaction_put_cf(txn, family, "a", 1, "2", 1, &error);
  ashlar_transaction_merge(txn, "m", 1, "12345678", 8, &error);
  ashlar_transaction_merge_cf(txn, family, "m", 1, "12345678", 8, &error);
  ashlar_transaction_delete(txn, "m", 1, &error);
  ashlar_transaction_delete_cf(txn, family, "m", 1, &error);
  CHECK_OK(error);
  const ashlar_snapshot_t* snapshot = ashlar_transaction_get_snapshot(txn);
  CHECK(ashlar_snapshot_get_sequence_number(snapshot) == 0);
  ashlar_free((void*)snapshot);
  test_transaction_reads(txn, family);
  test_locks(db, family);
  ashlar_transaction_set_savepoint(txn);
  ashlar_transaction_put(txn, "later", 5, "x", 1, &error);
  ashlar_transaction_rollback_to_savepoint(txn, &error);
  CHECK_OK(error);
  ashlar_transaction_rollback_to_savepoint(txn, &error);
  CHECK_ERROR(error, "NotFound: ");
  ashlar_transaction_prepare(txn, &error);
  CHECK_ERROR(error, "Invalid argument: ");  // has no name
  CHECK(ashlar_transactiondb_get(db, NULL, "a", 1, &length, &error) == NULL);
  ashlar_transaction_commit(txn, &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(txn);
  CHECK_TEXT(ashlar_transactiondb_get(db, NULL, "a", 1, &length, &error), length, "1");
  CHECK(ashlar_transactiondb_get(db, NULL, "later", 5, &length, &error) == NULL);
  test_batches(db);
  ashlar_column_family_handle_destroy(family);
  ashlar_transactiondb_close(db);
  ashlar_options_destroy(options);
}

static void test_conflict(ashlar_optimistictransactiondb_t* db) {
  char* error = NULL;
  ashlar_optimistictransaction_options_t* options = ashlar_optimistictransaction_options_create();
  ashlar_transaction_t* one = ashlar_optimistictransaction_begin(db, NULL, options, NULL);
  ashlar_transaction_t* two = ashlar_optimistictransaction_begin(db, NULL, options, NULL);
  ashlar_transaction_put(one, "k", 1, "1", 1, &error);
  ashlar_transaction_put(two, "k", 1, "2", 1, &error);
  ashlar_transaction_commit(one, &error);
  CHECK_OK(error);
  ashlar_transaction_commit(two, &error);
  CHECK_ERROR(error, "Resource busy: ");
  CHECK(ashlar_optimistictransaction_begin(db, NULL, NULL, two) == two);
  ashlar_transaction_put(two, "k", 1, "2", 1, &error);
  ashlar_transaction_commit(two, &error);
  CHECK_OK(error);
  ashlar_transaction_destroy(one);
  ashlar_transaction_destroy(two);
  ashlar_optimistictransaction_options_destroy(options);
}

void capi_test_optimistic_transactions(const char* directory) {
  char* error = NULL;
  uint64_t keys = 0;
  ashlar_options_t* options = ashlar_options_create();
  CHECK(ashlar_optimistictransactiondb_open(options, directory, &error) == NULL);
  CHECK_ERROR(error, "");
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_optimistictransactiondb_t* db =
      ashlar_optimistictransactiondb_open(options, directory, &error);
  CHECK_OK(error);
  test_conflict(db);
  ashlar_writebatch_t* batch = ashlar_writebatch_create();
  ashlar_writebatch_put(batch, "batch", 5, "B", 1);
  ashlar_optimistictransactiondb_write(db, NULL, batch, &error);
  CHECK_OK(error);
  ashlar_writebatch_destroy(batch);
  ashlar_t* base = ashlar_optimistictransactiondb_get_base_db(db);
  CHECK(has_text(base, "k", "2") && has_text(base, "batch", "B"));
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(base, options, "family", &error);
  CHECK_OK(error);
  ashlar_column_family_handle_destroy(family);
  ashlar_optimistictransactiondb_close_base_db(base);
  CHECK(ashlar_optimistictransactiondb_property_int(db, "rocksdb.estimate-num-keys", &keys) == 0 &&
        keys > 0);
  CHECK_TEXT(ashlar_optimistictransactiondb_property_value(db, "rocksdb.num-files-at-level0"), 1,
             "0");
  CHECK(ashlar_optimistictransactiondb_property_value(db, "rocksdb.none") == NULL);
  ashlar_checkpoint_t* checkpoint =
      ashlar_optimistictransactiondb_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  ashlar_checkpoint_create(checkpoint, beside(directory, "-copy"), 0, &error);
  CHECK_OK(error);
  ashlar_checkpoint_object_destroy(checkpoint);
  ashlar_optimistictransactiondb_close(db);
  ashlar_optimistictransactiondb_close(NULL);

  const char* names[] = {"default", "family"};
  const ashlar_options_t* all[] = {options, options};
  ashlar_column_family_handle_t* handles[2];
  for (int with = 0; with < 2; ++with) {
    db = with ? ashlar_optimistictransactiondb_open_column_families_with_otxn_db_options(
                    options, NULL, directory, 2, names, all, handles, &error)
              : ashlar_optimistictransactiondb_open_column_families(options, directory, 2, names,
                                                                    all, handles, &error);
    CHECK_OK(error);
    ashlar_optimistictransactiondb_close(db);
    for (int i = 0; i < 2; ++i) ashlar_column_family_handle_destroy(handles[i]);
  }
  ashlar_optimistictransactiondb_options_t* how = ashlar_optimistictransactiondb_options_create();
  db = ashlar_optimistictransactiondb_open_with_otxn_db_options(options, how,
                                                                beside(directory, "-copy"), &error);
  CHECK(db == NULL);
  CHECK_ERROR(error, "Invalid argument: ");  // has another family
  db = ashlar_optimistictransactiondb_open_with_otxn_db_options(options, how,
                                                                beside(directory, "-new"), &error);
  CHECK_OK(error);
  test_conflict(db);
  ashlar_optimistictransactiondb_close(db);
  ashlar_optimistictransactiondb_options_destroy(how);
  ashlar_options_destroy(options);
}
