// SPDX-License-Identifier: Apache-2.0
//
// WriteLevel0() leaves tables on level 0 that no compaction takes away: how tests get a database to
// stall at a number of tables that they choose.
#pragma once

#include <gtest/gtest.h>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

// So many flushes of two entries each, while compactions are blocked; returns when those that
// follow have ended. The environment is left with one thread for them.
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
