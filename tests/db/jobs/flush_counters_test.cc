// SPDX-License-Identifier: Apache-2.0
//
// Who waits for a flush finds it counted.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <tuple>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Keeps the job that has flushed from going on.
class Holder final : public EventListener {
 public:
  void OnStallConditionsChanged(const WriteStallInfo&) override {
    // Whoever waits for the flush may be the one who tells of the stall.
    std::ignore = may_go_on.try_acquire_for(std::chrono::seconds(2));
  }
  std::counting_semaphore<> may_go_on{0};
};

TEST(FlushCounters, AreThereWhenTheCallReturns) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const auto holder = std::make_shared<Holder>();
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 1;
  options.level0_slowdown_writes_trigger = 1;  // by the flush
  options.listeners = {holder};
  options.statistics = CreateDBStatistics();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", std::string(100, 'v')));
  ASSERT_OK(db->Flush(FlushOptions()));
  const Statistics& statistics = *options.statistics;
  EXPECT_GT(statistics.getTickerCount(FLUSH_WRITE_BYTES), 0u);
  EXPECT_GT(statistics.getTickerCount(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH), 100u);
  HistogramData times;
  statistics.histogramData(FLUSH_TIME, &times);
  EXPECT_EQ(times.count, 1u);
  holder->may_go_on.release(8);
  ASSERT_OK(db->Close());
}

}  // namespace
}  // namespace ashlar
