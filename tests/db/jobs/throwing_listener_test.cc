// SPDX-License-Identifier: Apache-2.0
//
// Listeners may not throw. One that does holds nothing up: the thread that called it goes on, and
// the info log says whose exception it was.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdarg>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ThrowingListener final : public EventListener {
 public:
  const char* Name() const override { return "test.Throwing"; }
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Throw(); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Throw(); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { Throw(); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { Throw(); }
  void OnTableFileCreated(const TableFileCreationInfo&) override { Throw(); }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { Throw(); }

  std::atomic<int> thrown{0};

 private:
  void Throw() {
    ++thrown;
    throw std::runtime_error("from a listener");
  }
};

class LinesLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[500];
    std::vsnprintf(line, sizeof(line), format, arguments);
    std::lock_guard<std::mutex> lock(mutex_);
    (text_ += line) += "\n";
  }
  std::string text() {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

TEST(ThrowingListener, HoldsNothingUp) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const auto listener = std::make_shared<ThrowingListener>();
  const auto log = std::make_shared<LinesLogger>();
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.listeners = {listener};
  options.info_log = log;
  std::unique_ptr<DB> db;
  for (const char* value : {"1", "2"}) {
    db.reset();
    ASSERT_OK(DB::Open(options, "/db", &db));
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(db->Put(WriteOptions(), "key", value));
      ASSERT_OK(db->Flush(FlushOptions()));
    }
    ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    std::string found;
    ASSERT_OK(db->Get(ReadOptions(), "key", &found));
    EXPECT_EQ(found, value);
  }
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_GT(listener->thrown.load(), 10);
  EXPECT_NE(log->text().find("test.Throwing threw"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
