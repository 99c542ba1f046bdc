// SPDX-License-Identifier: Apache-2.0
//
// What an opening makes of prepare sections and markers in the logs.
#include "ashlar/utilities/checkpoint.h"
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhaseRecoveryTest : public TwoPhaseTest {
 protected:
  TwoPhaseRecoveryTest() : TwoPhaseTest(TestFiles::kSim) {}
  // The log files that hold the name of a transaction.
  size_t LogsWith(const std::string& xid) {
    WaitForJobs();
    size_t count = 0;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      count += path.ends_with(".log") && bytes.find(xid) != std::string::npos;
    }
    return count;
  }
};

TEST_F(TwoPhaseRecoveryTest, UndecidedTransactionsAreHandedOutAndCanBeDecided) {
  OpenTwoPhase();
  Put("a", "0");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  ASSERT_OK(writer().PreparePuts("xb", {"c"}));
  ASSERT_OK(writer().PreparePuts("xc", {"d"}));
  ASSERT_OK(writer().Rollback("xc"));
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "xa xb");
  EXPECT_EQ(Scan(), "a=0");
  ASSERT_OK(writer().Commit("xa"));
  ASSERT_OK(writer().Rollback("xb"));
  EXPECT_EQ(Scan(), "a=xa b=xa");
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "");
  EXPECT_EQ(Scan(), "a=xa b=xa");
}

TEST_F(TwoPhaseRecoveryTest, ARecoveredSectionIsWhatWasPrepared) {
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put("a", "1"));
  ASSERT_OK(batch->Delete(handles_[1], "b"));
  ASSERT_OK(writer().Prepare("xa"));
  const std::string records = batch->Data().substr(kWriteBatchHeaderBytes);
  KillAndReopen();
  const PreparedSection* const section = writer().SectionOf("xa");
  EXPECT_EQ(section->policy(), TwoPhaseWriter::Policy::kWriteCommitted);
  EXPECT_EQ(section->batch()->Data().substr(kWriteBatchHeaderBytes), records);
  EXPECT_EQ(section->batch()->Count(), 2u);
  EXPECT_EQ(section->log().value(), LogNumbers().back()) << "logged again";
}

TEST_F(TwoPhaseRecoveryTest, WithoutADecisionEveryOpeningFindsTheSame) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  for (int round = 0; round < 3; round++) {
    KillAndReopen();
    EXPECT_EQ(writer().Undecided(), "xa");
    Put("k" + std::to_string(round));
  }
  for (int round = 0; round < 3; round++) {
    ReopenTwoPhase();
    EXPECT_EQ(writer().Undecided(), "xa");
    Flush();
  }
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Scan(), "a=xa k0=v k1=v k2=v");
}

// As ldb and other programs that know nothing of transactions do.
TEST_F(TwoPhaseRecoveryTest, AnOpeningThatTakesNoSectionKeepsThem) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  for (int round = 0; round < 2; round++) {
    Reopen();
    Put("k");
    Flush();
    EXPECT_EQ(Keys(), "k");
    EXPECT_EQ(LogsWith("xa"), 1u);
  }
  ReopenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
}

TEST_F(TwoPhaseRecoveryTest, WithoutTheOptionThatKeepsThemTheyAreRefusedInEveryMode) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Close();
  options_.allow_2pc = false;
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    EXPECT_TRUE(TryOpen().IsNotSupported()) << static_cast<int>(mode);
    EXPECT_TRUE(TryOpenReadOnly().IsNotSupported()) << static_cast<int>(mode);
  }
  options_.allow_2pc = true;
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
}

// The header of a section counts its records, which take no sequence numbers. So the section seems
// to reach into the next log, whose first number the MANIFEST knows.
TEST_F(TwoPhaseRecoveryTest, ASectionAtTheEndOfALogIsRefusedAsASection) {
  OpenTwoPhase();
  Put("x", "0");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  Flush();
  Put("y", "0");
  Kill();
  options_.allow_2pc = false;
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    EXPECT_TRUE(TryOpen().IsNotSupported()) << static_cast<int>(mode);
    EXPECT_TRUE(TryOpenReadOnly().IsNotSupported()) << static_cast<int>(mode);
  }
  options_.allow_2pc = true;
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  EXPECT_EQ(Scan(), "x=0 y=0");
}

