// SPDX-License-Identifier: Apache-2.0
//
// The files of the set of logs. What it does with records is tested through the database.
#include "db/wal/wal_set.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class WalSetTest : public testing::Test {
 protected:
  WalSetTest() {
    sim_->OfferMappedLogs(true);
    EXPECT_OK(sim_->CreateDirIfMissing("/logs", IOOptions(), nullptr));
    WalSetOptions options;
    options.log.fs = sim_.get();
    options.wal_dir = "/logs";
    set_.Configure(options);
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    EXPECT_OK(sim_->GetChildren("/logs", IOOptions(), &names, nullptr));
    return names;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  WalSet set_;
};

// The file is created, and then there is no space for its first part.
TEST_F(WalSetTest, ALogThatGetsNoSpaceLeavesNoFile) {
  sim_->SetByteQuota(0);
  for (const uint64_t number : {uint64_t{7}, uint64_t{8}, uint64_t{9}}) {
    const auto log = set_.Create(FileNumber{number});
    EXPECT_TRUE(log.status().IsNoSpace()) << log.status().ToString();
    const auto ahead = set_.CreateAhead(FileNumber{100 + number});
    EXPECT_TRUE(ahead.status().IsNoSpace()) << ahead.status().ToString();
  }
  EXPECT_EQ(Files(), std::vector<std::string>());
  sim_->SetByteQuota(uint64_t{1} << 40);
  const auto log = set_.Create(10);
  EXPECT_OK(log);
  EXPECT_EQ(Files(), std::vector<std::string>{"000010.log"});
}

}  // namespace
}  // namespace ashlar
