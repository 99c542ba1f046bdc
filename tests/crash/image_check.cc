// SPDX-License-Identifier: Apache-2.0
//
// Opens images and checks their contents.
#include "tests/crash/image_check.h"

#include <memory>
#include <set>

#include "ashlar/env.h"
#include "util/random.h"

namespace ashlar {
namespace {

std::string Said(const char* what, const Status& status) {
  return status.ok() ? "" : std::string(what) + ": " + status.ToString();
}

const char* NameOfMode(WALRecoveryMode mode) {
  switch (mode) {
    case WALRecoveryMode::kTolerateCorruptedTailRecords: return "tolerate-tail";
    case WALRecoveryMode::kAbsoluteConsistency: return "absolute";
    case WALRecoveryMode::kPointInTimeRecovery: return "point-in-time";
    case WALRecoveryMode::kSkipAnyCorruptedRecords: return "skip-any";
  }
  return "?";
}

bool IsDrawn(uint64_t one_in, Random64* random) { return one_in != 0 && random->OneIn(one_in); }

}  // namespace

void CrashFigures::Count(const Recording& recording, uint64_t* which) {
  ++*which;
  reused += recording.sim->Stats().calls[static_cast<size_t>(CallKind::kReuse)];
  if (!recording.maps_logs) return;
  ++mapped;
  stores += recording.sim->Stats().calls[static_cast<size_t>(CallKind::kStore)];
}

std::string CrashFigures::ToString() const {
  std::string text = std::to_string(traces) + " traces and " + std::to_string(sequences) +
                     " sequences (" + std::to_string(mapped) + " with mapped logs, " +
                     std::to_string(reused) + " logs over older ones, " + std::to_string(stores) +
                     " stores), " + std::to_string(points) + " crash points, " +
                     std::to_string(images.size()) + " distinct images (";
  for (const auto& [policy, count] : first_policies) {
    text += policy + " " + std::to_string(count) + ", ";
  }
  text += "opened " + std::to_string(opened) + "), " + std::to_string(nested) +
          " nested recoveries, " + std::to_string(checkpoints) + " checkpoints, modes:";
  for (const auto& [mode, count] : modes) text += " " + mode + " " + std::to_string(count);
  return text;
}

std::shared_ptr<SimFS> ImageCheck::NewSim(const SimImage& image) const {
  std::shared_ptr<SimFS> sim = SimFS::FromImage(image);
  sim->OfferMappedLogs(recording_.maps_logs);
  return sim;
}

std::string ImageCheck::Check(uint64_t index, CrashPolicy policy, uint64_t seed) {
  const SimImage image = recording_.sim->CrashContents(index, policy, seed);
  const uint64_t hash = image.Hash();
  auto known = outcomes_.find(hash);
  if (known == outcomes_.end()) {
    ++figures_->opened;
    if (figures_->images.insert(hash).second) ++figures_->first_policies[NameOf(policy)];
    known = outcomes_.emplace(hash, OpenAndUse(image, seed ^ hash)).first;
  }
  std::string wrong = known->second.wrong;
  if (wrong.empty()) wrong = recording_.history.Judge(known->second.state, index, policy);
  if (wrong.empty()) return "";
  wrong += "\nfiles:";
  for (const auto& [path, bytes] : image.files) {
    wrong += " " + path + "(" + std::to_string(bytes.size()) + ")";
  }
  return wrong;
}

ImageCheck::Outcome ImageCheck::OpenAndUse(const SimImage& image, uint64_t seed) {
  Random64 random(seed);
  Outcome outcome;
  const std::shared_ptr<SimFS> sim = NewSim(image);
  const std::unique_ptr<Env> env = threads_.NewEnv(sim);
  const Options options = recording_.options.Build(env.get());
  OpenedDb opened;
  Contents contents;
  Status status = opened.Open(options, kCrashDir);
  const uint64_t calls = sim->CallCount();
  if (status.ok()) status = opened.ReadAll(&contents);
  if (!status.ok()) {
    outcome.wrong = status.ToString();
    return outcome;
  }
  outcome.state = HashesOf(contents);
  std::string report;
  (void)opened.db()->GetProperty("ashlar.recovery-report", &report);
  std::string& wrong = outcome.wrong;
  if (IsDrawn(effort_.modes, &random)) wrong = CheckModes(image, contents, report);
  if (wrong.empty() && IsDrawn(effort_.all_nested, &random)) {
    for (const FileCall& call : sim->MutatingCalls()) {
      for (CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kTorn, CrashPolicy::kReorder}) {
        if (!wrong.empty() || call.index > calls) break;
        wrong = CheckNestedAt(*sim, outcome.state, call.index, policy, random.Next());
      }
    }
  } else if (wrong.empty() && IsDrawn(effort_.nested, &random)) {
    wrong = CheckNested(*sim, outcome.state, calls, random.Next());
  }
  if (wrong.empty() && IsDrawn(effort_.write, &random)) {
    wrong = WriteAndReopen(options, &opened, std::move(contents));
  }
  if (!wrong.empty() && !report.empty()) wrong += "\nrecovery report: " + report;
  return outcome;
}

