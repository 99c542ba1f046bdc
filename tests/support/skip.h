// SPDX-License-Identifier: Apache-2.0
//
// The only way for a test to skip itself because the machine lacks something. The test prints a
// message, and fails if the thing must be there.
//
//   if (!SharedDataExists()) return SkipAsMissing("the shared sample databases");
//
// For a test body or SetUp(). skips.py is the counterpart for scripts.
#pragma once

#include <string>

namespace ashlar {

// For things that can be installed on any machine (sample data, RocksDB's tools, a program): the
// test is skipped with "MISSING: what", and fails if $ASHLAR_REQUIRE_ALL is 1.
void SkipAsMissing(const std::string& what);

// For things that are impossible on this machine (no permission to mount, another kernel, a kind of
// build): the test is skipped with "IMPOSSIBLE: what".
void SkipAsImpossible(const std::string& what);

}  // namespace ashlar
