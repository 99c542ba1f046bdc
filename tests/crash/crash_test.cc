// SPDX-License-Identifier: Apache-2.0
//
// Crash test: traces run on SimFS; for crash points all over the run, every policy's image is
// opened and must hold a prefix of the writes, the same in all families, with everything that was
// synced. Then it is written to, flushed and opened again. Some recoveries crash as well.
//
//   crash_test [--seconds=25] [--seed=N]       with --seed all crash points of that one trace
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/suite.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_runner.h"
#include "util/hash.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";
constexpr uint64_t kStride = 11;

SuiteArguments arguments;

struct Figures {
  uint64_t traces = 0;
  uint64_t points = 0;
  std::map<std::string, uint64_t> images;
  uint64_t nested = 0;
  uint64_t torn_manifests = 0;  // known: refused to open
};
Figures figures;

// The content of all families, as hashes.
using State = std::map<std::string, uint64_t>;

State StateOf(const Contents& contents) {
  State state;
  for (const auto& [family, rows] : contents) state[family] = HashOf(rows);
  return state;
}

struct FamilyLife {
  std::string name;
  uint64_t create_begin = 0, create_end = 0;
  uint64_t drop_begin = UINT64_MAX, drop_end = UINT64_MAX;
};

// One run, with what must hold at each call number.
struct Recording {
  OptionSet options;
  std::shared_ptr<SimFS> sim;
  std::vector<State> states;           // after each write; [0] is empty
  std::vector<uint64_t> write_begin;   // call number at which a write began; [0] = 0
  std::vector<uint64_t> write_end;     // ... and was acknowledged
  std::vector<std::pair<uint64_t, uint64_t>> durable;  // from this call on, this many writes
  std::vector<FamilyLife> families;
  uint64_t open_end = 0;
};

class Recorder {
 public:
  explicit Recorder(uint64_t seed) : generator_(seed, Profile()) {
    recording_.options = OptionSet::Draw(seed);
    recording_.options.Set("memtable", seed % 2 == 0 ? 4096 : 16384);
    recording_.sim = SimFS::Create();
    recording_.states.push_back({{"default", 0}});
    recording_.write_begin.push_back(0);
    recording_.write_end.push_back(0);
    recording_.families.push_back({"default", 0, 0});
  }

  // Says what went wrong in the run itself.
  std::string Run(size_t count) {
    const std::unique_ptr<Env> env = NewCompositeEnv(recording_.sim);
    TraceRunner runner(env.get(), kDir, recording_.options);
    std::string wrong = runner.Open();
    recording_.open_end = recording_.sim->CallCount();
    recording_.families[0].create_end = recording_.open_end;
    for (size_t i = 0; i < count && wrong.empty(); ++i) wrong = RunOne(&runner, generator_.Next());
    const std::string closed = runner.Close();
    return wrong.empty() ? closed : wrong;
  }

  Recording& recording() { return recording_; }

 private:
  static TraceProfile Profile() {
    TraceProfile profile;
    profile.pool_keys = 40;
    profile.max_value = 700;
    profile.sync_percent = 10;
    profile.has_reads = profile.has_iterators = profile.has_set_options = false;
    return profile;
  }

  std::string RunOne(TraceRunner* runner, const TraceOp& op) {
    BeginCase("recording: " + op.ToString().substr(0, 300));
    const uint64_t begin = recording_.sim->CallCount();
    const uint64_t before = runner->oracle().seqno();
    std::string wrong = runner->Apply(op);
    const uint64_t end = recording_.sim->CallCount();
    const uint64_t writes = runner->oracle().seqno();
    if (writes > before) NoteWrite(runner->oracle(), begin, end, op);
    if (op.kind == OpKind::kCreateFamily) {
      recording_.families.push_back({FamilyName(op.family), begin, end});
      recording_.states.back()[FamilyName(op.family)] = 0;
    }
    if (op.kind == OpKind::kDropFamily) {
      for (FamilyLife& life : recording_.families) {
        if (life.name != FamilyName(op.family)) continue;
        life.drop_begin = begin;
        life.drop_end = end;
      }
    }
    const bool syncs_all = op.sync || op.kind == OpKind::kSyncWal ||
                           (op.kind == OpKind::kReopen &&
                            recording_.options.Get("recover_no_flush") == 0);
    if (syncs_all) recording_.durable.emplace_back(end, writes);
    if (op.kind == OpKind::kFlush) recording_.durable.emplace_back(end, last_write_[op.family]);
    return wrong;
  }

  void NoteWrite(const Oracle& oracle, uint64_t begin, uint64_t end, const TraceOp& op) {
    State state = recording_.states.back();
    std::set<int> touched;
    if (op.kind != OpKind::kBatch) touched.insert(op.family);
    for (const BatchPart& part : op.parts) touched.insert(part.family);
    for (int number : touched) {
      const auto family = oracle.Family(number);
      if (family == nullptr) continue;
      uint64_t sum = 0;
      for (const OracleRow& row : family->RowsAt(oracle.seqno())) {
        sum += HashOfRow(row.first, row.second.Expand());
      }
      state[FamilyName(number)] = sum;
      last_write_[number] = oracle.seqno();
    }
    recording_.states.push_back(std::move(state));
    recording_.write_begin.push_back(begin);
    recording_.write_end.push_back(end);
  }

