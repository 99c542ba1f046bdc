// SPDX-License-Identifier: Apache-2.0
//
// The commit pipeline alone: memtables and logs are real, the database around them is not.
#include "db/write/commit_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "db/wal/log_reader.h"
#include "db/wal/wal_set.h"
#include "db/wal/wal_sink.h"
#include "db/write/write_batch_internal.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

class CommitPipelineTest : public testing::Test, public CommitHost {
 protected:
  static constexpr FileNumber kLog = 4;

  CommitPipelineTest() { OpenLog(&fs_); }
  explicit CommitPipelineTest(FileSystem* fs) { OpenLog(fs); }
  void OpenLog(FileSystem* fs) {
    EXPECT_OK(fs->CreateDirIfMissing("/db", IOOptions(), nullptr));
    wals_.Configure({.log = {.fs = fs}, .wal_dir = "/db"});
    auto log = wals_.Create(kLog);
    EXPECT_OK(log);
    EXPECT_OK(wals_.Install(log.Take(), 1));
  }
  ~CommitPipelineTest() override { memtable_->Unref(); }

  Status PrepareForCommit(const WriteOptions&, uint64_t) override {
    prepared_.fetch_add(1);
    return refusal_;
  }
  CommitFamily FindFamily(uint32_t family) override {
    if (family != 0) return {};
    return {.exists = true, .can_merge = can_merge_, .comparator = &memtable_->comparator()};
  }
  void FindInsertTarget(uint32_t family, InsertTarget* target) override {
    *target = {.memtable = family == 0 ? memtable_ : nullptr};
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
  void NotePartialInsert(const Status&) override { partial_inserts_.fetch_add(1); }
  void NoteLogError(const Status&, FileNumber log_number) override {
    EXPECT_EQ(log_number, kLog);
    log_errors_.fetch_add(1);
  }
  void ReportErrors() override { reports_.fetch_add(1); }

  Status Commit(WriteBatch* batch, const WriteOptions& options = WriteOptions()) {
    return pipeline_.Commit(options, batch);
  }
  Status Put(const std::string& key, const WriteOptions& options = WriteOptions()) {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, "value"));
    return Commit(&batch, options);
  }
  // The first sequence number of every record in the log.
  std::vector<SequenceNumber> LoggedSeqnos() {
    EXPECT_OK(wals_.Flush());
    const std::string log = memory_->AllFiles().at(wals_.current()->path());
    LogReader::Options options;
    options.mode = WALRecoveryMode::kPointInTimeRecovery;
    options.log_number = kLog;
    LogReader reader(NewMemoryLogSource(log, "log"), options, nullptr);
    std::vector<SequenceNumber> seqnos;
    Slice record;
    while (reader.ReadRecord(&record)) seqnos.push_back(DecodeFixed64(record.data()));
    return seqnos;
  }
  void FailWrites() {
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kAppend) | KindBit(CallKind::kPositionedWrite);
    plan.mode = FaultMode::kSticky;
    fs_.AddFault(plan);
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  FaultFileSystem fs_{memory_};
  WalSet wals_;
  MemTable* memtable_ =
      new MemTable(InternalKeyComparator(BytewiseComparator()), MemTableOptions(), 1);
  Status refusal_;
  bool can_merge_ = true;
  std::atomic<int> prepared_{0}, log_errors_{0}, partial_inserts_{0}, reports_{0};
  CommitPipeline pipeline_{this, &wals_};
};

// Remembers what was visible when it was called.
struct VisibleHook final : CommitHook {
  explicit VisibleHook(CommitPipeline* p) : pipeline(p) {}
  void OnVisible(SequenceNumber first_seqno, SequenceNumber last_seqno) override {
    first = first_seqno;
    last = last_seqno;
    visible = pipeline->visible_seqno();
    if (throws) throw std::runtime_error("hook");
  }
  CommitPipeline* const pipeline;
  SequenceNumber first = 0, last = 0, visible = 0;
  bool throws = false;
};

