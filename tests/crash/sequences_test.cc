// SPDX-License-Identifier: Apache-2.0
//
// Every sequence of up to three operations out of eight, on a database of two families: most crash
// bugs need no more. The last operation is cut before and after each of its calls (the earlier ones
// were cut in a shorter sequence), with the policies strict, torn and reorder.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/checkpoint.h"
#include "tests/crash/crash_suite.h"
#include "tests/crash/image_check.h"
#include "tests/crash/recorder.h"

namespace ashlar {
namespace {

enum class Step : uint8_t {
  kPutSync,
  kPut,
  kPutNoWal,
  kBatch,
  kMerge,
  kDeleteRange,
  kFlush,
  kDropFamily,
  kCompact,
  kCheckpoint,
  kCount,
};
constexpr const char* kNames[] = {"put-sync",     "put",   "put-no-wal", "batch",   "merge",
                                  "delete-range", "flush", "drop",       "compact", "checkpoint"};
constexpr size_t kStepCount = static_cast<size_t>(Step::kCount);
constexpr size_t kSequences =
    kStepCount + kStepCount * kStepCount + kStepCount * kStepCount * kStepCount;
constexpr CrashPolicy kPolicies[] = {CrashPolicy::kStrict, CrashPolicy::kTorn,
                                     CrashPolicy::kReorder};
constexpr int kFamily = 1;
constexpr size_t kMappedStride = 3;

std::vector<Step> SequenceAt(size_t number) {
  std::vector<Step> steps;
  for (size_t count = kStepCount, length = 1;; count *= kStepCount, ++length) {
    if (number >= count) {
      number -= count;
      continue;
    }
    for (; length > 0; --length, number /= kStepCount) {
      steps.push_back(static_cast<Step>(number % kStepCount));
    }
    return steps;
  }
}

std::string NameOf(const std::vector<Step>& steps) {
  std::string text;
  for (Step step : steps) {
    text += std::string(text.empty() ? "" : ", ") + kNames[static_cast<size_t>(step)];
  }
  return text;
}

class SequenceRun {
 public:
  SequenceRun(const std::vector<Step>& steps, bool maps_logs)
      : recorder_("sequence " + NameOf(steps) + (maps_logs ? ", mapped log" : ""), /*seed=*/1,
                  /*has_own_threads=*/false, maps_logs, Plain()) {}

  std::string Begin() {
    std::string wrong = recorder_.Open();
    if (wrong.empty()) wrong = Change(OpKind::kCreateFamily);
    if (wrong.empty()) wrong = Put(0, "a", /*sync=*/false, /*disable_wal=*/false);
    if (wrong.empty()) wrong = Put(kFamily, "a", /*sync=*/false, /*disable_wal=*/false);
    return wrong;
  }

  std::string Run(Step step) {
    switch (step) {
      case Step::kPutSync: return Put(0, "a", /*sync=*/true, /*disable_wal=*/false);
      case Step::kPut: return Put(0, "b", /*sync=*/false, /*disable_wal=*/false);
      case Step::kPutNoWal: return Put(0, "c", /*sync=*/false, /*disable_wal=*/true);
      case Step::kBatch: return Batch();
      case Step::kMerge: return Merge();
      case Step::kDeleteRange: return DeleteRange();
      case Step::kFlush: return Change(OpKind::kFlush);
      case Step::kDropFamily:
        return Change(HasFamily() ? OpKind::kDropFamily : OpKind::kCreateFamily);
      case Step::kCompact: return Change(OpKind::kCompact);
      case Step::kCheckpoint: return MakeCheckpoint();
      case Step::kCount: break;
    }
    return "no such step";
  }

  std::string Close() { return recorder_.Close(); }
  const Recording& recording() { return recorder_.recording(); }

  // A checkpoint that has its final name is complete, also after a crash.
  std::string CheckCheckpoints(uint64_t index, CrashPolicy policy, uint64_t seed);

 private:
  static OptionSet Plain() {
    OptionSet options;
    options.Set("jobs", 1);
    options.Set("cache", 0);
    return options;
  }

  bool HasFamily() const { return recorder_.Handle(family_) != nullptr; }

  std::string Put(int family, const std::string& key, bool sync, bool disable_wal) {
    TraceOp op;
    op.kind = OpKind::kPut;
    op.family = family;
    op.keys = {key};
    op.value = {++tag_, 20};
    op.sync = sync;
    op.disable_wal = disable_wal;
    return recorder_.Apply(op);
  }

  std::string Batch() {
    TraceOp op;
    op.kind = OpKind::kBatch;
    for (int family : {0, family_}) {
      if (recorder_.Handle(family) == nullptr) continue;
      op.parts.push_back({OpKind::kPut, family, "b", {++tag_, 600}, {}});
    }
    op.parts.push_back({OpKind::kFailingMerge, 0, "a", {}, {}});  // and deletes it
    return recorder_.Apply(op);
  }

  // With logged data only.
  std::string Merge() {
    TraceOp op;
    op.kind = OpKind::kMerge;
    op.keys = {"a"};
    op.value = {++tag_, 20};
    return recorder_.Apply(op);
  }

  // Over the keys that the other steps write, except the last one.
  std::string DeleteRange() {
    TraceOp op;
    op.kind = OpKind::kDeleteRange;
    op.keys = {"a", "c"};
    return recorder_.Apply(op);
  }

  std::string Change(OpKind kind) {
    TraceOp op;
    op.kind = kind;
    if (kind == OpKind::kCreateFamily) ++family_;
    if (kind == OpKind::kCreateFamily || kind == OpKind::kDropFamily) op.family = family_;
    return recorder_.Apply(op);
  }

