// SPDX-License-Identifier: Apache-2.0
//
// The default replayer executes the records of a trace.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/trace_record_result.h"
#include "ashlar/utilities/replayer.h"
#include "tests/env/manual_clock.h"
#include "tests/support/memory_trace.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ReplayTest : public DbTest {
 protected:
  ReplayTest() { Open({kDefaultColumnFamilyName, "two"}); }

  void Start() {
    ASSERT_OK(db_->StartTrace(TraceOptions(), std::make_unique<WriterInto>(&trace_)));
  }
  std::unique_ptr<Replayer> NewReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
    std::unique_ptr<Replayer> replayer;
    EXPECT_OK(db->NewDefaultReplayer(handles, std::make_unique<ReaderOf>(trace_), &replayer));
    return replayer;
  }

  MemoryTrace trace_;
};

TEST_F(ReplayTest, ReplayDoesTheCallsAgain) {
  Start();
  Put("a", "1");
  Put(Family("two"), "b", "2");
  Get("none");
  std::vector<std::string> values;
  const std::vector<Slice> keys = {"a", "none"};
  db_->MultiGet(ReadOptions(), keys, &values);
  std::unique_ptr<Iterator>(db_->NewIterator(ReadOptions()))->Seek("a");
  ASSERT_OK(db_->EndTrace());

  TestDb other;
  other.Open({kDefaultColumnFamilyName, "two"});
  const auto replayer = NewReplayer(other.db(), other.handles());
  std::unique_ptr<TraceRecord> record;
  EXPECT_TRUE(replayer->Next(&record).IsIncomplete());
  EXPECT_TRUE(replayer->Replay(ReplayOptions(), nullptr).IsIncomplete());
  EXPECT_EQ(replayer->GetHeaderTimestamp(), 0u);
  ASSERT_OK(replayer->Prepare());
  EXPECT_GT(replayer->GetHeaderTimestamp(), 0u);
  for (const double wrong : {0.0, -1.0}) {
    EXPECT_TRUE(replayer->Replay(ReplayOptions(1, wrong), nullptr).IsInvalidArgument());
  }
  std::vector<int> types;
  bool saw_missing = false;
  const auto note = [&](Status status, std::unique_ptr<TraceRecordResult>&& result) {
    EXPECT_OK(status);
    types.push_back(result->GetTraceType());
    if (result->GetTraceType() == kTraceGet) {
      const auto* get = static_cast<SingleValueTraceExecutionResult*>(result.get());
      saw_missing = get->GetStatus().IsNotFound();
      EXPECT_GE(get->GetEndTimestamp(), get->GetStartTimestamp());
    }
    if (result->GetTraceType() == kTraceIteratorSeek) {
      const auto* seek = static_cast<IteratorTraceExecutionResult*>(result.get());
      EXPECT_TRUE(seek->GetValid());
      EXPECT_EQ(seek->GetKey().ToString() + seek->GetValue().ToString(), "a1");
    }
    if (result->GetTraceType() == kTraceMultiGet) {
      const auto* many = static_cast<MultiValuesTraceExecutionResult*>(result.get());
      EXPECT_OK(many->GetMultiStatus()[0]);
      EXPECT_TRUE(many->GetMultiStatus()[1].IsNotFound());
      EXPECT_EQ(many->GetValues(), (std::vector<std::string>{"1", ""}));
    }
  };
  EXPECT_OK(replayer->Replay(ReplayOptions(1, 1000), note));
  EXPECT_EQ(types, (std::vector<int>{3, 3, 4, 13, 5}));
  EXPECT_TRUE(saw_missing);
  EXPECT_EQ(other.Get("a"), "1");
  EXPECT_TRUE(replayer->Next(&record).IsIncomplete());
  EXPECT_TRUE(replayer->Replay(ReplayOptions(), nullptr).IsIncomplete());
  ASSERT_OK(replayer->Prepare());  // from the start
  ASSERT_OK(replayer->Next(&record));
  EXPECT_EQ(record->GetTraceType(), kTraceWrite);
  EXPECT_OK(replayer->Execute(record, nullptr));
  EXPECT_TRUE(replayer->Execute(nullptr, nullptr).IsInvalidArgument());
}

