// SPDX-License-Identifier: Apache-2.0
//
// DBImpl is the façade of an open database: it owns the components and routes each public call to
// the one that does the work.
//
//   DbCore             the shared state
//   WriteControl       stalls, memtable switches; host of the commit pipeline
//   Scheduler, Compactions, JobRunner      background work: when, what, execution
//   CompactionRegistry, ManualQueue        running compactions; compactions that calls wait for
//   ManualFlushes, ManualCompactions       flushes and compactions on request
//   ErrorRecovery      the work of Resume()
//   SpaceRecovery      automatic recovery when a full disk has room again
//   ErrorRetries       automatic recovery from errors that may go away
//   FamilyChanges      column families and options
//   Ingestions         external files
//   PeriodicReports    statistics at intervals
//
//   Follower           follows another process that writes the database
//
// A read-only database is a DBImpl without background work; its writes return NotSupported.
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
#include "db/following/follower.h"
#include "db/ingestion/ingestions.h"
#include "db/jobs/compactions.h"
#include "db/jobs/error_recovery.h"
#include "db/jobs/error_retries.h"
#include "db/jobs/job_runner.h"
#include "db/jobs/manual_compaction.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/jobs/space_recovery.h"
#include "db/jobs/time_sampler.h"
#include "db/opening/close.h"
#include "db/opening/open.h"
#include "db/read/block_accesses.h"
#include "db/read/dead_ranges.h"
#include "db/read/latest_seqno.h"
#include "db/report/periodic_reports.h"
#include "db/report/properties.h"
#include "db/state/db_core.h"
#include "db/state/family_handle.h"
#include "db/state/two_phase_writes.h"
#include "db/state/write_control.h"
#include "util/result.h"

