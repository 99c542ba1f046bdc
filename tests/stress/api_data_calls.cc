// SPDX-License-Identifier: Apache-2.0
//
// Calls that write, and the functions that all files of the table share.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "tests/stress/api_calls.h"

namespace ashlar {
namespace {

const WriteOptions kWrite;

std::string AnyValue(ApiCaller* caller) {
  return std::string(1 + caller->random.Uniform(200), static_cast<char>('a' + caller->thread));
}

void CallPut(ApiCaller* c) {
  ExpectDone(c->db->Put(kWrite, c->AnyFamily(), c->AnyKey(), AnyValue(c)), "Put");
}
void CallPutSynced(ApiCaller* c) {
  WriteOptions options;
  options.sync = true;
  ExpectDone(c->db->Put(options, c->AnyFamily(), c->AnyKey(), AnyValue(c)), "Put, synced");
}
void CallPutWithoutLog(ApiCaller* c) {
  WriteOptions options;
  options.disableWAL = true;
  ExpectDone(c->db->Put(options, c->AnyFamily(), c->AnyKey(), AnyValue(c)), "Put, no log");
}
void CallPutEntity(ApiCaller* c) {
  const std::string value = AnyValue(c);
  ExpectDone(c->db->PutEntity(kWrite, c->AnyFamily(), c->AnyKey(),
                              {{kDefaultWideColumnName, value}, {"column", value}}),
             "PutEntity");
}
void CallDelete(ApiCaller* c) {
  ExpectDone(c->db->Delete(kWrite, c->AnyFamily(), c->AnyKey()), "Delete");
}
// For a key of its own, which is put once.
void CallSingleDelete(ApiCaller* c) {
  const std::string key = "single" + std::to_string(c->thread);
  ColumnFamilyHandle* const family = c->AnyFamily();
  ExpectDone(c->db->Put(kWrite, family, key, "x"), "Put of a key that is deleted once");
  ExpectDone(c->db->SingleDelete(kWrite, family, key), "SingleDelete");
}
void CallDeleteRange(ApiCaller* c) {
  const uint64_t first = c->random.Uniform(kComingKeys);
  ExpectDone(c->db->DeleteRange(kWrite, c->AnyFamily(), ComingKey(first),
                                ComingKey(first + c->random.Uniform(20))),
             "DeleteRange");
}
void CallMerge(ApiCaller* c) {
  ExpectDone(c->db->Merge(kWrite, c->AnyFamily(), c->AnyKey(), "m"), "Merge");
}
void CallWrite(ApiCaller* c) {
  WriteBatch batch;
  for (ColumnFamilyHandle* family : c->families) {
    ExpectDone(batch.Put(family, c->AnyKey(), AnyValue(c)), "WriteBatch::Put");
    ExpectDone(batch.Delete(family, c->AnyKey()), "WriteBatch::Delete");
    ExpectDone(batch.Merge(family, c->AnyKey(), "b"), "WriteBatch::Merge");
  }
  ExpectDone(c->db->Write(kWrite, &batch), "Write");
}
void CallWriteNoSlowdown(ApiCaller* c) {
  WriteOptions options;
  options.no_slowdown = true;
  options.low_pri = c->random.OneIn(2);
  ExpectDone(c->db->Put(options, c->AnyFamily(), c->AnyKey(), AnyValue(c)), "Put, no_slowdown",
             {Status::kIncomplete});
}

class Hooks final : public UserWriteCallback {
 public:
  void OnWriteEnqueued() override { calls++; }
  void OnWalWriteFinish() override { calls++; }
  int calls = 0;
};
void CallWriteWithCallback(ApiCaller* c) {
  WriteBatch batch;
  ExpectDone(batch.Put(c->AnyFamily(), c->AnyKey(), AnyValue(c)), "WriteBatch::Put");
  Hooks hooks;
  ExpectDone(c->db->WriteWithCallback(kWrite, &batch, &hooks), "WriteWithCallback");
  EXPECT_EQ(hooks.calls, 2);
}

std::string NewTable(ApiCaller* c, ColumnFamilyHandle* family) {
  const std::string path = c->NewName("table") + ".sst";
  SstFileWriter writer(EnvOptions(), c->db->GetOptions(family), family);
  ExpectDone(writer.Open(path), "SstFileWriter::Open");
  const uint64_t first = c->random.Uniform(kComingKeys);
  for (uint64_t i = first; i < first + 20; i++) {
    ExpectDone(writer.Put(ComingKey(i), AnyValue(c)), "SstFileWriter::Put");
  }
  ExpectDone(writer.Finish(), "SstFileWriter::Finish");
  return path;
}
void CallIngest(ApiCaller* c) {
  ColumnFamilyHandle* const family = c->AnyFamily();
  IngestExternalFileOptions options;
  options.move_files = true;
  ExpectDone(c->db->IngestExternalFile(family, {NewTable(c, family)}, options),
             "IngestExternalFile");
}
void CallIngestMany(ApiCaller* c) {
  std::vector<IngestExternalFileArg> args;
  for (ColumnFamilyHandle* family : c->families) {
    IngestExternalFileArg& arg = args.emplace_back();
    arg.column_family = family;
    arg.external_files = {NewTable(c, family)};
    arg.options.move_files = true;
  }
  ExpectDone(c->db->IngestExternalFiles(args), "IngestExternalFiles");
}
void CallPrepareIngestion(ApiCaller* c) {
  ColumnFamilyHandle* const family = c->AnyFamily();
  IngestExternalFileOptions options;
  options.move_files = true;
  const std::string path = NewTable(c, family);
  std::unique_ptr<FileIngestionHandle> handle;
  const Status prepared = c->db->PrepareFileIngestion(family, {path}, options, &handle);
  ExpectDone(prepared, "PrepareFileIngestion");
  if (!prepared.ok()) return;
  if (c->random.OneIn(2)) {
    ExpectDone(handle->Abort(), "FileIngestionHandle::Abort");
  } else {
    ExpectDone(c->db->CommitFileIngestionHandle(std::move(handle)), "CommitFileIngestionHandle");
  }
}

}  // namespace

std::string AnchorKey(int number) { return "anchor" + std::to_string(1000 + number); }
std::string AnchorValue(int number) {
  return "value " + std::to_string(number) + std::string(static_cast<size_t>(number), '.');
}
std::string ComingKey(uint64_t number) { return "coming" + std::to_string(10'000 + number); }

std::string ApiCaller::NewName(const std::string& kind) {
  return beside + "." + kind + "." + std::to_string(thread) + "." + std::to_string(made++);
}

void ExpectDone(const Status& status, const char* call, std::initializer_list<Status::Code> also) {
  const bool is_expected =
      status.ok() || std::find(also.begin(), also.end(), status.code()) != also.end();
  EXPECT_TRUE(is_expected) << call << ": " << status.ToString();
}

void ExpectAnchor(int number, const Status& status, const Slice& value, const char* call) {
  EXPECT_TRUE(status.ok()) << call << " of anchor " << number << ": " << status.ToString();
  if (!status.ok()) return;
  EXPECT_EQ(value.ToString(), AnchorValue(number)) << call;
}

Options ApiOptions(bool has_blob_files) {
  Options options;
  options.create_if_missing = options.create_missing_column_families = true;
  options.write_buffer_size = 64 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  options.target_file_size_base = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.max_subcompactions = 2;
  options.enable_blob_files = has_blob_files;
  options.min_blob_size = 150;
  options.enable_blob_garbage_collection = true;
  options.merge_operator = NewStockMergeOperator("stringappend");
  options.statistics = CreateDBStatistics();
  options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  return options;
}

std::span<const ApiCall> DataCalls() {
  static constexpr ApiCall kCalls[] = {
      {"Put", &CallPut},
      {"Put, synced", &CallPutSynced},
      {"Put, no log", &CallPutWithoutLog},
      {"Put, no_slowdown", &CallWriteNoSlowdown},
      {"PutEntity", &CallPutEntity},
      {"Delete", &CallDelete},
      {"SingleDelete", &CallSingleDelete},
      {"DeleteRange", &CallDeleteRange},
      {"Merge", &CallMerge},
      {"Write", &CallWrite},
      {"WriteWithCallback", &CallWriteWithCallback},
      {"IngestExternalFile", &CallIngest},
      {"IngestExternalFiles", &CallIngestMany},
      {"PrepareFileIngestion", &CallPrepareIngestion},
  };
  return kCalls;
}

std::vector<ApiCall> AllApiCalls() {
  std::vector<ApiCall> all;
  for (const auto& calls : {DataCalls(), ReadCalls(), UpkeepCalls(), FactCalls()}) {
    all.insert(all.end(), calls.begin(), calls.end());
  }
  return all;
}

}  // namespace ashlar
