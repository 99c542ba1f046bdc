// SPDX-License-Identifier: Apache-2.0
//
// First the environment over the disk, then the database.
#include "tests/support/database_on_disk.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ashlar {

std::unique_ptr<DatabaseOnDisk> OpenDatabaseOnDisk(const std::shared_ptr<SimFS>& disk,
                                                   Options* options) {
  auto life = std::make_unique<DatabaseOnDisk>();
  life->env = NewCompositeEnv(disk);
  options->env = life->env.get();
  EXPECT_OK(life->opened.Open(*options, "/db"));
  return life;
}

}  // namespace ashlar
