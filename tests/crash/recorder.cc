// SPDX-License-Identifier: Apache-2.0
//
// Records the durability of each operation, and from which call on it holds.
#include "tests/crash/recorder.h"

#include <utility>

#include "ashlar/db.h"
#include "tests/support/suite.h"

namespace ashlar {

OptionSet CrashOptions(uint64_t seed) {
  OptionSet options = OptionSet::Draw(seed);
  options.Set("memtable", seed % 2 == 0 ? 4096 : 16384);
  options.Set("manual_wal_flush", seed % 5 == 3 ? 1 : 0);
  options.Set("wal_dir", seed % 4 == 2 ? 1 : 0);
  options.Set("paths", seed % 8 == 5 ? 1 : 0);
  // Half of the option sets that always write a log.
  options.Set("recycled_logs", seed % 3 != 1 && seed % 2 == 0 ? 2 : 0);
  options.Set("paranoid", 1);  // otherwise damage of logs is ignored
  return options;
}

TraceProfile CrashProfile(uint64_t seed) {
  TraceProfile profile;
  profile.pool_keys = 40;
  profile.max_value = 700;
  profile.sync_percent = 10;
  profile.no_wal_percent = seed % 3 == 1 ? 25 : 0;
  // No merges if some writes skip the log: a crash could lose the value below an operand.
  profile.has_merges = profile.no_wal_percent == 0;
  profile.has_hidden_failures = true;
  profile.has_reads = profile.has_iterators = profile.has_set_options = false;
  return profile;
}

Recorder::Recorder(const std::string& name, uint64_t seed, bool has_own_threads, bool maps_logs,
                   const OptionSet& options)
    : recording_{name, seed, has_own_threads, maps_logs, options, SimFS::Create(), History()},
      threads_(seed, has_own_threads),
      env_(threads_.NewEnv(recording_.sim)),
      runner_(env_.get(), kCrashDir, options) {
  recording_.sim->OfferMappedLogs(maps_logs);
}

uint64_t Recorder::NextCall() {
  recording_.sim->ObserveStores();
  return recording_.sim->CallCount();
}

std::string Recorder::Open() {
  const std::string wrong = runner_.Open();
  recording_.history.Family("default")->create_end = NextCall();
  return wrong;
}

std::string Recorder::Close() {
  const std::string wrong = runner_.Close();
  recording_.history.NoteDelivered(NextCall());
  return wrong;
}

std::string Recorder::Apply(const TraceOp& op) {
  BeginCase(recording_.name + ", recording: " + op.ToString().substr(0, 300));
  const uint64_t begin = NextCall();
  // A reversed range is refused: it neither writes nor syncs anything.
  const bool is_refused =
      op.kind == OpKind::kDeleteRange &&
      recording_.options.comparator()->Compare(op.keys.front(), op.keys.back()) > 0;
  if (is_refused) return runner_.Apply(op);
  if (op.IsWrite()) recording_.history.BeginWrite(begin, !op.disable_wal);
  std::string wrong = op.kind == OpKind::kSyncWal ? ApplyToLog(op) : runner_.Apply(op);
  if (op.IsWrite()) NoteContents(op);
  NoteAfter(op, begin, NextCall());
  threads_.RunSome();
  return wrong;
}

// With manual_wal_flush half of these calls go only to the kernel.
std::string Recorder::ApplyToLog(const TraceOp& op) {
  History& history = recording_.history;
  const bool is_manual = recording_.options.Get("manual_wal_flush") != 0;
  if (!is_manual) {
    const std::string wrong = runner_.Apply(op);
    history.NoteSynced(NextCall());
    return wrong;
  }
  const bool syncs = history.write_count() % 2 == 0;
  const Status status = db()->FlushWAL(syncs);
  history.NoteDelivered(NextCall());
  if (syncs) history.NoteSynced(NextCall());
  return status.ok() ? "" : "flush log: " + status.ToString();
}

// Records the new values of the written keys, taken from the oracle, because the value of a merge
// depends on the value before it.
void Recorder::NoteContents(const TraceOp& op) {
  const Comparator* const order = recording_.options.comparator();
  const auto note = [&](OpKind kind, int number, const std::string& key, const std::string& end) {
    if (kind == OpKind::kDeleteRange) {
      return recording_.history.DeleteRange(FamilyName(number), {key, end, order});
    }
    const Oracle& oracle = runner_.oracle();
    const auto family = oracle.Family(number);
    const auto value = family == nullptr ? std::nullopt : family->At(key, oracle.seqno());
    recording_.history.Update(FamilyName(number), key,
                              value.has_value() ? std::optional(value->Expand()) : std::nullopt);
  };
  for (const BatchPart& part : op.parts) note(part.kind, part.family, part.key, part.end);
  if (op.kind != OpKind::kBatch) note(op.kind, op.family, op.keys.front(), op.keys.back());
}

void Recorder::NoteAfter(const TraceOp& op, uint64_t begin, uint64_t end) {
  History& history = recording_.history;
  if (op.IsWrite()) {
    history.Acknowledge(end);
    const bool is_delivered = recording_.options.Get("manual_wal_flush") == 0 || op.sync;
    if (is_delivered && !op.disable_wal) history.NoteDelivered(end);
    if (op.sync) history.NoteSynced(end);
    return;
  }
  switch (op.kind) {
    case OpKind::kCreateFamily: return history.CreateFamily(FamilyName(op.family), begin, end);
    case OpKind::kDropFamily: return history.DropFamily(FamilyName(op.family), begin, end);
    case OpKind::kFlush: return history.NoteFlushed(FamilyName(op.family), end);
    case OpKind::kReopen: return history.NoteAllKept(end);
    default: return;
  }
}

}  // namespace ashlar
