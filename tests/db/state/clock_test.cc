// SPDX-License-Identifier: Apache-2.0
//
// The time of day may be set while a database is open: nothing that waits waits longer for it.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_env.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Three level-0 files, and the compaction that the third one asks for never runs: every write is
// slowed down.
TEST(ClockTest, ASlowedWriterDoesNotWaitForTheTimeItWasBefore) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env =
      NewSimEnv(std::make_shared<MemoryFileSystem>(executor.clock()), &executor);
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.level0_file_num_compaction_trigger = 3;
  options.level0_slowdown_writes_trigger = 3;
  options.level0_stop_writes_trigger = 100;
  options.delayed_write_rate = 100000;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db->Put(WriteOptions(), "k" + std::to_string(i), "v"));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->PauseBackgroundWork());
  const std::string value(20000, 'x');
  for (int i = 0; i < 3; ++i) ASSERT_OK(db->Put(WriteOptions(), "slow", value));
  constexpr int64_t kYearMicros = int64_t{365} * 86400 * 1000000;
  executor.clock()->Jump(-kYearMicros);
  const uint64_t start = env->NowNanos();
  for (int i = 0; i < 3; ++i) ASSERT_OK(db->Put(WriteOptions(), "slow", value));
  const uint64_t seconds = (env->NowNanos() - start) / 1000000000;
  EXPECT_LT(seconds, 100u);
  EXPECT_GT(env->NowNanos() - start, 100000000u) << "the writes were not slowed down at all";
  ASSERT_OK(db->ContinueBackgroundWork());
  ASSERT_OK(db->Close());
}

}  // namespace
}  // namespace ashlar
