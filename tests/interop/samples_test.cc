// SPDX-License-Identifier: Apache-2.0
//
// The tests of RocksDB's files run over all samples that exist. These tests report if most are
// missing.
#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tests/support/sample_database.h"
#include "tests/support/sample_table.h"
#include "tests/support/skip.h"

namespace ashlar {
namespace {

TEST(Samples, AllDatabasesExist) {
  if (!SharedDataExists()) return SkipAsMissing("shared sample databases: 30 of 36 are not opened");
  EXPECT_GE(SampleDatabaseNames().size(), 36u);
}

TEST(Samples, AllTablesExist) {
  if (!SharedDataExists()) return SkipAsMissing("shared sample tables: most are not read");
  EXPECT_GT(SampleTableNames().size(), SmallSampleTableNames().size());
}

}  // namespace
}  // namespace ashlar
