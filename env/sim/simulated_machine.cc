// SPDX-License-Identifier: Apache-2.0
//
// SimulatedMachine combines SimFS, SimExecutor and SimEnv behind the public header.
#include "ashlar/testing/simulated_machine.h"

#include <utility>

#include "env/sim/sim_env.h"
#include "env/sim/sim_fs.h"

namespace ashlar {
namespace {

FaultError ErrorOf(SimulatedMachine::Failure failure) {
  switch (failure) {
    case SimulatedMachine::Failure::kIOError: return FaultError::kIO;
    case SimulatedMachine::Failure::kNoSpace: return FaultError::kNoSpace;
    case SimulatedMachine::Failure::kHalfWrite: return FaultError::kShort;
    case SimulatedMachine::Failure::kLostSync: break;
  }
  return FaultError::kLie;
}

// The members are in the order of their dependence: the Env uses the executor and the files.
class Machine final : public SimulatedMachine {
 public:
  // `fs` is null for an empty machine.
  Machine(std::shared_ptr<SimFS> fs, uint64_t seed)
      : seed_(seed),
        executor_(seed),
        fs_(fs != nullptr ? std::move(fs) : SimFS::Create(executor_.clock())),
        env_(NewSimEnv(fs_, &executor_)) {}

  Env* env() override { return env_.get(); }

  void RunSomeBackgroundWork() override { executor_.RunSome(); }
  void RunAllBackgroundWork() override { executor_.RunAll(); }
  void AdvanceClock(uint64_t micros) override { executor_.clock()->Advance(micros); }

  uint64_t FileCallCount() const override { return fs_->CallCount(); }
  void FailFileCall(uint64_t number, Failure failure, bool keeps_failing) override {
    fs_->FailAt(number, ErrorOf(failure), keeps_failing ? FaultMode::kSticky : FaultMode::kOnce);
  }
  void FailWritesTo(const std::string& path_part, Failure failure) override {
    FaultPlan plan;
    plan.first_call = fs_->CallCount();
    plan.error = ErrorOf(failure);
    plan.mode = FaultMode::kSticky;
    // Stores into a mapping are excluded, because no call is made for them that could fail.
    plan.kinds = kMutatingKinds & ~KindBit(CallKind::kStore);
    if (failure == Failure::kLostSync) {
      plan.kinds = KindBit(CallKind::kSync) | KindBit(CallKind::kSyncDirectory);
    }
    plan.path_part = path_part;
    fs_->AddFault(plan);
  }
  void StopFailing() override { fs_->ClearFaults(); }
  void LimitDiskBytes(uint64_t bytes) override { fs_->SetByteQuota(bytes); }

  void MakeEverythingDurable() override { fs_->SyncEverything(); }
  std::vector<uint64_t> CrashPoints() const override {
    std::vector<uint64_t> numbers;
    for (const FileCall& call : fs_->MutatingCalls()) numbers.push_back(call.index);
    return numbers;
  }
  std::unique_ptr<SimulatedMachine> AfterPowerFailure(uint64_t number,
                                                      // The strongest of the policies that depend
                                                      // on a seed: any subset of the unsynced
                                                      // pieces survives.
                                                      uint64_t seed) const override {
    return std::make_unique<Machine>(fs_->CrashImage(number, CrashPolicy::kReorder, seed), seed);
  }
  // The kernel survives, and with it everything that was written.
  std::unique_ptr<SimulatedMachine> AfterProcessDeath(uint64_t number) const override {
    return std::make_unique<Machine>(fs_->CrashImage(number, CrashPolicy::kAll), seed_);
  }
  uint64_t FileCallHash() const override { return fs_->CallLogHash(); }

 private:
  const uint64_t seed_;
  SimExecutor executor_;  // must outlive the Env
  const std::shared_ptr<SimFS> fs_;
  const std::unique_ptr<Env> env_;
};

}  // namespace

std::unique_ptr<SimulatedMachine> SimulatedMachine::Create(uint64_t seed) {
  return std::make_unique<Machine>(nullptr, seed);
}

}  // namespace ashlar