  std::string MakeCheckpoint() {
    SimFS* sim = recorder_.recording().sim.get();
    sim->ObserveStores();
    copies_.push_back({"/copy" + std::to_string(copies_.size()), sim->CallCount(), UINT64_MAX});
    Checkpoint* made = nullptr;
    Status status = Checkpoint::Create(recorder_.db(), &made);
    const std::unique_ptr<Checkpoint> checkpoint(made);
    // Without a flush, so that the copy has a log.
    if (status.ok()) status = checkpoint->CreateCheckpoint(copies_.back().dir, UINT64_MAX);
    copies_.back().end = sim->CallCount();
    return status.ok() ? "" : "checkpoint: " + status.ToString();
  }

  struct Copy {
    std::string dir;
    uint64_t begin, end;  // calls
  };
  std::string OpenCopy(const Copy& copy, const SimImage& image);

  Recorder recorder_;
  std::vector<Copy> copies_;
  int family_ = 0;
  uint32_t tag_ = 0;
  std::map<uint64_t, std::string> known_copies_;  // error by hash
};

std::string SequenceRun::OpenCopy(const Copy& copy, const SimImage& image) {
  const RunThreads threads(/*seed=*/1, /*has_own_threads=*/false);
  const std::shared_ptr<SimFS> sim = SimFS::FromImage(image);
  sim->OfferMappedLogs(recorder_.recording().maps_logs);
  const std::unique_ptr<Env> env = threads.NewEnv(sim);
  OpenedDb opened;
  Contents contents;
  Status status = opened.Open(recorder_.recording().options.Build(env.get()), copy.dir);
  if (status.ok()) status = opened.ReadAll(&contents);
  if (!status.ok()) return status.ToString();
  ++crash_suite.figures.checkpoints;
  // It contains what the death of the process would have left at the time of the checkpoint.
  return recorder_.recording().history.Judge(HashesOf(contents), copy.begin, CrashPolicy::kAll);
}

std::string SequenceRun::CheckCheckpoints(uint64_t index, CrashPolicy policy, uint64_t seed) {
  if (copies_.empty()) return "";
  const SimImage image = recorder_.recording().sim->CrashContents(index, policy, seed);
  for (const Copy& copy : copies_) {
    SimImage part;
    part.directories = {"/", copy.dir};
    for (const auto& file : image.files) {
      if (file.first.rfind(copy.dir + "/", 0) == 0) part.files.insert(file);
    }
    if (part.files.count(copy.dir + "/CURRENT") == 0) {
      if (copy.end <= index || !part.files.empty()) return copy.dir + " is not whole";
      continue;
    }
    const auto [known, is_new] = known_copies_.try_emplace(part.Hash());
    if (is_new) known->second = OpenCopy(copy, part);
    if (!known->second.empty()) return copy.dir + ": " + known->second;
  }
  return "";
}

std::string CheckSequencePoint(SequenceRun* run, ImageCheck* check, uint64_t index) {
  ++crash_suite.figures.points;
  for (CrashPolicy policy : kPolicies) {
    const uint64_t seed = index * 13 + static_cast<uint64_t>(policy);
    std::string wrong = check->Check(index, policy, seed);
    if (wrong.empty()) wrong = run->CheckCheckpoints(index, policy, seed);
    if (wrong.empty()) continue;
    return "crash before call " + std::to_string(index) + ", policy " + NameOf(policy) + ": " +
           wrong + "\ncalls:" + LastCalls(*run->recording().sim, index);
  }
  return "";
}

std::string RunSequence(const std::vector<Step>& steps, bool maps_logs) {
  SequenceRun run(steps, maps_logs);
  std::string wrong = run.Begin();
  uint64_t begin = 0;
  for (Step step : steps) {
    run.recording().sim->ObserveStores();
    begin = run.recording().sim->CallCount();
    if (wrong.empty()) wrong = run.Run(step);
  }
  const uint64_t end = run.recording().sim->CallCount();
  const std::string closed = run.Close();
  if (wrong.empty()) wrong = closed;
  ImageEffort effort;
  effort.all_nested = 400;
  effort.write = 3;
  ImageCheck check(run.recording(), effort, &crash_suite.figures);
  crash_suite.figures.Count(run.recording(), &crash_suite.figures.sequences);
  for (const FileCall& call : run.recording().sim->MutatingCalls()) {
    if (call.index < begin || call.index > end || !wrong.empty()) continue;
    wrong = CheckSequencePoint(&run, &check, call.index);
    if (wrong.empty()) wrong = CheckSequencePoint(&run, &check, call.index + 1);
  }
  return wrong.empty() ? "" : run.recording().name + ": " + wrong;
}

TEST(CrashTest, EverySequenceOfThreeOperationsSurvivesEveryCut) {
  if (crash_suite.is_single()) GTEST_SKIP() << "a single trace was asked for";
  // A smaller scale runs every n-th sequence.
  const double scale = std::min(1.0, SuiteScale());
  const auto step = static_cast<size_t>(1 / scale);
  for (size_t number = 0; number < kSequences; number += step) {
    const std::vector<Step> steps = SequenceAt(number);
    // With a mapped log: sequences of up to two operations, and some of the longer ones.
    for (const bool maps_logs : {false, true}) {
      if (maps_logs && steps.size() == 3 && number % kMappedStride != 0) continue;
      BeginCase(NameOf(steps));
      ASSERT_EQ(RunSequence(steps, maps_logs), "");
    }
  }
  EndCases();
}

}  // namespace
}  // namespace ashlar
