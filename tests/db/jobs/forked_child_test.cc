// SPDX-License-Identifier: Apache-2.0
//
// A child after fork() uses and closes the database that its parent has open, whose background
// threads it does not have. Files are in memory: each process has its own.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/thread_pool.h"
#include "tests/support/forked_child.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// All background work is done by one thread.
class OneThreadEnv final : public EnvWrapper {
 public:
  OneThreadEnv() : EnvWrapper(std::unique_ptr<Env>(NewMemEnv(Env::Default()))) {}

  void Schedule(void (*function)(void*), void* arg, Priority, void* tag,
                void (*unschedule)(void*)) override {
    pool_.Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority) override { return pool_.UnSchedule(tag); }
  // Returns when it has done all.
  void AwaitRest() {
    while (pool_.ReserveThreads(1) == 0) std::this_thread::yield();
    pool_.ReleaseThreads(1);
  }

 private:
  ThreadPoolImpl pool_{"test", 1};
};

TEST(ForkedChild, FlushesAndClosesItsParentsDatabase) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  OneThreadEnv env;
  Options options;
  options.create_if_missing = true;
  options.env = &env;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db->Flush(FlushOptions()));
  env.AwaitRest();
  EXPECT_TRUE(PassesInChild([&db] {
    std::string value;
    return db->Put(WriteOptions(), "b", "2").ok() && db->Flush(FlushOptions()).ok() &&
           db->Get(ReadOptions(), "b", &value).ok() && db->Close().ok();
  }));
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "b", &value).IsNotFound());
  EXPECT_OK(db->Get(ReadOptions(), "a", &value));
  ASSERT_OK(db->Close());
}

}  // namespace
}  // namespace ashlar
