// SPDX-License-Identifier: Apache-2.0
//
// Listeners may not throw. If one does, the thread that called it continues, and the info log names
// the listener.
#include <atomic>
#include <stdexcept>

#include "ashlar/listener.h"
#include "tests/support/log_lines.h"
#include "tests/support/test_db.h"

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

TEST(ThrowingListener, HoldsNothingUp) {
  const auto listener = std::make_shared<ThrowingListener>();
  const auto log = std::make_shared<LogLines>();
  TestDb test;
  test.options().listeners = {listener};
  test.options().info_log = log;
  for (const char* value : {"1", "2"}) {
    test.Open();
    for (int i = 0; i < 2; ++i) {
      test.Put("key", value);
      test.Flush();
    }
    test.Compact();
    EXPECT_EQ(test.Get("key"), value);
  }
  test.Close();
  EXPECT_GT(listener->thrown.load(), 10);
  EXPECT_GT(log->Count("test.Throwing threw"), 0u);
}

}  // namespace
}  // namespace ashlar
