// SPDX-License-Identifier: Apache-2.0
//
// How many sequence numbers the records of a log take if prepare sections are
// in logs that are gone: what stands directly before a decision can be part of
// it, or of other writers.
#include <utility>

#include "db/wal/log_writer.h"
#include "db/write/two_phase_reader.h"
#include "env/file_writer.h"
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

using Internal = WriteBatchInternal;
using Policy = WriteBatchInternal::PreparePolicy;

// Composes one record of a log from the batches of a write group, as RocksDB
// does.
class Group {
 public:
  explicit Group(SequenceNumber first = 1) { Internal::SetSequence(&batch_, first); }

  // "a=1 b=2": two puts.
  Group& Puts(const std::string& puts) {
    for (size_t at = 0; at < puts.size(); at += 4) {
      EXPECT_OK(batch_.Put(puts.substr(at, 1), puts.substr(at + 2, 1)));
    }
    return *this;
  }
  Group& Noop() {
    EXPECT_OK(Internal::InsertNoop(&batch_));
    return *this;
  }
  Group& Commit(const std::string& xid) {
    EXPECT_OK(Internal::MarkCommit(&batch_, xid));
    return *this;
  }
  Group& Rollback(const std::string& xid) {
    EXPECT_OK(Internal::MarkRollback(&batch_, xid));
    return *this;
  }
  Slice bytes() const { return Internal::Contents(batch_); }

 private:
  WriteBatch batch_;
};

std::string SectionOf(const std::string& puts, const std::string& xid, Policy policy) {
  WriteBatch batch;
  EXPECT_OK(Internal::InsertNoop(&batch));
  for (size_t at = 0; at < puts.size(); at += 4) {
    EXPECT_OK(batch.Put(puts.substr(at, 1), puts.substr(at + 2, 1)));
  }
  EXPECT_OK(Internal::MarkEndPrepare(&batch, xid, policy));
  return Internal::Contents(batch).ToString();
}

class NumberCounterTest : public testing::Test {
 protected:
  // "2": exactly; "2-3": a range; "2+": and those of a section that was not
  // read.
  std::string Take(const Slice& batch) {
    const NumberCounter::Numbers numbers = counter_.Take(batch);
    std::string text = StrCat(numbers.count);
    if (numbers.most != numbers.count) StrAppend(&text, "-", numbers.most);
    return text + (numbers.is_exact ? "" : "+");
  }
  NumberCounter counter_;
};

TEST_F(NumberCounterTest, UpdatesBeforeADecisionOfAnUnknownSectionTakeARange) {
  EXPECT_EQ(Take(Group().Puts("a=1 b=1 a=2").Rollback("x").bytes()), "2-3");
  EXPECT_EQ(Take(Group().Puts("a=1").Rollback("x").bytes()), "1") << "either way";
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Commit("x").bytes()), "1-2+");
  EXPECT_EQ(Take(Group().Noop().Puts("a=1 b=1").Noop().Puts("c=1 d=1").Rollback("x").bytes()),
            "2-4");
  EXPECT_EQ(Take(Group().Rollback("x").bytes()), "0");
  EXPECT_EQ(Take(Group().Commit("x").bytes()), "0+");
}

TEST_F(NumberCounterTest, TheLastSectionThatWasReadTellsThePolicy) {
  EXPECT_EQ(Take(SectionOf("a=1 b=1", "y", Policy::kWritePrepared)), "1");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1 a=2").Rollback("x").bytes()), "2");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Commit("x").bytes()), "1");
  EXPECT_EQ(Take(Group().Rollback("x").bytes()), "1");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Noop().Rollback("x").bytes()), "2");
  // All transactions are decided and flushed, and the policy changes.
  EXPECT_EQ(Take(Group().Commit("y").bytes()), "1");
  EXPECT_EQ(Take(SectionOf("a=1 b=1", "z", Policy::kWriteCommitted)), "0");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1 a=2").Rollback("x").bytes()), "3");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Noop().Rollback("x").bytes()), "2");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Commit("z").bytes()), "4");
}

// Under write-committed a batch begins with a Noop, so one of two batches seems
// to end with it.
TEST_F(NumberCounterTest, AKnownSectionTellsThePolicyOfItsWholeGroup) {
  EXPECT_EQ(Take(SectionOf("a=1 b=1", "y", Policy::kWriteCommitted)), "0");
  EXPECT_EQ(Take(Group().Noop().Puts("a=1 b=1").Noop().Puts("c=1 d=1").Commit("y").bytes()), "6");
}

TEST_F(NumberCounterTest, BatchesOfARecordWithoutDecisionsTellThePolicyThemselves) {
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Noop().Puts("a=2 b=2").Noop().bytes()), "2");
  EXPECT_EQ(Take(Group().Noop().Puts("a=1 b=1").Noop().Puts("a=2 b=2").bytes()), "4");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1").Noop().Commit("x").bytes()), "2");
  // A hint for a decision without updates, which takes a number or none. No
  // more than a hint.
  EXPECT_EQ(Take(Group().Rollback("x").bytes()), "1");
  EXPECT_EQ(Take(Group().Puts("a=1 b=1 a=2").Rollback("x").bytes()), "2-3");
}

