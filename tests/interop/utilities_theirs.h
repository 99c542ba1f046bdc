// SPDX-License-Identifier: Apache-2.0
//
// Tests in which RocksDB reads what we wrote, and the other way round, through utilities_theirs: a
// program that is linked with RocksDB (utilities/utilities_client.cc). Skipped without RocksDB's
// library.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "util/text/str_cat.h"

namespace ashlar {

class UtilitiesInterop : public testing::Test {
 protected:
  // `name`: of the test's directory.
  explicit UtilitiesInterop(const std::string& name) : name_(name) {}

  void SetUp() override {
    int exit_code = 0;
    RunCommand(StrCat("test -x '", theirs_, "'"), &exit_code);
    if (exit_code != 0) return SkipAsMissing("RocksDB (librocksdb-dev)");
    dir_ = FreshTempDir(name_);
    db_dir_ = dir_ + "/db";
  }
  // Returns what RocksDB's program printed. Fails the test if the program failed.
  std::string RunTheirs(const std::string& arguments) {
    int exit_code = 0;
    const std::string output = RunCommand(StrCat("'", theirs_, "' ", arguments), &exit_code);
    EXPECT_EQ(exit_code, 0) << arguments << ": " << output;
    return output;
  }
  // The same for a command on db_dir_.
  std::string Theirs(const std::string& command, const std::string& more = "") {
    return RunTheirs(StrCat(command, " '", db_dir_, "' ", more));
  }

  std::string dir_;
  std::string db_dir_;  // in dir_, not created

 private:
  const std::string name_;
  const std::string theirs_ = BuildPath("utilities_theirs");
};

}  // namespace ashlar
