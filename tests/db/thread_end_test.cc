// SPDX-License-Identifier: Apache-2.0
//
// Thread-local state of the engine: it lives until the last destructor of the thread and of the
// process, and it does not grow with the largest update. The address sanitizer reports a use after
// its end.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/support/test_db.h"

namespace ashlar {
namespace {

void OpenUncached(TestDb* test, CompressionType compression = kNoCompression) {
  test->options().compression = compression;
  BlockBasedTableOptions table;
  table.no_block_cache = true;  // each read decompresses
  test->options().table_factory.reset(NewBlockBasedTableFactory(table));
  test->Open();
}

// Uses the database when its thread ends, after the destructors of all thread_local objects that
// were created later.
struct LastUser {
  ~LastUser() {
    if (db == nullptr) return;
    put = db->Put(WriteOptions(), "last", std::string(300, 'l'));
    get = db->Get(ReadOptions(), TestDb::Key(500), &value);
  }
  DB* db = nullptr;
  static inline Status put, get;
  static inline std::string value;
};

TEST(ThreadEnd, ADatabaseCanBeUsedByTheLastDestructorOfAThread) {
  TestDb test;
  OpenUncached(&test, kZSTD);
  test.Fill(1000);
  test.Flush();
  std::thread([&] {
    thread_local LastUser last;
    last.db = test.db();
    test.Put("first", std::string(300, 'f'));
    EXPECT_EQ(test.Get(TestDb::Key(5)), std::string(100, 'v'));
  }).join();
  EXPECT_OK(LastUser::put);
  EXPECT_OK(LastUser::get);
  EXPECT_EQ(LastUser::value, std::string(100, 'v'));
}

// Uses its database and closes it when the process ends, after the destructors of all thread_local
// objects of the main thread and of all static objects that were created later, such as those of
// the engine.
struct LastOfAll {
  ~LastOfAll() {
    DB* const db = test->db();
    std::string value, value_of_table;
    Status status = db->Put(WriteOptions(), "last", std::string(300, 'l'));
    if (status.ok()) status = db->Get(ReadOptions(), "last", &value);
    if (status.ok()) status = db->Get(ReadOptions(), TestDb::Key(500), &value_of_table);
    if (status.ok()) status = db->Flush(FlushOptions());
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    if (status.ok()) status = it->status();
    std::fprintf(stderr, "at the end: %s, %zu and %zu bytes, %d keys\n", status.ToString().c_str(),
                 value.size(), value_of_table.size(), count);
  }
  std::unique_ptr<TestDb> test;  // created after this object, so that its statics end before it
};

void RunToTheEnd() {
  static LastOfAll last;
  last.test = std::make_unique<TestDb>();
  OpenUncached(last.test.get(), kZSTD);
  last.test->Fill(1000);
  last.test->Flush();
  EXPECT_EQ(last.test->Get(TestDb::Key(5)), std::string(100, 'v'));
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

// Runs in a process of its own, which starts again from main().
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

// The Put is refused, so only the thread's own batch could keep the memory.
TEST(ThreadEnd, AThreadDoesNotKeepTheMemoryOfItsLargestPut) {
  TestDb test;
  OpenUncached(&test);
  test.OpenReadOnly();
  constexpr size_t kBytes = size_t{64} << 20;
  const std::string large(kBytes, 'x');
  const size_t before = HeapBytesInUse();
  EXPECT_TRUE(test.db()->Put(WriteOptions(), "large", large).IsNotSupported());
  EXPECT_LT(HeapBytesInUse(), before + kBytes / 2);
}
#endif

}  // namespace
}  // namespace ashlar