TEST_F(TwoPhaseRecoveryTest, OpenedForReadingOnlyPreparedDataIsHidden) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));
  ASSERT_OK(writer().Commit("xa"));
  Close();
  const auto files = memory_->AllFiles();
  OpenReadOnly();
  EXPECT_EQ(Scan(), "a=xa");
  Close();
  EXPECT_EQ(memory_->AllFiles(), files);
}

// The data of a commit belongs to the memtables of the time of the marker.
TEST_F(TwoPhaseRecoveryTest, ACommitInALaterLogThanItsSection) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Put("k");
  Flush();  // the log of the section is older than all unflushed data
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(LogsWith("xa"), 2u);
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "");
  EXPECT_EQ(Scan(), "a=xa k=v");
}

TEST_F(TwoPhaseRecoveryTest, DataThatOneFamilyHasFlushedComesBackInTheOthersOnly) {
  options_.merge_operator = nullptr;
  OpenTwoPhase({"default", "f", "g"});
  WriteBatch* const batch = writer().Begin("xa");
  for (ColumnFamilyHandle* family : handles_) ASSERT_OK(batch->Put(family, "a", "xa"));
  ASSERT_OK(writer().Prepare("xa"));
  Put(handles_[2], "k", "v");
  Flush(handles_[2]);
  ASSERT_OK(writer().Commit("xa"));
  Flush(handles_[0]);
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "");
  for (const std::string name : {"default", "f", "g"}) {
    EXPECT_EQ(Get(Family(name), "a"), "xa") << name;
  }
  EXPECT_EQ(Number("rocksdb.estimate-num-keys"), 1u) << "inserted a second time";
}

TEST_F(TwoPhaseRecoveryTest, AMarkerOfANameThatIsNotKnownIsIgnored) {
  OpenTwoPhase({"default", "f"});
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Put(handles_[1], "k", "v");
  Flush(handles_[1]);
  ASSERT_OK(writer().Commit("xa"));
  Put(handles_[1], "l", "v");  // keeps the log of the marker
  Flush(handles_[0]);          // releases the log of the section
  EXPECT_EQ(LogsWith("xa"), 1u);
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "");
  EXPECT_EQ(Get("a"), "xa");
}

TEST_F(TwoPhaseRecoveryTest, ANameMayBeUsedAgainBehindItsDecision) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("x", {"a"}));
  ASSERT_OK(writer().Rollback("x"));
  ASSERT_OK(writer().PreparePuts("x", {"b"}));
  ASSERT_OK(writer().Commit("x"));
  ASSERT_OK(writer().PreparePuts("x", {"c"}));
  KillAndReopen();
  EXPECT_EQ(writer().Undecided(), "x");
  ASSERT_OK(writer().Commit("x"));
  EXPECT_EQ(Scan(), "b=x c=x");
}

TEST_F(TwoPhaseRecoveryTest, ANameThatIsPreparedTwiceWithOtherContentsIsCorruption) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("x", {"a"}));
  TwoPhaseWriter other(db_.get());
  ASSERT_OK(other.PreparePuts("x", {"b"}));
  Drop();
  const Status status = TryOpen();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("prepared again"), std::string::npos) << status.ToString();
}

TEST_F(TwoPhaseRecoveryTest, TheSameSectionTwiceIsOneTransaction) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("x", {"a"}));
  TwoPhaseWriter other(db_.get());
  ASSERT_OK(other.PreparePuts("x", {"a"}));
  Drop();
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "x");
}

// A prepare at the end of a log counts updates and takes no sequence number: the next log begins
// with the number that it has.
TEST_F(TwoPhaseRecoveryTest, APrepareAtTheEndOfALogDoesNotReachIntoTheNextOne) {
  OpenTwoPhase({"default", "f"});
  Put("k");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b", "c"}));
  Flush();
  Put("l");
  Put(handles_[1], "m", "v");
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    TestDb image(CrashImage(CrashPolicy::kAll), options_);
    image.options().wal_recovery_mode = mode;
    image.OpenAll();
    ASSERT_NE(image.db(), nullptr);
    EXPECT_EQ(image.Scan(), "k=v l=v") << static_cast<int>(mode);
    EXPECT_EQ(image.Property("ashlar.recovery-report"), "");
    EXPECT_EQ(image.db()->GetLatestSequenceNumber(), 3u);
    const TwoPhaseWriter sections(image.db());
    image.Close();
  }
}

