// SPDX-License-Identifier: Apache-2.0
//
// The members of DB that ask: options in use, properties, files, traces.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/stats_history.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/utilities/replayer.h"
#include "tests/docs/call_probes.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

Status GetLiveFiles(Ground& g) {
  std::vector<std::string> names;
  uint64_t bytes = 0;
  return g.db->GetLiveFiles(names, &bytes);
}

const Probe kOptions[] = {
    {"DB::SetOptions",
     [](Ground& g) {
       return g.db->SetOptions({{"write_buffer_size", "1M"}});
     }},
    {"DB::SetDBOptions",
     [](Ground& g) {
       return g.db->SetDBOptions({{"max_background_jobs", "3"}});
     }},
    {"DB::NumberLevels", [](Ground& g) { return Found(g.db->NumberLevels() > 0); }},
    {"DB::Level0StopWriteTrigger",
     [](Ground& g) { return Found(g.db->Level0StopWriteTrigger() > 0); }},
    {"DB::GetName", [](Ground& g) { return Found(g.db->GetName() == "/db"); }},
    {"DB::GetEnv", [](Ground& g) { return Found(g.db->GetEnv() == g.env.get()); }},
    {"DB::GetFileSystem", [](Ground& g) { return Found(g.db->GetFileSystem() != nullptr); }},
    {"DB::GetOptions", [](Ground& g) { return Found(g.db->GetOptions().env == g.env.get()); }},
    {"DB::GetDBOptions", [](Ground& g) { return Found(g.db->GetDBOptions().env == g.env.get()); }},
    {"DB::DefaultColumnFamily",
     [](Ground& g) { return Found(g.db->DefaultColumnFamily() != nullptr); }},
    {"DB::GetRootDB", [](Ground& g) { return Found(g.db->GetRootDB() == g.db.get()); }},
    {"DB::IncreaseFullHistoryTsLow",
     [](Ground& g) {
       // Without timestamps it is refused for the size of the timestamp.
       const Status status = g.db->IncreaseFullHistoryTsLow(g.family, "");
       return status.IsInvalidArgument() ? Status::OK() : status;
     }},
    {"DB::GetFullHistoryTsLow",
     [](Ground& g) {
       std::string ts;
       const Status status = g.db->GetFullHistoryTsLow(g.family, &ts);
       return status.IsInvalidArgument() ? Status::OK() : status;
     }},
    {"DB::GetNewestUserDefinedTimestamp",
     [](Ground& g) {
       std::string ts;
       return g.db->GetNewestUserDefinedTimestamp(g.family, &ts);
     }},
};

const Probe kFacts[] = {
    {"DB::GetProperty",
     [](Ground& g) {
       std::string text;
       return Found(g.db->GetProperty("rocksdb.stats", &text));
     }},
    {"DB::GetMapProperty",
     [](Ground& g) {
       std::map<std::string, std::string> map;
       return Found(g.db->GetMapProperty("rocksdb.cfstats", &map));
     }},
    {"DB::GetIntProperty",
     [](Ground& g) {
       uint64_t number = 0;
       return Found(g.db->GetIntProperty("rocksdb.num-snapshots", &number));
     }},
    {"DB::GetAggregatedIntProperty",
     [](Ground& g) {
       uint64_t number = 0;
       return Found(g.db->GetAggregatedIntProperty("rocksdb.estimate-num-keys", &number));
     }},
    {"DB::ResetStats", [](Ground& g) { return g.db->ResetStats(); }},
    {"DB::GetStatsHistory",
     [](Ground& g) {
       std::unique_ptr<StatsHistoryIterator> it;
       return g.db->GetStatsHistory(0, 1, &it);
     }},
    {"DB::GetApproximateSizes",
     [](Ground& g) {
       const Range range("a", "b");
       uint64_t bytes = 0;
       return g.db->GetApproximateSizes(SizeApproximationOptions(), g.family, &range, 1, &bytes);
     }},
    {"DB::GetApproximateMemTableStats",
     [](Ground& g) {
       uint64_t count = 0, bytes = 0;
       g.db->GetApproximateMemTableStats(Range("a", "b"), &count, &bytes);
       return Status::OK();
     }},
    {"DB::GetLatestSequenceNumber",
     [](Ground& g) { return Found(g.db->GetLatestSequenceNumber() > 0); }},
    {"DB::GetDbIdentity",
     [](Ground& g) {
       std::string id;
       return g.db->GetDbIdentity(id);
     }},
    {"DB::GetDbSessionId",
     [](Ground& g) {
       std::string id;
       return g.db->GetDbSessionId(id);
     }},
    {"DB::GetPropertiesOfAllTables",
     [](Ground& g) {
       TablePropertiesCollection tables;
       return g.db->GetPropertiesOfAllTables(&tables);
     }},
    {"DB::GetPropertiesOfTablesInRange",
     [](Ground& g) {
       const Range range("a", "b");
       TablePropertiesCollection tables;
       return g.db->GetPropertiesOfTablesInRange(g.family, &range, 1, &tables);
     }},
    {"DB::GetPropertiesOfTablesByLevel",
     [](Ground& g) {
       std::vector<std::unique_ptr<TablePropertiesCollection>> levels;
       return g.db->GetPropertiesOfTablesByLevel(g.family, &levels);
     }},
};

