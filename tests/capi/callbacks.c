// SPDX-License-Identifier: Apache-2.0
//
// Objects that call functions of the program, and when their destructors run.
#include "tests/capi/check.h"

void capi_test_callbacks(const char* directory);

// The state of an object: how often its destructor ran, and a name.
typedef struct {
  int destroyed;
  const char* name;
  int calls;
  char buffer[32];
} state_t;

static void destroy(void* state) { ++((state_t*)state)->destroyed; }
static const char* name(void* state) { return ((state_t*)state)->name; }

// The reverse order of bytes.
static int compare(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  size_t common = alen < blen ? alen : blen;
  int order = memcmp(a, b, common);
  if (order == 0) order = alen < blen ? -1 : alen > blen ? 1 : 0;
  return -order;
}
static int compare_without(void* state, const char* a, size_t alen, unsigned char a_has,
                           const char* b, size_t blen, unsigned char b_has) {
  return compare(state, a, alen - (a_has ? 8 : 0), b, blen - (b_has ? 8 : 0));
}

static void test_comparators(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  state_t state = {0, "test.reverse", 0, ""};
  ashlar_comparator_t* comparator = ashlar_comparator_create(&state, destroy, compare, name);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_comparator(options, comparator);
  ashlar_t* db = open_database(directory, options);
  put_text(db, "a", "1");
  put_text(db, "b", "2");
  flush_all(db);
  put_text(db, "c", "3");
  ashlar_iterator_t* iter = ashlar_create_iterator(db, NULL);
  ashlar_iter_seek_to_first(iter);
  CHECK(ashlar_iter_key(iter, &length)[0] == 'c');
  ashlar_iter_next(iter);
  CHECK(ashlar_iter_key(iter, &length)[0] == 'b');
  ashlar_iter_destroy(iter);
  ashlar_writebatch_wi_t* batch = ashlar_writebatch_wi_create_with_params(comparator, 0, 1, 0, 0);
  ashlar_writebatch_wi_put(batch, "x", 1, "in batch", 8);
  CHECK_TEXT(ashlar_writebatch_wi_get_from_batch(batch, options, "x", 1, &length, &error), length,
             "in batch");
  ashlar_writebatch_wi_destroy(batch);
  ashlar_sstfilewriter_t* writer =
      ashlar_sstfilewriter_create_with_comparator(NULL, options, comparator);
  ashlar_sstfilewriter_open(writer, beside(directory, ".sst"), &error);
  ashlar_sstfilewriter_put(writer, "b", 1, "", 0, &error);
  ashlar_sstfilewriter_put(writer, "a", 1, "", 0, &error);
  CHECK_OK(error);
  ashlar_sstfilewriter_put(writer, "c", 1, "", 0, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_sstfilewriter_destroy(writer);
  ashlar_close(db);
  ashlar_options_destroy(options);
  CHECK(state.destroyed == 0);
  ashlar_comparator_destroy(comparator);
  CHECK(state.destroyed == 1);
  // Its name is part of the database.
  options = ashlar_options_create();
  CHECK(ashlar_open(options, directory, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument: ");

  comparator =
      ashlar_comparator_with_ts_create(&state, destroy, compare, compare, compare_without, name, 8);
  ashlar_options_set_comparator(options, comparator);
  ashlar_options_set_create_if_missing(options, 1);
  db = ashlar_open(options, beside(directory, "-ts"), &error);
  CHECK_OK(error);
  ashlar_close(db);
  ashlar_options_destroy(options);
  ashlar_comparator_destroy(comparator);
  CHECK(state.destroyed == 2);
}

// Joins all operands behind the value, and counts them in the state.
static char* full_merge(void* state, const char* key, size_t key_length, const char* existing,
                        size_t existing_length, const char* const* operands, const size_t* lengths,
                        int count, unsigned char* success, size_t* new_length) {
  (void)key;
  ((state_t*)state)->calls += count;
  *success = key_length != 3;  // "bad" fails
  size_t size = existing == NULL ? 0 : existing_length;
  for (int i = 0; i < count; ++i) size += lengths[i];
  char* result = malloc(size + 1);
  size_t used = 0;
  if (existing != NULL) memcpy(result, existing, used = existing_length);
  for (int i = 0; i < count; ++i) {
    memcpy(result + used, operands[i], lengths[i]);
    used += lengths[i];
  }
  *new_length = used;
  return result;
}
static char* partial_merge(void* state, const char* key, size_t key_length,
                           const char* const* operands, const size_t* lengths, int count,
                           unsigned char* success, size_t* new_length) {
  return full_merge(state, key, key_length, NULL, 0, operands, lengths, count, success, new_length);
}
static void delete_value(void* state, const char* value, size_t length) {
  (void)length;
  ++((state_t*)state)->buffer[0];
  free((char*)value);
}

static void test_merge_operators(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  state_t state = {0, "test.join", 0, ""};
  ashlar_mergeoperator_t* operator_ =
      ashlar_mergeoperator_create(&state, destroy, full_merge, partial_merge, delete_value, name);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_merge_operator(options, operator_);
  ashlar_options_t* more = ashlar_options_create();
  ashlar_options_set_merge_operator(more, operator_);  // shared by both
  ashlar_options_destroy(more);
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  CHECK(state.destroyed == 0);
  put_text(db, "k", "a");
  ashlar_merge(db, NULL, "k", 1, "b", 1, &error);
  ashlar_merge(db, NULL, "k", 1, "c", 1, &error);
  ashlar_merge(db, NULL, "n", 1, "x", 1, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "k", "abc") && has_text(db, "n", "x"));
  CHECK(state.calls == 3 && state.buffer[0] == 2);
  ashlar_merge(db, NULL, "bad", 3, "x", 1, &error);
  CHECK_OK(error);
  CHECK(ashlar_get(db, NULL, "bad", 3, &length, &error) == NULL);
  CHECK_ERROR(error, "Corruption: ");
  ashlar_close(db);
  CHECK(state.destroyed == 1);
  // One that no options got.
  operator_ = ashlar_mergeoperator_create(&state, destroy, full_merge, NULL, NULL, name);
  ashlar_mergeoperator_destroy(operator_);
  ashlar_mergeoperator_destroy(NULL);
  CHECK(state.destroyed == 2);
}

static char* transform(void* state, const char* key, size_t length, size_t* prefix_length) {
  ++((state_t*)state)->calls;
  *prefix_length = length < 2 ? length : 2;
  return (char*)key;
}
static unsigned char in_domain(void* state, const char* key, size_t length) {
  (void)state;
  (void)key;
  return length >= 2;
}

static void test_prefixes(const char* directory) {
  size_t length = 0;
  state_t state = {0, "test.prefix", 0, ""};
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_prefix_extractor(
      options, ashlar_slicetransform_create(&state, destroy, transform, in_domain, name));
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  put_text(db, "aa1", "1");
  put_text(db, "ab1", "2");
  flush_all(db);
  ashlar_readoptions_t* read = ashlar_readoptions_create();
  ashlar_readoptions_set_prefix_same_as_start(read, 1);
  ashlar_iterator_t* iter = ashlar_create_iterator(db, read);
  ashlar_iter_seek(iter, "aa", 2);
  CHECK(ashlar_iter_valid(iter) && ashlar_iter_value(iter, &length)[0] == '1');
  ashlar_iter_next(iter);
  CHECK(!ashlar_iter_valid(iter));
  ashlar_iter_destroy(iter);
  ashlar_readoptions_destroy(read);
  CHECK(state.calls > 0);
  ashlar_close(db);
  CHECK(state.destroyed == 1);
  ashlar_slicetransform_destroy(
      ashlar_slicetransform_create(&state, destroy, transform, in_domain, name));
  CHECK(state.destroyed == 2);
  ashlar_slicetransform_destroy(ashlar_slicetransform_create_fixed_prefix(4));
  ashlar_slicetransform_destroy(ashlar_slicetransform_create_noop());
  ashlar_slicetransform_destroy(NULL);
}

// Drops the values "drop", and changes "change" to a text in the state.
static unsigned char filter(void* state, int level, const char* key, size_t key_length,
                            const char* value, size_t value_length, char** new_value,
                            size_t* new_length, unsigned char* changed) {
  state_t* my = state;
  (void)level;
  (void)key;
  (void)key_length;
  ++my->calls;
  if (value_length == 6 && memcmp(value, "change", 6) == 0) {
    strcpy(my->buffer, "changed");
    *new_value = my->buffer;
    *new_length = 7;
    *changed = 1;
  }
  return value_length == 4 && memcmp(value, "drop", 4) == 0;
}

static void check_filtered(ashlar_t* db) {
  put_text(db, "1", "drop");
  put_text(db, "2", "change");
  put_text(db, "3", "keep");
  flush_all(db);
  ashlar_compactoptions_t* compact = ashlar_compactoptions_create();
  ashlar_compactoptions_set_bottommost_level_compaction(compact, 2);  // force
  ashlar_compact_range_opt(db, compact, NULL, 0, NULL, 0);
  ashlar_compactoptions_destroy(compact);
  CHECK(has_text(db, "1", NULL) && has_text(db, "2", "changed") && has_text(db, "3", "keep"));
}

// The facts that a factory got: 1 manual, 2 full.
static int context_facts;

static ashlar_compactionfilter_t* create_filter(void* state,
                                                ashlar_compactionfiltercontext_t* context) {
  context_facts = ashlar_compactionfiltercontext_is_manual_compaction(context) +
                  2 * ashlar_compactionfiltercontext_is_full_compaction(context);
  return ashlar_compactionfilter_create(state, destroy, filter, name);
}

static void test_compaction_filters(const char* directory) {
  state_t state = {0, "test.filter", 0, ""};
  ashlar_compactionfilter_t* one = ashlar_compactionfilter_create(&state, destroy, filter, name);
  ashlar_compactionfilter_set_ignore_snapshots(one, 1);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_compaction_filter(options, one);
  ashlar_t* db = open_database(directory, options);
  check_filtered(db);
  CHECK(state.calls >= 3);
  ashlar_close(db);
  ashlar_options_destroy(options);
  CHECK(state.destroyed == 0);
  ashlar_compactionfilter_destroy(one);
  CHECK(state.destroyed == 1);

  state_t factory_state = {0, "test.factory", 0, ""};
  ashlar_compactionfilterfactory_t* factory =
      ashlar_compactionfilterfactory_create(&factory_state, destroy, create_filter, name);
  options = ashlar_options_create();
  ashlar_options_set_compaction_filter_factory(options, factory);
  db = open_database(beside(directory, "-factory"), options);
  ashlar_options_destroy(options);
  check_filtered(db);
  CHECK(context_facts == 3);
  CHECK(factory_state.destroyed >= 1);  // the filters
  int filters = factory_state.destroyed;
  ashlar_close(db);
  CHECK(factory_state.destroyed == filters + 1);
  ashlar_compactionfilterfactory_destroy(
      ashlar_compactionfilterfactory_create(&factory_state, destroy, create_filter, name));
  CHECK(factory_state.destroyed == filters + 2);
}

static void on_families(void* state, const uint32_t* ids, const uint64_t* log_numbers, size_t count,
                        const char* const* names, const size_t* name_sizes,
                        const uint32_t* ids_of_names, size_t name_count) {
  ++((state_t*)state)->calls;
  CHECK(count == 1 && ids[0] == 0 && log_numbers[0] > 0);
  CHECK(name_count == 1 && name_sizes[0] == 7 && memcmp(names[0], "default", 7) == 0 &&
        ids_of_names[0] == 0);
}
// Drops the batch with "drop"; puts another one in the place of "change".
static int on_record(void* state, unsigned long long log_number, const char* file, size_t file_size,
                     const ashlar_writebatch_t* batch, ashlar_writebatch_t* new_batch,
                     unsigned char* changed) {
  size_t size = 0;
  ++((state_t*)state)->calls;
  CHECK(log_number > 0 && file_size > 4 && memcmp(file + file_size - 4, ".log", 4) == 0);
  const char* bytes = ashlar_writebatch_data((ashlar_writebatch_t*)batch, &size);
  if (size > 4 && memcmp(bytes + size - 4, "drop", 4) == 0)
    return ashlar_wal_filter_ignore_current_record;
  if (size > 6 && memcmp(bytes + size - 6, "change", 6) == 0) {
    ashlar_writebatch_put(new_batch, "2", 1, "changed", 7);
    *changed = 1;
  }
  return ashlar_wal_filter_continue_processing;
}

static void test_log_filters(const char* directory) {
  state_t state = {0, "test.log", 0, ""};
  ashlar_t* db = open_database(directory, NULL);
  put_text(db, "1", "drop");
  put_text(db, "2", "change");
  put_text(db, "3", "keep");
  ashlar_close(db);
  ashlar_walfilter_t* logs = ashlar_walfilter_create(&state, destroy, on_families, on_record, name);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_wal_filter(options, logs);
  db = open_database(directory, options);
  CHECK(state.calls == 4);
  CHECK(has_text(db, "1", NULL) && has_text(db, "2", "changed") && has_text(db, "3", "keep"));
  ashlar_close(db);
  ashlar_options_clear_wal_filter(options);
  db = open_database(directory, options);
  CHECK(state.calls == 4);
  ashlar_close(db);
  ashlar_options_destroy(options);
  ashlar_walfilter_destroy(logs);
  CHECK(state.destroyed == 1);
}

void capi_test_callbacks(const char* directory) {
  test_comparators(beside(directory, "-comparator"));
  test_merge_operators(beside(directory, "-merge"));
  test_prefixes(beside(directory, "-prefix"));
  test_compaction_filters(beside(directory, "-filter"));
  test_log_filters(beside(directory, "-log"));
}