// Writes 20 keys, flushes, reopens and expects them in addition to the earlier contents.
std::string ImageCheck::WriteAndReopen(const Options& options, OpenedDb* opened,
                                       Contents expected) {
  WriteOptions sync;
  sync.sync = true;
  ColumnFamilyHandle* handle = opened->handles().back();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "after" + std::to_string(i), value = "v" + std::to_string(i);
    std::string wrong =
        Said("put", opened->db()->Put(i == 0 ? sync : WriteOptions(), handle, key, value));
    if (!wrong.empty()) return wrong;
    expected[handle->GetName()][key] = value;
  }
  std::string wrong = Said("flush", opened->db()->Flush(FlushOptions(), handle));
  if (wrong.empty()) wrong = Said("close", opened->Close());
  OpenedDb again;
  if (wrong.empty()) wrong = Said("second open", again.Open(options, kCrashDir));
  Contents found;
  if (wrong.empty()) wrong = Said("second read", again.ReadAll(&found));
  if (wrong.empty() && found != expected) wrong = "the second open found other rows";
  return wrong;
}

// ---- Recoveries that crash

std::string ImageCheck::CheckNested(const SimFS& image, const FamilyHashes& state, uint64_t calls,
                                    uint64_t seed) {
  Random64 random(seed);
  const CrashPolicy policy = kAllCrashPolicies[random.Uniform(std::size(kAllCrashPolicies))];
  return CheckNestedAt(image, state, random.Uniform(calls + 1), policy, random.Next());
}

// The image of a recovery that crashed must give the same state as the complete recovery.
std::string ImageCheck::CheckNestedAt(const SimFS& image, const FamilyHashes& state, uint64_t index,
                                      CrashPolicy policy, uint64_t seed) {
  const std::unique_ptr<Env> env = threads_.NewEnv(image.CrashImage(index, policy, seed));
  OpenedDb opened;
  Contents contents;
  Status status = opened.Open(recording_.options.Build(env.get()), kCrashDir);
  if (status.ok()) status = opened.ReadAll(&contents);
  ++figures_->nested;
  if (status.ok() && HashesOf(contents) == state) return "";
  return "recovery cut before call " + std::to_string(index) + ", policy " + NameOf(policy) + ": " +
         (status.ok() ? "another state" : status.ToString()) + LastCalls(image, index);
}

// ---- The other recovery modes

std::string ImageCheck::CheckModes(const SimImage& image, const Contents& contents,
                                   const std::string& report) {
  for (WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    const std::string wrong = CheckMode(mode, image, contents, report);
    if (!wrong.empty()) return std::string("recovery mode ") + NameOfMode(mode) + ": " + wrong;
  }
  return "";
}

// `contents` and `report` are the result of the default mode for the image. If it dropped nothing,
// all modes agree. If it dropped the unfinished end of the logs, only kAbsoluteConsistency refuses.
// If intact records followed, kTolerateCorruptedTailRecords refuses too, and
// kSkipAnyCorruptedRecords may keep more. A last record with its full length but a wrong checksum
// may count as either for kTolerateCorruptedTailRecords (docs/formats/wal.md, section 7). Old
// records of a recycled log end it in the default mode and are damage for kAbsoluteConsistency.
std::string ImageCheck::CheckMode(WALRecoveryMode mode, const SimImage& image,
                                  const Contents& contents, const std::string& report) {
  const std::unique_ptr<Env> env = threads_.NewEnv(NewSim(image));
  Options options = recording_.options.Build(env.get());
  options.wal_recovery_mode = mode;
  OpenedDb opened;
  Contents found;
  Status status = opened.Open(options, kCrashDir);
  if (status.ok()) status = opened.ReadAll(&found);
  ++figures_->modes[std::string(NameOfMode(mode)) + (status.ok() ? " opens" : " refuses")];
  const bool has_more = report.find("intact records follow") != std::string::npos;
  const bool is_skipping = mode == WALRecoveryMode::kSkipAnyCorruptedRecords;
  // These lines come first. Other lines report the remains of an unfinished change of the tree.
  const bool has_dropped = report.starts_with("log ");
  const bool must_refuse =
      has_dropped && (mode == WALRecoveryMode::kAbsoluteConsistency ||
                      (mode == WALRecoveryMode::kTolerateCorruptedTailRecords && has_more));
  if (must_refuse) {
    return status.IsCorruption() ? "" : "opens with " + status.ToString() + ", report " + report;
  }
  const bool may_refuse = (mode == WALRecoveryMode::kTolerateCorruptedTailRecords &&
                           report.find("checksum mismatch") != std::string::npos) ||
                          (mode == WALRecoveryMode::kAbsoluteConsistency &&
                           recording_.options.Get("recycled_logs") != 0);
  if (!status.ok()) return may_refuse && status.IsCorruption() ? "" : status.ToString();
  if (is_skipping && has_more) return "";
  return found == contents ? "" : "other rows than by default, whose report is '" + report + "'";
}

std::string LastCalls(const SimFS& sim, uint64_t index) {
  std::vector<FileCall> calls = sim.MutatingCalls();
  std::erase_if(calls, [index](const FileCall& call) { return call.index >= index; });
  std::string text;
  for (size_t i = calls.size() < 40 ? 0 : calls.size() - 40; i < calls.size(); ++i) {
    const FileCall& call = calls[i];
    text += "\n  " + std::to_string(call.index) + " " + NameOf(call.kind) + " " + call.path + " " +
            call.target + " " + std::to_string(call.offset) + "+" + std::to_string(call.size);
  }
  return text;
}

}  // namespace ashlar
