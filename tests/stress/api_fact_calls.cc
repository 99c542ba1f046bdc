// SPDX-License-Identifier: Apache-2.0
//
// Calls that return information and change nothing.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/metadata.h"
#include "ashlar/table_properties.h"
#include "ashlar/transaction_log.h"
#include "ashlar/utilities/memory_util.h"
#include "tests/stress/api_calls.h"

namespace ashlar {
namespace {

void CallProperties(ApiCaller* c) {
  static constexpr const char* kTexts[] = {"rocksdb.stats", "rocksdb.sstables",
                                           "rocksdb.levelstats", "rocksdb.num-files-at-level0",
                                           "rocksdb.dbstats"};
  std::string text;
  EXPECT_TRUE(c->db->GetProperty(c->AnyFamily(), kTexts[c->random.Uniform(5)], &text));
  static constexpr const char* kNumbers[] = {
      "rocksdb.estimate-num-keys", "rocksdb.num-live-versions", "rocksdb.total-sst-files-size",
      "rocksdb.estimate-pending-compaction-bytes", "rocksdb.num-snapshots"};
  uint64_t number = 0;
  EXPECT_TRUE(c->db->GetIntProperty(c->AnyFamily(), kNumbers[c->random.Uniform(5)], &number));
  EXPECT_TRUE(c->db->GetAggregatedIntProperty("rocksdb.cur-size-all-mem-tables", &number));
  std::map<std::string, std::string> map;
  EXPECT_TRUE(c->db->GetMapProperty(c->AnyFamily(), "rocksdb.cfstats", &map));
}
void CallResetStats(ApiCaller* c) { ExpectDone(c->db->ResetStats(), "ResetStats"); }
void CallApproximateSizes(ApiCaller* c) {
  const std::string begin = AnchorKey(0), end = c->AnyKey();
  const Range range(begin, end);
  uint64_t size = 0, count = 0;
  SizeApproximationOptions options;
  options.include_memtables = true;
  ExpectDone(c->db->GetApproximateSizes(options, c->AnyFamily(), &range, 1, &size),
             "GetApproximateSizes");
  c->db->GetApproximateMemTableStats(c->AnyFamily(), range, &count, &size);
}
void CallOptions(ApiCaller* c) {
  ColumnFamilyHandle* const family = c->AnyFamily();
  EXPECT_GT(c->db->GetOptions(family).write_buffer_size, 0u);
  EXPECT_GT(c->db->GetDBOptions().max_background_jobs, 0);
  EXPECT_EQ(c->db->NumberLevels(family), 7);
  EXPECT_GT(c->db->Level0StopWriteTrigger(family), 0);
  ColumnFamilyDescriptor descriptor;
  ExpectDone(family->GetDescriptor(&descriptor), "GetDescriptor");
  EXPECT_FALSE(c->db->GetName().empty());
  EXPECT_NE(c->db->GetEnv(), nullptr);
  EXPECT_NE(c->db->DefaultColumnFamily(), nullptr);
}
void CallIdentity(ApiCaller* c) {
  std::string text;
  ExpectDone(c->db->GetDbIdentity(text), "GetDbIdentity");
  ExpectDone(c->db->GetDbSessionId(text), "GetDbSessionId");
  EXPECT_GT(c->db->GetLatestSequenceNumber(), 0u);
}
void CallTableProperties(ApiCaller* c) {
  TablePropertiesCollection properties;
  ExpectDone(c->db->GetPropertiesOfAllTables(c->AnyFamily(), &properties),
             "GetPropertiesOfAllTables");
  const std::string begin = AnchorKey(0), end = c->AnyKey();
  const Range range(begin, end);
  ExpectDone(c->db->GetPropertiesOfTablesInRange(c->AnyFamily(), &range, 1, &properties),
             "GetPropertiesOfTablesInRange");
  std::vector<std::unique_ptr<TablePropertiesCollection>> by_level;
  ExpectDone(c->db->GetPropertiesOfTablesByLevel(c->AnyFamily(), &by_level),
             "GetPropertiesOfTablesByLevel");
}
void CallLiveFiles(ApiCaller* c) {
  std::vector<LiveFileMetaData> metadata;
  c->db->GetLiveFilesMetaData(&metadata);
  std::vector<ColumnFamilyMetaData> families;
  c->db->GetAllColumnFamilyMetaData(&families);
  EXPECT_GE(families.size(), 2u);
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  ExpectDone(c->db->GetLiveFiles(names, &manifest_bytes, c->random.OneIn(4)), "GetLiveFiles");
  EXPECT_GT(manifest_bytes, 0u);
}
void CallStorageInfo(ApiCaller* c) {
  LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = c->random.OneIn(4) ? 0 : UINT64_MAX;
  std::vector<LiveFileStorageInfo> files;
  ExpectDone(c->db->GetLiveFilesStorageInfo(options, &files), "GetLiveFilesStorageInfo");
  uint64_t creation_time = 0;
  // Fails if another thread has set max_open_files.
  ExpectDone(c->db->GetCreationTimeOfOldestFile(&creation_time), "GetCreationTimeOfOldestFile",
             {Status::kNotSupported});
}
void CallWalFiles(ApiCaller* c) {
  VectorWalPtr files;
  ExpectDone(c->db->GetSortedWalFiles(files), "GetSortedWalFiles");
  std::unique_ptr<WalFile> current;
  ExpectDone(c->db->GetCurrentWalFile(&current), "GetCurrentWalFile");
}
void CallChecksumInfo(ApiCaller* c) {
  const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  ExpectDone(c->db->GetLiveFilesChecksumInfo(list.get()), "GetLiveFilesChecksumInfo");
  ExpectDone(c->db->VerifyFileChecksums(ReadOptions()), "VerifyFileChecksums");
}
void CallVerifyChecksum(ApiCaller* c) {
  ExpectDone(c->db->VerifyChecksum(ReadOptions()), "VerifyChecksum");
}
void CallMemoryUse(ApiCaller* c) {
  const std::vector<DB*> dbs{c->db};
  const std::unordered_set<const Cache*> no_caches;
  std::map<MemoryUtil::UsageType, uint64_t> use;
  ExpectDone(MemoryUtil::GetApproximateMemoryUsageByType(dbs, no_caches, &use),
             "GetApproximateMemoryUsageByType");
  ExpectDone(MemoryUtil::GetApproximateMemoryUsageByType({c->db}, {}, &use),
             "GetApproximateMemoryUsageByType of a list in braces");
}
void CallListFamilies(ApiCaller* c) {
  std::vector<std::string> names;
  ExpectDone(DB::ListColumnFamilies(DBOptions(), c->db->GetName(), &names), "ListColumnFamilies");
  EXPECT_GE(names.size(), 2u);
}

}  // namespace

std::span<const ApiCall> FactCalls() {
  static constexpr ApiCall kCalls[] = {
      {"GetProperty", &CallProperties},
      {"ResetStats", &CallResetStats},
      {"GetApproximateSizes", &CallApproximateSizes},
      {"GetOptions", &CallOptions},
      {"GetDbIdentity", &CallIdentity},
      {"GetPropertiesOfAllTables", &CallTableProperties},
      {"GetLiveFiles", &CallLiveFiles},
      {"GetLiveFilesStorageInfo", &CallStorageInfo},
      {"GetSortedWalFiles", &CallWalFiles},
      {"VerifyFileChecksums", &CallChecksumInfo},
      {"VerifyChecksum", &CallVerifyChecksum},
      {"GetApproximateMemoryUsageByType", &CallMemoryUse},
      {"ListColumnFamilies", &CallListFamilies},
  };
  return kCalls;
}

}  // namespace ashlar