class TwoPhaseNumberingTest : public TwoPhaseTest {
 protected:
  TwoPhaseNumberingTest() : TwoPhaseTest(TestFiles::kSim) {}
  // Closes the database and adds a log of these records, as another engine
  // leaves it.
  void AddLog(const std::vector<Group>& records) {
    Close();
    const FileNumber number{LogNumbers().empty() ? 90 : LogNumbers().back() + 10};
    auto file = FileWriter::Create(memory_.get(), LogFileName("/db", number), FileOptions());
    ASSERT_OK(file);
    LogWriter log(file.Take(), LogFraming(number, /*is_recyclable=*/false));
    for (const Group& record : records) ASSERT_OK(log.AddRecord(record.bytes()));
    ASSERT_OK(log.Close());
  }
  // A transaction of these keys is prepared and flushed. Its rollback is in the
  // next log, which stays because of a key in the second family when the log
  // with the section is gone.
  void RollBackInTheLogBehind(const std::vector<std::string>& keys) {
    policy_ = Policy::kWritePrepared;
    OpenTwoPhase({"default", "f"});
    for (const std::string key : {"a", "b", "c"}) Put(key, "0");
    ASSERT_OK(writer().PreparePuts("xa", keys));
    Flush();
    const uint64_t second = LogNumbers().back();
    ASSERT_OK(writer().Rollback("xa"));
    for (const std::string key : {"d", "e", "f"}) Put(handles_[1], key, "1");
    Flush();
    Put(handles_[1], "g", "1");
    ASSERT_EQ(LogNumbers().front(), second);
  }
  // The numbers that GetUpdatesSince() shows of a record that took 1 or 3
  // numbers, and of one that has the number `next`.
  std::vector<SequenceNumber> UpdatesBehindARange(SequenceNumber next) {
    options_.WAL_ttl_seconds = 3600;
    OpenTwoPhase();
    AddLog({std::move(Group(1).Puts("a=1 b=1 c=1").Rollback("x")),
            std::move(Group(next).Puts("d=1"))});
    OpenTwoPhase();
    std::vector<SequenceNumber> found;
    std::unique_ptr<WalIterator> updates;
    EXPECT_OK(db_->GetUpdatesSince(1, &updates));
    if (updates == nullptr) return found;
    for (; updates->Valid(); updates->Next()) found.push_back(updates->GetBatch().sequence);
    EXPECT_OK(updates->status());
    return found;
  }
};

TEST_F(TwoPhaseNumberingTest, CompensationsForSeveralKeysWhoseSectionIsGone) {
  RollBackInTheLogBehind({"a", "b", "c"});
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  KillAndReopen();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
  EXPECT_EQ(Scan(), "a=0 b=0 c=0");
  EXPECT_EQ(Scan({}, handles_[1]), "d=1 e=1 f=1 g=1");
}

TEST_F(TwoPhaseNumberingTest, CompensationsForOneKeyWhoseSectionIsGone) {
  RollBackInTheLogBehind({"a", "b", "a", "b"});
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  KillAndReopen();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
  EXPECT_EQ(Scan(), "a=0 b=0 c=0");
  EXPECT_EQ(Scan({}, handles_[1]), "d=1 e=1 f=1 g=1");
}

// The same bytes in two logs: as puts of other writers, of which each takes a
// number, and as compensations, which take a number for each sub-batch. The
// next record shows which it was.
TEST_F(TwoPhaseNumberingTest, PutsOfOthersInTheRecordOfARollbackWhoseSectionIsGone) {
  OpenTwoPhase();
  AddLog({std::move(Group(1).Puts("a=1 b=1 a=2").Rollback("x")), std::move(Group(4).Puts("b=2"))});
  OpenTwoPhase();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 4u);
  EXPECT_EQ(Scan(), "a=2 b=2");
}

TEST_F(TwoPhaseNumberingTest, CompensationsInTheLogOfAnotherEngineWhoseSectionIsGone) {
  OpenTwoPhase();
  AddLog({std::move(Group(1).Puts("a=1 b=1 a=2 c=1 d=1").Rollback("x")),
          std::move(Group(3).Puts("b=2").Noop())});
  OpenTwoPhase();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 5u) << "as many as the record can have taken";
  EXPECT_EQ(Scan(), "a=2 b=2 c=1 d=1");
}

// The next opening must not find a number that was given twice, whatever it
// knows of the policy.
TEST_F(TwoPhaseNumberingTest, TheLastRecordOfALogTakesAllNumbersItCanHaveTaken) {
  OpenTwoPhase();
  AddLog({std::move(Group(1).Puts("a=1 b=1 c=1").Rollback("x"))});
  OpenTwoPhase();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 3u);
  EXPECT_EQ(Scan(), "a=1 b=1 c=1");
}

TEST_F(TwoPhaseNumberingTest, CommitTimeBatchesWhoseSectionIsGone) {
  OpenTwoPhase();
  AddLog({std::move(Group(1).Puts("a=1 b=1 a=2 c=1 d=1").Commit("x")),
          std::move(Group(3).Puts("c=2 d=2").Noop())});
  OpenTwoPhase();
  EXPECT_EQ(Scan(), "a=2 b=1 c=2 d=2");
}

TEST_F(TwoPhaseNumberingTest, UpdatesSinceGoOnBehindPuts) {
  EXPECT_EQ(UpdatesBehindARange(4), (std::vector<SequenceNumber>{1, 4}));
}

TEST_F(TwoPhaseNumberingTest, UpdatesSinceGoOnBehindCompensations) {
  EXPECT_EQ(UpdatesBehindARange(2), (std::vector<SequenceNumber>{1, 2}));
}

}  // namespace
}  // namespace ashlar
