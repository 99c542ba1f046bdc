// SPDX-License-Identifier: Apache-2.0
//
// TwoPhaseWrites and PreparedLogs on a pipeline with real memtables and logs, without a database.
#include "db/state/two_phase_writes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "db/state/prepared_logs.h"
#include "db/wal/wal_set.h"
#include "db/wal/wal_sink.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "memtable/memtable.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

using State = PreparedSection::State;
using Policy = PreparedSection::Policy;

class TwoPhaseWritesTest : public testing::Test, public CommitHost {
 public:  // for the hook of a test
  static constexpr FileNumber kLog = 4;

  TwoPhaseWritesTest() {
    EXPECT_OK(fs_.CreateDirIfMissing("/db", IOOptions(), nullptr));
    WalSetOptions options;
    options.log.fs = &fs_;
    options.wal_dir = "/db";
    wals_.Configure(options);
    Install(kLog);
    EXPECT_OK(batch_.Put("a", "1"));
    EXPECT_OK(batch_.Put("b", "2"));
    EXPECT_OK(WriteBatchInternal::MarkEndPrepare(&batch_, "xa", Policy::kWriteCommitted));
    EXPECT_OK(WriteBatchInternal::MarkCommit(&commit_, "xa"));
  }
  ~TwoPhaseWritesTest() override { memtable_->Unref(); }
  void Install(FileNumber number) {
    auto log = wals_.Create(number);
    EXPECT_OK(log);
    EXPECT_OK(wals_.Install(log.Take(), pipeline_.visible_seqno() + 1));
  }

  Status PrepareForCommit(const WriteOptions&, uint64_t) override { return Status::OK(); }
  CommitFamily FindFamily(uint32_t) override {
    return {.exists = true, .can_merge = true, .comparator = &memtable_->comparator()};
  }
  // Looked up before the updates of the family are inserted.
  void FindInsertTarget(uint32_t, InsertTarget* target) override {
    undecided_at_insertion_ = prepared_.count();
    *target = {.memtable = memtable_};
  }
  std::optional<FoldedOperand> MergeNow(const WriteBatchRecord&, SequenceNumber,
                                        std::vector<std::shared_ptr<void>>*) override {
    return std::nullopt;
  }
  Status ValueBefore(const WriteBatchRecord&, SequenceNumber, std::vector<std::shared_ptr<void>>*,
                     std::optional<std::string>*) override {
    return Status::OK();
  }
  void NoteMemTableSize(const InsertTarget&) override {}
  void NotePartialInsert(const Status&) override {}
  void NoteLogError(const Status&, FileNumber) override {}
  void ReportErrors() override { unsettled_at_report_ = section_.state() == State::kUndecided; }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  FaultFileSystem fs_{memory_};
  WalSet wals_;
  MemTable* memtable_ =
      new MemTable(InternalKeyComparator(BytewiseComparator()), MemTableOptions(), 1);
  CommitPipeline pipeline_{this, &wals_};
  PreparedLogs prepared_;
  UndecidedTable undecided_;
  const ComparatorOfFamily comparator_of_ = [](uint32_t) { return BytewiseComparator(); };
  TwoPhaseWrites writes_{&pipeline_, &prepared_, &undecided_, comparator_of_};
  WriteBatch batch_ = [] {
    WriteBatch batch;
    EXPECT_OK(WriteBatchInternal::InsertNoop(&batch));
    return batch;
  }();
  WriteBatch commit_;
  PreparedSection section_{"xa", Policy::kWriteCommitted, &batch_};
  WriteOptions options_;
  size_t undecided_at_insertion_ = 0;
  bool unsettled_at_report_ = false;
};

// Otherwise the log could vanish between the two lists that keep it.
TEST_F(TwoPhaseWritesTest, ASectionLeavesTheListWhenTheMemTableNamesItsLog) {
  class Hook final : public CommitHook {
   public:
    explicit Hook(TwoPhaseWritesTest* t) : test_(t) {}
    void OnInserted(const CommitPlace&) noexcept override {
      undecided = test_->prepared_.count();
      noted = test_->memtable_->prepared_log();
      visible = test_->pipeline_.visible_seqno();
    }
    size_t undecided = 9;
    FileNumber noted = 0;
    SequenceNumber visible = 9;

   private:
    TwoPhaseWritesTest* const test_;
  };
  ASSERT_OK(writes_.Prepare(options_, &section_));
  EXPECT_EQ(prepared_.Oldest(), kLog);
  EXPECT_EQ(section_.log(), kLog);
  Hook hook(this);
  ASSERT_OK(writes_.Commit(options_, &commit_, &section_, &hook));
  EXPECT_EQ(undecided_at_insertion_, 1u);
  EXPECT_EQ(hook.undecided, 0u);
  EXPECT_EQ(hook.noted, kLog);
  EXPECT_EQ(hook.visible, 0u) << "both happen while the commit is in flight";
  EXPECT_EQ(prepared_.Oldest(), FileNumber::None());
}

