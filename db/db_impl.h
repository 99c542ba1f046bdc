// SPDX-License-Identifier: Apache-2.0
//
// DBImpl is the façade of an open database: it owns the parts and routes each public call to the
// one that does the work.
//
//   DbCore             the shared state
//   WriteControl       stalls, memtable switches; host of the commit pipeline
//   Scheduler, Compactions, JobRunner      background work: when, what, carried out
//   CompactionRegistry, ManualQueue        what of it runs, and what calls wait for
//   ManualFlushes, ManualCompactions       the same on request
//   ErrorRecovery      what Resume() does
//   SpaceRecovery      the same, when a full disk has room again
//   ErrorRetries       the same, after errors that may go away
//   FamilyChanges      column families and options
//   Ingestions         external files
//   PeriodicReports    statistics by the clock
//
// A read-only database is the same without background work; its writes answer NotSupported.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "db/api/unbuilt_calls.h"
#include "db/changes/family_changes.h"
#include "db/files/live_files.h"
#include "db/ingestion/ingestions.h"
#include "db/jobs/compactions.h"
#include "db/jobs/error_recovery.h"
#include "db/jobs/error_retries.h"
#include "db/jobs/job_runner.h"
#include "db/jobs/manual_compaction.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/jobs/space_recovery.h"
#include "db/opening/close.h"
#include "db/opening/open.h"
#include "db/read/dead_ranges.h"
#include "db/report/periodic_reports.h"
#include "db/report/properties.h"
#include "db/state/db_core.h"
#include "db/state/family_handle.h"
#include "db/state/write_control.h"

