// SPDX-License-Identifier: Apache-2.0
//
// The rate limiter with a clock that only its own waits move, so that the amounts per time are
// exact.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "ashlar/statistics.h"
#include "env/rate_limiter.h"
#include "tests/env/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kStart = 1000000;

class RateLimiterTest : public testing::Test {
 protected:
  RateLimiterTest() : clock_(std::make_shared<ManualClock>(kStart)) {
    options_.bytes_per_second = 1000;
    options_.refill_period_micros = 100000;  // 100 bytes each
    options_.clock = clock_;
  }
  uint64_t Elapsed() const { return clock_->NowMicros() - kStart; }

  const std::shared_ptr<ManualClock> clock_;
  GenericRateLimiterOptions options_;
};

TEST_F(RateLimiterTest, ARefillIsFreeAndTheNextBytesWait) {
  GenericRateLimiter limiter(options_);
  EXPECT_EQ(limiter.GetSingleBurstBytes(), 100);
  limiter.Request(100, Env::IO_HIGH, nullptr);
  EXPECT_EQ(Elapsed(), 0u);
  limiter.Request(1, Env::IO_HIGH, nullptr);
  EXPECT_EQ(Elapsed(), 100000u);
}

TEST_F(RateLimiterTest, ManyRequestsTakeTheTimeTheRateSays) {
  GenericRateLimiter limiter(options_);
  for (int i = 0; i < 100; ++i) limiter.Request(50, Env::IO_LOW, nullptr);
  EXPECT_EQ(Elapsed(), 4900000u);
  EXPECT_EQ(limiter.GetTotalBytesThrough(Env::IO_LOW), 5000);
  EXPECT_EQ(limiter.GetTotalRequests(Env::IO_TOTAL), 100);
  EXPECT_EQ(limiter.GetTotalBytesThrough(Env::IO_HIGH), 0);
}

TEST_F(RateLimiterTest, ALargeRequestIsFilledOverSeveralPeriods) {
  GenericRateLimiter limiter(options_);
  limiter.Request(1000, Env::IO_USER, nullptr);
  EXPECT_EQ(Elapsed(), 900000u);
}

TEST_F(RateLimiterTest, AnIdleTimeAllowsNoLargerBurst) {
  GenericRateLimiter limiter(options_);
  limiter.Request(100, Env::IO_LOW, nullptr);
  clock_->Advance(10000000);
  const uint64_t before = clock_->NowMicros();
  limiter.Request(100, Env::IO_LOW, nullptr);
  limiter.Request(100, Env::IO_LOW, nullptr);
  EXPECT_EQ(clock_->NowMicros() - before, 100000u);
}

// A clock whose time of day is set back.
class SetBackClock final : public ManualClock {
 public:
  using ManualClock::ManualClock;
  uint64_t NowMicros() override { return ManualClock::NowMicros() - set_back_micros; }
  uint64_t NowNanos() override { return ManualClock::NowMicros() * 1000; }
  bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) override {
    return ManualClock::TimedWait(cv, deadline + std::chrono::microseconds(set_back_micros));
  }
  uint64_t set_back_micros = 0;
};

TEST_F(RateLimiterTest, SettingTheTimeOfDayBackHoldsNobodyUp) {
  constexpr uint64_t kHour = uint64_t{3600} * 1000000;
  const auto clock = std::make_shared<SetBackClock>(kStart + 2 * kHour);
  options_.clock = clock;
  GenericRateLimiter limiter(options_);
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  limiter.Request(100, Env::IO_LOW, nullptr);
  clock->set_back_micros = kHour;
  limiter.Request(1, Env::IO_LOW, statistics.get());
  EXPECT_EQ(clock->NowNanos() / 1000, kStart + 2 * kHour + 100000);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE), 100000u);
}

TEST_F(RateLimiterTest, TheRateCanChange) {
  GenericRateLimiter limiter(options_);
  limiter.SetBytesPerSecond(2000);
  EXPECT_EQ(limiter.GetBytesPerSecond(), 2000);
  EXPECT_EQ(limiter.GetSingleBurstBytes(), 200);
  ASSERT_OK(limiter.SetSingleBurstBytes(77));
  EXPECT_EQ(limiter.GetSingleBurstBytes(), 77);
  EXPECT_TRUE(limiter.SetSingleBurstBytes(-1).IsInvalidArgument());
}

