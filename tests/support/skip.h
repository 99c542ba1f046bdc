// SPDX-License-Identifier: Apache-2.0
//
// The only way for a test to skip itself because the machine lacks something: loudly, and not where
// the thing is meant to be there.
//
//   if (!SharedDataExists()) return SkipAsMissing("the shared sample databases");
//
// In a test body or SetUp(). Scripts have skip.py beside this file.
#pragma once

#include <string>

namespace ashlar {

// `what` can be given to any machine (sample data, RocksDB's tools, a program): the test is skipped
// with "MISSING: what", and fails if $ASHLAR_REQUIRE_ALL is 1.
void SkipAsMissing(const std::string& what);

// `what` is beyond this machine (no right to mount, another kernel, a kind of build): the test is
// skipped with "IMPOSSIBLE: what", everywhere.
void SkipAsImpossible(const std::string& what);

}  // namespace ashlar
