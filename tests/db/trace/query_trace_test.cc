// SPDX-License-Identifier: Apache-2.0
//
// DB::StartTrace() and EndTrace().
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/listener.h"
#include "ashlar/utilities/transaction.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/write_batch.h"
#include "db/trace/query_records.h"
#include "db/write/write_batch_internal.h"
#include "env/trace/trace_frame.h"
#include "tests/db/stamps/stamped_db.h"
#include "tests/support/memory_trace.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class QueryTraceTest : public DbTest {
 protected:
  QueryTraceTest() { Open({kDefaultColumnFamilyName, "two"}); }

  std::unique_ptr<TraceWriter> Writer() { return std::make_unique<WriterInto>(&trace_); }
  void Start(const TraceOptions& options = TraceOptions()) {
    ASSERT_OK(db_->StartTrace(options, Writer()));
  }

  // Of the records between the first and the last one: type and key (of a write: its first key).
  std::vector<std::string> Calls() const {
    std::vector<std::string> calls;
    for (const std::string& bytes : trace_.records) {
      TraceFrame frame;
      EXPECT_OK(ParseTraceFrame(bytes, &frame));
      if (frame.type == kTraceBegin || frame.type == kTraceEnd) continue;
      std::unique_ptr<TraceRecord> record;
      EXPECT_OK(ParseQueryRecord(frame, kQueryTraceVersion, &record));
      std::string text = StrCat(static_cast<int>(frame.type));
      if (frame.type == kTraceGet) {
        StrAppend(&text, " ", static_cast<GetQueryTraceRecord*>(record.get())->GetKey());
      }
      calls.push_back(std::move(text));
    }
    return calls;
  }

  MemoryTrace trace_;
};

TEST_F(QueryTraceTest, EachCallOfADatabaseIsOneRecord) {
  Start();
  Put("a", "1");
  Delete("b");
  EXPECT_TRUE(db_->Merge(WriteOptions(), "m", "x").IsNotSupported());
  EXPECT_EQ(Get("a"), "1");
  std::string value;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "none", &value) && !value.empty());
  PinnableWideColumns columns;
  EXPECT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "a", &columns));
  std::vector<std::string> values;
  const std::vector<Slice> keys = {"a", "b"};
  db_->MultiGet(ReadOptions(), keys, &values);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("a");
  it->SeekForPrev("a");
  it->SeekToFirst();
  it->SeekToLast();
  ASSERT_OK(db_->EndTrace());
  EXPECT_EQ(Get("a"), "1");  // not recorded
  EXPECT_EQ(Calls(), (std::vector<std::string>{"3", "3", "4 a", "4 none", "4 a", "13", "5", "6"}));
  EXPECT_TRUE(trace_.is_closed);
}

TEST_F(QueryTraceTest, SeeksAreRecordedInFamiliesOfBothKinds) {
  ColumnFamilyOptions options(options_);
  options.comparator = BytewiseComparatorWithU64Ts();
  ColumnFamilyHandle* const stamped = CreateFamily("stamped", options);
  ASSERT_NE(stamped, nullptr);
  const Slice bound = "m";
  for (ColumnFamilyHandle* const family : {handles_[0], stamped}) {
    SCOPED_TRACE(family->GetName());
    trace_ = MemoryTrace();
    const ReadAt at(9);
    ReadOptions read;
    if (family == stamped) read = at.options;
    read.iterate_upper_bound = &bound;
    Start();
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, family));
    it->Seek("a");
    it->SeekForPrev("b");
    it->SeekToFirst();  // no bound says where
    it->SeekToLast();
    EXPECT_OK(it->status());
    ASSERT_OK(db_->EndTrace());
    EXPECT_EQ(Calls(), (std::vector<std::string>{"5", "6", "6"}));
    ASSERT_EQ(trace_.records.size(), 5u);
    TraceFrame frame;
    ASSERT_OK(ParseTraceFrame(trace_.records[3], &frame));
    std::unique_ptr<TraceRecord> record;
    ASSERT_OK(ParseQueryRecord(frame, kQueryTraceVersion, &record));
    const auto* const seek = static_cast<IteratorSeekQueryTraceRecord*>(record.get());
    EXPECT_EQ(seek->GetKey(), bound);
    EXPECT_EQ(seek->GetUpperBound(), bound);
    EXPECT_EQ(seek->GetColumnFamilyID(), family->GetID());
  }
}