class CommitPlanTest : public CommitPipelineTest {
 protected:
  // A batch of two puts between the markers of a prepare section.
  WriteBatch Prepared() {
    WriteBatch batch;
    EXPECT_OK(WriteBatchInternal::InsertNoop(&batch));
    EXPECT_OK(batch.Put("p", "1"));
    EXPECT_OK(batch.Put("q", "2"));
    EXPECT_OK(WriteBatchInternal::MarkEndPrepare(
        &batch, "xid", WriteBatchInternal::PreparePolicy::kWriteCommitted));
    return batch;
  }
  WriteBatch Marker() {
    WriteBatch batch;
    EXPECT_OK(WriteBatchInternal::MarkCommit(&batch, "xid"));
    return batch;
  }
  const WriteOptions options_;
};

TEST_F(CommitPlanTest, APrepareIsLoggedAndTakesNoSequenceNumber) {
  ASSERT_OK(Put("a"));
  WriteBatch prepared = Prepared();
  ASSERT_OK(pipeline_.Commit({.options = &options_, .logged = &prepared, .allows_markers = true}));
  EXPECT_EQ(pipeline_.visible_seqno(), 1u);
  EXPECT_EQ(memtable_->num_entries(), 1u);
  ASSERT_OK(Put("b"));
  EXPECT_EQ(LoggedSeqnos(), (std::vector<SequenceNumber>{1, 2, 2}));
}

TEST_F(CommitPlanTest, ACommitLogsItsMarkerAndInsertsThePreparedBatch) {
  WriteBatch prepared = Prepared(), marker = Marker();
  ASSERT_OK(pipeline_.Commit({.options = &options_, .logged = &prepared, .allows_markers = true}));
  WriteBatch* const inserted[] = {&prepared};
  const FileNumber prepared_log = kLog;
  VisibleHook hook(&pipeline_);
  ASSERT_OK(pipeline_.Commit({.options = &options_,
                              .logged = &marker,
                              .inserted = inserted,
                              .allows_markers = true,
                              .prepared_log = &prepared_log,
                              .hook = &hook}));
  EXPECT_EQ(pipeline_.visible_seqno(), 2u);
  EXPECT_EQ(memtable_->num_entries(), 2u);
  EXPECT_EQ(memtable_->prepared_log(), kLog);
  EXPECT_EQ(hook.first, 1u);
  EXPECT_EQ(hook.last, 2u);
  EXPECT_EQ(hook.visible, 2u) << "the commit is visible when the hook is called";
  EXPECT_EQ(LoggedSeqnos(), (std::vector<SequenceNumber>{1, 1}));
}

TEST_F(CommitPlanTest, SeveralBatchesTakeTheirNumbersInOrder) {
  WriteBatch first, second, marker = Marker();
  ASSERT_OK(first.Put("a", "1"));
  ASSERT_OK(second.Put("a", "2"));
  ASSERT_OK(second.Put("b", "3"));
  WriteBatch* const inserted[] = {&first, &second};
  ASSERT_OK(pipeline_.Commit(
      {.options = &options_, .logged = &marker, .inserted = inserted, .allows_markers = true}));
  EXPECT_EQ(pipeline_.visible_seqno(), 3u);
  EXPECT_EQ(memtable_->num_entries(), 3u);
  EXPECT_EQ(memtable_->largest_seqno(), 3u);
}

TEST_F(CommitPlanTest, MarkersInABatchOfTheProgramAreRefused) {
  WriteBatch marker = Marker();
  const Status status = Commit(&marker);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_EQ(LoggedSeqnos(), std::vector<SequenceNumber>());
}

// An ingestion is another thread that pauses the commits; here it runs inside the check.
TEST_F(CommitPlanTest, ACheckIsRepeatedIfTablesWereIngestedMeanwhile) {
  struct Check final : CommitCheck {
    explicit Check(CommitPipeline* p) : pipeline(p) {}
    Status MayCommit() override {
      if (++calls > 1) return Status::Busy("changed");
      pipeline->Pause();
      pipeline->SkipTo(100);
      pipeline->Resume();
      return Status::OK();
    }
    CommitPipeline* const pipeline;
    int calls = 0;
  } check(&pipeline_);
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "v"));
  WriteBatch* const inserted[] = {&batch};
  const Status status = pipeline_.Commit(
      {.options = &options_, .logged = &batch, .inserted = inserted, .check = &check});
  EXPECT_TRUE(status.IsBusy()) << status.ToString();
  EXPECT_EQ(check.calls, 2);
  EXPECT_EQ(memtable_->num_entries(), 0U);
}

