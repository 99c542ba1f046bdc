// SPDX-License-Identifier: Apache-2.0
//
// An environment over the disk, then the database.
#include "tests/support/disk_life.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ashlar {

std::unique_ptr<DiskLife> BeginLife(const std::shared_ptr<SimFS>& disk, Options* options) {
  auto life = std::make_unique<DiskLife>();
  life->env = NewCompositeEnv(disk);
  options->env = life->env.get();
  EXPECT_OK(life->opened.Open(*options, "/db"));
  return life;
}

}  // namespace ashlar
