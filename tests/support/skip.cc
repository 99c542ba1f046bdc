// SPDX-License-Identifier: Apache-2.0
//
// The words MISSING and IMPOSSIBLE are printed once per test; .ci/run counts them.
#include "tests/support/skip.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ashlar {

void SkipAsMissing(const std::string& what) {
  const char* const require_all = std::getenv("ASHLAR_REQUIRE_ALL");
  if (require_all != nullptr && std::string(require_all) == "1") {
    GTEST_FAIL() << "ASHLAR_REQUIRE_ALL is set, but there is no " << what;
  }
  GTEST_SKIP() << "MISSING: " << what;
}

void SkipAsImpossible(const std::string& what) { GTEST_SKIP() << "IMPOSSIBLE: " << what; }

}  // namespace ashlar