TEST_F(CommitPlanTest, TheExceptionOfAHookIsPassedOnBehindTheCommit) {
  WriteBatch marker = Marker(), batch;
  ASSERT_OK(batch.Put("a", "1"));
  WriteBatch* const inserted[] = {&batch};
  VisibleHook hook(&pipeline_);
  hook.throws = true;
  EXPECT_THROW(IgnoreError(pipeline_.Commit({.options = &options_,
                                             .logged = &marker,
                                             .inserted = inserted,
                                             .allows_markers = true,
                                             .hook = &hook}),
                           "it throws"),
               std::runtime_error);
  EXPECT_EQ(pipeline_.visible_seqno(), 1u);
  EXPECT_OK(Put("b")) << "nobody waits for the commit";
}

struct MappedFiles {
  MappedFiles() { sim->OfferMappedLogs(true); }
  const std::shared_ptr<SimFS> sim = SimFS::Create();
};

class MappedCommitTest : private MappedFiles, public CommitPipelineTest {
 protected:
  MappedCommitTest() : CommitPipelineTest(sim.get()) { EXPECT_TRUE(wals_.active()->is_mapped()); }
  ~MappedCommitTest() override { IgnoreError(wals_.Close(), "some fail their log"); }

  // Puts "a" and, in the time between its place in the order and its record, a synced "b", until
  // that one is inserted. Then calls `then`.
  Status PutAround(std::function<void()> then, Status* status_of_b) {
    struct Callback final : UserWriteCallback {
      void OnWriteEnqueued() override { enqueued(); }
      void OnWalWriteFinish() override {}
      std::function<void()> enqueued;
    } callback;
    std::thread second;
    callback.enqueued = [&] {
      second = std::thread([&] {
        WriteOptions sync;
        sync.sync = true;
        *status_of_b = Put("b", sync);
      });
      while (memtable_->num_entries() == 0) std::this_thread::yield();
      // No right order depends on it: a sync that does not wait has the time to show itself.
      for (int i = 0; i < 1000; i++) std::this_thread::yield();
      then();
    };
    const WriteOptions options;
    WriteBatch batch;
    EXPECT_OK(batch.Put("a", "value"));
    const Status status = pipeline_.Commit(options, &batch, &callback);
    second.join();
    return status;
  }
};

}  // namespace

TEST_F(CommitPipelineTest, BatchesGetConsecutiveNumbersFromWhereItStarts) {
  pipeline_.StartAt(100);
  WriteBatch two;
  ASSERT_OK(two.Put("a", "1"));
  ASSERT_OK(two.Delete("b"));
  ASSERT_OK(Commit(&two));
  EXPECT_EQ(WriteBatchInternal::Sequence(two), 101u);
  EXPECT_EQ(pipeline_.visible_seqno(), 102u);
  ASSERT_OK(Put("c"));
  EXPECT_EQ(pipeline_.visible_seqno(), 103u);
  EXPECT_EQ(memtable_->num_entries(), 3u);
  EXPECT_EQ(LoggedSeqnos(), (std::vector<SequenceNumber>{101, 103}));
}

