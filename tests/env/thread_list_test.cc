// SPDX-License-Identifier: Apache-2.0
//
// The list of threads: which threads are in it, and which operations it shows.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/iostats_context.h"
#include "env/thread_list.h"
#include "env/thread_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

OperationInfo AFlush() {
  OperationInfo facts{.type = ThreadStatus::OP_FLUSH,
                      .stage = ThreadStatus::STAGE_FLUSH_RUN,
                      .db_name = "/db",
                      .family_name = "family"};
  facts.properties[ThreadStatus::FLUSH_JOB_ID] = 7;
  return facts;
}

TEST(ThreadList, AThreadIsInItAsLongAsItLives) {
  ThreadStatusUpdater list;
  {
    const TrackedThread thread(&list, ThreadStatus::BOTTOM_PRIORITY);
    const std::vector<ThreadStatus> threads = list.List();
    ASSERT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads[0].thread_id, Env::Default()->GetThreadID());
    EXPECT_EQ(threads[0].thread_type, ThreadStatus::BOTTOM_PRIORITY);
    EXPECT_EQ(threads[0].operation_type, ThreadStatus::OP_UNKNOWN);
    EXPECT_EQ(threads[0].db_name, "");
    EXPECT_EQ(threads[0].op_elapsed_micros, 0u);
  }
  EXPECT_TRUE(list.List().empty());
}

TEST(ThreadList, AnOperationIsTheThreadsUntilItEnds) {
  ThreadStatusUpdater list;
  const TrackedThread thread(&list, ThreadStatus::HIGH_PRIORITY);
  {
    TrackedOperation operation(&list, AFlush());
    operation.SetStage(ThreadStatus::STAGE_FLUSH_WRITE_L0);
    operation.Add(ThreadStatus::FLUSH_BYTES_WRITTEN, 30);
    operation.Add(ThreadStatus::FLUSH_BYTES_WRITTEN, 12);
    const std::vector<ThreadStatus> threads = list.List();
    ASSERT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads[0].thread_type, ThreadStatus::HIGH_PRIORITY);
    EXPECT_EQ(threads[0].db_name, "/db");
    EXPECT_EQ(threads[0].cf_name, "family");
    EXPECT_EQ(threads[0].operation_stage, ThreadStatus::STAGE_FLUSH_WRITE_L0);
    const std::map<std::string, uint64_t> expected{
        {"JobID", 7}, {"BytesMemtables", 0}, {"BytesWritten", 42}};
    EXPECT_EQ(ThreadStatus::InterpretOperationProperties(threads[0].operation_type,
                                                         threads[0].op_properties),
              expected);
  }
  ASSERT_EQ(list.List().size(), 1u);
  EXPECT_EQ(list.List()[0].operation_type, ThreadStatus::OP_UNKNOWN);
}

TEST(ThreadList, AnotherThreadIsInItWhileItDoesSomething) {
  ThreadStatusUpdater list;
  {
    const TrackedOperation operation(&list, AFlush());
    ASSERT_EQ(list.List().size(), 1u);
    EXPECT_EQ(list.List()[0].thread_type, ThreadStatus::USER);
    EXPECT_EQ(list.List()[0].operation_type, ThreadStatus::OP_FLUSH);
  }
  EXPECT_TRUE(list.List().empty());
}

TEST(ThreadList, AnOperationWithinAnotherGivesItBack) {
  ThreadStatusUpdater list;
  const TrackedThread thread(&list, ThreadStatus::LOW_PRIORITY);
  OperationInfo compaction = AFlush();
  compaction.type = ThreadStatus::OP_COMPACTION;
  const TrackedOperation outer(&list, compaction);
  {
    const TrackedOperation inner(&list, AFlush());
    EXPECT_EQ(list.List()[0].operation_type, ThreadStatus::OP_FLUSH);
  }
  EXPECT_EQ(list.List()[0].operation_type, ThreadStatus::OP_COMPACTION);
}

TEST(ThreadList, BytesAreThoseOfTheThreadSinceTheyWereToldLast) {
  ThreadStatusUpdater list;
  TrackedOperation operation(&list, AFlush());
  IOStatsContext* const io = get_iostats_context();
  io->bytes_written = 100;
  TrackedBytes bytes(&operation, TrackedBytes::kNone, ThreadStatus::FLUSH_BYTES_WRITTEN);
  io->bytes_written = 150;
  bytes.Tell();
  bytes.Tell();
  EXPECT_EQ(list.List()[0].op_properties[ThreadStatus::FLUSH_BYTES_WRITTEN], 50u);
  io->Reset();  // by a program's code
  bytes.Tell();
  io->bytes_written = 5;
  bytes.Tell();
  EXPECT_EQ(list.List()[0].op_properties[ThreadStatus::FLUSH_BYTES_WRITTEN], 55u);
}

TEST(ThreadList, HasTheThreadsOfAPoolUntilTheyEnd) {
  ThreadStatusUpdater list;
  ThreadPoolImpl pool("test", 1, {&list, ThreadStatus::LOW_PRIORITY});
  std::vector<ThreadStatus> seen;
  pool.SubmitJob([&] { seen = list.List(); });
  pool.WaitForJobsAndJoinAllThreads();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].thread_type, ThreadStatus::LOW_PRIORITY);
  EXPECT_TRUE(list.List().empty());
}

TEST(ThreadList, TimesAreShownInTheUnitThatFits) {
  EXPECT_EQ(ThreadStatus::MicrosToString(0), "");
  EXPECT_EQ(ThreadStatus::MicrosToString(1500), "1500 us");
  EXPECT_EQ(ThreadStatus::MicrosToString(12'345), "12.345 ms");
  EXPECT_EQ(ThreadStatus::MicrosToString(12'345'678), "12.346 sec");
  EXPECT_EQ(ThreadStatus::MicrosToString(83'456'789), "01:23.457 M:S");
  EXPECT_EQ(ThreadStatus::MicrosToString(2 * 3'600'000'000ull + 83'456'789), "02:01:23.457 H:M:S");
}

TEST(ThreadList, OfAnEnvironmentWithoutThreadsIsNotSupported) {
  struct FilesOnly : EnvWrapper {
    using EnvWrapper::EnvWrapper;
    ThreadStatusUpdater* GetThreadStatusUpdater() const override { return nullptr; }
    Status GetThreadList(std::vector<ThreadStatus>* list) override {
      return Env::GetThreadList(list);
    }
  } env(Env::Default());
  std::vector<ThreadStatus> threads;
  EXPECT_TRUE(env.GetThreadList(&threads).IsNotSupported());
  EXPECT_OK(Env::Default()->GetThreadList(&threads));
}

}  // namespace
}  // namespace ashlar
