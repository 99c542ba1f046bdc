// SPDX-License-Identifier: Apache-2.0
//
// Blob files among the files of a database: recovery, lists, copies, caches, listeners, faults.
#include <algorithm>

#include "ashlar/cache.h"
#include "ashlar/file_checksum.h"
#include "ashlar/listener.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/db/large_values/large_values_fixture.h"

namespace ashlar {
namespace {

TEST_F(LargeValuesTest, RecoveryWritesBlobFilesToo) {
  Put("a", Large('a'));
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  Drop();
  Open();
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);
  EXPECT_EQ(Get("a"), Large('a'));
}

TEST_F(LargeValuesTest, FilesThatNobodyKnowsAreDeletedAtOpen) {
  Put("a", Large('a'));
  Flush();
  Close();
  ASSERT_OK(WriteStringToFile(env_.get(), "rest of a crash", "/db/000003.blob", false));
  Open();
  ASSERT_EQ(BlobFilesOnDisk().size(), 1u);
  EXPECT_EQ(Get("a"), Large('a'));
}

TEST_F(LargeValuesTest, ListsOfFilesHaveThem) {
  Put("a", Large('a'));
  Flush();
  const std::string blob = BlobFilesOnDisk().at(0);
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  EXPECT_EQ(std::count(files.begin(), files.end(), "/" + blob), 1);
  std::vector<LiveFileStorageInfo> infos;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &infos));
  const auto info = std::find_if(infos.begin(), infos.end(), [&](const LiveFileStorageInfo& one) {
    return one.relative_filename == blob;
  });
  ASSERT_NE(info, infos.end());
  uint64_t bytes = 0;
  ASSERT_OK(env_->GetFileSize("/db/" + blob, &bytes));
  EXPECT_EQ(info->size, bytes);
  EXPECT_EQ(info->file_type, kBlobFile);
  const std::vector<LiveFileMetaData> tables = Tables();
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].oldest_blob_file_number, MetaData().blob_files.at(0).blob_file_number);
}

TEST_F(LargeValuesTest, CheckpointsHaveThem) {
  Put("a", Large('a'));
  Flush();
  Put("b", Large('b'));
  Checkpoint* checkpoint = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
  const std::unique_ptr<Checkpoint> owned(checkpoint);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  TestDb copy(fs_, options_);
  copy.dir() = "/copy";
  copy.Open();
  EXPECT_EQ(copy.Scan(), "a=" + Large('a') + " b=" + Large('b'));
}

TEST_F(LargeValuesTest, ExportsHaveThem) {
  Put("a", Large('a'));
  Flush();
  Checkpoint* checkpoint = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
  const std::unique_ptr<Checkpoint> owned(checkpoint);
  ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &metadata));
  const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
  EXPECT_OK(env_->FileExists("/export/" + BlobFilesOnDisk().at(0)));
}

TEST_F(LargeValuesTest, TheBlobCacheServesReads) {
  options_.blob_cache = NewLRUCache(1 << 20);
  options_.prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
  Reopen();
  Put("a", Large('a'));
  Flush();
  ReadOptions memory_only;
  memory_only.read_tier = kBlockCacheTier;
  ASSERT_EQ(Get("a").size(), 40u);  // so that the block of the table is in memory too
  EXPECT_EQ(Get("a", memory_only), Large('a'));
  EXPECT_EQ(Ticks(BLOB_DB_BLOB_FILE_BYTES_READ), 0u);
  EXPECT_EQ(Number("blob-cache-capacity"), uint64_t{1} << 20);
  EXPECT_GT(Number("blob-cache-usage"), 40u);
  EXPECT_EQ(Number("blob-cache-pinned-usage"), 0u);
  PinnableSlice pinned;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &pinned));
  EXPECT_GT(Number("blob-cache-pinned-usage"), 40u);
}

TEST_F(LargeValuesTest, WhatMayNotBeReadIsIncomplete) {
  Put("a", Large('a'));
  Flush();
  ASSERT_EQ(Get("a"), Large('a'));
  ReadOptions memory_only;
  memory_only.read_tier = kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(db_->Get(memory_only, "a", &value).IsIncomplete());
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &value));
  const std::unique_ptr<Iterator> it(db_->NewIterator(memory_only));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIncomplete());
}

struct BlobEvents : EventListener {
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    text += "begun " + std::to_string(static_cast<int>(info.reason)) + "; ";
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    text +=
        "created " + std::to_string(info.total_blob_count) + " " + info.status.ToString() + "; ";
  }
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override {
    text += "deleted " + info.status.ToString() + "; ";
  }
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override {
    text += "flushed " + std::to_string(info.blob_file_addition_infos.size()) + "; ";
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    text += "compacted " + std::to_string(info.blob_file_addition_infos.size());
    for (const BlobFileGarbageInfo& garbage : info.blob_file_garbage_infos) {
      text += " garbage " + std::to_string(garbage.garbage_blob_count) + " " +
              std::to_string(garbage.garbage_blob_bytes);
    }
    text += "; ";
  }
  std::string text;  // the threads of the events never run at the same time
};