namespace ashlar {

struct FileChecksum;
struct RemoteInput;
struct RemoteResult;
class ReadCallback;
class ReadExplainer;
struct MultiGetRequest;

class DBImpl final : public UnbuiltCalls,
                     private FamilyHost,
                     private FileCleaner,
                     private DeadRangeSink {
 public:
  // The handles are those of request.families, in order.
  static Status Open(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<DB>* db);
  // After the options have been checked and settled.
  static Status OpenChecked(OpenRequest request, std::vector<ColumnFamilyHandle*>* handles,
                            std::unique_ptr<DB>* db);
  ~DBImpl() override;
  Status Close() override;
  // What OpenAndCompact() opened the database for.
  Status CompactForService(const RemoteInput& input, const std::string& output_directory,
                           std::atomic<bool>* canceled, RemoteResult* result);
  // Lets no background work begin from now on; with `wait` returns when what runs has ended. Writes
  // go on until one would have to wait for a flush or compaction.
  Status CancelBackgroundWork(bool wait);
  // Adds what begins the keys of its tables' blocks in a block cache (BlockKey).
  Status CollectCacheFileIds(std::set<uint64_t>* ids);
  Status Resume() override;

  // Column families; db_impl_families.cc.
  using DB::CreateColumnFamilies;
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override;
  ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }
  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* handle,
                    const std::unordered_map<std::string, std::string>& opts_map) override;
  using OptionsByFamily =
      std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>;
  Status SetOptions(const OptionsByFamily& column_family_opts_map) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& opts_map) override;
  Status DeleteFilesInRanges(ColumnFamilyHandle* handle, std::span<const RangeOpt> ranges,
                             bool include_end);
  Status ClipColumnFamily(ColumnFamilyHandle* handle, const Slice& begin_key,
                          const Slice& end_key) override;
  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* handle) const override;
  DBOptions GetDBOptions() const override;

  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& files,
                            const IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override;
  using DB::PrepareFileIngestion;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override;
  Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<FileIngestionHandle>> handles) override;

  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;

  // Writes; db_impl_write.cc.
  using DB::Delete;
  using DB::Merge;
  using DB::Put;
  using DB::SingleDelete;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             const Slice& ts, const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                const Slice& ts) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                      const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                      const Slice& ts) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
               const Slice& value) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;
  using DB::FlushWAL;
  Status FlushWAL(bool sync) override;
  Status FlushWAL(const FlushWALOptions& options) override;
  Status SyncWAL() override;
  Status LockWAL() override;
  Status UnlockWAL() override;
  SequenceNumber GetLatestSequenceNumber() const override;

  // Reads; db_impl_read.cc.
  using DB::Get;
  using DB::MultiGet;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  // The same calls for readers whose callback, which outlives the call or the iterator, decides
  // what they see: transactions. The options name no snapshot; the caller holds one that keeps what
  // the callback calls visible.
  Status GetAs(const ReadCallback& callback, const ReadOptions& options, ColumnFamilyHandle* handle,
               const Slice& key, PinnableSlice* value);
  void MultiGetAs(const ReadCallback& callback, const ReadOptions& options, size_t num_keys,
                  ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                  Status* statuses);
  Status ExplainRead(ExplainedRead read, const ReadOptions& options, ColumnFamilyHandle* handle,
                     const Slice& key, ReadExplanation* explanation) override;
  Iterator* NewIteratorAs(const ReadCallback& callback, const ReadOptions& options,
                          ColumnFamilyHandle* handle);
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          PinnableSlice* merge_operands, GetMergeOperandsOptions* operands_options,
                          int* number_of_operands) override;
  void MultiGet(const ReadOptions& options, const size_t num_keys, ColumnFamilyHandle** handles,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                const bool sorted_input = false) override;
  using DB::GetEntity;
  using DB::MultiGetEntity;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableWideColumns* columns) override;
  void MultiGetEntity(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input = false) override;
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) override;
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) override;
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override;
  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                      std::vector<Iterator*>* iterators) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;

  // Background work; db_impl_background.cc.
  using DB::CompactRange;
  using DB::Flush;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* handle) override;
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& handles) override;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                      const Slice* begin, const Slice* end) override;
  using DB::CompactFiles;
  Status CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* handle,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id, std::vector<std::string>* output_file_names,
                      CompactionJobInfo* info) override;
  using DB::PromoteL0;
  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                             const Slice* end) override;
  Status PromoteL0(ColumnFamilyHandle* handle, int target_level) override;
  Status PauseBackgroundWork() override;
  Status ContinueBackgroundWork() override;
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) override;
  void DisableManualCompaction() override;
  void EnableManualCompaction() override;
  void AbortAllCompactions() override;
  void ResumeAllCompactions() override;
  void AbortCompactions(ColumnFamilyHandle* handle) override;
  void ResumeCompactions(ColumnFamilyHandle* handle) override;
  Status WaitForCompact(const WaitForCompactOptions& options) override;

  // Facts; db_impl_facts.cc.
  using DB::GetApproximateMemTableStats;
  using DB::GetApproximateSizes;
  using DB::GetIntProperty;
  using DB::GetMapProperty;
  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) override;
  bool GetMapProperty(ColumnFamilyHandle* handle, const Slice& property,
                      std::map<std::string, std::string>* value) override;
  bool GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override;
  Status ResetStats() override;
  Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                         std::unique_ptr<StatsHistoryIterator>* stats_iterator) override;
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* handle,
                             const Range* ranges, int n, uint64_t* sizes) override;
  void GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& range,
                                   uint64_t* const count, uint64_t* const size) override;
  int NumberLevels(ColumnFamilyHandle* handle) override;
  int Level0StopWriteTrigger(ColumnFamilyHandle* handle) override;
  const std::string& GetName() const override { return core_.paths.dir; }
  Env* GetEnv() const override { return core_.environment.env; }
  FileSystem* GetFileSystem() const override {
    return core_.environment.env->GetFileSystem().get();
  }
  Status GetDbIdentity(std::string& identity) const override;
  Status GetDbSessionId(std::string& session_id) const override;

  // Files; db_impl_files.cc.
  Status DisableFileDeletions() override;
  using DB::EnableFileDeletions;
  Status EnableFileDeletions() override;
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override;
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override;
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override;
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                 std::vector<LiveFileStorageInfo>* files) override;
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* handle, ColumnFamilyMetaData* metadata) override;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* handle,
                               const GetColumnFamilyMetaDataOptions& options,
                               ColumnFamilyMetaData* metadata) override;
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable) override;
  Status GetSortedWalFiles(VectorWalPtr& files) override;
  Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) override;
  Status GetUpdatesSince(SequenceNumber seq_number, std::unique_ptr<WalIterator>* iter,
                         const WalIterator::ReadOptions& read_options) override;
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options) override;
  Status VerifyFileChecksums(const ReadOptions& options) override;
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* handle,
                                  TablePropertiesCollection* props) override;
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* handle, const Range* range, std::size_t n,
                                      TablePropertiesCollection* props) override;
  Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* handle,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) override;

 private:
  explicit DBImpl(const OpenRequest& request);

  // FamilyHost
  SequenceNumber VisibleSeqno() const override { return core_.pipeline->visible_seqno(); }
  void OnViewReleased(Purge purge) override;
  void OnFamilyGone(Purge purge) override;
  void PurgeObsolete(Purge purge);
  std::shared_ptr<WriteBufferManager> MemoryManager() override {
    return core_.resources.memory_manager;
  }
  const std::shared_ptr<SpareBlocks>& SpareMemory() override {
    return core_.resources.spare_memory;
  }
  SystemClock* Clock() override { return core_.environment.clock.get(); }

  // DeadRangeSink
  void CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) override;
  void LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) override;

  // FileCleaner
  void DeleteObsoleteFiles() override;

  Status CheckWritable() const;
  bool SkipsMemTables(const ReadOptions& options) const;
  // `callback`: a const ReadCallback*; `trace`: a ReadTrace*; `is_entity`: a bool*, which says that
  // *value is a whole entity. Each may be nullptr itself, which costs nothing.
  template <typename Callback, typename Trace, typename IsEntity = std::nullptr_t>
  Status ReadPoint(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, Callback callback, Trace trace,
                   IsEntity is_entity = nullptr);
  // A Get that is watched; see db/read/read_sampler.h.
  Status GetSampled(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                    PinnableSlice* value);
  void RequestReadCompaction(ColumnFamilyData* family);
  void ExplainGet(const ReadOptions& options, ColumnFamilyHandle* handle, const ReadView& view,
                  ReadExplanation* explanation);
  void ExplainSeek(const ReadOptions& options, ReadView view, ReadExplanation* explanation);
  void ReadPoints(const ReadOptions& options, MultiGetRequest request,
                  ColumnFamilyHandle** handles);
  static void RefuseNullHandles(const MultiGetRequest& request, ColumnFamilyHandle** handles);
  Iterator* MakeIterator(const ReadOptions& options, ReadView view,
                         const ReadCallback* callback = nullptr);
  Status AwaitTurn(const WriteOptions& options, size_t bytes);
  void CountWrite(const WriteOptions& options, const WriteBatch& batch);
  Status CloseOnce();
  Status StartReports(const OpenRequest& request);
  LiveFiles CaptureFiles() EXCLUDES(db_mutex);
  Status LogsAreUnknown(const char* call) const;
  struct DescribedFiles {
    std::vector<std::vector<SstFileMetaData>> levels;
    std::vector<BlobMetaData> blobs;
  };
  // Without the levels and tables that are not wanted: those of `levels` are empty.
  std::vector<DescribedFiles> DescribeTables(const std::vector<FamilyRef>& families,
                                             const GetColumnFamilyMetaDataOptions& wanted)
      EXCLUDES(db_mutex);
  std::vector<FamilyRef> PinAllFamilies() EXCLUDES(db_mutex);
  Status VerifyFileChecksum(const ReadOptions& options, const std::string& path,
                            const FileChecksum& expected, uint64_t file_bytes) const;
  static Status CollectProperties(const Version& version, const std::vector<TableFile*>& files,
                                  TablePropertiesCollection* props);
  PropertySources Sources();

  DbCore core_;
  WriteControl write_control_;
  JobRunner job_runner_;
  CompactionRegistry compaction_registry_;
  ManualQueue manual_queue_;
  Level0Turns level0_turns_;
  Compactions compactions_;
  Scheduler scheduler_;
  ManualFlushes manual_flushes_;
  ManualCompactions manual_compactions_;
  ErrorRecovery recovery_;
  SpaceRecovery space_recovery_;
  ErrorRetries error_retries_;
  FamilyChanges family_changes_;
  Ingestions ingestions_;
  Closer closer_;
  ReportBaselines baselines_;  // guarded by the DB mutex
  PeriodicReports reports_;
  std::unique_ptr<FamilyHandle> default_handle_;
  bool is_closed_ = false;
};

}  // namespace ashlar
