// SPDX-License-Identifier: Apache-2.0
//
// The machine stops at every I/O call of prepares, commits, rollbacks, memtable switches, flushes,
// deletions of logs and recoveries. What was acknowledged is there; what was under way happened
// wholly or not at all; and no interrupted recovery changes that.
#include <functional>

#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

// What a database shows: the rows of all families, then the undecided transactions.
using StateText = std::string;

struct Step {
  std::string name;
  std::function<void()> run;
};

class TwoPhaseCrashTest : public TwoPhaseTest {
 protected:
  TwoPhaseCrashTest() : TwoPhaseTest(TestFiles::kSim) {}

  static StateText StateOf(TestDb* opened, TwoPhaseWriter* sections) {
    StateText state;
    const Contents contents = opened->ReadAll();
    for (const auto& [family, rows] : contents) {
      for (const auto& [key, value] : rows) StrAppend(&state, family, ":", key, "=", value, " ");
    }
    return state + "| " + sections->Undecided();
  }
  // Opens the image and decides all that is undecided after a look at it. The calls of the opening
  // are numbered on *image.
  StateText LookAndDecide(const std::shared_ptr<SimFS>& image, StateText* decided) {
    TestDb opened(image, options_);
    opened.OpenAll();
    if (opened.db() == nullptr) return "not opened";
    TwoPhaseWriter sections(opened.db(), policy_);
    const StateText state = StateOf(&opened, &sections);
    if (decided != nullptr) {
      for (const std::string xid : {"xa", "xb", "xc"}) {
        if (sections.Undecided().find(xid) == std::string::npos) continue;
        EXPECT_OK(xid == "xb" ? sections.Rollback(xid) : sections.Commit(xid));
      }
      *decided = StateOf(&opened, &sections);
    }
    opened.Close();
    return state;
  }

  // A transaction of a put to every family.
  void PrepareInAll(const std::string& xid) {
    WriteBatch* const batch = writer().Begin(xid);
    for (ColumnFamilyHandle* family : handles_) ASSERT_OK(batch->Put(family, xid, "1"));
    ASSERT_OK(batch->Delete(handles_[0], "k"));
    ASSERT_OK(writer().Prepare(xid, Synced()));
  }
  std::vector<Step> Script() {
    ColumnFamilyHandle* const last = handles_.back();
    return {
        {"put", [=, this] { ASSERT_OK(db_->Put(Synced(), "k", "v")); }},
        {"prepare xa", [=, this] { PrepareInAll("xa"); }},
        {"flush the default family", [=, this] { Flush(); }},
        {"prepare xb", [=, this] { PrepareInAll("xb"); }},
        {"put into the last family", [=, this] { ASSERT_OK(db_->Put(Synced(), last, "l", "v")); }},
        {"flush the last family", [=, this] { Flush(last); }},
        {"commit xa", [=, this] { ASSERT_OK(writer().Commit("xa", Synced())); }},
        {"prepare xc", [=, this] { PrepareInAll("xc"); }},
        {"flush the default family again", [=, this] { Flush(); }},
        {"roll xb back", [=, this] { ASSERT_OK(writer().Rollback("xb", Synced())); }},
        {"put once more", [=, this] { ASSERT_OK(db_->Put(Synced(), "m", "v")); }},
        {"flush all", [=, this] { Flush(handles_); }},
        {"commit xc", [=, this] { ASSERT_OK(writer().Commit("xc", Synced())); }},
        {"flush all again", [=, this] { Flush(handles_); }},
    };
  }

