// SPDX-License-Identifier: Apache-2.0
//
// StackableDB forwards every call to another database. Derive from it and override some functions;
// TransactionDB and DBWithTTL are built this way. Functions that DB implements by calling other
// members, such as those for the default family, are not forwarded: they call the override.
//
// Threads and statuses: as for the inner database.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"

namespace ashlar {

// A database that forwards all calls to another database.
class ASHLAR_EXPORT StackableDB : public DB {
 public:
  // Takes ownership of the database.
  explicit StackableDB(DB* db) : db_(db) {}
  // Shares ownership of the database.
  explicit StackableDB(std::shared_ptr<DB> db) : db_(db.get()), shared_db_ptr_(std::move(db)) {}
  explicit StackableDB(std::unique_ptr<DB>&& db) : db_(db.release()) {}

  ~StackableDB() override {
    if (shared_db_ptr_ == nullptr) delete db_;
    db_ = nullptr;
  }

  // The database that calls are forwarded to, and the innermost database of a chain of wrappers.
  virtual DB* GetBaseDB() { return db_; }
  Status ExplainRead(ExplainedRead read, const ReadOptions& options,
                     ColumnFamilyHandle* column_family, const Slice& key,
                     ReadExplanation* explanation) override {
    return db_->ExplainRead(read, options, column_family, key, explanation);
  }

  DB* GetRootDB() override { return db_->GetRootDB(); }

  using DB::Resume;
  Status Resume() override { return db_->Resume(); }

  using DB::Close;
  Status Close() override { return db_->Close(); }

  using DB::CreateColumnFamily;
  Status CreateColumnFamily(const ColumnFamilyOptions& options,
                            const std::string& column_family_name,
                            ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamily(options, column_family_name, handle);
  }

  using DB::DropColumnFamily;
  Status DropColumnFamily(ColumnFamilyHandle* column_family) override {
    return db_->DropColumnFamily(column_family);
  }

  using DB::DestroyColumnFamilyHandle;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) override {
    return db_->DestroyColumnFamilyHandle(column_family);
  }

  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override {
    return db_->Put(options, column_family, key, value);
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& ts, const Slice& value) override {
    return db_->Put(options, column_family, key, ts, value);
  }

