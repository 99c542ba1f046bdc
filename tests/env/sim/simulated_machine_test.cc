// SPDX-License-Identifier: Apache-2.0
//
// The public interface of the simulated machine.
#include "ashlar/testing/simulated_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

Status WriteFile(Env* env, const std::string& path, const std::string& contents, bool syncs) {
  std::unique_ptr<WritableFile> file;
  Status status = env->NewWritableFile(path, &file, EnvOptions());
  if (status.ok()) status = file->Append(contents);
  if (status.ok() && syncs) status = file->Sync();
  if (status.ok()) status = file->Close();
  return status;
}

std::string ReadFile(Env* env, const std::string& path) {
  std::string contents;
  const Status status = ReadFileToString(env, path, &contents);
  return status.ok() ? contents : status.ToString();
}

class SimulatedMachineTest : public testing::Test {
 protected:
  SimulatedMachineTest() {
    EXPECT_OK(machine_->env()->CreateDirIfMissing("/d"));
    machine_->MakeEverythingDurable();
  }
  const std::unique_ptr<SimulatedMachine> machine_ = SimulatedMachine::Create(1);
};

TEST_F(SimulatedMachineTest, ThePowerFailureKeepsWhatIsDurable) {
  ASSERT_OK(WriteFile(machine_->env(), "/d/a", "durable", /*syncs=*/false));
  machine_->MakeEverythingDurable();
  for (uint64_t seed = 1; seed < 10; seed++) {
    const auto after = machine_->AfterPowerFailure(machine_->FileCallCount(), seed);
    EXPECT_EQ(ReadFile(after->env(), "/d/a"), "durable");
  }
}

TEST_F(SimulatedMachineTest, SomePowerFailureLosesWhatIsNotDurable) {
  ASSERT_OK(WriteFile(machine_->env(), "/d/a", "unsynced", /*syncs=*/false));
  int lost = 0;
  for (uint64_t seed = 1; seed < 30; seed++) {
    const auto after = machine_->AfterPowerFailure(machine_->FileCallCount(), seed);
    lost += ReadFile(after->env(), "/d/a") != "unsynced";
  }
  EXPECT_GT(lost, 0);
  const auto killed = machine_->AfterProcessDeath(machine_->FileCallCount());
  EXPECT_EQ(ReadFile(killed->env(), "/d/a"), "unsynced");
}

TEST_F(SimulatedMachineTest, CrashPointsAreTheCallsThatChangeFiles) {
  const uint64_t before = machine_->FileCallCount();
  ASSERT_OK(WriteFile(machine_->env(), "/d/a", "x", /*syncs=*/true));
  EXPECT_EQ(ReadFile(machine_->env(), "/d/a"), "x");
  size_t changes = 0;
  for (const uint64_t call : machine_->CrashPoints()) changes += call >= before;
  EXPECT_EQ(changes, 4u) << "create, append, sync, close; reading is none";
  const auto at_create = machine_->AfterProcessDeath(before);
  EXPECT_TRUE(at_create->env()->FileExists("/d/a").IsNotFound());
}

TEST_F(SimulatedMachineTest, FailuresComeWhereTheyAreAskedForAndEnd) {
  machine_->FailWritesTo("/d/b", SimulatedMachine::Failure::kNoSpace);
  EXPECT_OK(WriteFile(machine_->env(), "/d/a", "x", /*syncs=*/true));
  EXPECT_TRUE(WriteFile(machine_->env(), "/d/b", "x", /*syncs=*/true).IsNoSpace());
  machine_->StopFailing();
  EXPECT_OK(WriteFile(machine_->env(), "/d/b", "x", /*syncs=*/true));

  machine_->FailFileCall(machine_->FileCallCount() + 1, SimulatedMachine::Failure::kIOError,
                         /*keeps_failing=*/false);
  EXPECT_TRUE(WriteFile(machine_->env(), "/d/c", "x", /*syncs=*/true).IsIOError());
  EXPECT_OK(WriteFile(machine_->env(), "/d/c", "x", /*syncs=*/true));
}

TEST_F(SimulatedMachineTest, ALostSyncLosesAtAPowerFailureWhatItPromised) {
  machine_->FailWritesTo("/d", SimulatedMachine::Failure::kLostSync);
  ASSERT_OK(WriteFile(machine_->env(), "/d/a", "x", /*syncs=*/true));
  int lost = 0;
  for (uint64_t seed = 1; seed < 30; seed++) {
    const auto after = machine_->AfterPowerFailure(machine_->FileCallCount(), seed);
    lost += ReadFile(after->env(), "/d/a") != "x";
  }
  EXPECT_GT(lost, 0);
}

TEST_F(SimulatedMachineTest, AFullDiskRefusesWrites) {
  machine_->LimitDiskBytes(100);
  EXPECT_TRUE(
      WriteFile(machine_->env(), "/d/a", std::string(1000, 'x'), /*syncs=*/true).IsNoSpace());
}

TEST_F(SimulatedMachineTest, TheClockMovesByTheSimulationAlone) {
  const uint64_t before = machine_->env()->NowMicros();
  EXPECT_EQ(machine_->env()->NowMicros(), before + 1);
  machine_->AdvanceClock(1000000);
  EXPECT_EQ(machine_->env()->NowMicros(), before + 1000002);
}

TEST_F(SimulatedMachineTest, EqualRunsHaveEqualHashes) {
  const auto run = [](const std::string& contents) {
    const auto machine = SimulatedMachine::Create(3);
    EXPECT_OK(machine->env()->CreateDirIfMissing("/d"));
    EXPECT_OK(WriteFile(machine->env(), "/d/a", contents, /*syncs=*/true));
    return machine->FileCallHash();
  };
  EXPECT_EQ(run("x"), run("x"));
  EXPECT_NE(run("x"), run("y"));
}

}  // namespace
}  // namespace ashlar