// An empty trace file.
std::unique_ptr<TraceWriter> NewTrace(Ground& ground) {
  std::unique_ptr<TraceWriter> writer;
  IgnoreError(NewFileTraceWriter(ground.env.get(), EnvOptions(), "/trace", &writer),
              "the writer is null then");
  return writer;
}

const Probe kFiles[] = {
    {"DB::DisableFileDeletions", [](Ground& g) { return g.db->DisableFileDeletions(); }},
    {"DB::EnableFileDeletions",
     [](Ground& g) {
       EXPECT_OK(g.db->DisableFileDeletions());
       return g.db->EnableFileDeletions();
     }},
    {"DB::GetCreationTimeOfOldestFile",
     [](Ground& g) {
       uint64_t time = 0;
       return g.db->GetCreationTimeOfOldestFile(&time);
     }},
    {"DB::GetLiveFilesMetaData",
     [](Ground& g) {
       std::vector<LiveFileMetaData> files;
       g.db->GetLiveFilesMetaData(&files);
       return Found(files.size() == 1);
     }},
    {"DB::GetLiveFilesChecksumInfo",
     [](Ground& g) {
       const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
       return g.db->GetLiveFilesChecksumInfo(list.get());
     }},
    {"DB::GetLiveFilesStorageInfo",
     [](Ground& g) {
       std::vector<LiveFileStorageInfo> files;
       return g.db->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files);
     }},
    {"DB::GetColumnFamilyMetaData",
     [](Ground& g) {
       ColumnFamilyMetaData facts;
       g.db->GetColumnFamilyMetaData(&facts);
       return Found(facts.file_count == 1);
     }},
    {"DB::GetAllColumnFamilyMetaData",
     [](Ground& g) {
       std::vector<ColumnFamilyMetaData> facts;
       g.db->GetAllColumnFamilyMetaData(&facts);
       return Found(facts.size() == 2);
     }},
    {"DB::GetLiveFiles", &GetLiveFiles},
    {"DB::GetSortedWalFiles",
     [](Ground& g) {
       VectorWalPtr files;
       return g.db->GetSortedWalFiles(files);
     }},
    {"DB::GetCurrentWalFile",
     [](Ground& g) {
       std::unique_ptr<WalFile> file;
       return g.db->GetCurrentWalFile(&file);
     }},
    {"DB::VerifyFileChecksums", [](Ground& g) { return g.db->VerifyFileChecksums(ReadOptions()); }},
    {"DB::VerifyChecksum", [](Ground& g) { return g.db->VerifyChecksum(); }},
    {"DB::StartTrace", [](Ground& g) { return g.db->StartTrace(TraceOptions(), NewTrace(g)); }},
    {"DB::EndTrace",
     [](Ground& g) {
       RETURN_IF_ERROR(g.db->StartTrace(TraceOptions(), NewTrace(g)));
       return g.db->EndTrace();
     }},
    {"DB::StartIOTrace", [](Ground& g) { return g.db->StartIOTrace(TraceOptions(), NewTrace(g)); }},
    {"DB::EndIOTrace", [](Ground& g) { return g.db->EndIOTrace(); }},
    {"DB::StartBlockCacheTrace",
     [](Ground& g) { return g.db->StartBlockCacheTrace(TraceOptions(), NewTrace(g)); }},
    {"DB::EndBlockCacheTrace", [](Ground& g) { return g.db->EndBlockCacheTrace(); }},
    {"DB::NewDefaultReplayer",
     [](Ground& g) {
       RETURN_IF_ERROR(NewTrace(g)->Close());
       std::unique_ptr<TraceReader> reader;
       RETURN_IF_ERROR(NewFileTraceReader(g.env.get(), EnvOptions(), "/trace", &reader));
       std::unique_ptr<Replayer> replayer;
       return g.db->NewDefaultReplayer({g.family}, std::move(reader), &replayer);
     }},
};

}  // namespace

std::span<const Probe> OptionProbes() { return kOptions; }
std::span<const Probe> FactProbes() { return kFacts; }
std::span<const Probe> FileProbes() { return kFiles; }

}  // namespace ashlar