  TraceGenerator generator_;
  Recording recording_;
  std::map<int, uint64_t> last_write_;
};

// What a crash before call `index` may leave.
struct Allowed {
  uint64_t lowest = 0, highest = 0;  // numbers of writes
  std::set<std::string> must, may;   // families
};

Allowed AllowedAt(const Recording& recording, uint64_t index, CrashPolicy policy) {
  Allowed allowed;
  for (size_t n = 1; n < recording.write_begin.size(); ++n) {
    if (recording.write_begin[n] <= index) allowed.highest = n;
    // The death of the process alone loses nothing that was acknowledged.
    if (policy == CrashPolicy::kAll && recording.write_end[n] <= index) allowed.lowest = n;
  }
  for (const auto& [call, writes] : recording.durable) {
    if (call <= index) allowed.lowest = std::max(allowed.lowest, writes);
  }
  for (const FamilyLife& life : recording.families) {
    if (life.create_begin <= index && index < life.drop_end) allowed.may.insert(life.name);
    if (life.create_end <= index && index <= life.drop_begin) allowed.must.insert(life.name);
  }
  allowed.may.insert("default");
  return allowed;
}

// The write number whose state this is, or an explanation.
std::string FindPrefix(const Recording& recording, const Allowed& allowed, const State& found,
                       uint64_t* prefix) {
  for (const std::string& family : allowed.must) {
    if (found.count(family) == 0) return "family " + family + " is gone";
  }
  for (const auto& family : found) {
    if (allowed.may.count(family.first) == 0) return "family " + family.first + " is back";
  }
  const auto equals = [&](uint64_t n) {
    for (const auto& [family, hash] : found) {
      const auto it = recording.states[n].find(family);
      if (hash != (it == recording.states[n].end() ? 0 : it->second)) return false;
    }
    return true;
  };
  for (uint64_t n = allowed.highest + 1; n-- > allowed.lowest;) {
    if (!equals(n)) continue;
    *prefix = n;
    return "";
  }
  for (uint64_t n = 0; n < recording.states.size(); ++n) {
    if (equals(n)) {
      return "state of write " + std::to_string(n) + ", allowed " +
             std::to_string(allowed.lowest) + ".." + std::to_string(allowed.highest);
    }
  }
  std::string text = "no prefix of the writes; allowed " + std::to_string(allowed.lowest) + ".." +
                     std::to_string(allowed.highest) + "; per family:";
  for (const auto& [family, hash] : found) {
    text += " " + family + "=";
    for (uint64_t n = 0; n < recording.states.size(); ++n) {
      const auto it = recording.states[n].find(family);
      if (hash == (it == recording.states[n].end() ? 0 : it->second)) {
        text += std::to_string(n) + ",";
      }
    }
  }
  return text;
}

std::string Said(const char* what, const Status& status) {
  return status.ok() ? "" : std::string(what) + ": " + status.ToString();
}

// Writes 20 keys, flushes, reopens and expects them beside what was there.
std::string WriteAndReopen(const Options& options, OpenedDb* opened, Contents expected) {
  WriteOptions sync;
  sync.sync = true;
  ColumnFamilyHandle* handle = opened->handles().back();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "after" + std::to_string(i);
    std::string wrong = Said("put", opened->db()->Put(i == 0 ? sync : WriteOptions(), handle, key,
                                                      "v" + std::to_string(i)));
    if (!wrong.empty()) return wrong;
    expected[handle->GetName()][key] = "v" + std::to_string(i);
  }
  std::string wrong = Said("flush", opened->db()->Flush(FlushOptions(), handle));
  if (wrong.empty()) wrong = Said("close", opened->Close());
  OpenedDb again;
  if (wrong.empty()) wrong = Said("second open", again.Open(options, kDir));
  Contents found;
  if (wrong.empty()) wrong = Said("second read", again.ReadAll(&found));
  if (wrong.empty() && found != expected) wrong = "the second open found other rows";
  return wrong;
}

// The image of a recovery that crashed at a random call must give the state it was about to give.
std::string CheckNested(const Recording& recording, const SimFS& image, const State& state,
                        uint64_t calls, uint64_t seed) {
  const uint64_t index = seed % (calls + 1);
  const CrashPolicy policy = kAllCrashPolicies[(seed >> 20) % std::size(kAllCrashPolicies)];
  const std::unique_ptr<Env> env = NewCompositeEnv(image.CrashImage(index, policy, seed));
  OpenedDb opened;
  Contents contents;
  const std::string where = "recovery cut before call " + std::to_string(index) + " of " +
                            std::to_string(calls) + ", policy " + NameOf(policy) + ": ";
  const Options options = recording.options.Build(env.get());
  Status status = opened.Open(options, kDir);
  if (status.ok()) status = opened.ReadAll(&contents);
  if (!status.ok()) return where + status.ToString();
  ++figures.nested;
  return StateOf(contents) == state ? "" : where + "another state";
}