TEST_F(CommitPipelineTest, TheOnlyUpdateOfABatchIsInsertedWhateverStandsBesideIt) {
  const auto commit = [this](const std::function<void(WriteBatch*)>& fill) {
    WriteBatch batch;
    fill(&batch);
    EXPECT_OK(Commit(&batch));
  };
  commit([](WriteBatch* batch) { EXPECT_OK(batch->Put("alone", "1")); });
  commit([](WriteBatch* batch) {
    EXPECT_OK(batch->PutLogData("note"));
    EXPECT_OK(batch->Put("behind a note", "2"));
  });
  commit([](WriteBatch* batch) {
    EXPECT_OK(batch->Put("before a note", "3"));
    EXPECT_OK(batch->PutLogData("note"));
  });
  commit([](WriteBatch* batch) { EXPECT_OK(batch->Delete("gone")); });
  commit([](WriteBatch* batch) { EXPECT_OK(batch->PutLogData("a note alone")); });
  commit([](WriteBatch*) {});
  EXPECT_EQ(pipeline_.visible_seqno(), 4u);
  std::string found;
  const std::unique_ptr<InternalIterator> it(memtable_->NewIterator(nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    StrAppend(&found, ExtractUserKey(it->key()), "@", TrailerSeqno(ExtractTrailer(it->key())), "=",
              it->value(), ";");
  }
  EXPECT_EQ(found, "alone@1=1;before a note@3=3;behind a note@2=2;gone@4=;");
}

TEST_F(CommitPipelineTest, WhatCannotBeAppliedNeverReachesTheLog) {
  WriteBatch wrong_count;
  ASSERT_OK(wrong_count.Put("a", "1"));
  WriteBatchInternal::SetCount(&wrong_count, 2);
  EXPECT_TRUE(Commit(&wrong_count).IsCorruption());

  WriteBatch cut(wrong_count.Data().substr(0, wrong_count.GetDataSize() - 1));
  EXPECT_TRUE(Commit(&cut).IsCorruption());

  WriteBatch unknown_family;
  ASSERT_OK(WriteBatchInternal::Put(&unknown_family, 7, "a", "1"));
  EXPECT_TRUE(Commit(&unknown_family).IsInvalidArgument());

  EXPECT_EQ(pipeline_.visible_seqno(), 0u);
  EXPECT_EQ(memtable_->num_entries(), 0u);
  EXPECT_TRUE(LoggedSeqnos().empty());
}

TEST_F(CommitPipelineTest, ABatchWithOneRecordThatIsNotSupportedNeverReachesTheLog) {
  const auto refuse = [this](const std::function<Status(WriteBatch*)>& add) {
    WriteBatch batch;
    ASSERT_OK(batch.Put("first", "1"));
    ASSERT_OK(add(&batch));
    ASSERT_OK(batch.Put("last", "1"));
    const Status status = Commit(&batch);
    EXPECT_TRUE(status.IsNotSupported() || status.IsInvalidArgument()) << status.ToString();
  };
  can_merge_ = false;
  refuse([](WriteBatch* batch) { return batch->Merge("a", "1"); });
  refuse([](WriteBatch* batch) { return WriteBatchInternal::MarkRollback(batch, "transaction"); });
  refuse([](WriteBatch* batch) { return WriteBatchInternal::MarkCommit(batch, "transaction"); });

  EXPECT_EQ(pipeline_.visible_seqno(), 0u);
  EXPECT_EQ(memtable_->num_entries(), 0u);
  EXPECT_TRUE(LoggedSeqnos().empty());
  ASSERT_OK(Put("a"));
  EXPECT_EQ(LoggedSeqnos(), (std::vector<SequenceNumber>{1}));
}

TEST_F(CommitPipelineTest, AReversedRangeRefusesItsBatchAndAnEmptyOneHidesNothing) {
  WriteBatch reversed;
  ASSERT_OK(reversed.Put("a", "1"));
  ASSERT_OK(reversed.DeleteRange("c", "b"));
  EXPECT_TRUE(Commit(&reversed).IsInvalidArgument());
  EXPECT_EQ(memtable_->num_entries(), 0u);
  EXPECT_TRUE(LoggedSeqnos().empty());
  WriteBatch empty;
  ASSERT_OK(empty.DeleteRange("b", "b"));
  ASSERT_OK(Commit(&empty));
  EXPECT_TRUE(memtable_->IsEmpty());
  WriteBatch range;
  ASSERT_OK(range.DeleteRange("b", "c"));
  ASSERT_OK(Commit(&range));
  EXPECT_EQ(memtable_->num_range_deletes(), 1u);
  EXPECT_EQ(memtable_->Tombstones()->DebugString(), "[b, c) 2\n");
}

TEST_F(CommitPipelineTest, AFailedLogLeavesAHoleAndNothingVisible) {
  ASSERT_OK(Put("a"));
  FailWrites();
  EXPECT_FALSE(Put("b").ok());
  EXPECT_FALSE(Put("c").ok());
  EXPECT_EQ(log_errors_, 2);
  EXPECT_EQ(reports_, 2);
  EXPECT_EQ(memtable_->num_entries(), 1u);
  // The numbers are gone, and whoever needs no log still comes through.
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  EXPECT_FALSE(pipeline_.has_unlogged_writes());
  ASSERT_OK(Put("d", unlogged));
  EXPECT_TRUE(pipeline_.has_unlogged_writes());
  EXPECT_EQ(pipeline_.visible_seqno(), 4u);
  EXPECT_EQ(memtable_->num_entries(), 2u);
}

TEST_F(CommitPipelineTest, AFailedSyncIsReportedAlthoughTheWriteIsVisible) {
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  fs_.AddFault(plan);
  WriteOptions sync;
  sync.sync = true;
  EXPECT_FALSE(Put("a", sync).ok());
  EXPECT_EQ(log_errors_, 1);
  EXPECT_EQ(reports_, 1);
  EXPECT_EQ(pipeline_.visible_seqno(), 1u);
  EXPECT_EQ(memtable_->num_entries(), 1u);
}

TEST_F(CommitPipelineTest, AttentionIsAskedOfTheHostBeforeEachCommitAndMayRefuseIt) {
  ASSERT_OK(Put("a"));
  EXPECT_EQ(prepared_, 0);
  pipeline_.RequestAttention();
  ASSERT_OK(Put("b"));
  EXPECT_EQ(prepared_, 1);
  refusal_ = Status::Incomplete("stalled");
  EXPECT_TRUE(Put("c").IsIncomplete());
  pipeline_.ClearAttention();
  ASSERT_OK(Put("d"));
  EXPECT_EQ(pipeline_.visible_seqno(), 3u);
}

TEST_F(CommitPipelineTest, ASyncedWriteIsDurable) {
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(Put("a", sync));
  EXPECT_EQ(wals_.current()->synced_size(), wals_.current()->size());
}

// While paused nothing is in flight: the memtable holds exactly what is visible and it stays so.
TEST_F(CommitPipelineTest, PauseSeesWholeCommitsOnly) {
  constexpr int kWriters = 4, kBatches = 400;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([this, w] {
      WriteOptions options;
      for (int i = 0; i < kBatches; i++) {
        options.sync = i % 100 == w;
        WriteBatch batch;
        EXPECT_OK(batch.Put(StrCat("a", w, "/", i), "1"));
        EXPECT_OK(batch.Put(StrCat("b", w, "/", i), "2"));
        EXPECT_OK(Commit(&batch, options));
        // A writer sees its own write when it comes back.
        EXPECT_GE(pipeline_.visible_seqno(), WriteBatchInternal::Sequence(batch) + 1);
      }
    });
  }
  for (int i = 0; i < 50; i++) {
    pipeline_.Pause();
    const SequenceNumber visible = pipeline_.visible_seqno();
    EXPECT_EQ(memtable_->num_entries(), visible);
    EXPECT_EQ(visible % 2, 0u);
    EXPECT_EQ(pipeline_.visible_seqno(), visible);
    pipeline_.Resume();
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(pipeline_.visible_seqno(), 2u * kWriters * kBatches);
  EXPECT_EQ(memtable_->num_entries(), 2u * kWriters * kBatches);
  // The log holds them in the order of their numbers, without a gap.
  const std::vector<SequenceNumber> seqnos = LoggedSeqnos();
  ASSERT_EQ(seqnos.size(), size_t{kWriters * kBatches});
  for (size_t i = 0; i < seqnos.size(); i++) ASSERT_EQ(seqnos[i], 2 * i + 1);
}

// That they share syncs is shown by SharedSync (tests/db/wal), which can tell.
TEST_F(CommitPipelineTest, ConcurrentSyncedWritesAreAllSynced) {
  constexpr int kWriters = 4, kWrites = 100;
  WriteOptions sync;
  sync.sync = true;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([this, w, &sync] {
      for (int i = 0; i < kWrites; i++) EXPECT_OK(Put(StrCat(w, "/", i), sync));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(wals_.current()->synced_size(), wals_.current()->size());
  EXPECT_GT(fs_.Stats().calls[static_cast<size_t>(CallKind::kSync)], 0u);
}

// Its record is staged and its update inserted meanwhile, but it is neither visible nor synced.
TEST_F(MappedCommitTest, ASyncWaitsForTheRecordsBeforeItOnlyAtItsEnd) {
  Status status_of_b;
  ASSERT_OK(PutAround(
      [this] {
        EXPECT_EQ(pipeline_.visible_seqno(), 0u);
        EXPECT_EQ(wals_.active()->delivered_size(), 0u);
        EXPECT_EQ(wals_.active()->synced_size(), 0u);
      },
      &status_of_b));
  ASSERT_OK(status_of_b);
  EXPECT_EQ(pipeline_.visible_seqno(), 2u);
  EXPECT_EQ(wals_.active()->synced_size(), wals_.active()->size());
}

TEST_F(MappedCommitTest, ASyncFailsWithTheRecordBeforeIt) {
  Status status_of_b;
  EXPECT_TRUE(PutAround([this] { wals_.active()->Abandon(Status::IOError("disk")); }, &status_of_b)
                  .IsIOError());
  EXPECT_TRUE(status_of_b.IsIOError()) << status_of_b.ToString();
  EXPECT_EQ(log_errors_, 2);
  EXPECT_EQ(wals_.active()->delivered_size(), 0u);
  EXPECT_EQ(wals_.active()->synced_size(), 0u);
  EXPECT_EQ(pipeline_.visible_seqno(), 2u) << "the places of both are published";
  EXPECT_EQ(memtable_->num_entries(), 1u);
  EXPECT_TRUE(Put("c").IsIOError());
}

TEST_F(CommitPipelineTest, WhatACallbackThrowsIsPassedOnWhenTheWriteIsDone) {
  struct Callback final : UserWriteCallback {
    void OnWriteEnqueued() override { throw std::runtime_error("first"); }
    void OnWalWriteFinish() override { throw std::runtime_error("second"); }
  } callback;
  WriteOptions options;
  options.sync = true;
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  try {
    IgnoreError(pipeline_.Commit(options, &batch, &callback), "it throws");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_EQ(pipeline_.visible_seqno(), 1u);
  EXPECT_EQ(memtable_->num_entries(), 1u);
  EXPECT_EQ(wals_.current()->synced_size(), wals_.current()->size());
  ASSERT_OK(Put("b"));
  pipeline_.Pause();
  pipeline_.Resume();
}

TEST_F(CommitPipelineTest, AComparatorThatThrowsLeavesNoPlaceInTheOrderOpen) {
  struct Throwing final : Comparator {
    const char* Name() const override { return "throwing"; }
    int Compare(const Slice& a, const Slice& b) const override {
      if (a == Slice("bad") || b == Slice("bad")) throw std::runtime_error("bad");
      return a.compare(b);
    }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
  } comparator;
  memtable_->Unref();
  memtable_ = new MemTable(InternalKeyComparator(&comparator), MemTableOptions(), 1);
  ASSERT_OK(Put("a"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("good", "1"));
  ASSERT_OK(batch.Put("bad", "1"));
  EXPECT_THROW(IgnoreError(Commit(&batch), "it throws"), std::runtime_error);
  EXPECT_EQ(partial_inserts_, 1) << "only the log has all of it";
  EXPECT_EQ(reports_, 1);
  ASSERT_OK(Put("b"));
  EXPECT_EQ(pipeline_.visible_seqno(), 4u);
  pipeline_.Pause();
  pipeline_.Resume();
  memtable_->Unref();
  memtable_ = new MemTable(InternalKeyComparator(BytewiseComparator()), MemTableOptions(), 1);
}

// Also a writer that has been asked already, and waits for the end of a pause.
TEST_F(CommitPipelineTest, WhatIsShutOutIsRefusedByTheHost) {
  refusal_ = Status::IOError("the log is broken");
  pipeline_.Pause();
  std::thread writer([this] { EXPECT_TRUE(Put("a").IsIOError()); });
  pipeline_.Shut();
  writer.join();
  pipeline_.Resume();
  EXPECT_TRUE(Put("b").IsIOError());
  EXPECT_EQ(pipeline_.visible_seqno(), 0u);
  pipeline_.Reopen();
  EXPECT_OK(Put("c"));
  EXPECT_EQ(prepared_, 2) << "attention was never asked for";
}

}  // namespace ashlar