TEST_F(QueryTraceTest, AFilterLeavesOutCallsBeforeTheyAreSampled) {
  TraceOptions options;
  options.filter = kTraceFilterWrite | kTraceFilterMultiGet | kTraceFilterIteratorSeek |
                   kTraceFilterIteratorSeekForPrev;
  options.sampling_frequency = 3;
  Start(options);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (int i = 0; i < 8; i++) {
    Put("p", "v");
    Get(StrCat("g", i));
    it->Seek("p");
    it->SeekForPrev("p");
  }
  ASSERT_OK(db_->EndTrace());
  EXPECT_EQ(Calls(), (std::vector<std::string>{"4 g2", "4 g5"}));
}

TEST_F(QueryTraceTest, ATraceThatIsFullWritesNothingButItsEnd) {
  TraceOptions options;
  options.max_trace_file_size = 200;
  Start(options);
  for (int i = 0; i < 100; i++) Get("some key");
  ASSERT_OK(db_->EndTrace());
  EXPECT_LT(Calls().size(), 10u);
  EXPECT_GT(Calls().size(), 0u);
  TraceFrame last;
  ASSERT_OK(ParseTraceFrame(trace_.records.back(), &last));
  EXPECT_EQ(last.type, kTraceEnd);
  EXPECT_TRUE(last.payload.empty());
}

TEST_F(QueryTraceTest, OneTraceRunsAtATime) {
  EXPECT_TRUE(db_->EndTrace().IsIOError());
  EXPECT_TRUE(db_->StartTrace(TraceOptions(), nullptr).IsInvalidArgument());
  TraceOptions omits_all;
  omits_all.filter = kTraceFilterGet;
  Start();
  MemoryTrace second;
  EXPECT_TRUE(db_->StartTrace(omits_all, std::make_unique<WriterInto>(&second)).IsBusy());
  EXPECT_TRUE(second.is_closed);
  EXPECT_TRUE(second.records.empty());
  Get("a");
  EXPECT_OK(db_->EndTrace());
  EXPECT_EQ(Calls(), std::vector<std::string>{"4 a"});  // with its own filter
  EXPECT_TRUE(db_->EndTrace().IsIOError());
}

TEST_F(QueryTraceTest, AFailedWriterEndsTheTraceAndNotTheCall) {
  Start();
  Get("a");
  trace_.next_write = Status::NoSpace("disk");
  Put("b", "1");
  trace_.next_write = Status::OK();
  Put("c", "1");
  EXPECT_EQ(Get("b"), "1");
  EXPECT_TRUE(db_->StartTrace(TraceOptions(), Writer()).IsBusy());
  const Status status = db_->EndTrace();
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_EQ(Calls(), std::vector<std::string>{"4 a"});
  Start();  // again possible
  trace_.throws = true;
  Put("d", "1");
  EXPECT_TRUE(db_->EndTrace().IsAborted());
}

TEST_F(QueryTraceTest, ErrorsOfTheFirstRecordAndOfClosingAreReturned) {
  trace_.next_write = Status::IOError("broken");
  EXPECT_TRUE(db_->StartTrace(TraceOptions(), Writer()).IsIOError());
  EXPECT_TRUE(trace_.is_closed);
  trace_.next_write = Status::OK();
  trace_.close = Status::NoSpace("late");
  Start();
  EXPECT_TRUE(db_->EndTrace().IsNoSpace());
}

TEST_F(QueryTraceTest, ClosingTheDatabaseEndsItsTrace) {
  Start();
  Put("a", "1");
  Close();
  EXPECT_TRUE(trace_.is_closed);
  TraceFrame last;
  ASSERT_OK(ParseTraceFrame(trace_.records.back(), &last));
  EXPECT_EQ(last.type, kTraceEnd);
}

// The log knows the order.
TEST_F(QueryTraceTest, WithPreserveWriteOrderWritesAreInTheOrderOfTheirNumbers) {
  TraceOptions options;
  options.preserve_write_order = true;
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  Start(options);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 100; i++) Put("k", StrCat(thread, ".", i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db_->EndTrace());
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(before + 1, &updates));
  size_t record = 1;
  for (; updates->Valid(); updates->Next()) {
    BatchResult logged = updates->GetBatch();
    WriteBatchInternal::SetSequence(logged.writeBatchPtr.get(), 0);
    std::string payload;
    AppendWriteQuery(logged.writeBatchPtr->Data(), &payload);
    ASSERT_LT(record, trace_.records.size());
    TraceFrame frame;
    ASSERT_OK(ParseTraceFrame(trace_.records[record++], &frame));
    std::string traced = frame.payload.ToString();
    ASSERT_EQ(traced.size(), payload.size());
    ASSERT_EQ(traced, payload) << "write " << record;
  }
  EXPECT_EQ(record, 401u);
}