std::string CheckImage(const Recording& recording, uint64_t index, CrashPolicy policy,
                       uint64_t seed) {
  const std::shared_ptr<SimFS> image = recording.sim->CrashImage(index, policy, seed);
  const std::unique_ptr<Env> env = NewCompositeEnv(image);
  const Options options = recording.options.Build(env.get());
  OpenedDb opened;
  Contents contents;
  Status status = opened.Open(options, kDir);
  const uint64_t calls = image->CallCount();
  if (status.ok()) status = opened.ReadAll(&contents);
  // Not told apart yet: a last MANIFEST record that a crash tore, with zeros where its end should
  // be, and one that was damaged. Both answer Corruption; counted and printed.
  const bool may_tear = policy == CrashPolicy::kTorn || policy == CrashPolicy::kReorder ||
                        policy == CrashPolicy::kSizeFirst;
  if (may_tear && status.IsCorruption() &&
      status.ToString().find("MANIFEST") != std::string::npos) {
    ++figures.torn_manifests;
    return "";
  }
  if (!status.ok()) return status.ToString();
  const State state = StateOf(contents);
  uint64_t prefix = 0;
  std::string wrong =
      FindPrefix(recording, AllowedAt(recording, index, policy), state, &prefix);
  if (!wrong.empty()) {
    std::string report;
    (void)opened.db()->GetProperty("ashlar.recovery-report", &report);
    wrong += "; report: " + report + "; files:";
    const SimImage files = recording.sim->CrashContents(index, policy, seed);
    for (const auto& [path, bytes] : files.files) {
      wrong += " " + path + "(" + std::to_string(bytes.size()) + ")";
    }
  }
  if (wrong.empty() && seed % 4 == 0) {
    wrong = CheckNested(recording, *image, state, calls, FilterHash64(std::to_string(seed)));
  }
  return wrong.empty() ? WriteAndReopen(options, &opened, contents) : wrong;
}

// The calls that led to the crash, for the message.
std::string LastCalls(const std::vector<FileCall>& calls, size_t end) {
  std::string text;
  for (size_t i = end < 40 ? 0 : end - 40; i < end; ++i) {
    text += "\n  " + std::to_string(calls[i].index) + " " + NameOf(calls[i].kind) + " " +
            calls[i].path + " " + calls[i].target + " " + std::to_string(calls[i].offset) + "+" +
            std::to_string(calls[i].size);
  }
  return text;
}

void RunTrace(uint64_t seed, double deadline) {
  Recorder recorder(seed);
  const std::string wrong = recorder.Run(250);
  const Recording& recording = recorder.recording();
  ASSERT_EQ(wrong, "") << "seed " << seed << ", options " << recording.options.ToString();
  ++figures.traces;
  const std::vector<FileCall> calls = recording.sim->MutatingCalls();
  const uint64_t step = arguments.has_seed ? 1 : kStride;
  for (size_t i = seed % step; i < calls.size() && SuiteClock() < deadline; i += step) {
    ++figures.points;
    for (CrashPolicy policy : kAllCrashPolicies) {
      const uint64_t image_seed = calls[i].index * 7 + static_cast<uint64_t>(policy);
      const std::string name = "seed " + std::to_string(seed) + ", crash before call " +
                               std::to_string(calls[i].index) + " (" + NameOf(calls[i].kind) +
                               " " + calls[i].path + "), policy " + NameOf(policy);
      BeginCase(name);
      const std::string found = CheckImage(recording, calls[i].index, policy, image_seed);
      ++figures.images[NameOf(policy)];
      if (found.empty()) continue;
      ADD_FAILURE() << name << ": " << found << "\noptions " << recording.options.ToString()
                    << LastCalls(calls, i);
      return;
    }
  }
}

TEST(CrashTest, EveryImageRecoversToAPrefix) {
  std::printf("crash: seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  const double deadline = SuiteClock() + arguments.seconds;
  uint64_t seed = arguments.seed;
  do {
    RunTrace(seed++, deadline);
  } while (!arguments.has_seed && SuiteClock() < deadline && !HasFailure());
  EndCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 25);
  const int result = RUN_ALL_TESTS();
  std::printf("crash: %llu traces, %llu crash points, %llu nested recoveries, images:",
              static_cast<unsigned long long>(ashlar::figures.traces),
              static_cast<unsigned long long>(ashlar::figures.points),
              static_cast<unsigned long long>(ashlar::figures.nested));
  for (const auto& [policy, count] : ashlar::figures.images) {
    std::printf(" %s %llu", policy.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf(", known refusals of a torn MANIFEST %llu, seed %llu\n",
              static_cast<unsigned long long>(ashlar::figures.torn_manifests), static_cast<unsigned long long>(ashlar::arguments.seed));
  return result;
}