TEST_F(ReplayTest, ThreadsOfAReplayDivideTheRecords) {
  Start();
  for (int i = 0; i < 200; i++) Put(Key(i), "v");
  ASSERT_OK(db_->EndTrace());
  TestDb other;
  other.Open();
  const auto replayer = NewReplayer(other.db(), {other.db()->DefaultColumnFamily()});
  ASSERT_OK(replayer->Prepare());
  std::atomic<int> results{0};
  EXPECT_OK(replayer->Replay(ReplayOptions(4, 1e9),
                             [&](Status status, std::unique_ptr<TraceRecordResult>&&) {
                               EXPECT_OK(status);
                               results++;
                             }));
  EXPECT_EQ(results, 200);
  for (int i = 0; i < 200; i++) EXPECT_EQ(other.Get(Key(i)), "v");
}

TEST_F(ReplayTest, ARecordOfAnUnknownFamilyIsReportedAndPassed) {
  Start();
  Put(Family("two"), "b", "2");
  db_->Get(ReadOptions(), Family("two"), "b", std::make_unique<std::string>().get())
      .PermitUncheckedError();
  Get("a");
  ASSERT_OK(db_->EndTrace());
  const auto replayer = NewReplayer(db_.get(), {db_->DefaultColumnFamily()});
  ASSERT_OK(replayer->Prepare());
  std::vector<bool> has_result;
  EXPECT_OK(replayer->Replay(ReplayOptions(1, 1000),
                             [&](Status status, std::unique_ptr<TraceRecordResult>&& result) {
                               EXPECT_EQ(status.IsCorruption(), result == nullptr);
                               has_result.push_back(result != nullptr);
                             }));
  EXPECT_EQ(has_result, (std::vector<bool>{true, false, true}));
}

// The trace of a process that died has no last record; its last one may be damaged.
TEST_F(ReplayTest, ReplayEndsAtAMissingEndAndFailsAtDamage) {
  Start();
  Put("a", "1");
  Put("b", "1");
  ASSERT_OK(db_->EndTrace());
  trace_.records.pop_back();
  const auto replayer = NewReplayer(db_.get(), {db_->DefaultColumnFamily()});
  ASSERT_OK(replayer->Prepare());
  EXPECT_OK(replayer->Replay(ReplayOptions(1, 1000), nullptr));

  const size_t offset = trace_.records[0].size() + trace_.records[1].size();
  trace_.records[2].pop_back();
  const auto damaged = NewReplayer(db_.get(), {db_->DefaultColumnFamily()});
  ASSERT_OK(damaged->Prepare());
  const Status status = damaged->Replay(ReplayOptions(1, 1000), nullptr);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(StrCat("offset ", offset)), std::string::npos)
      << status.ToString();
  std::unique_ptr<TraceRecord> record;
  EXPECT_TRUE(damaged->Next(&record).IsCorruption());
  trace_.records.front()[13] = 'x';
  EXPECT_TRUE(NewReplayer(db_.get(), {})->Prepare().IsCorruption());
  trace_.records.erase(trace_.records.begin());
  EXPECT_TRUE(NewReplayer(db_.get(), {})->Prepare().IsCorruption());
}

// Reads the first records of a trace; each later read fails.
class FailingReader final : public TraceReader {
 public:
  FailingReader(const MemoryTrace& trace, size_t records, Status failure)
      : reader_(trace), records_(records), failure_(std::move(failure)) {}
  Status Read(std::string* data) override {
    return reads_++ < records_ ? reader_.Read(data) : failure_;
  }
  Status Close() override { return Status::OK(); }
  Status Reset() override {
    reads_ = 0;
    return reader_.Reset();
  }

 private:
  ReaderOf reader_;
  const size_t records_;
  const Status failure_;
  size_t reads_ = 0;
};