// Writes while a writer is in a call of the program: by itself, and by another thread, which must
// not wait.
class WritingListener final : public EventListener {
 public:
  void OnMemTableSealed(const MemTableInfo&) override {
    if (db == nullptr) return;
    DB* const called = std::exchange(db, nullptr);
    EXPECT_OK(called->Put(WriteOptions(), "by the listener", "1"));
    std::thread([called] {
      WriteOptions options;
      options.no_slowdown = true;
      EXPECT_OK(called->Put(options, "beside it", "1"));
    }).join();
    calls++;
  }
  DB* db = nullptr;
  int calls = 0;
};

TEST_F(QueryTraceTest, WithPreserveWriteOrderNoLockIsHeldInCallsOfTheProgram) {
  const auto listener = std::make_shared<WritingListener>();
  options_.listeners.push_back(listener);
  options_.max_write_buffer_number = 6;  // no write is held
  options_.write_buffer_size = 64 << 10;
  Reopen();
  TraceOptions options;
  options.preserve_write_order = true;
  Start(options);
  listener->db = db_.get();
  for (int i = 0; i < 100 && listener->calls == 0; i++) {
    Put(StrCat("key", i), std::string(8 << 10, 'v'));
  }
  EXPECT_EQ(listener->calls, 1);
  ASSERT_OK(db_->EndTrace());
  EXPECT_EQ(Get("beside it"), "1");
}

TEST(QueryTraceOfTransactions, WithPreserveWriteOrderACommitMayTakeASnapshot) {
  TestDb files;
  TransactionDB* opened = nullptr;
  ASSERT_OK(TransactionDB::Open(files.options(), TransactionDBOptions(), "/t", &opened));
  const std::unique_ptr<TransactionDB> db(opened);
  MemoryTrace trace;
  TraceOptions options;
  options.preserve_write_order = true;
  ASSERT_OK(db->StartTrace(options, std::make_unique<WriterInto>(&trace)));
  for (const bool is_prepared : {false, true}) {
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    ASSERT_OK(transaction->SetName("xid"));
    ASSERT_OK(transaction->Put("a", "1"));
    if (is_prepared) {
      ASSERT_OK(transaction->Prepare());
    }
    std::shared_ptr<const Snapshot> snapshot;
    EXPECT_OK(transaction->CommitAndTryCreateSnapshot(nullptr, is_prepared ? 2 : 1, &snapshot));
    EXPECT_NE(snapshot, nullptr);
  }
  ASSERT_OK(db->EndTrace());
  EXPECT_EQ(trace.records.size(), 4u);
}

TEST(QueryTraceOfTransactions, APreparedTransactionIsOneWriteWhenItCommits) {
  TestDb files;
  TransactionDB* opened = nullptr;
  ASSERT_OK(TransactionDB::Open(files.options(), TransactionDBOptions(), "/t", &opened));
  const std::unique_ptr<TransactionDB> db(opened);
  MemoryTrace trace;
  ASSERT_OK(db->StartTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  for (const bool commits : {false, true}) {
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    ASSERT_OK(transaction->SetName("xid"));
    ASSERT_OK(transaction->Put("tk", "tv"));
    ASSERT_OK(transaction->Prepare());
    ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put("at commit", "1"));
    EXPECT_OK(commits ? transaction->Commit() : transaction->Rollback());
  }
  ASSERT_OK(db->EndTrace());
  ASSERT_EQ(trace.records.size(), 3u);
  TraceFrame frame;
  ASSERT_OK(ParseTraceFrame(trace.records[1], &frame));
  WriteBatch batch;  // what the commit inserts, in its order
  ASSERT_OK(batch.Put("at commit", "1"));
  ASSERT_OK(batch.Put("tk", "tv"));
  std::string payload;
  AppendWriteQuery(batch.Data(), &payload);
  EXPECT_EQ(frame.payload.ToString(), payload);
}

}  // namespace
}  // namespace ashlar