// With long logs several threads insert what the logs hold.
TEST_F(TwoPhaseRecoveryTest, ALongLogIsReplayedByThreadsWithTheSameOutcome) {
  options_.write_buffer_size = 64 << 20;
  OpenTwoPhase();
  const std::string value(1000, 'v');
  for (int i = 0; i < 8000; i++) {
    const std::string xid = "x" + std::to_string(i % 7);
    if (i % 100 == i % 7) {
      WriteBatch* const batch = writer().Begin(xid + "-" + std::to_string(i));
      ASSERT_OK(batch->Put(Key(i % 500), xid));
      ASSERT_OK(writer().Prepare(xid + "-" + std::to_string(i)));
      if (i % 3 == 0) {
        EXPECT_OK(writer().Commit(xid + "-" + std::to_string(i)));
      } else if (i % 3 == 1) {
        EXPECT_OK(writer().Rollback(xid + "-" + std::to_string(i)));
      }
    }
    Put(Key(i % 500), value + std::to_string(i));
  }
  const Contents before = ReadAll();
  const std::string undecided = writer().Undecided();
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  KillAndReopen();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_EQ(writer().Undecided(), undecided);
  EXPECT_NE(undecided, "");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
}

TEST_F(TwoPhaseRecoveryTest, CompressedMappedAndRecycledLogsHoldSectionsToo) {
  for (int round = 0; round < 4; round++) {
    options_.wal_compression = round == 1 ? kZSTD : kNoCompression;
    options_.recycle_log_file_num = round == 2 ? 2 : 0;
    sim_->OfferMappedLogs(round == 3);
    OpenTwoPhase();
    const std::string r = std::to_string(round);
    ASSERT_OK(writer().PreparePuts("xa" + r, {"a" + r}));
    ASSERT_OK(writer().PreparePuts("xb" + r, {"b" + r}));
    for (int i = 0; i < 5; i++) {
      Put("k" + r);
      Flush();
    }
    ASSERT_OK(writer().Commit("xa" + r));
    KillAndReopen();
    EXPECT_EQ(Get("a" + r), "xa" + r);
    EXPECT_EQ(writer().Undecided(), "xb" + r);
    ASSERT_OK(writer().Rollback("xb" + r));
    Close();
  }
}

// Replay stops at the damage: the marker behind it is lost, and the transaction is prepared again.
TEST_F(TwoPhaseRecoveryTest, BehindADamagedRecordSectionsAreStillThere) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Put("damaged");
  ASSERT_OK(writer().Commit("xa"));
  Drop();
  const std::string path = LogFileName("/db", FileNumber{LogNumbers().back()});
  std::string bytes = memory_->AllFiles().at(path);
  bytes[bytes.find("damaged")]++;
  memory_->PutFile(path, bytes);
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  EXPECT_EQ(Scan(), "");
  ReopenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  EXPECT_EQ(Property("ashlar.recovery-report"), "");
}

TEST_F(TwoPhaseRecoveryTest, ACheckpointHasTheUndecidedTransactions) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Put("k");
  Flush();
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy", /*log_size_for_flush=*/UINT64_MAX));
  Close();
  dir_ = "/copy";
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Scan(), "a=xa k=v");
}

// Its successor describes it with the number of the section, which is older than the log.
TEST_F(TwoPhaseRecoveryTest, ALogThatHoldsOnlySectionsLoggedAgainIsVerified) {
  options_.track_and_verify_wals = true;
  for (const auto policy :
       {TwoPhaseWriter::Policy::kWriteCommitted, TwoPhaseWriter::Policy::kWritePrepared}) {
    SCOPED_TRACE(static_cast<int>(policy));
    policy_ = policy;
    UseSim(SimFS::Create());
    OpenTwoPhase();
    Put("z");
    ASSERT_OK(writer().PreparePuts("xa", {"a"}));
    ReopenTwoPhase();
    ASSERT_OK(db_->Put(Unlogged(), "b", "v"));
    Flush();
    Put("c");
    for (const WALRecoveryMode mode :
         {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
          WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
      TestDb image(CrashImage(CrashPolicy::kAll), options_);
      image.options().wal_recovery_mode = mode;
      image.OpenAll();
      if (image.db() == nullptr) continue;  // a failure already
      TwoPhaseWriter sections(image.db(), policy);
      EXPECT_EQ(image.Scan(), "b=v c=v z=v") << static_cast<int>(mode);
      EXPECT_EQ(image.Property("ashlar.recovery-report"), "");
      EXPECT_EQ(sections.Undecided(), "xa");
      image.Close();
    }
    Close();
    writer_.reset();
  }
}

}  // namespace
}  // namespace ashlar
