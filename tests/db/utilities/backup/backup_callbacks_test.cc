// SPDX-License-Identifier: Apache-2.0
//
// What a program may do while backups are made: watch, stop, throw, slow down, ask.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>

#include "ashlar/rate_limiter.h"
#include "env/rate_limiter.h"
#include "tests/db/utilities/backup/backup_fixture.h"
#include "tests/env/manual_clock.h"

namespace ashlar {
namespace {

class CallbacksTest : public BackupTest {
 protected:
  void Fill(int tables) {
    for (int i = 0; i < tables; i++) {
      Put(100 * i, 100 * i + 100, std::string(100, 'x'));
      Flush();
    }
  }
  IOStatus TryCreate(const CreateBackupOptions& options) {
    return engine_->CreateNewBackup(options, db_.get());
  }
  void ExpectNothingMade() {
    EXPECT_TRUE(Ids().empty());
    EXPECT_TRUE(List("/backups/meta").empty());
    EXPECT_TRUE(List("/backups/private").empty());
    EXPECT_TRUE(List("/backups/shared_checksum").empty());
  }
};

TEST_F(CallbacksTest, ProgressIsToldEachSoManyBytes) {
  options_.disable_auto_compactions = true;
  Open();
  Fill(4);
  for (const uint64_t interval : {uint64_t{1}, uint64_t{2000}, uint64_t{1} << 40}) {
    backup_options_.callback_trigger_interval_size = interval;
    backup_options_.io_buffer_size = 1000;
    backup_options_.destroy_old_data = true;
    OpenEngine();
    int calls = 0;
    CreateBackupOptions options;
    options.progress_callback = [&calls] { ++calls; };
    ASSERT_OK(TryCreate(options));
    BackupInfo info;
    ASSERT_OK(engine_->GetLatestBackupInfo(&info));
    if (interval == 1) {
      EXPECT_GE(calls, static_cast<int>(info.size / 1000));
    } else {
      EXPECT_LE(calls, static_cast<int>(info.size / interval));
      EXPECT_GE(calls, static_cast<int>(info.size / interval / 2));
    }
  }
}

TEST_F(CallbacksTest, ProgressIsToldByOneThreadAtATime) {
  backup_options_.max_background_operations = 4;
  backup_options_.callback_trigger_interval_size = 1;
  backup_options_.io_buffer_size = 500;
  options_.disable_auto_compactions = true;
  Open();
  OpenEngine();
  Fill(8);
  std::atomic<int> inside{0};
  int calls = 0;  // not atomic: the calls are ordered
  CreateBackupOptions options;
  options.progress_callback = [&] {
    EXPECT_EQ(++inside, 1);
    ++calls;
    std::this_thread::yield();
    --inside;
  };
  ASSERT_OK(TryCreate(options));
  EXPECT_GT(calls, 8);
  EXPECT_OK(engine_->VerifyBackup(1, true));
}

TEST_F(CallbacksTest, ACallbackMayAskTheEngine) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  OpenEngine();
  Create();
  size_t seen = 0;
  CreateBackupOptions options;
  options.progress_callback = [&] {
    seen = Ids().size();
    EXPECT_OK(engine_->VerifyBackup(1, true));
  };
  ASSERT_OK(TryCreate(options));
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(Ids().size(), 2u);
}

TEST_F(CallbacksTest, WhatTheyThrowIsAborted) {
  backup_options_.callback_trigger_interval_size = 1;
  backup_options_.schema_version = 2;
  Open();
  OpenEngine();
  Fill(1);
  CreateBackupOptions throws;
  throws.progress_callback = [] { throw std::runtime_error("enough"); };
  IOStatus status = TryCreate(throws);
  EXPECT_TRUE(status.IsAborted());
  EXPECT_NE(status.ToString().find("enough"), std::string::npos) << status.ToString();
  ExpectNothingMade();
  throws.progress_callback = nullptr;
  throws.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) { throw 5; };
  EXPECT_TRUE(TryCreate(throws).IsAborted());
  ExpectNothingMade();
  EXPECT_EQ(Create(), 1u);
}

// Calls of the engine within a callback, while its other threads copy.
class NestedCallsTest : public CallbacksTest {
 protected:
  // The second of two backups, with this callback.
  void ExpectToEndWith(const std::function<void()>& callback) {
    backup_options_.max_background_operations = 4;
    backup_options_.callback_trigger_interval_size = 1;
    backup_options_.io_buffer_size = 500;
    options_.disable_auto_compactions = true;
    Open();
    OpenEngine();
    Create();
    Fill(8);
    CreateBackupOptions options;
    options.progress_callback = callback;
    std::promise<IOStatus> result;
    std::future<IOStatus> status = result.get_future();
    std::thread thread([&] { result.set_value(TryCreate(options)); });
    // Threads that wait for each other cannot be stopped, so the program ends.
    if (status.wait_for(std::chrono::minutes(2)) != std::future_status::ready) {
      std::fprintf(stderr, "the backup does not end\n");
      std::abort();
    }
    thread.join();
    EXPECT_OK(status.get());
    EXPECT_EQ(Ids().size(), 2u);
    EXPECT_OK(engine_->VerifyBackup(2, true));
  }
};

TEST_F(NestedCallsTest, ACallbackMayVerifyWhileOthersCopy) {
  int calls = 0;
  ExpectToEndWith([&] {
    ++calls;
    EXPECT_OK(engine_->VerifyBackup(1, true));
  });
  EXPECT_GT(calls, 8);
}

