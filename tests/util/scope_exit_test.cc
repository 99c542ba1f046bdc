// SPDX-License-Identifier: Apache-2.0
//
// ScopeExit: which functions run, and when.
#include "util/scope_exit.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ashlar {
namespace {

TEST(ScopeExit, RunsAtTheEndOfTheScopeLastFirst) {
  std::string log;
  {
    ScopeExit first([&] { log += "first "; });
    ScopeExit second([&] { log += "second "; });
    log += "body ";
  }
  EXPECT_EQ(log, "body second first ");
}

TEST(ScopeExit, RunsOnAnException) {
  bool has_run = false;
  try {
    ScopeExit undo([&] { has_run = true; });
    throw std::runtime_error("in the middle");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(has_run);
}

TEST(ScopeExit, DoesNothingOnceCancelled) {
  bool has_run = false;
  {
    ScopeExit undo([&] { has_run = true; });
    undo.Cancel();
  }
  EXPECT_FALSE(has_run);
}

}  // namespace
}  // namespace ashlar
