// SPDX-License-Identifier: Apache-2.0
//
// Logs that fail while transactions are prepared and decided, and what a recovery from the error
// makes of the undecided ones.
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

using State = PreparedSection::State;

class TwoPhaseErrorsTest : public TwoPhaseTest {
 protected:
  TwoPhaseErrorsTest() : TwoPhaseTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;
    OpenTwoPhase();
  }
  State StateOf(const std::string& xid) { return writer().SectionOf(xid)->state(); }
  void FailAppends() { Fail(CallKind::kAppend, ".log", FaultMode::kSticky); }
  void FailSyncs() { Fail(CallKind::kSync, ".log", FaultMode::kSticky); }
  void Recover() {
    sim_->ClearFaults();
    ASSERT_OK(db_->Resume());
  }
  // Another opening of the files that a crash leaves now.
  std::string UndecidedAfterCrash() {
    TestDb image(CrashImage(CrashPolicy::kStrict), options_);
    image.OpenAll();
    if (image.db() == nullptr) return "not opened";
    TwoPhaseWriter sections(image.db());
    const std::string undecided = sections.Undecided() + " | " + image.Scan();
    image.Close();
    return undecided;
  }
};

TEST_F(TwoPhaseErrorsTest, APrepareThatCannotBeLoggedIsNone) {
  FailAppends();
  EXPECT_FALSE(writer().PreparePuts("xa", {"a"}).ok());
  EXPECT_EQ(StateOf("xa"), State::kNotLogged);
  Recover();
  ASSERT_OK(writer().Prepare("xa", Synced()));
  EXPECT_EQ(StateOf("xa"), State::kUndecided);
  EXPECT_EQ(UndecidedAfterCrash(), "xa | ");
}

TEST_F(TwoPhaseErrorsTest, ARecordWithMarkersIsNotLoggedInPart) {
  writer().Begin("xa")->MarkWalTerminationPoint();
  EXPECT_TRUE(writer().Prepare("xa").IsNotSupported());
  EXPECT_EQ(StateOf("xa"), State::kNotLogged);
  ASSERT_OK(writer().PreparePuts("xb", {"a"}));
  WriteBatch at_commit;
  at_commit.MarkWalTerminationPoint();
  EXPECT_TRUE(writer().Commit("xb", Synced(), &at_commit).IsNotSupported());
  EXPECT_EQ(StateOf("xb"), State::kUndecided);
  ASSERT_OK(writer().Commit("xb", Synced()));
  EXPECT_EQ(UndecidedAfterCrash(), " | a=xb");
}

TEST_F(TwoPhaseErrorsTest, APrepareWhoseSyncFailsIsNone) {
  FailSyncs();
  EXPECT_FALSE(writer().PreparePuts("xa", {"a"}, Synced()).ok());
  EXPECT_EQ(StateOf("xa"), State::kNotLogged);
  Recover();
  ASSERT_OK(db_->Put(Synced(), "k", "v"));
  EXPECT_EQ(UndecidedAfterCrash(), " | k=v");
}

TEST_F(TwoPhaseErrorsTest, ACommitThatCannotBeLoggedLeavesTheTransactionPrepared) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  FailAppends();
  EXPECT_FALSE(writer().Commit("xa").ok());
  EXPECT_EQ(StateOf("xa"), State::kUndecided);
  EXPECT_EQ(Scan(), "");
  Recover();
  EXPECT_EQ(UndecidedAfterCrash(), "xa | ") << "logged again in the fresh log";
  ASSERT_OK(writer().Commit("xa", Synced()));
  EXPECT_EQ(Scan(), "a=xa");
  EXPECT_EQ(UndecidedAfterCrash(), " | a=xa");
}

TEST_F(TwoPhaseErrorsTest, ARollbackThatCannotBeLoggedCanBeRepeated) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  FailAppends();
  EXPECT_FALSE(writer().Rollback("xa").ok());
  EXPECT_EQ(StateOf("xa"), State::kUndecided);
  Recover();
  ASSERT_OK(writer().Rollback("xa", Synced()));
  EXPECT_EQ(UndecidedAfterCrash(), " | ");
}