TEST_F(NestedCallsTest, ACallbackMayRestoreWhileOthersCopy) {
  int calls = 0;
  ExpectToEndWith([&] {
    if (++calls > 10) return;
    EXPECT_OK(engine_->RestoreDBFromBackup(1, "/restored", "/restored"));
  });
  EXPECT_GT(calls, 8);
  EXPECT_EQ(RowsOf("/restored"), Rows());
}

// At each of the points where it can be seen.
TEST_F(CallbacksTest, StopEndsABackupAndLeavesNothing) {
  backup_options_.callback_trigger_interval_size = 1;
  backup_options_.io_buffer_size = 2000;
  options_.disable_auto_compactions = true;
  Open();
  Fill(3);
  int points = 0;
  for (int stop_at = 1; points == 0 || stop_at <= points; stop_at++) {
    OpenEngine();
    int calls = 0;
    CreateBackupOptions options;
    options.progress_callback = [&] {
      if (++calls == stop_at) engine_->StopBackup();
    };
    EXPECT_TRUE(TryCreate(options).IsIncomplete()) << stop_at;
    ExpectNothingMade();
    EXPECT_TRUE(TryCreate(CreateBackupOptions()).IsIncomplete()) << "it stays stopped";
    if (points > 0) continue;
    backup_options_.backup_dir = "/counted";
    OpenEngine();
    options.progress_callback = [&] { ++points; };
    ASSERT_OK(TryCreate(options));
    backup_options_.backup_dir = kBackupDir;
  }
  EXPECT_GT(points, 5);
  OpenEngine();
  EXPECT_EQ(Create(), 1u);
}

TEST_F(CallbacksTest, StopComesFromAnotherThread) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  OpenEngine();
  Fill(1);
  std::thread stopper;
  CreateBackupOptions options;
  options.progress_callback = [&] {
    if (stopper.joinable()) return;
    stopper = std::thread([this] { engine_->StopBackup(); });
    stopper.join();
    stopper = std::thread([] {});
  };
  EXPECT_TRUE(TryCreate(options).IsIncomplete());
  stopper.join();
  ExpectNothingMade();
}

// The clock goes on only when somebody waits for tokens.
class LimitedTest : public CallbacksTest {
 protected:
  std::shared_ptr<RateLimiter> NewLimiter(RateLimiter::Mode mode) {
    GenericRateLimiterOptions options;
    options.bytes_per_second = kBytesPerSecond;
    options.mode = mode;
    options.clock = clock_;
    return std::make_shared<GenericRateLimiter>(options);
  }
  void ExpectAbout(uint64_t bytes, uint64_t begin_micros) {
    const double seconds = static_cast<double>(clock_->NowMicros() - begin_micros) / 1e6;
    const double rate = static_cast<double>(bytes) / seconds;
    EXPECT_GT(rate, kBytesPerSecond * 0.9);
    EXPECT_LT(rate, kBytesPerSecond * 1.1);
  }

  static constexpr int64_t kBytesPerSecond = 20000;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1000000);
};

TEST_F(LimitedTest, WritesAreLimited) {
  backup_options_.backup_rate_limiter = NewLimiter(RateLimiter::Mode::kWritesOnly);
  Open();
  OpenEngine();
  Fill(10);
  const uint64_t begin = clock_->NowMicros();
  Create();
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  ExpectAbout(info.size, begin);
}

TEST_F(LimitedTest, ReadsToo) {
  backup_options_.backup_rate_limiter = NewLimiter(RateLimiter::Mode::kAllIo);
  Open();
  OpenEngine();
  Fill(10);
  uint64_t begin = clock_->NowMicros();
  Create();
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  ExpectAbout(2 * info.size, begin);
  begin = clock_->NowMicros();
  ASSERT_OK(engine_->VerifyBackup(1, true));
  ExpectAbout(info.size, begin);
}

TEST_F(LimitedTest, RestoresHaveALimitOfTheirOwn) {
  backup_options_.restore_rate_limiter = NewLimiter(RateLimiter::Mode::kWritesOnly);
  Open();
  OpenEngine();
  Fill(10);
  uint64_t begin = clock_->NowMicros();
  Create();
  EXPECT_EQ(clock_->NowMicros(), begin);
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  begin = clock_->NowMicros();
  ASSERT_OK(engine_->RestoreDBFromBackup(1, "/x", "/x"));
  ExpectAbout(info.size, begin);
}

// With the numbers alone this would take hours.
TEST_F(LimitedTest, NumbersAreIgnoredBesideLimiters) {
  backup_options_.backup_rate_limit = backup_options_.restore_rate_limit = 1;
  backup_options_.backup_rate_limiter = NewLimiter(RateLimiter::Mode::kWritesOnly);
  backup_options_.restore_rate_limiter = NewLimiter(RateLimiter::Mode::kWritesOnly);
  Open();
  OpenEngine();
  Fill(10);
  uint64_t begin = clock_->NowMicros();
  Create();
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  ExpectAbout(info.size, begin);
  begin = clock_->NowMicros();
  ASSERT_OK(engine_->RestoreDBFromBackup(1, "/x", "/x"));
  ExpectAbout(info.size, begin);
}

}  // namespace
}  // namespace ashlar