namespace ashlar {

struct FileChecksum;
struct RemoteInput;
struct RemoteResult;
struct UnmergedValue;
class ReadCallback;
class ReadExplainer;
class StampedIterator;
struct MultiGetRequest;

// What an iterator sees besides the versions up to the number of its view, or does not see.
struct IteratorVision {
  const ReadCallback* callback = nullptr;  // the rule of a transaction; outlives the iterator
  bool is_view_held = false;               // a live snapshot has the view's number until it is made
  const DecidedVersions::Own* own = nullptr;  // null: none; outlives the iterator
};

class DBImpl final : public UnbuiltCalls,
                     private FamilyHost,
                     private FileCleaner,
                     private DeadRangeSink {
 public:
  // `*handles` are the handles of request.families, in order.
  static Status Open(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<DB>* db);
  // Called by Open() after the options have been checked and settled.
  static Status OpenChecked(OpenRequest request, std::vector<ColumnFamilyHandle*>* handles,
                            std::unique_ptr<DB>* db);
  ~DBImpl() override;
  Status Close() override;
  // Runs the compaction for which OpenAndCompact() has opened the database.
  Status CompactForService(const RemoteInput& input, const std::string& output_directory,
                           std::atomic<bool>* canceled, RemoteResult* result);
  // The work of DB::OpenAndTrimHistory(); trim_history.cc.
  Status TrimHistory(const std::vector<ColumnFamilyHandle*>& handles, const std::string& trim_ts);
  // From now on no background work begins; with `wait`, returns when the running jobs have ended.
  // Writes continue until one would have to wait for a flush or compaction.
  Status CancelBackgroundWork(bool wait);
  // Adds the ids with which the block keys of its tables begin in a block cache (BlockKey).
  Status CollectCacheFileIds(std::set<uint64_t>* ids);
  // InvalidArgument unless it is the handle of a family of this database that is not dropped.
  Status CheckLiveFamily(const ColumnFamilyHandle* handle) const;
  Status Resume() override;
  Status TryCatchUpWithPrimary() override;

  // Column families; db_impl_families.cc.
  // A read-only database refuses the calls that change the MANIFEST or the options.
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
  // New values of options, by family and by option name.
  using OptionsByFamily =
      std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>;
  Status SetOptions(const OptionsByFamily& column_family_opts_map) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& opts_map) override;
  // See file_drops.h; DB has no such member, so this is called by a free function.
  Status DeleteFilesInRanges(ColumnFamilyHandle* handle, std::span<const RangeOpt> ranges,
                             bool include_end);
  Status ClipColumnFamily(ColumnFamilyHandle* handle, const Slice& begin_key,
                          const Slice& end_key) override;
  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* handle) const override;
  DBOptions GetDBOptions() const override;

  // External files: one call, or its two steps Prepare and Commit.
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& files,
                            const IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override;
  using DB::PrepareFileIngestion;
  Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                              std::unique_ptr<FileIngestionHandle>* handle) override;
  Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<FileIngestionHandle>> handles) override;

  // A family made from tables that another database has exported.
  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;

  // Writes; db_impl_write.cc.
  // Single updates become batches; all writes end in WriteUpdates().
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
  Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                   std::shared_ptr<WriteBatchWithIndex> batch) override;
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;
  // The observers of a transaction's write. Each may be null.
  struct CommitObservers {
    UserWriteCallback* callback = nullptr;
    CommitHook* hook = nullptr;    // notified when the write is visible
    CommitCheck* check = nullptr;  // decides whether the write may be done
  };
  // Writes a batch of the program, which may have been made from bytes.
  Status WriteObserved(const WriteOptions& options, WriteBatch* updates,
                       const CommitObservers& observers);
  // The writes of two-phase commit, for transactions: see db/state/two_phase_writes.h. The batches
  // may hold markers. They need DBOptions::allow_2pc.
  Status WritePrepare(const WriteOptions& options, PreparedSection* section,
                      CommitHook* hook = nullptr);
  Status WriteCommit(const WriteOptions& options, const CommitRecords& records,
                     PreparedSections sections, CommitHook* hook = nullptr);
  Status WriteRollback(const WriteOptions& options, WriteBatch* marker, PreparedSections sections,
                       CommitHook* hook = nullptr);
  // The batch of an undecided section is replaced by an equal one, which outlives the section.
  void ReplaceBatch(PreparedSection* section, WriteBatch* batch) {
    core_.prepared_logs.Replace(section, batch);
  }
  // Whether Close() has closed the database. For the thread that may call it.
  bool is_closed() const { return is_closed_; }
  // From now on the records of all writes are numbered by sub-batch: the policies write-prepared
  // and write-unprepared. Called before the first write.
  void NumberSubBatches() { core_.numbers_sub_batches.store(true, std::memory_order_relaxed); }
  // Returns the undecided prepare sections that opening has found in the logs, in the order of the
  // logs. The caller owns them and decides them with WriteCommit() and WriteRollback(). Sections
  // that are not taken stay undecided and in the logs.
  std::vector<std::unique_ptr<OwnedSection>> TakeRecoveredSections() {
    return core_.prepared_logs.TakeRecovered();
  }
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
  // Reads for transactions: a callback, which outlives the call or the iterator, decides what is
  // visible. The options name no snapshot; the caller holds one that keeps the entries which the
  // callback allows.
  Status GetAs(const ReadCallback& callback, const ReadOptions& options, ColumnFamilyHandle* handle,
               const Slice& key, PinnableSlice* value);
  void MultiGetAs(const ReadCallback& callback, const ReadOptions& options, size_t num_keys,
                  ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                  Status* statuses);
  // Reads of a transaction that has written data before its decision, and sees it: `own`, which is
  // not empty, and outlives the call. `is_entity` and `are_entities`: the values of entities are
  // their whole stored form. db_impl_transactions.cc.
  Status GetWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                    ColumnFamilyHandle* handle, const Slice& key, PinnableSlice* value,
                    bool* is_entity = nullptr);
  void MultiGetWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                       MultiGetRequest request, ColumnFamilyHandle** handles);
  // What a key has as it is stored, without a merge; NotFound if it has nothing. `own` may be empty
  // here. db_impl_read.cc.
  Status GetUnmerged(const DecidedVersions::Own& own, ColumnFamilyHandle* handle, const Slice& key,
                     UnmergedValue* unmerged);
  // `own` may be empty here; it outlives the iterator.
  Iterator* NewIteratorWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                               ColumnFamilyHandle* handle);
  // Finds out whether keys of a family were written after a moment; see db/read/latest_seqno.h. OK:
  // all queries are answered. With `options.read_tier` kBlockCacheTier no file is read: the result
  // is Incomplete if one would be needed. InvalidArgument: the family was dropped.
  Status FindLatestSeqnos(const ReadOptions& options, uint32_t family_id,
                          std::span<SeqnoQuery> queries);
  // The moments of transactions without snapshots. A floor begins with the number that
  // GetLatestSequenceNumber() returns.
  ConflictFloors* conflict_floors() { return &core_.floors; }
  // Withdraws a floor. Tables that have kept entries for it may then be rewritten.
  void WithdrawFloor(ConflictFloors::Slot* slot);
  // Null: there is no such family. The comparator is valid as long as the database is open.
  const Comparator* ComparatorOf(uint32_t family_id) const;
  // A handle of a family by its id, for the library's own use; null: there is no such family.
  std::unique_ptr<ColumnFamilyHandle> HandleOf(uint32_t family_id);
  const UndecidedTable& undecided() const { return core_.undecided; }
  // The name of the family for use in messages; "number <id>" if there is no such family any more.
  std::string NameOfFamily(uint32_t family_id) const;
  Statistics* statistics() const { return core_.services.statistics.get(); }
  SystemClock* clock() const { return core_.environment.clock.get(); }
  // Also the one that the database has opened because the options have none.
  Logger* info_log() const { return core_.services.info_log.get(); }
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
  // A snapshot with a timestamp that the program has chosen. The engine only stores the timestamp.
  const Snapshot* GetSnapshotWithTimestamp(uint64_t timestamp);
  // A snapshot for a read of the engine itself that makes several steps. Never null.
  const Snapshot* TakeMoment(uint64_t timestamp = UINT64_MAX);
  void ReleaseSnapshot(const Snapshot* snapshot) override;

  // Traces; db_impl_traces.cc.
  using DB::StartTrace;
  Status StartTrace(const TraceOptions& options,
                    std::unique_ptr<TraceWriter>&& trace_writer) override;
  Status EndTrace() override;
  using DB::StartIOTrace;
  Status StartIOTrace(const TraceOptions& options,
                      std::unique_ptr<TraceWriter>&& trace_writer) override;
  Status EndIOTrace() override;
  using DB::StartBlockCacheTrace;
  Status StartBlockCacheTrace(const TraceOptions& trace_options,
                              std::unique_ptr<TraceWriter>&& trace_writer) override;
  Status StartBlockCacheTrace(const BlockCacheTraceOptions& options,
                              std::unique_ptr<BlockCacheTraceWriter>&& trace_writer) override;
  Status EndBlockCacheTrace() override;
  Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                            std::unique_ptr<TraceReader>&& reader,
                            std::unique_ptr<Replayer>* replayer) override;

  // Stamped families; db_impl_stamped.cc.
  using DB::GetFullHistoryTsLow;
  using DB::IncreaseFullHistoryTsLow;
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) override;
  Status GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) override;

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

  // Properties; db_impl_properties.cc.
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
  const std::string& GetName() const override { return name_; }
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
  Status GetPreparedFileInfoForExternalSstIngestion(
      const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) override;
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
  // Connects the components. Open() does the rest.
  explicit DBImpl(const OpenRequest& request);

  // The interface FamilyHost, through which families use the engine.
  SequenceNumber VisibleSeqno() const override { return core_.pipeline->visible_seqno(); }
  SuperVersion* HeldBy(const Snapshot* snapshot, const ReadViewSource& family) override;
  void OnViewReleased(Purge purge) override;
  void OnFamilyGone(Purge purge) override;
  // The oldest snapshot or floor may be another one now.
  void RequestDueTables() EXCLUDES(db_mutex);
  // Deletes obsolete files in this thread or in the background. Never fails.
  void PurgeObsolete(Purge purge);
  std::shared_ptr<WriteBufferManager> MemoryManager() override {
    return core_.resources.memory_manager;
  }
  const std::shared_ptr<SpareBlocks>& SpareMemory() override {
    return core_.resources.spare_memory;
  }
  SystemClock* Clock() override { return core_.environment.clock.get(); }

  // The interface DeadRangeSink, to which iterators report ranges in which they found only deleted
  // keys.
  void CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) override;
  void LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) override;

  // The interface FileCleaner, through which files are deleted that no reader uses any more.
  void DeleteObsoleteFiles() override;

  // Stamped families; db_impl_stamped.cc.
  static bool IsStamped(ColumnFamilyHandle* handle) {
    return handle != nullptr && FamilyOf(handle)->comparator().stamp_bytes() != 0;
  }
  // NotSupported if the family is stamped.
  Status RefuseStamped(const char* call, ColumnFamilyHandle* handle) const;
  // Where a lookup puts what it finds: the value or the columns. The timestamp may be null.
  struct StampedResult {
    PinnableSlice* value = nullptr;
    std::string* timestamp = nullptr;
    PinnableWideColumns* columns = nullptr;
  };
  Status LookUp(StampedIterator* versions, const Slice& key, const StampedResult& result);
  Status GetStamped(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                    const StampedResult& result);
  Status GetStampedOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key, const GetMergeOperandsOptions& operands_options,
                            PinnableSlice* operands, int* count);
  struct StampedResults;  // the same for many keys
  class StampedView;
  struct KeysByKind;
  void MultiGetStamped(const ReadOptions& options, std::span<const size_t> indexes,
                       ColumnFamilyHandle** handles, const Slice* keys,
                       const StampedResults& results, uint64_t get_id);
  void MultiGetOfBothKinds(const ReadOptions& options, size_t num_keys,
                           ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                           std::string* timestamps, Status* statuses);
  void MultiGetEntityOfBothKinds(const ReadOptions& options, size_t num_keys,
                                 ColumnFamilyHandle** handles, const Slice* keys,
                                 PinnableWideColumns* results, Status* statuses);
  void ReadEntities(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                    const Slice* keys, PinnableWideColumns* results, Status* statuses,
                    bool sorted_input, uint64_t get_id);
  Status ExplainStamped(ExplainedRead read, const ReadOptions& options, ColumnFamilyHandle* handle,
                        ReadExplanation* explanation);
  Result<std::unique_ptr<Iterator>> MakeStampedIterator(const ReadOptions& options,
                                                        ColumnFamilyHandle* handle, ReadView view);
  Status IncreaseHistoryLow(ColumnFamilyData* family, const std::string& ts_low);
  Status CheckTrim(ColumnFamilyHandle* handle, const std::string& trim_ts);
  Status ClipStamped(ColumnFamilyHandle* handle, const Slice& begin, const Slice& end);

  // NotSupported in a read-only database.
  Status CheckWritable() const;
  Status CheckOwnsFiles() const;
  Status CheckManifestFits(const char* call) const;
  bool SkipsMemTables(const ReadOptions& options) const;
  // The super version of a read: a snapshot of a followed database holds its own.
  SuperVersion* SuperVersionFor(const ReadOptions& options, ColumnFamilyData* family);
  std::vector<HeldView> HoldViewsLocked() REQUIRES(db_mutex);
  // `callback`: a const ReadCallback*; `trace`: a ReadTrace*; `is_entity`: a bool*, which is set if
  // `*value` is a whole entity. Each may be a nullptr literal, which costs nothing at run time.
  template <typename Callback, typename Trace, typename IsEntity = std::nullptr_t>
  Status ReadPoint(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, Callback callback, Trace trace,
                   IsEntity is_entity = nullptr);
  // The same where transactions write before they are decided. `trace`, `is_entity` and `own`, the
  // reader's own data that is not decided, may be null.
  Status ReadDecided(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                     PinnableSlice* value, ReadTrace* trace, bool* is_entity,
                     const DecidedVersions::Own* own = nullptr);
  // A Get whose costs are sampled; see db/read/read_sampler.h.
  Status GetSampled(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                    PinnableSlice* value);
  // A point read whose blocks are recorded.
  Status GetTraced(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, bool* is_entity = nullptr);
  void MultiGetTraced(const ReadOptions& options, MultiGetRequest request,
                      ColumnFamilyHandle** handles, uint64_t get_id);
  BlockAccesses::Reads TracedReads(TableReaderCaller caller, const ReadOptions& options,
                                   const ColumnFamilyHandle* handle);
  void RequestReadCompaction(ColumnFamilyData* family);
  void ExplainGet(const ReadOptions& options, ColumnFamilyHandle* handle, const ReadView& view,
                  ReadExplanation* explanation);
  void ExplainSeek(const ReadOptions& options, ReadView view, ReadExplanation* explanation);
  struct UnmergedRead;
  template <typename Use>
  Status ReadUnmerged(const UnmergedRead& how, const ReadOptions& options,
                      ColumnFamilyHandle* handle, const Slice& key, const Use& use);
  void ReadPoints(const ReadOptions& options, MultiGetRequest request,
                  ColumnFamilyHandle** handles);
  void ReadPointsOfRequest(const ReadOptions& options, MultiGetRequest* request);
  void ReadDecidedPoints(const ReadOptions& options, MultiGetRequest* request);
  static void RefuseNullHandles(const MultiGetRequest& request, ColumnFamilyHandle** handles);
  // `handle` must not be null.
  Iterator* MakeIterator(const ReadOptions& options, ColumnFamilyHandle* handle, ReadView view,
                         const IteratorVision& vision = {});
  void RecordMultiGet(std::span<const Slice> keys, ColumnFamilyHandle** handles);
  Status CheckTwoPhaseWrite(const WriteOptions& options, const WriteBatch& batch);
  Status WriteUpdates(const WriteOptions& options, WriteBatch* updates,
                      const CommitObservers& observers);
  Status CommitSubBatches(CommitPlan plan, WriteBatch* updates);
  void NoteDecision(PreparedSections sections);
  TwoPhaseWrites TwoPhase();
  Status AwaitTurn(const WriteOptions& options, size_t bytes);
  void CountWrite(const WriteOptions& options, const WriteBatch& batch);
  void CountCommit(const WriteOptions& options, const CommitRecords& records,
                   PreparedSections sections);
  // Ends the traces that are running. Their errors are lost, since nobody has asked for them.
  void EndTraces();
  // Closes the database at the first call; later calls return OK.
  Status CloseOnce();
  Status StartReports(const OpenRequest& request);
  // The live files of all families, as of one moment. The result holds the versions.
  LiveFiles CaptureFiles() EXCLUDES(db_mutex);
  Status LogsAreUnknown(const char* call) const;
  // The files of one family; tables by level.
  struct DescribedFiles {
    std::vector<std::vector<SstFileMetaData>> levels;
    std::vector<BlobMetaData> blobs;
  };
  // Leaves out levels and tables that are not wanted; left-out levels are empty in the result.
  std::vector<DescribedFiles> DescribeTables(const std::vector<FamilyRef>& families,
                                             const GetColumnFamilyMetaDataOptions& wanted)
      EXCLUDES(db_mutex);
  // References on all families in the set.
  std::vector<FamilyRef> PinAllFamilies() EXCLUDES(db_mutex);
  // Compares a file with its recorded checksum; OK if it has none, or if its owner has deleted it.
  Status VerifyFileChecksum(const ReadOptions& options, const std::string& path,
                            const FileChecksum& expected, uint64_t file_bytes) const;
  static Status CollectProperties(const Version& version, const std::vector<TableFile*>& files,
                                  TablePropertiesCollection* props);
  // The components that properties are computed from.
  PropertySources Sources();

  // A component uses those before it. They are destroyed in reverse order, after Close().
  DbCore core_;
  const ComparatorOfFamily comparator_of_ = [this](uint32_t family) {
    return ComparatorOf(family);
  };
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
  TimeSampler time_sampler_;
  const std::string name_;              // the directory; for a follower, its own directory
  std::unique_ptr<Follower> follower_;  // null unless another process writes the database
  std::unique_ptr<FamilyHandle> default_handle_;  // null while no database is open
  bool is_closed_ = false;                        // by Close() or the destructor
};

}  // namespace ashlar