// A blob file that cannot be read concerns the keys whose values it has.
TEST_F(LargeValuesTest, AFailedReadOfABatchConcernsItsKeysOnly) {
  const std::vector<std::string> keys = {"a", "b", "c", "d"};
  for (const std::string& key : keys) {
    Put(key, Large(key[0]));
    Put(key + "small", "s");
    Flush();
  }
  const std::vector<std::string> files = BlobFilesOnDisk();
  ASSERT_EQ(files.size(), keys.size());
  Reopen();
  fs_->AddFault({.mode = FaultMode::kSticky,
                 .kinds = KindBit(CallKind::kOpenRead) | KindBit(CallKind::kRead),
                 .path_part = files[1]});
  const Slice asked[] = {"a", "b", "bsmall", "c", "d", "none"};
  PinnableSlice values[6];
  Status statuses[6];
  for (const bool is_sorted : {false, true}) {
    db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 6, asked, values, statuses, is_sorted);
    EXPECT_OK(statuses[0]);
    EXPECT_EQ(values[0], Large('a'));
    EXPECT_TRUE(statuses[1].IsIOError()) << statuses[1].ToString();
    EXPECT_OK(statuses[2]);
    EXPECT_EQ(values[2], "s");
    EXPECT_OK(statuses[3]);
    EXPECT_EQ(values[3], Large('c'));
    EXPECT_OK(statuses[4]);
    EXPECT_EQ(values[4], Large('d'));
    EXPECT_TRUE(statuses[5].IsNotFound());
  }
  fs_->ClearFaults();
  EXPECT_EQ(Get("b"), Large('b'));
}

TEST_F(LargeValuesTest, ListenersHearOfThem) {
  const auto events = std::make_shared<BlobEvents>();
  options_.listeners.push_back(events);
  Reopen();
  Put("a", Large('a'));
  Put("b", Large('b'));
  Flush();
  WaitForJobs();  // listeners are called after the call
  EXPECT_EQ(events->text, "begun 0; created 2 OK; flushed 1; ");
  events->text.clear();
  Put("a", "small");
  Flush();
  WaitForJobs();  // listeners are called after the call
  EXPECT_EQ(events->text, "flushed 0; ");
  events->text.clear();
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  Compact(options);
  WaitForJobs();  // listeners are called after the call
  EXPECT_NE(events->text.find("begun 1; created 1 OK; "), std::string::npos) << events->text;
  WaitForJobs();  // listeners are called after the call
  EXPECT_NE(events->text.find("compacted 1 garbage 2 146; "), std::string::npos) << events->text;
  WaitForJobs();  // listeners are called after the call
  EXPECT_NE(events->text.find("deleted OK; "), std::string::npos) << events->text;
}

struct BlobChecksums : EventListener {
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    text = info.file_checksum_func_name + " " + info.file_checksum;
  }
  std::string text;
};

TEST_F(LargeValuesTest, ListenersAndListsTellTheirChecksumsAndNames) {
  const auto checksums = std::make_shared<BlobChecksums>();
  options_.listeners.push_back(checksums);
  Reopen();
  Put("a", Large('a'));
  Flush();
  EXPECT_EQ(checksums->text, "Unknown ");
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Reopen();
  Put("b", Large('b'));
  Flush();
  const std::vector<BlobMetaData> blobs = MetaData().blob_files;
  ASSERT_EQ(blobs.size(), 2u);
  EXPECT_EQ(blobs[1].blob_file_name, "/" + BlobFilesOnDisk().at(1));
  EXPECT_EQ(blobs[1].checksum_method, "FileChecksumCrc32c");
  EXPECT_EQ(checksums->text, blobs[1].checksum_method + " " + blobs[1].checksum_value);
}

TEST_F(LargeValuesTest, BlobStatsAreThoseOfRocksDb) {
  Put("k2", Large('B'));
  Put("k3", Large('C', 25));
  Flush();
  const std::string text = Property("rocksdb.blob-stats");
  EXPECT_EQ(text.substr(0, text.find("\nTotal size of garbage")),
            "Number of blob files: 1\nTotal size of blob files: 195");
}

// A flush or a compaction that fails at any of its calls loses nothing.
TEST_F(LargeValuesTest, AFailedCallLosesNothing) {
  for (const bool is_compaction : {false, true}) {
    for (uint64_t call = 0;; call++) {
      SCOPED_TRACE(call);
      Drop();
      // Otherwise the files that failed calls left would cause more calls.
      ASSERT_OK(DestroyDB("/db", options_));
      Open();
      Put("a", Large('a'));
      Put("b", "small");
      if (is_compaction) Flush();
      Put("c", Large('c'));
      if (is_compaction) Flush();
      const uint64_t first = fs_->CallCount();
      fs_->FailAt(first + call, FaultError::kIO);
      CompactRangeOptions options;
      options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
      options.blob_garbage_collection_age_cutoff = 1;
      options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      const Status status =
          is_compaction ? db_->CompactRange(options, nullptr, nullptr) : db_->Flush(FlushOptions());
      const bool was_reached = fs_->CallCount() > first + call;
      fs_->ClearFaults();
      Drop();
      Open();
      EXPECT_EQ(Get("a"), Large('a')) << status.ToString();
      EXPECT_EQ(Get("b"), "small");
      EXPECT_EQ(Get("c"), Large('c'));
      ASSERT_FALSE(HasFailure());
      if (!was_reached) break;
    }
  }
}

}  // namespace
}  // namespace ashlar
