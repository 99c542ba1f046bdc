// SPDX-License-Identifier: Apache-2.0
//
// What two-phase commit writes to the log, byte by byte, and which sequence numbers it takes.
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

using Records = std::vector<std::string>;

class TwoPhaseRecordsTest : public TwoPhaseTest {
 protected:
  TwoPhaseRecordsTest() { OpenTwoPhase(); }
  Records CurrentRecords() {
    EXPECT_OK(db_->FlushWAL(/*sync=*/false));
    return RecordsOf(CurrentLog());
  }
  // The next log may exist already.
  uint64_t CurrentLog() {
    std::unique_ptr<WalFile> current;
    EXPECT_OK(db_->GetCurrentWalFile(&current));
    return current->LogNumber();
  }
  // A write of a transaction that is not prepared begins with a Noop.
  void PutAsTransaction(const std::vector<std::string>& keys) {
    WriteBatch batch;
    ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
    for (const std::string& key : keys) ASSERT_OK(batch.Put(key, "0"));
    Write(&batch);
  }
};

// The table of RocksDB's records for the policy write-committed, row by row.
TEST_F(TwoPhaseRecordsTest, TheRecordsAreThoseOfRocksDb) {
  PutAsTransaction({"p"});
  WriteBatch* xa = writer().Begin("xa");
  ASSERT_OK(xa->Put("a", "1"));
  ASSERT_OK(xa->Put("b", "2"));
  ASSERT_OK(writer().Prepare("xa"));
  PutAsTransaction({"q"});
  ASSERT_OK(writer().Commit("xa"));
  WriteBatch* xb = writer().Begin("xb");
  ASSERT_OK(xb->Put("c", "3"));
  ASSERT_OK(writer().Prepare("xb"));
  ASSERT_OK(writer().Rollback("xb"));
  PutAsTransaction({"d", "d", "e"});
  WriteBatch* xg = writer().Begin("xg");
  ASSERT_OK(xg->Put("f", "4"));
  ASSERT_OK(writer().Prepare("xg"));
  WriteBatch before;
  ASSERT_OK(before.Put("ctb", "1"));
  ASSERT_OK(writer().Commit("xg", {}, &before));
  PutAsTransaction({"z"});
  EXPECT_EQ(CurrentRecords(), (Records{
                                  "1,1 0d0101700130",  //
                                  "2,2 0901016101310101620132"
                                  "0a027861",                              //
                                  "2,1 0d0101710130",                      //
                                  "3,0 0b027861",                          // takes 3 and 4
                                  "5,1 0901016301330a027862",              //
                                  "5,0 0c027862",                          //
                                  "5,3 0d010164013001016401300101650130",  //
                                  "8,1 0901016601340a027867",              //
                                  "8,1 010363746201310b027867",            // takes 8 and 9
                                  "10,1 0d01017a0130",                     //
                              }));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 10u);
}

TEST_F(TwoPhaseRecordsTest, PreparedDataIsVisibleFromTheCommitOn) {
  Put("a", "0");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  EXPECT_EQ(Scan(), "a=0");
  const Snapshot* const before = db_->GetSnapshot();
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Scan(), "a=xa b=xa");
  EXPECT_EQ(Scan(AsOf(before)), "a=0");
  db_->ReleaseSnapshot(before);
}

TEST_F(TwoPhaseRecordsTest, NothingOfARollbackIsVisible) {
  Put("a", "0");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  ASSERT_OK(writer().Rollback("xa"));
  EXPECT_EQ(Scan(), "a=0");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 1u);
}

// RocksDB leaves the commit marker out, and the transaction is prepared again after a restart.
TEST_F(TwoPhaseRecordsTest, PreparesAndMarkersAreLoggedAlsoWithoutTheLog) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}, Unlogged()));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}, Unlogged()));
  ASSERT_OK(writer().Commit("xa", Unlogged()));
  ASSERT_OK(writer().Rollback("xb", Unlogged()));
  EXPECT_EQ(CurrentRecords().size(), 4u);
  ReopenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "");
  EXPECT_EQ(Scan(), "a=xa");
}

TEST_F(TwoPhaseRecordsTest, ABatchOfTheProgramWithAMarkerIsRefused) {
  WriteBatch marker;
  ASSERT_OK(WriteBatchInternal::MarkCommit(&marker, "xa"));
  const Status status = db_->Write(WriteOptions(), &marker);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_EQ(CurrentRecords(), Records());
}

// After Prepare() a coordinator must be able to commit, whatever families are dropped meanwhile.
TEST_F(TwoPhaseRecordsTest, ACommitLeavesOutADroppedFamily) {
  ColumnFamilyHandle* const family = CreateFamily("f");
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put("a", "1"));
  ASSERT_OK(batch->Put(family, "b", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(writer().Undecided(), "");
  Put("c", "1");
  EXPECT_EQ(Scan(), "a=1 c=1");
  ReopenTwoPhase();
  EXPECT_EQ(Scan(), "a=1 c=1");
}

// A hook of a commit hears where it was logged while no reader sees it yet.
TEST_F(TwoPhaseRecordsTest, AHookHearsOfTheCommitBeforeReadersSeeIt) {
  class Hook final : public CommitHook {
   public:
    explicit Hook(DB* db) : db_(db) {}
    void OnInserted(const CommitPlace& place) noexcept override {
      text += StrCat("inserted ", place.first_seqno, "-", place.last_seqno, " at ",
                     db_->GetLatestSequenceNumber(), "; ");
      log = place.log;
    }
    void OnVisible(SequenceNumber first, SequenceNumber last) override {
      text += StrCat("visible ", first, "-", last, " at ", db_->GetLatestSequenceNumber(), "; ");
    }
    void OnEnd(const Status& status) noexcept override { text += status.ToString(); }
    std::string text;
    FileNumber log = 0;

   private:
    DB* const db_;
  };
  Put("a");
  WriteBatch batch;
  ASSERT_OK(batch.Put("b", "1"));
  ASSERT_OK(batch.Put("c", "1"));
  Hook hook(db_.get());
  ASSERT_OK(
      static_cast<DBImpl*>(db_.get())->WriteObserved(WriteOptions(), &batch, {.hook = &hook}));
  EXPECT_EQ(hook.text, "inserted 2-3 at 1; visible 2-3 at 3; OK");
  EXPECT_EQ(hook.log.value(), CurrentLog());
}

}  // namespace
}  // namespace ashlar
