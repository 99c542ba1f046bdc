// SPDX-License-Identifier: Apache-2.0
//
// Query traces of the same calls by RocksDB and by us have the same records, and each library
// replays the trace of the other one. Skipped without RocksDB's library.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record_result.h"
#include "ashlar/utilities/replayer.h"
#include "ashlar/write_batch.h"
#include "env/trace/trace_frame.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Prints what tests/interop/traces/trace_client.cc prints.
class Printer final : public TraceRecordResult::Handler {
 public:
  Status Handle(const StatusOnlyTraceExecutionResult& result) override {
    StrAppend(&text, "write ", result.GetStatus().ToString(), "\n");
    return Status::OK();
  }
  Status Handle(const SingleValueTraceExecutionResult& result) override {
    StrAppend(&text, "get ", result.GetStatus().ok() ? "OK" : "no", " ", result.GetValue(), "\n");
    return Status::OK();
  }
  Status Handle(const MultiValuesTraceExecutionResult& result) override {
    for (size_t i = 0; i < result.GetValues().size(); i++) {
      StrAppend(&text, "multi get ", result.GetMultiStatus()[i].ok() ? "OK" : "no", " ",
                result.GetValues()[i], "\n");
    }
    return Status::OK();
  }
  Status Handle(const IteratorTraceExecutionResult& result) override {
    StrAppend(&text, "seek ", result.GetValid() ? 1 : 0, " ", result.GetKey(), " ",
              result.GetValue(), "\n");
    return Status::OK();
  }
  std::string text;
};

class TraceInterop : public testing::Test {
 protected:
  void SetUp() override {
    theirs_ = BuildPath("traces_theirs");
    int exit_code = 0;
    RunCommand(StrCat("test -x '", theirs_, "'"), &exit_code);
    if (exit_code != 0) return SkipAsMissing("RocksDB (librocksdb-dev)");
    dir_ = FreshTempDir("trace_interop");
    Options options;
    options.create_if_missing = true;
    ASSERT_OK(DB::Open(options, dir_ + "/ours", &db_));
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "two", &two_));
  }
  void TearDown() override {
    if (two_ == nullptr) return;
    EXPECT_OK(db_->DestroyColumnFamilyHandle(two_));
  }

  std::string RunTheirs(const std::string& mode, const std::string& trace) {
    int exit_code = 0;
    const std::string command =
        StrCat("'", theirs_, "' ", mode, " '", dir_, "/theirs' '", trace, "'");
    const std::string output = RunCommand(command, &exit_code);
    EXPECT_EQ(exit_code, 0) << output;
    return output;
  }

  void RecordOurs(const std::string& trace) {
    std::unique_ptr<TraceWriter> writer;
    ASSERT_OK(NewFileTraceWriter(Env::Default(), EnvOptions(), trace, &writer));
    ASSERT_OK(db_->StartTrace(TraceOptions(), std::move(writer)));
    const WriteOptions wo;
    ReadOptions ro;
    std::string value;
    ASSERT_OK(db_->Put(wo, "k1", "v1"));
    ASSERT_OK(db_->Put(wo, two_, "c1", std::string(300, 'x')));
    WriteBatch batch;
    ASSERT_OK(batch.Put("k2", "v2"));
    ASSERT_OK(batch.Delete(two_, "gone"));
    ASSERT_OK(batch.DeleteRange("m", "n"));
    ASSERT_OK(db_->Write(wo, &batch));
    EXPECT_OK(db_->Get(ro, "k1", &value));
    EXPECT_TRUE(db_->Get(ro, two_, "absent", &value).IsNotFound());
    const Slice keys[] = {"k1", "c1", "none"};
    ColumnFamilyHandle* families[] = {db_->DefaultColumnFamily(), two_, db_->DefaultColumnFamily()};
    PinnableSlice values[3];
    Status statuses[3];
    db_->MultiGet(ro, 3, families, keys, values, statuses);
    const Slice lower("a");
    const Slice upper("z");
    {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ro));
      it->Seek("k");
      it->SeekForPrev("k9");
      it->Seek("");
      it->SeekToFirst();
      it->SeekToLast();
    }
    ro.iterate_lower_bound = &lower;
    ro.iterate_upper_bound = &upper;
    {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ro, two_));
      it->Seek("b");
      it->SeekForPrev("c");
      it->SeekToFirst();
      it->SeekToLast();
    }
    ASSERT_OK(db_->EndTrace());
  }

  std::string ReplayWithOurs(const std::string& trace) {
    std::unique_ptr<TraceReader> reader;
    EXPECT_OK(NewFileTraceReader(Env::Default(), EnvOptions(), trace, &reader));
    std::unique_ptr<Replayer> replayer;
    EXPECT_OK(
        db_->NewDefaultReplayer({db_->DefaultColumnFamily(), two_}, std::move(reader), &replayer));
    EXPECT_OK(replayer->Prepare());
    Printer printer;
    EXPECT_OK(replayer->Replay(ReplayOptions(1, 1000.0),
                               [&](Status status, std::unique_ptr<TraceRecordResult>&& result) {
                                 EXPECT_OK(status);
                                 if (result != nullptr) {
                                   EXPECT_OK(result->Accept(&printer));
                                 }
                               }));
    return printer.text;
  }

  // Type and payload of each record but the first, which has the version of the library.
  static std::vector<std::string> RecordsOf(const std::string& trace) {
    std::vector<std::string> result;
    std::unique_ptr<TraceReader> reader;
    EXPECT_OK(NewFileTraceReader(Env::Default(), EnvOptions(), trace, &reader));
    std::string bytes;
    while (reader->Read(&bytes).ok()) {
      TraceFrame frame;
      EXPECT_OK(ParseTraceFrame(bytes, &frame));
      if (frame.type == kTraceBegin) continue;
      result.push_back(StrCat(static_cast<int>(frame.type), " ", HexBytes(frame.payload)));
    }
    return result;
  }

  std::string theirs_;
  std::string dir_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* two_ = nullptr;
};