TEST_F(RateLimiterTest, TokensAreCutToABurstAndAligned) {
  GenericRateLimiter limiter(options_);
  const auto kWrite = RateLimiter::OpType::kWrite;
  EXPECT_EQ(limiter.RequestToken(1000, 0, Env::IO_LOW, nullptr, kWrite), 100u);
  EXPECT_EQ(limiter.RequestToken(90, 32, Env::IO_LOW, nullptr, kWrite), 64u);
  EXPECT_EQ(limiter.RequestToken(10, 32, Env::IO_LOW, nullptr, kWrite), 32u);
  EXPECT_EQ(limiter.RequestToken(1000, 0, Env::IO_TOTAL, nullptr, kWrite), 1000u);
  EXPECT_EQ(limiter.RequestToken(1000, 0, Env::IO_LOW, nullptr, RateLimiter::OpType::kRead), 1000u)
      << "reads are free in the default mode";
}

TEST_F(RateLimiterTest, TheModeSaysWhatIsLimited) {
  options_.mode = RateLimiter::Mode::kAllIo;
  GenericRateLimiter all(options_);
  EXPECT_TRUE(all.IsRateLimited(RateLimiter::OpType::kRead));
  options_.mode = RateLimiter::Mode::kReadsOnly;
  GenericRateLimiter reads(options_);
  EXPECT_FALSE(reads.IsRateLimited(RateLimiter::OpType::kWrite));
}

TEST_F(RateLimiterTest, ThreadsOfAllPrioritiesShareTheRate) {
  GenericRateLimiter limiter(options_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&limiter, i] {
      for (int k = 0; k < 20; ++k) {
        limiter.Request(30, static_cast<Env::IOPriority>(i % Env::IO_TOTAL), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limiter.GetTotalBytesThrough(Env::IO_TOTAL), 4800);
  EXPECT_GE(Elapsed(), 4600000u);  // 48 refills, the first free; a part of one may be left over
  int64_t pending = -1;
  ASSERT_OK(limiter.GetTotalPendingRequests(&pending, Env::IO_TOTAL));
  EXPECT_EQ(pending, 0);
}

TEST_F(RateLimiterTest, TuningFollowsDemandBetweenItsBounds) {
  options_.is_auto_tuned = true;
  GenericRateLimiter limiter(options_);
  EXPECT_EQ(limiter.GetBytesPerSecond(), 500);
  for (int i = 0; i < 40; ++i) limiter.Request(5000, Env::IO_LOW, nullptr);
  EXPECT_GT(limiter.GetBytesPerSecond(), 900);
  EXPECT_LE(limiter.GetBytesPerSecond(), 1000);
  for (int i = 0; i < 500; ++i) {
    clock_->Advance(1000000);
    limiter.Request(1, Env::IO_LOW, nullptr);
  }
  EXPECT_EQ(limiter.GetBytesPerSecond(), 50);
}

TEST(RateLimiter, TheDestructorLetsWaitersGo) {
  GenericRateLimiterOptions options;
  options.bytes_per_second = 1;  // the second byte would wait for hours
  options.refill_period_micros = int64_t{3600} * 1000000;
  auto limiter = std::make_unique<GenericRateLimiter>(options);
  limiter->Request(3600, Env::IO_LOW, nullptr);
  std::thread waiter([&] { limiter->Request(3600, Env::IO_LOW, nullptr); });
  int64_t pending = 0;
  while (pending == 0) {
    ASSERT_OK(limiter->GetTotalPendingRequests(&pending, Env::IO_LOW));
    std::this_thread::yield();
  }
  GenericRateLimiter* raw = limiter.release();
  delete raw;
  waiter.join();
}

TEST(RateLimiter, TheUsualOneIsMadeByItsFactory) {
  const std::unique_ptr<RateLimiter> limiter(NewGenericRateLimiter(10 << 20));
  EXPECT_EQ(limiter->GetBytesPerSecond(), 10 << 20);
  EXPECT_EQ(limiter->GetSingleBurstBytes(), 1 << 20);
}

}  // namespace
}  // namespace ashlar
