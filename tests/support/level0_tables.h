// SPDX-License-Identifier: Apache-2.0
//
// WriteLevel0() leaves tables on level 0 that no compaction removes, so that tests can make writes
// stall at a chosen number of tables.
#pragma once

#include <gtest/gtest.h>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

// Makes `count` flushes of two entries each while compactions are blocked, and returns when the
// compactions that follow have ended. Afterwards the environment has one thread for compactions.
inline void WriteLevel0(DB* db, ColumnFamilyHandle* family, int table_count) {
  {
    const BlockedPool no_compactions(db->GetEnv(), Env::Priority::LOW);
    FlushOptions at_once;
    at_once.allow_write_stall = true;
    for (int i = 0; i < table_count; i++) {
      ASSERT_OK(db->Put(WriteOptions(), family, "key1001", "value"));
      ASSERT_OK(db->Put(WriteOptions(), family, "key1002", "value"));
      ASSERT_OK(db->Flush(at_once, family));
    }
  }
  ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));
}

}  // namespace ashlar
