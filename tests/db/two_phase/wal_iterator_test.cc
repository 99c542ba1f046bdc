// SPDX-License-Identifier: Apache-2.0
//
// GetUpdatesSince returns prepare sections and markers as they are in the logs.
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhaseUpdatesTest : public TwoPhaseTest {
 protected:
  TwoPhaseUpdatesTest() {
    options_.WAL_ttl_seconds = 3600;
    OpenTwoPhase();
  }
  // The batches from this number on: "3,0:commit" is the sequence number, the count and the kind.
  std::string Since(SequenceNumber seqno) {
    std::unique_ptr<WalIterator> updates;
    const Status status = db_->GetUpdatesSince(seqno, &updates);
    if (!status.ok()) return status.ToString();
    std::string text;
    for (; updates->Valid(); updates->Next()) {
      const BatchResult result = updates->GetBatch();
      const WriteBatch& batch = *result.writeBatchPtr;
      const char* const kind = batch.HasBeginPrepare() ? "prepare"
                               : batch.HasCommit()     ? "commit"
                               : batch.HasRollback()   ? "rollback"
                                                       : "put";
      StrAppend(&text, text.empty() ? "" : " ", result.sequence, ",", batch.Count(), ":", kind);
    }
    EXPECT_OK(updates->status());
    return text;
  }
};

TEST_F(TwoPhaseUpdatesTest, BatchesAreReturnedWithTheNumbersThatTheyTook) {
  Put("a");
  ASSERT_OK(writer().PreparePuts("xa", {"b", "c"}));
  ASSERT_OK(writer().PreparePuts("xb", {"d"}));
  Put("e");
  ASSERT_OK(writer().Commit("xa"));
  ASSERT_OK(writer().Rollback("xb"));
  Put("f");
  EXPECT_EQ(Since(1), "1,1:put 2,2:prepare 2,1:prepare 2,1:put 3,0:commit 5,0:rollback 5,1:put");
  EXPECT_EQ(Since(2), "2,2:prepare 2,1:prepare 2,1:put 3,0:commit 5,0:rollback 5,1:put");
  EXPECT_EQ(Since(4), "3,0:commit 5,0:rollback 5,1:put") << "the commit took 3 and 4";
  EXPECT_EQ(Since(5), "5,0:rollback 5,1:put");
}

TEST_F(TwoPhaseUpdatesTest, SectionsAndDecisionsInDifferentLogsAreJoined) {
  ASSERT_OK(writer().PreparePuts("xa", {"b", "c"}));
  Put("a");
  Flush();
  ASSERT_OK(writer().Commit("xa"));
  Flush();
  Put("d");
  WaitForJobs();
  EXPECT_EQ(Since(1), "1,2:prepare 1,1:put 2,0:commit 4,1:put");
  EXPECT_EQ(Since(3), "2,0:commit 4,1:put") << "the section is in an older log";
  EXPECT_EQ(Since(4), "4,1:put");
}

TEST_F(TwoPhaseUpdatesTest, ASectionAtTheEndOfALogComesWithTheFirstNumberOfTheNextLog) {
  Put("a");
  ASSERT_OK(writer().PreparePuts("xa", {"b", "c"}));
  Flush();
  Put("d");
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Since(2), "2,2:prepare 2,1:put 3,0:commit");
}

// The section in the log of the second opening has a number from the log of the first one.
TEST_F(TwoPhaseUpdatesTest, ALogBeginsBehindTheSectionsThatWereLoggedAgain) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  ReopenTwoPhase();
  for (int i = 1; i <= 9; i++) Put("k");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  for (int i = 11; i <= 60; i++) Put("k");
  ReopenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  Put("k");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 61u);
  std::string expected = "50,1:put";
  for (int i = 51; i <= 61; i++) StrAppend(&expected, " ", i, ",1:put");
  EXPECT_EQ(Since(50), expected);
  EXPECT_EQ(Since(61), "61,1:put");
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  std::vector<SequenceNumber> starts;
  for (const auto& log : logs) {
    if (log->StartSequence() != 0) starts.push_back(log->StartSequence());
  }
  EXPECT_EQ(starts, (std::vector<SequenceNumber>{1, 61}));
}

// The batches of a primary that numbers by sub-batch end with a Noop, also in the log of the
// replica if they were logged as they are. The replica numbers them by record.
TEST_F(TwoPhaseUpdatesTest, AReplicaHasNumbersOfItsOwn) {
  policy_ = TwoPhaseWriter::Policy::kWritePrepared;
  ReopenTwoPhase();
  TestDb plain(TestFiles::kSim);
  plain.Open();
  TestDb same_policy(TestFiles::kSim);
  same_policy.options().allow_2pc = true;
  same_policy.Open();
  const TwoPhaseWriter by_sub_batch(same_policy.db(), policy_);
  for (const char* value : {"1", "2"}) {
    WriteBatch batch;
    for (const char* key : {"a", "b", "c"}) ASSERT_OK(batch.Put(key, value));
    Write(&batch);
  }
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  int batches = 0;
  for (; updates->Valid(); updates->Next(), batches++) {
    const BatchResult result = updates->GetBatch();
    WriteBatch* const batch = result.writeBatchPtr.get();
    const size_t bytes = batch->GetDataSize();
    ASSERT_EQ(batch->Data().back(), '\x0d') << "a Noop";
    plain.Write(batch);
    same_policy.Write(batch);
    // What the log has decides, and there the batch ends before its Noop.
    batch->MarkWalTerminationPoint();
    plain.Write(batch);
    EXPECT_EQ(batch->GetWalTerminationPoint().size, bytes);
    EXPECT_EQ(batch->GetDataSize(), bytes) << "the batch of the program is what it was";
  }
  ASSERT_OK(updates->status());
  EXPECT_EQ(batches, 2);
  const auto numbers_of = [](DB* db) {
    std::unique_ptr<WalIterator> logged;
    EXPECT_OK(db->GetUpdatesSince(1, &logged));
    std::vector<SequenceNumber> numbers;
    for (; logged != nullptr && logged->Valid(); logged->Next()) {
      numbers.push_back(logged->GetBatch().sequence);
      if (numbers.size() > 9) break;
    }
    if (logged != nullptr) {
      EXPECT_OK(logged->status());
    }
    return numbers;
  };
  EXPECT_EQ(numbers_of(plain.db()), (std::vector<SequenceNumber>{1, 4, 7, 10}));
  EXPECT_EQ(numbers_of(same_policy.db()), (std::vector<SequenceNumber>{1, 2}));
  plain.Reopen();
  EXPECT_EQ(plain.db()->GetLatestSequenceNumber(), 12u);
  EXPECT_EQ(plain.Scan(), "a=2 b=2 c=2");
}

}  // namespace
}  // namespace ashlar