  using DB::PutEntity;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override {
    return db_->PutEntity(options, column_family, key, columns);
  }

  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                const Slice& key) override {
    return db_->Delete(options, column_family, key);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                const Slice& ts) override {
    return db_->Delete(options, column_family, key, ts);
  }

  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key) override {
    return db_->SingleDelete(options, column_family, key);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key, const Slice& ts) override {
    return db_->SingleDelete(options, column_family, key, ts);
  }

  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key) override {
    return db_->DeleteRange(options, column_family, begin_key, end_key);
  }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key, const Slice& ts) override {
    return db_->DeleteRange(options, column_family, begin_key, end_key, ts);
  }

  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override {
    return db_->Merge(options, column_family, key, value);
  }
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& ts, const Slice& value) override {
    return db_->Merge(options, column_family, key, ts, value);
  }

  using DB::Write;
  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    return db_->Write(options, updates);
  }

  using DB::WriteWithCallback;
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* user_write_cb) override {
    return db_->WriteWithCallback(options, updates, user_write_cb);
  }

  using DB::IngestWriteBatchWithIndex;
  Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                   std::shared_ptr<WriteBatchWithIndex> wbwi) override {
    return db_->IngestWriteBatchWithIndex(options, std::move(wbwi));
  }

  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override {
    return db_->Get(options, column_family, key, value, timestamp);
  }

  using DB::GetEntity;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   PinnableWideColumns* columns) override {
    return db_->GetEntity(options, column_family, key, columns);
  }

  using DB::GetEntityLazy;
  Status GetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, LazyWideColumns* columns) override {
    return db_->GetEntityLazy(options, column_family, key, columns);
  }

  using DB::GetMergeOperands;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* merge_operands,
                          GetMergeOperandsOptions* get_merge_operands_options,
                          int* number_of_operands) override {
    return db_->GetMergeOperands(options, column_family, key, merge_operands,
                                 get_merge_operands_options, number_of_operands);
  }

  using DB::MultiGet;
  void MultiGet(const ReadOptions& options, const size_t num_keys,
                ColumnFamilyHandle** column_families, const Slice* keys, PinnableSlice* values,
                std::string* timestamps, Status* statuses,
                const bool sorted_input = false) override {
    db_->MultiGet(options, num_keys, column_families, keys, values, timestamps, statuses,
                  sorted_input);
  }

  using DB::MultiGetEntity;
  void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                      ColumnFamilyHandle** column_families, const Slice* keys,
                      PinnableWideColumns* results, Status* statuses,
                      bool sorted_input = false) override {
    db_->MultiGetEntity(options, num_keys, column_families, keys, results, statuses, sorted_input);
  }

  using DB::MultiGetEntityLazy;
  void MultiGetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          size_t num_keys, const Slice* keys, LazyWideColumnsBatch* results,
                          Status* statuses, bool sorted_input = false) override {
    db_->MultiGetEntityLazy(options, column_family, num_keys, keys, results, statuses,
                            sorted_input);
  }

  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, std::string* timestamp,
                   bool* value_found = nullptr) override {
    return db_->KeyMayExist(options, column_family, key, value, timestamp, value_found);
  }

  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override {
    return db_->NewIterator(options, column_family);
  }

  using DB::NewIterators;
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override {
    return db_->NewIterators(options, column_families, iterators);
  }

  using DB::NewCoalescingIterator;
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->NewCoalescingIterator(options, column_families);
  }

  using DB::NewAttributeGroupIterator;
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options,
      const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->NewAttributeGroupIterator(options, column_families);
  }

  using DB::GetSnapshot;
  const Snapshot* GetSnapshot() override { return db_->GetSnapshot(); }

  using DB::ReleaseSnapshot;
  void ReleaseSnapshot(const Snapshot* snapshot) override { db_->ReleaseSnapshot(snapshot); }

  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                   std::string* value) override {
    return db_->GetProperty(column_family, property, value);
  }

  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      std::map<std::string, std::string>* value) override {
    return db_->GetMapProperty(column_family, property, value);
  }

  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      uint64_t* value) override {
    return db_->GetIntProperty(column_family, property, value);
  }

  using DB::GetAggregatedIntProperty;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override {
    return db_->GetAggregatedIntProperty(property, value);
  }

  using DB::ResetStats;
  Status ResetStats() override { return db_->ResetStats(); }

  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const SizeApproximationOptions& options,
                             ColumnFamilyHandle* column_family, const Range* ranges, int n,
                             uint64_t* sizes) override {
    return db_->GetApproximateSizes(options, column_family, ranges, n, sizes);
  }

  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                   uint64_t* const count, uint64_t* const size) override {
    db_->GetApproximateMemTableStats(column_family, range, count, size);
  }

  using DB::CompactRange;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                      const Slice* begin, const Slice* end) override {
    return db_->CompactRange(options, column_family, begin, end);
  }

  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* column_family,
                    const std::unordered_map<std::string, std::string>& opts_map) override {
    return db_->SetOptions(column_family, opts_map);
  }
  Status SetOptions(
      const std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>&
          column_family_opts_map) override {
    return db_->SetOptions(column_family_opts_map);
  }

  using DB::SetDBOptions;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) override {
    return db_->SetDBOptions(new_options);
  }

  using DB::CompactFiles;
  Status CompactFiles(const CompactionOptions& compact_options, ColumnFamilyHandle* column_family,
                      const std::vector<std::string>& input_file_names, const int output_level,
                      const int output_path_id = -1,
                      std::vector<std::string>* const output_file_names = nullptr,
                      CompactionJobInfo* compaction_job_info = nullptr) override {
    return db_->CompactFiles(compact_options, column_family, input_file_names, output_level,
                             output_path_id, output_file_names, compaction_job_info);
  }

  using DB::PauseBackgroundWork;
  Status PauseBackgroundWork() override { return db_->PauseBackgroundWork(); }

  using DB::ContinueBackgroundWork;
  Status ContinueBackgroundWork() override { return db_->ContinueBackgroundWork(); }

  using DB::EnableAutoCompaction;
  Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) override {
    return db_->EnableAutoCompaction(column_family_handles);
  }

  using DB::DisableManualCompaction;
  void DisableManualCompaction() override { db_->DisableManualCompaction(); }

  using DB::EnableManualCompaction;
  void EnableManualCompaction() override { db_->EnableManualCompaction(); }

  using DB::AbortAllCompactions;
  void AbortAllCompactions() override { db_->AbortAllCompactions(); }

  using DB::ResumeAllCompactions;
  void ResumeAllCompactions() override { db_->ResumeAllCompactions(); }

  using DB::AbortCompactions;
  void AbortCompactions(ColumnFamilyHandle* column_family) override {
    db_->AbortCompactions(column_family);
  }

  using DB::ResumeCompactions;
  void ResumeCompactions(ColumnFamilyHandle* column_family) override {
    db_->ResumeCompactions(column_family);
  }

  using DB::WaitForCompact;
  Status WaitForCompact(const WaitForCompactOptions& wait_for_compact_options) override {
    return db_->WaitForCompact(wait_for_compact_options);
  }

  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* column_family) override {
    return db_->NumberLevels(column_family);
  }

  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) override {
    return db_->Level0StopWriteTrigger(column_family);
  }

  using DB::GetName;
  const std::string& GetName() const override { return db_->GetName(); }

  using DB::GetEnv;
  Env* GetEnv() const override { return db_->GetEnv(); }

  using DB::GetFileSystem;
  FileSystem* GetFileSystem() const override { return db_->GetFileSystem(); }

  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* column_family) const override {
    return db_->GetOptions(column_family);
  }

  using DB::GetDBOptions;
  DBOptions GetDBOptions() const override { return db_->GetDBOptions(); }

  using DB::Flush;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) override {
    return db_->Flush(options, column_family);
  }
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->Flush(options, column_families);
  }

  using DB::FlushWAL;
  Status FlushWAL(const FlushWALOptions& options) override { return db_->FlushWAL(options); }

  using DB::SyncWAL;
  Status SyncWAL() override { return db_->SyncWAL(); }

  using DB::LockWAL;
  Status LockWAL() override { return db_->LockWAL(); }

  using DB::UnlockWAL;
  Status UnlockWAL() override { return db_->UnlockWAL(); }

  using DB::GetLatestSequenceNumber;
  SequenceNumber GetLatestSequenceNumber() const override { return db_->GetLatestSequenceNumber(); }

  using DB::IncreaseFullHistoryTsLow;
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string ts_low) override {
    return db_->IncreaseFullHistoryTsLow(column_family, std::move(ts_low));
  }

  using DB::GetFullHistoryTsLow;
  Status GetFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string* ts_low) override {
    return db_->GetFullHistoryTsLow(column_family, ts_low);
  }

  using DB::GetNewestUserDefinedTimestamp;
  Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* column_family,
                                       std::string* newest_timestamp) override {
    return db_->GetNewestUserDefinedTimestamp(column_family, newest_timestamp);
  }

  using DB::DisableFileDeletions;
  Status DisableFileDeletions() override { return db_->DisableFileDeletions(); }

  using DB::EnableFileDeletions;
  Status EnableFileDeletions() override { return db_->EnableFileDeletions(); }
  Status EnableFileDeletions(bool force) override { return db_->EnableFileDeletions(force); }

  using DB::GetCreationTimeOfOldestFile;
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override {
    return db_->GetCreationTimeOfOldestFile(creation_time);
  }

  using DB::GetUpdatesSince;
  Status GetUpdatesSince(
      SequenceNumber seq_number, std::unique_ptr<WalIterator>* iter,
      const WalIterator::ReadOptions& read_options = WalIterator::ReadOptions()) override {
    return db_->GetUpdatesSince(seq_number, iter, read_options);
  }

  using DB::GetLiveFilesMetaData;
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override {
    db_->GetLiveFilesMetaData(metadata);
  }

  using DB::GetLiveFilesChecksumInfo;
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override {
    return db_->GetLiveFilesChecksumInfo(checksum_list);
  }

  using DB::GetLiveFilesStorageInfo;
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& opts,
                                 std::vector<LiveFileStorageInfo>* files) override {
    return db_->GetLiveFilesStorageInfo(opts, files);
  }

  using DB::GetPreparedFileInfoForExternalSstIngestion;
  Status GetPreparedFileInfoForExternalSstIngestion(
      const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) override {
    return db_->GetPreparedFileInfoForExternalSstIngestion(file_name, info);
  }

  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               ColumnFamilyMetaData* metadata) override {
    db_->GetColumnFamilyMetaData(column_family, metadata);
  }
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               const GetColumnFamilyMetaDataOptions& options,
                               ColumnFamilyMetaData* metadata) override {
    db_->GetColumnFamilyMetaData(column_family, options, metadata);
  }

  using DB::GetAllColumnFamilyMetaData;
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override {
    db_->GetAllColumnFamilyMetaData(metadata);
  }

  using DB::GetLiveFiles;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable = true) override {
    return db_->GetLiveFiles(files, manifest_file_size, flush_memtable);
  }

  using DB::GetSortedWalFiles;
  Status GetSortedWalFiles(VectorWalPtr& files) override { return db_->GetSortedWalFiles(files); }

  using DB::GetCurrentWalFile;
  Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) override {
    return db_->GetCurrentWalFile(current_wal_file);
  }

  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* column_family,
                            const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) override {
    return db_->IngestExternalFile(column_family, external_files, options);
  }

  using DB::IngestExternalFiles;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override {
    return db_->IngestExternalFiles(args);
  }

  using DB::PrepareFileIngestion;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override {
    return db_->PrepareFileIngestion(args, handle);
  }

  using DB::CommitFileIngestionHandles;
  Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<FileIngestionHandle>> handles) override {
    return db_->CommitFileIngestionHandles(std::move(handles));
  }

  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamilyWithImport(options, column_family_name, import_options, metadatas,
                                             handle);
  }

  using DB::ClipColumnFamily;
  Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                          const Slice& end_key) override {
    return db_->ClipColumnFamily(column_family, begin_key, end_key);
  }

  using DB::VerifyFileChecksums;
  Status VerifyFileChecksums(const ReadOptions& read_options) override {
    return db_->VerifyFileChecksums(read_options);
  }

  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& read_options) override {
    return db_->VerifyChecksum(read_options);
  }

  using DB::GetDbIdentity;
  Status GetDbIdentity(std::string& identity) const override {
    return db_->GetDbIdentity(identity);
  }

  using DB::GetDbSessionId;
  Status GetDbSessionId(std::string& session_id) const override {
    return db_->GetDbSessionId(session_id);
  }

  using DB::DefaultColumnFamily;
  ColumnFamilyHandle* DefaultColumnFamily() const override { return db_->DefaultColumnFamily(); }

  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                  TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfAllTables(column_family, props);
  }

  using DB::GetPropertiesOfTablesInRange;
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                      std::size_t n, TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfTablesInRange(column_family, range, n, props);
  }

  using DB::GetPropertiesOfTablesByLevel;
  Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) override {
    return db_->GetPropertiesOfTablesByLevel(column_family, props_by_level);
  }

  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                             const Slice* end) override {
    return db_->SuggestCompactRange(column_family, begin, end);
  }

  using DB::PromoteL0;
  Status PromoteL0(ColumnFamilyHandle* column_family, int target_level) override {
    return db_->PromoteL0(column_family, target_level);
  }

  using DB::StartTrace;
  Status StartTrace(const TraceOptions& options,
                    std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartTrace(options, std::move(trace_writer));
  }

  using DB::EndTrace;
  Status EndTrace() override { return db_->EndTrace(); }

  using DB::StartIOTrace;
  Status StartIOTrace(const TraceOptions& options,
                      std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartIOTrace(options, std::move(trace_writer));
  }

  using DB::EndIOTrace;
  Status EndIOTrace() override { return db_->EndIOTrace(); }

  using DB::StartBlockCacheTrace;
  Status StartBlockCacheTrace(const TraceOptions& trace_options,
                              std::unique_ptr<TraceWriter>&& trace_writer) override {
    return db_->StartBlockCacheTrace(trace_options, std::move(trace_writer));
  }
  Status StartBlockCacheTrace(const BlockCacheTraceOptions& options,
                              std::unique_ptr<BlockCacheTraceWriter>&& trace_writer) override {
    return db_->StartBlockCacheTrace(options, std::move(trace_writer));
  }

  using DB::EndBlockCacheTrace;
  Status EndBlockCacheTrace() override { return db_->EndBlockCacheTrace(); }

  using DB::NewDefaultReplayer;
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                            std::unique_ptr<TraceReader>&& reader,
                            std::unique_ptr<Replayer>* replayer) override {
    return db_->NewDefaultReplayer(handles, std::move(reader), replayer);
  }

  using DB::GetStatsHistory;
  Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                         std::unique_ptr<StatsHistoryIterator>* stats_iterator) override {
    return db_->GetStatsHistory(start_time, end_time, stats_iterator);
  }

  using DB::TryCatchUpWithPrimary;
  Status TryCatchUpWithPrimary() override { return db_->TryCatchUpWithPrimary(); }

 protected:
  DB* db_;                             // never nullptr
  std::shared_ptr<DB> shared_db_ptr_;  // keeps db_ alive if it is shared
};

}  // namespace ashlar