  void CrashInRecoveries();
  // Runs the script and looks at the image of a crash at every call.
  void CrashEverywhere(const std::vector<std::string>& families,
                       const std::vector<CrashPolicy>& policies) {
    OpenTwoPhase(families);
    sim_->SyncEverything();
    std::vector<StateText> states{StateOf(this, writer_.get())};
    std::vector<uint64_t> ends{sim_->CallCount()};  // calls before this number led to the state
    std::vector<std::string> names{"open"};
    for (const Step& step : Script()) {
      step.run();
      if (HasFatalFailure()) return;
      ends.push_back(sim_->CallCount());
      states.push_back(StateOf(this, writer_.get()));
      names.push_back(step.name);
    }
    size_t done = 0;
    for (const FileCall& call : sim_->MutatingCalls()) {
      if (call.index < ends[0]) continue;
      while (done + 1 < ends.size() && ends[done + 1] <= call.index) done++;
      const size_t next = std::min(done + 1, states.size() - 1);
      for (const CrashPolicy policy : policies) {
        for (uint64_t seed = 0; seed < (UsesSeed(policy) ? 2 : 1); seed++) {
          const StateText found =
              LookAndDecide(sim_->CrashImage(call.index, policy, seed), nullptr);
          ASSERT_TRUE(found == states[done] || found == states[next])
              << "crash in \"" << names[next] << "\", call " << call.index << ", " << NameOf(policy)
              << ", seed " << seed << "\n found: " << found << "\nbefore: " << states[done]
              << "\n after: " << states[next];
        }
      }
    }
  }
};

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastWithOneFamily) {
  CrashEverywhere({"default"}, std::vector<CrashPolicy>(std::begin(kAllCrashPolicies),
                                                        std::end(kAllCrashPolicies)));
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastWithThreeFamilies) {
  CrashEverywhere({"default", "f", "g"}, {CrashPolicy::kStrict, CrashPolicy::kAll});
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastWithRecycledLogs) {
  options_.recycle_log_file_num = 2;
  CrashEverywhere({"default", "f"}, {CrashPolicy::kStrict, CrashPolicy::kAll});
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastWithMappedLogs) {
  sim_->OfferMappedLogs(true);
  CrashEverywhere({"default", "f"}, {CrashPolicy::kStrict, CrashPolicy::kAll});
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastWithAtomicFlush) {
  options_.atomic_flush = true;
  CrashEverywhere({"default", "f"}, {CrashPolicy::kStrict, CrashPolicy::kAll});
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastOfWritePreparedOnes) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  CrashEverywhere({"default"}, std::vector<CrashPolicy>(std::begin(kAllCrashPolicies),
                                                        std::end(kAllCrashPolicies)));
}

TEST_F(TwoPhaseCrashTest, EveryCallMayBeTheLastOfWritePreparedOnesWithThreeFamilies) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  CrashEverywhere({"default", "f", "g"}, {CrashPolicy::kStrict, CrashPolicy::kAll});
}

// Data in tables counts as committed once no log says otherwise: the rollback may not be lost when
// the log of the section goes.
TEST_F(TwoPhaseCrashTest, AnUnsyncedRollbackIsNeverACommit) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  OpenTwoPhase({"default", "f"});
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  Flush();
  Put("k");
  ASSERT_OK(writer().Rollback("xa"));
  ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "f", "v"));
  Flush(handles_[1]);
  for (const CrashPolicy policy : kAllCrashPolicies) {
    const StateText found = LookAndDecide(CrashImage(policy), nullptr);
    EXPECT_EQ(found.find("a=xa"), std::string::npos) << found;
  }
}

// The log of the marker stays because of another transaction, and is not synced by the commit. If
// it lost its end while the table has the data, the transaction would be prepared again.
TEST_F(TwoPhaseCrashTest, ADecisionWhoseDataIsInATableIsDurable) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}, Synced()));
  Put("k");
  Flush();
  ASSERT_OK(writer().Commit("xa"));
  Flush();
  EXPECT_EQ(LookAndDecide(CrashImage(CrashPolicy::kStrict), nullptr),
            "default:a=xa default:k=v | xb");
}

// A crash in a recovery, and one in the recovery after that.
void TwoPhaseCrashTest::CrashInRecoveries() {
  OpenTwoPhase({"default", "f"});
  for (const Step& step : Script()) {
    if (step.name == "roll xb back") break;
    step.run();
  }
  const StateText expected = StateOf(this, writer_.get());
  for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
    const std::shared_ptr<SimFS> first = CrashImage(policy);
    StateText decided;
    ASSERT_EQ(LookAndDecide(first, &decided), expected);
    const uint64_t end = first->CallCount();
    for (const FileCall& call : first->MutatingCalls()) {
      ASSERT_LE(call.index, end);
      const std::shared_ptr<SimFS> second = first->CrashImage(call.index, CrashPolicy::kStrict);
      const StateText found = LookAndDecide(second, nullptr);
      // The decisions are not synced: each of them may be there or not.
      const bool is_before_decisions = found == expected;
      if (!is_before_decisions) {
        ASSERT_EQ(found.find("xb=1"), std::string::npos) << found;
      }
      if (call.index % 7 != 0) continue;
      for (const FileCall& again : second->MutatingCalls()) {
        ASSERT_EQ(LookAndDecide(second->CrashImage(again.index, CrashPolicy::kStrict), nullptr),
                  found)
            << "call " << call.index << ", then call " << again.index;
      }
    }
  }
}

TEST_F(TwoPhaseCrashTest, EveryCallOfARecoveryMayBeTheLast) { CrashInRecoveries(); }

TEST_F(TwoPhaseCrashTest, EveryCallOfARecoveryMayBeTheLastOfWritePreparedOnes) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  CrashInRecoveries();
}

}  // namespace
}  // namespace ashlar
