// SPDX-License-Identifier: Apache-2.0
//
// A log that has no memory for a record whose position it has already assigned has failed, and can
// be closed.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "db/wal/wal_sink.h"
#include "env/memory/memory_file_system.h"
#include "tests/fault/allocation_hook.h"
#include "tests/support/status_matchers.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

// Each allocation fails once. If that is before the position is assigned, nothing has changed.
TEST(WalFaults, AFailedAllocationInASpecialRecordDoesNotBlockClose) {
  int failed_logs = 0;
  for (uint64_t which = 0; which < 20; ++which) {
    BeginCase("allocation " + std::to_string(which) + " of a special record");
    MemoryFileSystem files;
    WalSinkOptions options;
    options.fs = &files;
    options.path = "/000007.log";
    options.log_number = 7;
    options.preallocate_bytes = 0;
    auto opened = OpenWalSink(options);
    ASSERT_OK(opened.status());
    const std::unique_ptr<WalSink> sink = opened.Take();
    const std::string payload(4000, 'p');
    std::optional<Status> added;  // nullopt: out of memory before the position was assigned
    uint64_t countdown = which;
    try {
      const AllocationFault fault(&countdown);
      added = sink->AddSpecialRecord(LogRecordType::kPredecessorInfo, payload);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(sink->size(), 0u);
    }
    // If it waits for the position forever, the suite's watchdog ends it.
    const Status closed = sink->Close();
    if (added.has_value() && !added->ok()) {
      ++failed_logs;
      EXPECT_TRUE(added->IsMemoryLimit()) << added->ToString();
      EXPECT_FALSE(closed.ok());
    } else {
      EXPECT_OK(closed);
    }
    EndCases();
  }
  EXPECT_GT(failed_logs, 0);
}

}  // namespace
}  // namespace ashlar
