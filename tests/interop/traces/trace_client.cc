// SPDX-License-Identifier: Apache-2.0
//
// Traces of RocksDB, for tests/interop/trace_test.cc. Written for RocksDB alone.
//
//   trace_client record DIR TRACE   makes a database and records the calls of the test
//   trace_client replay DIR TRACE   makes a database, replays the trace in it, prints the results
//   trace_client files DIR TRACE    prints an I/O trace with RocksDB's parser
//   trace_client blocks DIR TRACE   prints a block cache trace with RocksDB's analyser
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/trace_reader_writer.h>
#include <rocksdb/trace_record_result.h>
#include <rocksdb/utilities/replayer.h>
#include <rocksdb/write_batch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// RocksDB's programs, which its library has and no header declares.
namespace rocksdb {
int io_tracer_parser(int argc, char** argv);
int block_cache_trace_analyzer_tool(int argc, char** argv);
}  // namespace rocksdb

namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Env;
using rocksdb::EnvOptions;
using rocksdb::Iterator;
using rocksdb::IteratorTraceExecutionResult;
using rocksdb::MultiValuesTraceExecutionResult;
using rocksdb::NewFileTraceReader;
using rocksdb::NewFileTraceWriter;
using rocksdb::Options;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Replayer;
using rocksdb::ReplayOptions;
using rocksdb::SingleValueTraceExecutionResult;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::StatusOnlyTraceExecutionResult;
using rocksdb::TraceOptions;
using rocksdb::TraceReader;
using rocksdb::TraceRecordResult;
using rocksdb::TraceWriter;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

void Check(const Status& status) {
  if (status.ok()) return;
  std::printf("%s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<DB> Make(const std::string& dir, ColumnFamilyHandle** two) {
  Options options;
  options.create_if_missing = true;
  DB* db = nullptr;
  Check(DB::Open(options, dir, &db));
  Check(db->CreateColumnFamily(ColumnFamilyOptions(), "two", two));
  return std::unique_ptr<DB>(db);
}

// The same calls as in the test.
void Record(DB* db, ColumnFamilyHandle* two, const std::string& trace) {
  std::unique_ptr<TraceWriter> writer;
  Check(NewFileTraceWriter(Env::Default(), EnvOptions(), trace, &writer));
  Check(db->StartTrace(TraceOptions(), std::move(writer)));
  const WriteOptions wo;
  ReadOptions ro;
  std::string value;
  Check(db->Put(wo, "k1", "v1"));
  Check(db->Put(wo, two, "c1", std::string(300, 'x')));
  WriteBatch batch;
  Check(batch.Put("k2", "v2"));
  Check(batch.Delete(two, "gone"));
  Check(batch.DeleteRange("m", "n"));
  Check(db->Write(wo, &batch));
  db->Get(ro, "k1", &value).PermitUncheckedError();
  db->Get(ro, two, "absent", &value).PermitUncheckedError();
  const Slice keys[] = {"k1", "c1", "none"};
  ColumnFamilyHandle* const families[] = {db->DefaultColumnFamily(), two,
                                          db->DefaultColumnFamily()};
  PinnableSlice values[3];
  Status statuses[3];
  db->MultiGet(ro, 3, const_cast<ColumnFamilyHandle**>(families), keys, values, statuses);
  const Slice lower("a");
  const Slice upper("z");
  {
    const std::unique_ptr<Iterator> it(db->NewIterator(ro));
    it->Seek("k");
    it->SeekForPrev("k9");
    it->Seek("");
    it->SeekToFirst();
    it->SeekToLast();
  }
  ro.iterate_lower_bound = &lower;
  ro.iterate_upper_bound = &upper;
  {
    const std::unique_ptr<Iterator> it(db->NewIterator(ro, two));
    it->Seek("b");
    it->SeekForPrev("c");
    it->SeekToFirst();
    it->SeekToLast();
  }
  Check(db->EndTrace());
}

class Printer final : public TraceRecordResult::Handler {
 public:
  Status Handle(const StatusOnlyTraceExecutionResult& result) override {
    std::printf("write %s\n", result.GetStatus().ToString().c_str());
    return Status::OK();
  }
  Status Handle(const SingleValueTraceExecutionResult& result) override {
    std::printf("get %s %s\n", result.GetStatus().ok() ? "OK" : "no", result.GetValue().c_str());
    return Status::OK();
  }
  Status Handle(const MultiValuesTraceExecutionResult& result) override {
    for (size_t i = 0; i < result.GetValues().size(); i++) {
      std::printf("multi get %s %s\n", result.GetMultiStatus()[i].ok() ? "OK" : "no",
                  result.GetValues()[i].c_str());
    }
    return Status::OK();
  }
  Status Handle(const IteratorTraceExecutionResult& result) override {
    std::printf("seek %d %s %s\n", result.GetValid() ? 1 : 0, result.GetKey().ToString().c_str(),
                result.GetValue().ToString().c_str());
    return Status::OK();
  }
};

void Replay(DB* db, ColumnFamilyHandle* two, const std::string& trace) {
  std::unique_ptr<TraceReader> reader;
  Check(NewFileTraceReader(Env::Default(), EnvOptions(), trace, &reader));
  std::unique_ptr<Replayer> replayer;
  Check(db->NewDefaultReplayer({db->DefaultColumnFamily(), two}, std::move(reader), &replayer));
  Check(replayer->Prepare());
  Printer printer;
  Check(replayer->Replay(ReplayOptions(1, 1000.0),
                         [&](Status status, std::unique_ptr<TraceRecordResult>&& result) {
                           Check(status);
                           if (result != nullptr) Check(result->Accept(&printer));
                         }));
}

int RunTool(int (*tool)(int, char**), std::vector<std::string> flags) {
  flags.insert(flags.begin(), "tool");
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  arguments.push_back(nullptr);
  return tool(static_cast<int>(flags.size()), arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string dir = argv[2];
  const std::string trace = argv[3];
  if (std::string(argv[1]) == "files") {
    return RunTool(rocksdb::io_tracer_parser, {"--io_trace_file=" + trace});
  }
  if (std::string(argv[1]) == "blocks") {
    return RunTool(rocksdb::block_cache_trace_analyzer_tool,
                   {"--block_cache_trace_path=" + trace, "--block_cache_analysis_result_dir=" + dir,
                    "--human_readable_trace_file_path=" + dir + "/records"});
  }
  ColumnFamilyHandle* two = nullptr;
  const std::unique_ptr<DB> db = Make(argv[2], &two);
  if (std::string(argv[1]) == "record") {
    Record(db.get(), two, argv[3]);
  } else {
    Replay(db.get(), two, argv[3]);
  }
  Check(db->DestroyColumnFamilyHandle(two));
  return 0;
}