// Readers see it already: it cannot be taken back.
TEST_F(TwoPhaseErrorsTest, ACommitWhoseSyncFailsIsCommitted) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  FailSyncs();
  EXPECT_FALSE(writer().Commit("xa", Synced()).ok());
  EXPECT_EQ(StateOf("xa"), State::kDecided);
  EXPECT_EQ(Scan(), "a=xa");
  Recover();
  EXPECT_EQ(UndecidedAfterCrash(), " | a=xa");
}

TEST_F(TwoPhaseErrorsTest, OldLogsAreNotNeededBehindARecovery) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}, Synced()));
  Put("k");
  Flush();
  FailAppends();
  EXPECT_FALSE(db_->Put(WriteOptions(), "l", "v").ok());
  Recover();
  EXPECT_EQ(LogNumbers().size(), 1u);
  EXPECT_EQ(writer().SectionOf("xa")->log().value(), LogNumbers().back());
  EXPECT_EQ(UndecidedAfterCrash(), "xa xb | k=v");
  ASSERT_OK(writer().Commit("xb", Synced()));
  EXPECT_EQ(UndecidedAfterCrash(), "xa | b=xb k=v");
}

// The recovery itself may fail, at any of its calls, and be tried again, or the machine may crash.
TEST_F(TwoPhaseErrorsTest, EveryCallOfARecoveryMayFailOrBeTheLast) {
  for (int failing = 0;; failing++) {
    Drop();
    UseSim(SimFS::Create());
    OpenTwoPhase();
    ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
    ASSERT_OK(db_->Put(Synced(), "k", "v"));
    FailAppends();
    EXPECT_FALSE(writer().Commit("xa").ok());
    sim_->ClearFaults();
    const uint64_t begin = sim_->CallCount();
    sim_->FailAt(begin + static_cast<uint64_t>(failing), FaultError::kIO);
    const Status recovered = db_->Resume();
    const uint64_t end = sim_->CallCount();
    for (uint64_t call = begin; call <= end; call++) {
      TestDb image(sim_->CrashImage(call, CrashPolicy::kStrict), options_);
      image.OpenAll();
      ASSERT_NE(image.db(), nullptr) << "failing " << failing << " call " << call;
      TwoPhaseWriter sections(image.db());
      ASSERT_EQ(sections.Undecided() + " | " + image.Scan(), "xa | k=v")
          << "failing " << failing << " call " << call;
      image.Close();
    }
    sim_->ClearFaults();
    if (!recovered.ok()) {
      EXPECT_OK(db_->Resume());
    }
    ASSERT_OK(writer().Commit("xa", Synced()));
    ASSERT_EQ(UndecidedAfterCrash(), " | a=xa k=v") << failing;
    if (begin + static_cast<uint64_t>(failing) >= end) break;
  }
}

// An append may fail although all its bytes are in the file. The recovery logs the section again,
// because its transaction is undecided. If the machine crashes before the MANIFEST drops the old
// log, a replay finds first the decision, then the section.
TEST_F(TwoPhaseErrorsTest, ADecisionThatAFailedAppendLoggedIsTakenOnce) {
  for (const bool is_commit : {true, false}) {
    Drop();
    UseSim(SimFS::Create());
    OpenTwoPhase();
    ASSERT_OK(writer().PreparePuts("xa", {"a"}, Synced()));
    ASSERT_OK(writer().PreparePuts("xb", {"b"}, Synced()));
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kAppend);
    plan.path_part = ".log";
    plan.effect = FaultEffect::kFull;
    sim_->AddFault(plan);
    EXPECT_FALSE((is_commit ? writer().Commit("xa") : writer().Rollback("xa")).ok());
    EXPECT_EQ(StateOf("xa"), State::kUndecided);
    // The first attempt writes a log of its own, in which the section is too.
    Fail(CallKind::kSync, "MANIFEST", FaultMode::kOnce);
    const uint64_t begin = sim_->CallCount();
    EXPECT_FALSE(db_->Resume().ok());
    sim_->ClearFaults();
    ASSERT_OK(db_->Resume());
    for (uint64_t call = begin; call <= sim_->CallCount(); call++) {
      for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
        TestDb image(sim_->CrashImage(call, policy), options_);
        image.OpenAll();
        ASSERT_NE(image.db(), nullptr) << "call " << call;
        TwoPhaseWriter sections(image.db());
        const std::string found = sections.Undecided() + " | " + image.Scan();
        EXPECT_TRUE(found == "xa xb | " || found == (is_commit ? "xb | a=xa" : "xb | "))
            << found << ", call " << call;
        image.Close();
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