TEST_F(TraceInterop, TheSameCallsGiveTheSameRecords) {
  RunTheirs("record", dir_ + "/theirs.trace");
  RecordOurs(dir_ + "/ours.trace");
  const std::vector<std::string> ours = RecordsOf(dir_ + "/ours.trace");
  EXPECT_EQ(ours, RecordsOf(dir_ + "/theirs.trace"));
  EXPECT_EQ(ours.size(), 14u);
}

TEST_F(TraceInterop, EachReplaysTheTraceOfTheOther) {
  RunTheirs("record", dir_ + "/theirs.trace");
  const std::string by_ours = ReplayWithOurs(dir_ + "/theirs.trace");
  EXPECT_NE(by_ours.find("multi get OK v1\nmulti get OK xxx"), std::string::npos) << by_ours;
  RecordOurs(dir_ + "/ours.trace");
  RunCommand(StrCat("rm -rf '", dir_, "/theirs'"));
  EXPECT_EQ(RunTheirs("replay", dir_ + "/ours.trace"), by_ours);
}

// RocksDB's own programs read our other traces.
TEST_F(TraceInterop, RocksDbsParserReadsOurTraceOfFiles) {
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(Env::Default(), EnvOptions(), dir_ + "/io.trace", &writer));
  ASSERT_OK(db_->StartIOTrace(TraceOptions(), std::move(writer)));
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->EndIOTrace());
  const std::string text = RunTheirs("files", dir_ + "/io.trace");
  EXPECT_NE(text.find("File Operation: NewWritableFile"), std::string::npos) << text;
  EXPECT_NE(text.find("File Operation: Append"), std::string::npos) << text;
  EXPECT_NE(text.find("IO Status: OK, Length: "), std::string::npos) << text;
}

TEST_F(TraceInterop, RocksDbsAnalyserReadsOurTraceOfBlocks) {
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", 100 + i), std::string(100, 'x')));
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(Env::Default(), EnvOptions(), dir_ + "/block.trace", &writer));
  ASSERT_OK(db_->StartBlockCacheTrace(TraceOptions(), std::move(writer)));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key150", &value));
  ASSERT_OK(db_->Get(ReadOptions(), "key150", &value));
  ASSERT_OK(db_->EndBlockCacheTrace());
  RunCommand(StrCat("mkdir '", dir_, "/theirs'"));
  const std::string text = RunTheirs("blocks", dir_ + "/block.trace");
  EXPECT_NE(text.find("Statistics for column family default"), std::string::npos) << text;
  EXPECT_NE(text.find("Caller Get: Number of accesses 2 "), std::string::npos) << text;
  EXPECT_NE(text.find("Block Type Data: Number of accesses: 2 "), std::string::npos) << text;
}

}  // namespace
}  // namespace ashlar