// NotSupported too, which is also the status of a record that cannot be executed.
TEST_F(ReplayTest, ReplayEndsAtEveryFailureOfTheReader) {
  Start();
  Put("a", "1");
  Put("b", "1");
  ASSERT_OK(db_->EndTrace());
  for (const Status& failure : {Status::NotSupported("format"), Status::IOError("gone")}) {
    for (const uint32_t threads : {1u, 3u}) {
      std::unique_ptr<Replayer> replayer;
      ASSERT_OK(db_->NewDefaultReplayer({db_->DefaultColumnFamily()},
                                        std::make_unique<FailingReader>(trace_, 2, failure),
                                        &replayer));
      ASSERT_OK(replayer->Prepare());
      std::atomic<int> calls{0};
      const auto note = [&](Status, std::unique_ptr<TraceRecordResult>&&) { calls++; };
      EXPECT_EQ(replayer->Replay(ReplayOptions(threads, 1000), note).code(), failure.code());
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST_F(ReplayTest, NewDefaultReplayerRefusesNulls) {
  std::unique_ptr<Replayer> replayer;
  EXPECT_TRUE(db_->NewDefaultReplayer({}, nullptr, &replayer).IsInvalidArgument());
  EXPECT_TRUE(db_->NewDefaultReplayer({nullptr}, std::make_unique<ReaderOf>(trace_), &replayer)
                  .IsInvalidArgument());
}

TEST(QueryReplay, KeepsThePaceOfTheTrace) {
  const auto clock = std::make_shared<ManualClock>(1'000'000'000);
  TestDb db;
  db.UseFiles(std::make_shared<MemoryFileSystem>(), clock);
  db.Open();
  MemoryTrace trace;
  ASSERT_OK(db.db()->StartTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  clock->Advance(1'000'000);
  db.Put("a", "1");
  clock->Advance(300'000'000);
  db.Put("b", "1");
  ASSERT_OK(db.db()->EndTrace());
  std::unique_ptr<Replayer> replayer;
  ASSERT_OK(db.db()->NewDefaultReplayer({db.db()->DefaultColumnFamily()},
                                        std::make_unique<ReaderOf>(trace), &replayer));
  ASSERT_OK(replayer->Prepare());
  const uint64_t begin = clock->NowMicros();
  std::vector<uint64_t> moments;
  EXPECT_OK(
      replayer->Replay(ReplayOptions(1, 2.0), [&](Status, std::unique_ptr<TraceRecordResult>&&) {
        moments.push_back(clock->NowMicros() - begin);
      }));
  EXPECT_EQ(moments, (std::vector<uint64_t>{500'000, 150'500'000}));
}

// RocksDB records the section when it is prepared, and again behind the marker that commits it.
TEST_F(ReplayTest, OfAPreparedSectionOnlyTheCommittedRecordIsWritten) {
  const auto handler = std::unique_ptr<TraceRecord::Handler>(
      TraceRecord::NewExecutionHandler(db_.get(), {db_->DefaultColumnFamily()}));
  const std::string section = std::string("\x09\x01\x02tk\x02tv\x0a\x03xid", 13);
  const std::string header = std::string(8, '\0') + std::string("\x01\0\0\0", 4);
  std::unique_ptr<TraceRecordResult> result;
  WriteQueryTraceRecord prepare(header + section, 1);
  EXPECT_OK(prepare.Accept(handler.get(), &result));
  EXPECT_OK(static_cast<StatusOnlyTraceExecutionResult*>(result.get())->GetStatus());
  EXPECT_EQ(Get("tk"), "(none)");
  WriteQueryTraceRecord commit(header + std::string("\x0b\x03xid", 5) + section, 2);
  EXPECT_OK(commit.Accept(handler.get(), &result));
  EXPECT_OK(static_cast<StatusOnlyTraceExecutionResult*>(result.get())->GetStatus());
  EXPECT_EQ(Get("tk"), "tv");
}

}  // namespace
}  // namespace ashlar
