/* SPDX-License-Identifier: Apache-2.0
 *
 * relay DIRECTORY TURN: the C program of relay_test.py, which says what a turn does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocksdb/c.h"

static void require(char* error, const char* what) {
  if (error == NULL) return;
  fprintf(stderr, "%s: %s\n", what, error);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int turn = atoi(argv[2]);
  char* error = NULL;
  char key[32], value[64];
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_uint64add_merge_operator(options);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  require(error, "open");
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_writeoptions_set_sync(write, 1);

  rocksdb_iterator_t* it = rocksdb_create_iterator(db, read);
  for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
    size_t key_length, value_length;
    const char* k = rocksdb_iter_key(it, &key_length);
    const char* v = rocksdb_iter_value(it, &value_length);
    if (key_length == 5 && memcmp(k, "count", 5) == 0) {
      unsigned long long count = 0;
      memcpy(&count, v, sizeof(count));
      printf("count=%llu\n", count);
    } else {
      printf("%.*s=%.*s\n", (int)key_length, k, (int)value_length, v);
    }
  }
  rocksdb_iter_get_error(it, &error);
  require(error, "iterator");
  rocksdb_iter_destroy(it);

  const unsigned long long one = 1;
  rocksdb_merge(db, write, "count", 5, (const char*)&one, sizeof(one), &error);
  require(error, "merge");
  rocksdb_writebatch_t* batch = rocksdb_writebatch_create();
  snprintf(key, sizeof(key), "key%03d", turn);
  snprintf(value, sizeof(value), "C in turn %d", turn);
  rocksdb_writebatch_put(batch, key, strlen(key), value, strlen(value));
  if (turn >= 4) {
    snprintf(key, sizeof(key), "key%03d", turn - 4);
    rocksdb_writebatch_delete(batch, key, strlen(key));
  }
  rocksdb_write(db, write, batch, &error);
  require(error, "write");
  rocksdb_writebatch_destroy(batch);
  if (turn % 2 == 0) {
    rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
    rocksdb_flush(db, flush, &error);
    require(error, "flush");
    rocksdb_flushoptions_destroy(flush);
  }
  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_options_destroy(options);
  rocksdb_close(db);
  return 0;
}
