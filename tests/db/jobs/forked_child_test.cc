// SPDX-License-Identifier: Apache-2.0
//
// A child after fork() uses and closes the database that its parent has open, although it does not
// have the background threads. Files are in memory, so each process has its own.
#include <thread>

#include "env/thread_pool.h"
#include "tests/support/forked_child.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// One thread does all background work.
class OneThreadEnv final : public EnvWrapper {
 public:
  OneThreadEnv() : EnvWrapper(std::unique_ptr<Env>(NewMemEnv(Env::Default()))) {}

  void Schedule(void (*function)(void*), void* arg, Priority, void* tag,
                void (*unschedule)(void*)) override {
    pool_.Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority) override { return pool_.UnSchedule(tag); }
  // Returns when the thread has no more work.
  void AwaitRest() {
    while (pool_.ReserveThreads(1) == 0) std::this_thread::yield();
    pool_.ReleaseThreads(1);
  }

 private:
  ThreadPoolImpl pool_{"test", 1};
};

TEST(ForkedChild, FlushesAndClosesItsParentsDatabase) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  auto owned_env = std::make_unique<OneThreadEnv>();
  OneThreadEnv* const env = owned_env.get();
  TestDb test;
  test.UseEnv(std::move(owned_env));
  test.Open();
  DB* const db = test.db();
  test.Put("a", "1");
  test.Flush();
  env->AwaitRest();
  EXPECT_TRUE(PassesInChild([db] {
    std::string value;
    return db->Put(WriteOptions(), "b", "2").ok() && db->Flush(FlushOptions()).ok() &&
           db->Get(ReadOptions(), "b", &value).ok() && db->Close().ok();
  }));
  EXPECT_EQ(test.Get("b"), "(none)");
  EXPECT_EQ(test.Get("a"), "1");
  test.Close();
}

}  // namespace
}  // namespace ashlar
