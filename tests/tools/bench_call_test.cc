// SPDX-License-Identifier: Apache-2.0
//
// db_bench as a call of a program. Only in builds with gflags; the flags and benchmarks are tested
// in db_bench_test.py.
#include "ashlar/db_bench_tool.h"

#include <gtest/gtest.h>

#include <string>

#include "ashlar/db.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

TEST(BenchCall, RunsTheBenchmarksOfItsFlags) {
  std::string dir = "--db=" + FreshTempDir("bench_call");
  char program[] = "db_bench", benchmarks[] = "--benchmarks=fillseq", num[] = "--num=100";
  char* argv[] = {program, benchmarks, num, dir.data()};
  testing::internal::CaptureStdout();
  EXPECT_EQ(db_bench_tool(4, argv), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("fillseq      :"), std::string::npos);
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::OpenForReadOnly(Options(), dir.substr(5), &db));
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  int rows = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) rows++;
  EXPECT_OK(it->status());
  EXPECT_EQ(rows, 100);
}

}  // namespace
}  // namespace ashlar