TEST_F(TwoPhaseWritesTest, AFailedSyncIsSettledBeforeAnybodyHearsOfIt) {
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  fs_.AddFault(plan);
  options_.sync = true;
  EXPECT_FALSE(writes_.Prepare(options_, &section_).ok());
  EXPECT_FALSE(unsettled_at_report_) << "a listener may recover, and a recovery waits for it";
  EXPECT_EQ(section_.state(), State::kNotLogged);
  EXPECT_EQ(prepared_.count(), 0u);
  prepared_.AwaitSettled();
}

TEST_F(TwoPhaseWritesTest, SectionsThatAreLoggedAgainMoveToTheNewLog) {
  ASSERT_OK(writes_.Prepare(options_, &section_));
  WriteBatch other_batch(batch_);
  PreparedSection other("xb", Policy::kWriteCommitted, &other_batch);
  ASSERT_OK(writes_.Prepare(options_, &other));
  ASSERT_OK(wals_.Flush());
  Install(6);
  ASSERT_OK(LogSectionsAgain(&prepared_, &wals_, pipeline_.visible_seqno() + 1));
  EXPECT_EQ(prepared_.Oldest().value(), 6u);
  EXPECT_EQ(section_.log().value(), 6u);
  EXPECT_EQ(wals_.current()->synced_size(), wals_.current()->size());
  ASSERT_OK(writes_.Commit(options_, &commit_, &section_));
  EXPECT_EQ(memtable_->prepared_log().value(), 6u);
  WriteBatch rollback;
  ASSERT_OK(WriteBatchInternal::MarkRollback(&rollback, "xb"));
  ASSERT_OK(writes_.Rollback(options_, &rollback, &other));
  EXPECT_EQ(prepared_.Describe(), "");
}

TEST_F(TwoPhaseWritesTest, AnUnsettledSectionIsAwaited) {
  prepared_.Enter(&section_, kLog, 1);
  std::thread waiter([this] {
    prepared_.AwaitSettled();
    EXPECT_EQ(section_.state(), State::kUndecided);
  });
  prepared_.Settle(&section_, /*is_prepared=*/true);
  waiter.join();
  prepared_.Leave(&section_);
}

// Numbers by sub-batch, as the policies write-prepared and write-unprepared take them.
TEST_F(TwoPhaseWritesTest, TheRecordsOfASubBatchShareOneNumber) {
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put("b", "2"));
  const size_t second = batch.GetDataSize();
  ASSERT_OK(batch.Put("a", "3"));
  WriteBatch* const inserted[] = {&batch};
  const size_t begins[] = {second};
  const SubBatches sub_batches{.begins = begins, .numbers = 3};
  ASSERT_OK(pipeline_.Commit({.options = &options_,
                              .logged = &batch,
                              .inserted = inserted,
                              .allows_markers = true,
                              .sub_batches = &sub_batches}));
  EXPECT_EQ(memtable_->counters().smallest_seqno, 1u);
  EXPECT_EQ(memtable_->counters().largest_seqno, 2u);
  EXPECT_EQ(memtable_->num_entries(), 3u);
  EXPECT_EQ(pipeline_.visible_seqno(), 3u) << "the last number is the marker's";
}

// A reader that sees a number must find the entry of the data, and the decision in it: else it
// would take the data for committed, and later for decided at another moment.
TEST_F(TwoPhaseWritesTest, EntriesAndDecisionsAreThereBeforeTheirNumbersAreVisible) {
  class Hook final : public CommitHook {
   public:
    Hook(TwoPhaseWritesTest* t, const PreparedSection* section) : test_(t), section_(section) {}
    void OnInserted(const CommitPlace& place) noexcept override {
      is_visible = test_->pipeline_.visible_seqno() >= place.last_seqno;
      has_entry = section_->entry() != nullptr;
      if (has_entry) decided_at = section_->entry()->decided_at.load();
    }
    bool is_visible = true;
    bool has_entry = false;
    SequenceNumber decided_at = kMaxSequenceNumber;

   private:
    TwoPhaseWritesTest* const test_;
    const PreparedSection* const section_;
  };
  WriteBatch batch;
  ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&batch, "xa", Policy::kWritePrepared));
  PreparedSection section("xa", Policy::kWritePrepared, &batch);
  Hook hook(this, &section);
  ASSERT_OK(writes_.Prepare(options_, &section, &hook));
  EXPECT_FALSE(hook.is_visible);
  EXPECT_TRUE(hook.has_entry);
  EXPECT_EQ(hook.decided_at, 0u);
  ASSERT_OK(writes_.Commit(options_, &commit_, &section, &hook));
  EXPECT_FALSE(hook.is_visible);
  EXPECT_EQ(hook.decided_at, 2u) << "the number of the marker";
  EXPECT_EQ(pipeline_.visible_seqno(), 2u);
}

}  // namespace
}  // namespace ashlar
