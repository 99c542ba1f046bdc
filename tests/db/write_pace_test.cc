// SPDX-License-Identifier: Apache-2.0
//
// Memory of memtables under a writer that is faster than the flushes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/rate_limiter.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kMiB = 1 << 20;

uint64_t MemTableBytes(DB* db) {
  uint64_t bytes = 0;
  EXPECT_TRUE(db->GetIntProperty(DB::Properties::kCurSizeAllMemTables, &bytes));
  return bytes;
}

// The flush is slow on purpose: without a pace the writer would fill the second buffer before the
// first one is flushed.
TEST(WritePace, MemTablesTakeAQuarterMoreThanOneBuffer) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 32 * kMiB;
  options.rate_limiter.reset(NewGenericRateLimiter(128 * kMiB));
  DB* raw = nullptr;
  ASSERT_OK(DB::Open(options, "/db", &raw));
  const std::unique_ptr<DB> db(raw);
  const std::string value(16 << 10, 'v');
  uint64_t highest = 0;
  for (uint64_t i = 0; i < 3 * options.write_buffer_size / value.size(); ++i) {
    ASSERT_OK(db->Put(WriteOptions(), std::to_string(i), value));
    highest = std::max(highest, MemTableBytes(db.get()));
  }
  EXPECT_GE(highest, options.write_buffer_size);
  constexpr uint64_t kBlockBytes = 2 * kMiB;  // memtables grow by such steps
  EXPECT_LE(highest, options.write_buffer_size * 5 / 4 + 2 * kBlockBytes);
}

}  // namespace
}  // namespace ashlar
