// SPDX-License-Identifier: Apache-2.0
//
// What the engine keeps for each thread: it is there for the last destructor of the thread and of
// the process, and it does not grow with the largest update. The use after the end shows under the
// address sanitizer, at the latest.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

std::unique_ptr<DB> OpenDb(Env* env, CompressionType compression = kNoCompression) {
  Options options;
  options.env = env;
  options.create_if_missing = true;
  options.compression = compression;
  BlockBasedTableOptions table;
  table.no_block_cache = true;  // each read decompresses
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  std::unique_ptr<DB> db;
  EXPECT_OK(DB::Open(options, "/db", &db));
  return db;
}

// Uses the database when its thread ends: after all thread_local objects that were made later.
struct LastUser {
  ~LastUser() {
    if (db == nullptr) return;
    put = db->Put(WriteOptions(), "last", std::string(300, 'l'));
    get = db->Get(ReadOptions(), "k500", &value);
  }
  DB* db = nullptr;
  static inline Status put, get;
  static inline std::string value;
};

TEST(ThreadEnd, ADatabaseCanBeUsedByTheLastDestructorOfAThread) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  std::unique_ptr<DB> db = OpenDb(env.get(), kZSTD);
  for (int i = 0; i < 1000; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "k" + std::to_string(i), std::string(100, 'x')));
  }
  ASSERT_OK(db->Flush(FlushOptions()));
  std::thread([&] {
    thread_local LastUser last;
    last.db = db.get();
    EXPECT_OK(db->Put(WriteOptions(), "first", std::string(300, 'f')));
    std::string value;
    EXPECT_OK(db->Get(ReadOptions(), "k5", &value));
  }).join();
  EXPECT_OK(LastUser::put);
  EXPECT_OK(LastUser::get);
  EXPECT_EQ(LastUser::value, std::string(100, 'x'));
}

// Uses its database, and closes it, when the process ends: after all thread_local objects of the
// main thread, and after every static object that was made later, as those of the engine are.
struct LastOfAll {
  ~LastOfAll() {
    std::string value, value_of_table;
    Status status = db->Put(WriteOptions(), "last", std::string(300, 'l'));
    if (status.ok()) status = db->Get(ReadOptions(), "last", &value);
    if (status.ok()) status = db->Get(ReadOptions(), "k500", &value_of_table);
    if (status.ok()) status = db->Flush(FlushOptions());
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    if (status.ok()) status = it->status();
    std::fprintf(stderr, "at the end: %s, %zu and %zu bytes, %d keys\n", status.ToString().c_str(),
                 value.size(), value_of_table.size(), count);
  }
  std::unique_ptr<Env> env;
  std::unique_ptr<DB> db;
};

void RunToTheEnd() {
  static LastOfAll last;
  last.env.reset(NewMemEnv(Env::Default()));
  last.db = OpenDb(last.env.get(), kZSTD);
  for (int i = 0; i < 1000; i++) {
    EXPECT_OK(last.db->Put(WriteOptions(), "k" + std::to_string(i), std::string(100, 'x')));
  }
  EXPECT_OK(last.db->Flush(FlushOptions()));
  std::string value;
  EXPECT_OK(last.db->Get(ReadOptions(), "k5", &value));
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

// In a process of its own, which begins anew.
TEST(ThreadEnd, ADatabaseCanBeUsedByTheDestructorOfAStaticObject) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunToTheEnd(), testing::ExitedWithCode(0),
              "at the end: OK, 300 and 100 bytes, 1001 keys");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
size_t HeapBytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Refused, so nothing but the thread's own batch can keep it.
TEST(ThreadEnd, AThreadDoesNotKeepTheMemoryOfItsLargestPut) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  OpenDb(env.get()).reset();
  Options options;
  options.env = env.get();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::OpenForReadOnly(options, "/db", &db));
  constexpr size_t kBytes = size_t{64} << 20;
  const std::string large(kBytes, 'x');
  const size_t before = HeapBytesInUse();
  EXPECT_TRUE(db->Put(WriteOptions(), "large", large).IsNotSupported());
  EXPECT_LT(HeapBytesInUse(), before + kBytes / 2);
}
#endif

}  // namespace
}  // namespace ashlar
