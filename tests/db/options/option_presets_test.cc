// SPDX-License-Identifier: Apache-2.0
//
// OldDefaults(): what RocksDB of a version had.
#include <gtest/gtest.h>

#include "ashlar/options.h"

namespace ashlar {
namespace {

TEST(OldDefaults, AreThoseOfTheVersion) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  struct Case {
    int major, minor;
    int stop_trigger;
    CompactionPri priority;
    uint64_t delayed_rate;
    int open_files;
    WALRecoveryMode recovery;
    size_t write_buffer;
  };
  constexpr auto kOldMode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  constexpr auto kMode = WALRecoveryMode::kPointInTimeRecovery;
  for (const Case& c : {Case{4, 6, 24, kByCompensatedSize, 2 * kMiB, 5000, kOldMode, 4 * kMiB},
                        Case{4, 7, 24, kByCompensatedSize, 2 * kMiB, -1, kMode, 64 * kMiB},
                        Case{4, 13, 24, kByCompensatedSize, 2 * kMiB, -1, kMode, 64 * kMiB},
                        Case{5, 0, 30, kByCompensatedSize, 2 * kMiB, -1, kMode, 64 * kMiB},
                        Case{5, 2, 36, kByCompensatedSize, 16 * kMiB, -1, kMode, 64 * kMiB},
                        Case{5, 6, 36, kByCompensatedSize, 0, -1, kMode, 64 * kMiB},
                        Case{5, 19, 36, kMinOverlappingRatio, 0, -1, kMode, 64 * kMiB},
                        Case{7, 8, 36, kMinOverlappingRatio, 0, -1, kMode, 64 * kMiB}}) {
    SCOPED_TRACE(testing::Message() << c.major << "." << c.minor);
    Options options;
    options.OldDefaults(c.major, c.minor);
    EXPECT_EQ(options.level0_stop_writes_trigger, c.stop_trigger);
    EXPECT_EQ(options.compaction_pri, c.priority);
    EXPECT_EQ(options.delayed_write_rate, c.delayed_rate);
    EXPECT_EQ(options.max_open_files, c.open_files);
    EXPECT_EQ(options.wal_recovery_mode, c.recovery);
    EXPECT_EQ(options.write_buffer_size, c.write_buffer);
  }
}

}  // namespace
}  // namespace ashlar
