// SPDX-License-Identifier: Apache-2.0
//
// DB is a persistent, ordered map from keys to values, divided into column families.
//
//   std::unique_ptr<DB> db;
//   Options options;
//   options.create_if_missing = true;
//   Status s = DB::Open(options, "/tmp/testdb", &db);
//   if (s.ok()) s = db->Put(WriteOptions(), "key", "value");
//   std::string value;
//   if (s.ok()) s = db->Get(ReadOptions(), "key", &value);
//
// Threads: every member may be called from many threads at once without locking. Iterators and
// column family handles must be deleted, and snapshots released, before the database is.
//
// Statuses common to most calls: Corruption and IOError for what the files or the file system did;
// InvalidArgument for arguments; ColumnFamilyDropped for writes to a dropped family;
// ShutdownInProgress while closing; NotSupported, naming the call, from a database or wrapper that
// cannot do it. A call with `ts` needs a comparator with timestamps, one without must not have one.
// A call without a column family handle addresses the default family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/block_cache_trace_writer.h"
#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/listener.h"
#include "ashlar/metadata.h"
#include "ashlar/multi_scan.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/thread_status.h"
#include "ashlar/types.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/version.h"
#include "ashlar/wal_iterator.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class Env;
class FileChecksumList;
class FileSystem;
class LazyWideColumns;
class LazyWideColumnsBatch;
class Replayer;
class StatsHistoryIterator;
class TraceReader;
class TraceWriter;
class WriteBatch;
enum class ExplainedRead : uint8_t;
struct CompactionJobInfo;
struct IOStatsContext;
struct PerfContext;
struct PreparedFileInfo;
struct ReadExplanation;
struct TableProperties;

ASHLAR_EXPORT extern const std::string kDefaultColumnFamilyName;  // "default"
ASHLAR_EXPORT extern const std::string
    kPersistentStatsColumnFamilyName;  // hidden, for stored statistics

// Name and options of a column family to be opened; by default the default family.
struct ColumnFamilyDescriptor {
  std::string name;
  ColumnFamilyOptions options;

  ColumnFamilyDescriptor() : name(kDefaultColumnFamilyName), options(ColumnFamilyOptions()) {}
  ColumnFamilyDescriptor(const std::string& _name, const ColumnFamilyOptions& _options)
      : name(_name), options(_options) {}
};

// Refers to an open column family. Deleted by the user, directly or with
// DB::DestroyColumnFamilyHandle, before the database; a handle that outlives DB::Close() only
// returns errors.
class ASHLAR_EXPORT ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() {}

  virtual const std::string& GetName() const = 0;
  // Never used again for another family; the default family has 0.
  virtual uint32_t GetID() const = 0;
  // Name and present options, with the changes of SetOptions.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;
  virtual const Comparator* GetComparator() const = 0;
};

// The first half of a two-phase ingestion (DB::PrepareFileIngestion). Destroying it uncommitted
// drops the staged files.
class ASHLAR_EXPORT FileIngestionHandle {
 public:
  virtual ~FileIngestionHandle() = default;
  FileIngestionHandle(const FileIngestionHandle&) = delete;
  FileIngestionHandle& operator=(const FileIngestionHandle&) = delete;

  // Drops the staged files now and says whether that worked.
  virtual Status Abort() = 0;

 protected:
  FileIngestionHandle() = default;
};

static const int kMajorVersion = ROCKSDB_MAJOR;
static const int kMinorVersion = ROCKSDB_MINOR;

// For DB::GetMergeOperands.
struct GetMergeOperandsOptions {
  using ContinueCallback = std::function<bool(Slice)>;

  // Slots in the caller's array. More operands than this: Incomplete, with the number needed.
  int expected_max_number_of_operands = 0;
  // Called for each operand, newest first, if set; false ends the search.
  ContinueCallback continue_cb;
};

class ASHLAR_EXPORT DB {
 public:
  // Opening. `name` is the directory. A result is empty (null) after an error. The forms with
  // column families must name every existing family, else InvalidArgument; handles come in the
  // same order. The result is given as a raw pointer, which the caller deletes, or as unique_ptr.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr);

  // Opens without changing anything on disk. Some families suffice if the default one is among
  // them. Writes return NotSupported. error_if_wal_file_exists: fail if there is unflushed data.
  static Status OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const Options& options, const std::string& name,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);

  // Opens read-only beside a running primary, as of now; TryCatchUpWithPrimary() moves on.
  // secondary_path takes the info log. Use max_open_files = -1, so that files the primary deletes
  // stay readable. NotSupported so far.
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, DB** dbptr);
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr);

  // Like a secondary, with a directory of its own to which the leader's files are linked, catching
  // up by itself. NotSupported so far.
  static Status OpenAsFollower(const Options& options, const std::string& name,
                               const std::string& leader_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsFollower(const DBOptions& db_options, const std::string& name,
                               const std::string& leader_path,
                               const std::vector<ColumnFamilyDescriptor>& column_families,
                               std::vector<ColumnFamilyHandle*>* handles,
                               std::unique_ptr<DB>* dbptr);

  // Worker of a CompactionService: runs the job described by `input` on the database, which another
  // process has open, writes to output_directory and describes the result in *output. Options come
  // from the OPTIONS file; objects, and what options_map says, from the override. A job that was
  // interrupted begins anew, whatever allow_resumption says.
  static Status OpenAndCompact(const std::string& name, const std::string& output_directory,
                               const std::string& input, std::string* output,
                               const CompactionServiceOptionsOverride& override_options);
  static Status OpenAndCompact(const OpenAndCompactOptions& options, const std::string& name,
                               const std::string& output_directory, const std::string& input,
                               std::string* output,
                               const CompactionServiceOptionsOverride& override_options);

  // Opens a database with user timestamps and drops what is newer than trim_ts. NotSupported so
  // far.
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                   std::string trim_ts);
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles,
                                   std::unique_ptr<DB>* dbptr, std::string trim_ts);

  // Names of the families of a database, without opening it. IOError(kPathNotFound) without one.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() {}
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes the database if Close() has not; errors are lost then.
  virtual ~DB();

  // Leaves the state after a background error, once its cause is gone.
  virtual Status Resume();

  // Ends background work, releases all files and says whether that worked. Aborted while there are
  // unreleased snapshots. Does not sync the WAL. Afterwards only deleting the object is allowed.
  virtual Status Close();

  // Column families. Creating one that exists is InvalidArgument; an error in the middle of a list
  // leaves those before it created, with their handles in *handles. A dropped family stays readable
  // through the handles and iterators that there are.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle);
  virtual Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                                      const std::vector<std::string>& column_family_names,
                                      std::vector<ColumnFamilyHandle*>* handles);
  virtual Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                      std::vector<ColumnFamilyHandle*>* handles);
  virtual Status DropColumnFamily(ColumnFamilyHandle* column_family);
  virtual Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families);
  // Deletes a handle; InvalidArgument for that of DefaultColumnFamily().
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family);

  // Writes. Each is a batch of its own; when it returns OK readers see it, and it is in the WAL
  // (synced if options.sync). Incomplete if options.no_slowdown and the write would have to wait.

  // key := value.
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& ts, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value);
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& ts,
                     const Slice& value);

  // key := columns, in any order, without duplicates; the second form writes to several families at
  // once. InvalidArgument for two columns of one name, and for no groups.
  virtual Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, const WideColumns& columns);
  virtual Status PutEntity(const WriteOptions& options, const Slice& key,
                           const AttributeGroups& attribute_groups);

  // Removes a key; OK if there is none.
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(const WriteOptions& options, const Slice& key);
  virtual Status Delete(const WriteOptions& options, const Slice& key, const Slice& ts);

  // Removes a key that was put exactly once since it was last removed: cheaper to compact. What
  // remains of other keys is undefined.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, const Slice& ts) = 0;
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key);
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key, const Slice& ts);

  // Removes all keys in [begin_key, end_key). InvalidArgument if the end sorts before the begin.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key);
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key, const Slice& ts);
  virtual Status DeleteRange(const WriteOptions& options, const Slice& begin_key,
                             const Slice& end_key);
  virtual Status DeleteRange(const WriteOptions& options, const Slice& begin_key,
                             const Slice& end_key, const Slice& ts);

  // Adds an operand for the family's merge operator; NotSupported without one.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, const Slice& key, const Slice& value);
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& ts, const Slice& value);

  // Applies a batch as one. The batch gets its sequence number and may be used again.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;
  // The same with hooks on the way.
  virtual Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                   UserWriteCallback* user_write_cb);
  // Applies a large batch by taking over its index as memtable. NotSupported so far.
  virtual Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                           std::shared_ptr<WriteBatchWithIndex> wbwi);

  // Point reads. NotFound without the key; MergeInProgress or Incomplete where options allow.
  // *timestamp, if not null, gets the timestamp of the version found.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* value, std::string* timestamp) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value, std::string* timestamp) final;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* value) final;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, std::string* value) final;
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) final;
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value,
                     std::string* timestamp) final;

  // The value as columns; a plain value is one column with the empty name. The second form reads
  // one key from the families that *result names, as of one moment; each gets its own status.
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns);
  virtual Status GetEntity(const ReadOptions& options, const Slice& key,
                           PinnableAttributeGroups* result);
  // Leaves columns in blob files unread until they are asked for. NotSupported so far.
  virtual Status GetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                               const Slice& key, LazyWideColumns* columns);

  // The operands of a key before they are merged, oldest first, in merge_operands[0 ..
  // *number_of_operands); a plain value counts as the first, and of an entity its default column.
  virtual Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  const Slice& key, PinnableSlice* merge_operands,
                                  GetMergeOperandsOptions* get_merge_operands_options,
                                  int* number_of_operands) = 0;

  // Many point reads of one consistent view. The forms with vectors size their results; those with
  // arrays fill values[i] and statuses[i]. sorted_input promises that the keys ascend (by family,
  // then key).
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_families,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values,
                                       std::vector<std::string>* timestamps) final;
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& column_family,
                                       const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) final;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) final;
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values,
                                       std::vector<std::string>* timestamps) final;
  virtual void MultiGet(const ReadOptions& options, const size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, std::string* timestamps, Status* statuses,
                        const bool sorted_input = false) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys, PinnableSlice* values,
                        std::string* timestamps, Status* statuses,
                        const bool sorted_input = false) final;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const size_t num_keys, const Slice* keys, PinnableSlice* values,
                        Status* statuses, const bool sorted_input = false) final;
  virtual void MultiGet(const ReadOptions& options, const size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, Status* statuses,
                        const bool sorted_input = false) final;
  // Many GetEntity() of one consistent view.
  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false);
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                              ColumnFamilyHandle** column_families, const Slice* keys,
                              PinnableWideColumns* results, Status* statuses,
                              bool sorted_input = false);
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                              PinnableAttributeGroups* results);
  // Many GetEntityLazy(). NotSupported so far.
  virtual void MultiGetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  size_t num_keys, const Slice* keys, LazyWideColumnsBatch* results,
                                  Status* statuses, bool sorted_input = false);

  // False means that the key is certainly absent; true that it may be there. Reads no file. If the
  // value is at hand it is returned and *value_found set; both may be null.
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, std::string* timestamp,
                           bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                           bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                           std::string* timestamp, bool* value_found = nullptr);

  // Iterators, which the caller deletes. Never null: errors are in status(). The list form gives
  // one per family, all of the same view.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Iterator* NewIterator(const ReadOptions& options);
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;
  // Walks several families in one key order; of a key in several, the columns are united and later
  // families win. Never null; the status is InvalidArgument without families or of several orders.
  virtual std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // The same with the columns of each family apart. Never null.
  virtual std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // Scans several ranges; the handle must not be null.
  virtual std::unique_ptr<MultiScan> NewMultiScan(const ReadOptions& options,
                                                  ColumnFamilyHandle* column_family,
                                                  const MultiScanArgs& scan_opts);

  // Told about the end of an asynchronous read.
  class AsyncCallback {
   public:
    virtual ~AsyncCallback() = default;
    // Whether the callback wants counters; without, OnComplete gets null pointers.
    virtual bool EnableStats() const { return false; }
    // Called once, by any thread, when the results are in place.
    virtual void OnComplete(const PerfContext* callback_perf_context,
                            const IOStatsContext* callback_iostats_context) = 0;
  };
  // Reads whose results arrive with a callback; arguments must live until then. Experimental: so
  // far they read in the calling thread and call back before they return.
  virtual void GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, PinnableSlice* value, std::string* timestamp,
                        Status& status, AsyncCallback& callback);
  virtual void GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, std::string* value, std::string* timestamp,
                        Status& status, AsyncCallback& callback);
  virtual void GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, PinnableSlice* value, Status& status,
                        AsyncCallback& callback);
  virtual void GetAsync(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, std::string* value, Status& status,
                        AsyncCallback& callback);
  virtual void GetAsync(const ReadOptions& options, const Slice& key, std::string* value,
                        Status& status, AsyncCallback& callback);
  virtual void GetAsync(const ReadOptions& options, const Slice& key, std::string* value,
                        std::string* timestamp, Status& status, AsyncCallback& callback);
  virtual void MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                             ColumnFamilyHandle** column_families, const Slice* keys,
                             PinnableSlice* values, std::string* timestamps, Status* statuses,
                             const bool sorted_input, AsyncCallback& callback);
  virtual void MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                             ColumnFamilyHandle** column_families, const Slice* keys,
                             PinnableSlice* values, Status* statuses, const bool sorted_input,
                             AsyncCallback& callback);
  virtual void MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                             ColumnFamilyHandle** column_families, const Slice* keys,
                             PinnableSlice* values, std::string* timestamps, Status* statuses,
                             AsyncCallback& callback);
  virtual void MultiGetAsync(const ReadOptions& options, const size_t num_keys,
                             ColumnFamilyHandle** column_families, const Slice* keys,
                             PinnableSlice* values, Status* statuses, AsyncCallback& callback);

  // Pins the present state for reads; null if that is not supported. Each must be released.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Names of properties. Numbers are those that GetIntProperty() knows too; maps those of
  // GetMapProperty(). Names that end in Prefix or AtLevel take a level behind them, that with
  // AtTemperature a temperature.
  struct Properties {
    static const std::string kNumFilesAtLevelPrefix;
    static const std::string kCompressionRatioAtLevelPrefix;
    static const std::string kStats;
    static const std::string kSSTables;
    static const std::string kCFStats;
    static const std::string kCFStatsNoFileHistogram;
    static const std::string kCFFileHistogram;
    static const std::string kCFWriteStallStats;
    static const std::string kDBWriteStallStats;
    static const std::string kDBStats;
    static const std::string kLevelStats;
    static const std::string kBlockCacheEntryStats;
    static const std::string kFastBlockCacheEntryStats;
    static const std::string kNumImmutableMemTable;
    static const std::string kNumImmutableMemTableFlushed;
    static const std::string kMemTableFlushPending;
    static const std::string kNumRunningFlushes;
    static const std::string kCompactionPending;
    static const std::string kNumRunningCompactions;
    static const std::string kNumRunningCompactionSortedRuns;
    static const std::string kCompactionAbortCount;
    static const std::string kNumUnscheduledCompactions;
    static const std::string kBackgroundErrors;
    static const std::string kCurSizeActiveMemTable;
    static const std::string kCurSizeAllMemTables;
    static const std::string kSizeAllMemTables;
    static const std::string kNumEntriesActiveMemTable;
    static const std::string kNumEntriesImmMemTables;
    static const std::string kNumDeletesActiveMemTable;
    static const std::string kNumDeletesImmMemTables;
    static const std::string kEstimateNumKeys;
    static const std::string kEstimateTableReadersMem;
    static const std::string kIsFileDeletionsEnabled;
    static const std::string kNumSnapshots;
    static const std::string kOldestSnapshotTime;
    static const std::string kOldestSnapshotSequence;
    static const std::string kNumLiveVersions;
    static const std::string kCurrentSuperVersionNumber;
    static const std::string kEstimateLiveDataSize;
    static const std::string kMinLogNumberToKeep;
    static const std::string kMinObsoleteSstNumberToKeep;
    static const std::string kTotalSstFilesSize;
    static const std::string kLiveSstFilesSize;
    static const std::string kObsoleteSstFilesSize;
    static const std::string kLiveSstFilesSizeAtTemperature;
    static const std::string kBaseLevel;
    static const std::string kEstimatePendingCompactionBytes;
    static const std::string kAggregatedTableProperties;
    static const std::string kAggregatedTablePropertiesAtLevel;
    static const std::string kActualDelayedWriteRate;
    static const std::string kIsWriteStopped;
    static const std::string kEstimateOldestKeyTime;
    static const std::string kBlockCacheCapacity;
    static const std::string kBlockCacheUsage;
    static const std::string kBlockCachePinnedUsage;
    static const std::string kOptionsStatistics;
    static const std::string kNumBlobFiles;
    static const std::string kBlobStats;
    static const std::string kTotalBlobFileSize;
    static const std::string kLiveBlobFileSize;
    static const std::string kLiveBlobFileGarbageSize;
    static const std::string kBlobCacheCapacity;
    static const std::string kBlobCacheUsage;
    static const std::string kBlobCachePinnedUsage;
  };

  // A property as text, map or number. False for an unknown name.
  virtual bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::string* value) = 0;
  virtual bool GetProperty(const Slice& property, std::string* value);
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  virtual bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value);
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              uint64_t* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value);
  // The sum over all families; a block cache that some share counts once.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;
  // Zeroes the counters behind kStats, kCFStats and kDBStats, of all families, with their
  // histograms of reads and kBackgroundErrors; tickers are Statistics::Reset()'s. Work that is
  // under way counts when it ends.
  virtual Status ResetStats();

  // What GetApproximateSizes counts.
  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1,
    INCLUDE_BLOB_FILES = 1 << 2,
  };

  // Estimates of the bytes that n ranges take on disk, into sizes[0 .. n). InvalidArgument if
  // nothing is to be counted.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  virtual Status GetApproximateSizes(
      ColumnFamilyHandle* column_family, const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);
  virtual Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);

  // Estimates of the entries and bytes of a range in the memtables.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                           uint64_t* const count, uint64_t* const size) = 0;
  virtual void GetApproximateMemTableStats(const Range& range, uint64_t* const count,
                                           uint64_t* const size);

  // Flushes, then compacts all levels of a range (null: open end); returns when done.
  // Incomplete(kManualCompactionPaused) if it was cancelled.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin,
                              const Slice* end);

  // Changes options that may change on an open database, given as texts; all of a call or none,
  // also of several families. InvalidArgument for bad values and other names (NotFound from
  // SetDBOptions). Writes OPTIONS, once.
  virtual Status SetOptions(ColumnFamilyHandle* column_family,
                            const std::unordered_map<std::string, std::string>& opts_map);
  virtual Status SetOptions(const std::unordered_map<std::string, std::string>& new_options);
  virtual Status SetOptions(const std::vector<ColumnFamilyHandle*>& column_families,
                            const std::unordered_map<std::string, std::string>& opts_map);
  virtual Status SetOptions(
      const std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>&
          column_family_opts_map);
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) = 0;

  // Compacts exactly the named table files (names as in metadata) to output_level; path -1 lets the
  // database choose. Results, if not null, get the new names and the facts of the job. Aborted: a
  // compaction has one of the files.
  virtual Status CompactFiles(const CompactionOptions& compact_options,
                              ColumnFamilyHandle* column_family,
                              const std::vector<std::string>& input_file_names,
                              const int output_level, const int output_path_id = -1,
                              std::vector<std::string>* const output_file_names = nullptr,
                              CompactionJobInfo* compaction_job_info = nullptr) = 0;
  virtual Status CompactFiles(const CompactionOptions& compact_options,
                              const std::vector<std::string>& input_file_names,
                              const int output_level, const int output_path_id = -1,
                              std::vector<std::string>* const output_file_names = nullptr,
                              CompactionJobInfo* compaction_job_info = nullptr);

  // Waits for running flushes and compactions and starts no more, until as many Continue calls.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;
  // Sets disable_auto_compactions to false for these families and starts what is due.
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) = 0;
  // Cancels manual compactions and refuses new ones, until as many Enable calls; an Enable without
  // a Disable does nothing.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;
  // Cancels all compactions (Incomplete, kCompactionAborted) and starts no more, until as many
  // Resume calls; of the whole database or of one family.
  virtual void AbortAllCompactions() = 0;
  virtual void ResumeAllCompactions() = 0;
  virtual void AbortCompactions(ColumnFamilyHandle* column_family) = 0;
  virtual void ResumeCompactions(ColumnFamilyHandle* column_family) = 0;
  // Returns when no flush or compaction runs or is due. TimedOut after options.timeout; the
  // background error if one stands; ShutdownInProgress once background work is cancelled.
  virtual Status WaitForCompact(const WaitForCompactOptions& wait_for_compact_options) = 0;

  // Options and places in use.
  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  virtual int NumberLevels();
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) = 0;
  virtual int Level0StopWriteTrigger();
  virtual const std::string& GetName() const = 0;  // as given to Open
  virtual Env* GetEnv() const = 0;
  virtual FileSystem* GetFileSystem() const;
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  virtual Options GetOptions() const;
  virtual DBOptions GetDBOptions() const = 0;

  // Writes memtables to level 0; with options.wait returns when done. With DBOptions::atomic_flush
  // several families are flushed as one.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Status Flush(const FlushOptions& options);
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Hands the WAL's buffer to the operating system (DBOptions::manual_wal_flush); `sync` also
  // makes it durable.
  virtual Status FlushWAL(bool sync);
  virtual Status FlushWAL(const FlushWALOptions& options);
  // Makes durable what is in the WAL.
  virtual Status SyncWAL() = 0;
  // Holds writes, and flushes the WAL, until as many UnlockWAL calls.
  virtual Status LockWAL();
  virtual Status UnlockWAL();

  // The sequence number of the newest visible write.
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

  // The timestamp below which older versions may be dropped; it only rises (InvalidArgument).
  // NotSupported so far, like all calls for user-defined timestamps.
  virtual Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* column_family,
                                          std::string ts_low) = 0;
  virtual Status GetFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string* ts_low) = 0;
  // The newest timestamp written, for families that do not store them. NotSupported so far.
  virtual Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* column_family,
                                               std::string* newest_timestamp) = 0;

  // Keeps obsolete files, so that a live database can be copied, until as many Enable calls.
  virtual Status DisableFileDeletions() = 0;
  virtual Status EnableFileDeletions() = 0;
  // Old form: `force` undoes all Disable calls at once.
  virtual Status EnableFileDeletions(bool force);

  // Seconds since 1970; 0 if unknown. NotSupported unless max_open_files is -1.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* creation_time) = 0;

  // Walks the batches in the logs, from the one with this sequence number on or, if there is none,
  // from the first behind it; set WAL_ttl_seconds or WAL_size_limit_MB, or logs are gone after each
  // flush. While the database writes on, Next() behind the end finds what came since. NotFound if
  // the number is not written yet or the logs hold nothing from it on. The iterator ends with
  // Corruption where sequence numbers jump: writes without a log and ingested tables are not in
  // the logs. Only what readers see already is shown, and with manual_wal_flush only what was
  // flushed. NotSupported if the database is open for reading only. Delete the iterator before the
  // database; one thread at a time.
  virtual Status GetUpdatesSince(
      SequenceNumber seq_number, std::unique_ptr<WalIterator>* iter,
      const WalIterator::ReadOptions& read_options = WalIterator::ReadOptions()) = 0;

  // Facts about files: every live table; checksums; what to copy for a consistent image (it also
  // flushes, as the options say, unless the database is open for reading only).
  virtual void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata);
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) = 0;
  virtual Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& opts,
                                         std::vector<LiveFileStorageInfo>* files) = 0;
  // What another database needs to ingest a live table cheaply. NotSupported so far.
  virtual Status GetPreparedFileInfoForExternalSstIngestion(
      const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) = 0;

  // Levels and files of a family, or of all.
  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                       ColumnFamilyMetaData* metadata);
  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                       const GetColumnFamilyMetaDataOptions& options,
                                       ColumnFamilyMetaData* metadata);
  void GetColumnFamilyMetaData(ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), metadata);
  }
  void GetColumnFamilyMetaData(const GetColumnFamilyMetaDataOptions& options,
                               ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), options, metadata);
  }
  virtual void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata);

  // Names, relative to GetName(), of the files that form the database, without WALs. Only the first
  // *manifest_file_size bytes of the MANIFEST belong to it.
  virtual Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;
  // WAL files that hold anything, live and archived, oldest first; and the one being written. A
  // database that is open for reading only refuses with NotSupported: it knows those alone that it
  // has read, which are in GetLiveFilesStorageInfo().
  virtual Status GetSortedWalFiles(VectorWalPtr& files) = 0;
  virtual Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) = 0;

  // Adds table files made by SstFileWriter, whose keys then are newer than all there was. Several
  // families at once are all or nothing.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options);
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;
  // The same in two steps: check and stage; then commit all handles as one. A handle goes before
  // the database does.
  virtual Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                                      std::unique_ptr<FileIngestionHandle>* handle) = 0;
  virtual Status PrepareFileIngestion(ColumnFamilyHandle* column_family,
                                      const std::vector<std::string>& external_files,
                                      const IngestExternalFileOptions& options,
                                      std::unique_ptr<FileIngestionHandle>* handle);
  virtual Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<FileIngestionHandle>> handles) = 0;
  virtual Status CommitFileIngestionHandle(std::unique_ptr<FileIngestionHandle> handle);

  // Makes a family from files that Checkpoint::ExportColumnFamily wrote, of this database or of
  // another one; several exports must not have keys in common.
  virtual Status CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                              const std::string& column_family_name,
                                              const ImportColumnFamilyOptions& import_options,
                                              const ExportImportFilesMetaData& metadata,
                                              ColumnFamilyHandle** handle);
  virtual Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) = 0;

  // Removes everything outside [begin_key, end_key), also from files, some of which are rewritten.
  virtual Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                                  const Slice& end_key) = 0;

  // Compares the checksums of whole files with the MANIFEST. Needs file_checksum_gen_factory.
  virtual Status VerifyFileChecksums(const ReadOptions& read_options);
  // Reads all tables and verifies every block. Corruption names the file.
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  virtual Status VerifyChecksum();

  // An id made with the database, and one made at each open.
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  // Owned by the database.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // Properties of table files, by file name.
  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  virtual Status GetPropertiesOfAllTables(TablePropertiesCollection* props);
  virtual Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                              std::size_t n, TablePropertiesCollection* props) = 0;
  virtual Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) = 0;

  // Marks the files of a range for compaction, which the background takes up soon.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                                     const Slice* end);
  // Moves the files of level 0, which must not overlap, to an empty level with none above it.
  virtual Status PromoteL0(ColumnFamilyHandle* column_family, int target_level);

  // Traces of calls, of file operations and of block cache accesses; and replaying one of the
  // first kind. NotSupported so far.
  virtual Status StartTrace(const TraceOptions& options,
                            std::unique_ptr<TraceWriter>&& trace_writer);
  virtual Status EndTrace();
  virtual Status StartIOTrace(const TraceOptions& options,
                              std::unique_ptr<TraceWriter>&& trace_writer);
  virtual Status EndIOTrace();
  virtual Status StartBlockCacheTrace(const TraceOptions& trace_options,
                                      std::unique_ptr<TraceWriter>&& trace_writer);
  virtual Status StartBlockCacheTrace(const BlockCacheTraceOptions& options,
                                      std::unique_ptr<BlockCacheTraceWriter>&& trace_writer);
  virtual Status EndBlockCacheTrace();
  virtual Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                                    std::unique_ptr<TraceReader>&& reader,
                                    std::unique_ptr<Replayer>* replayer);

  // What ExplainGet() and ExplainSeek() of ashlar/explain.h call; nothing of RocksDB's.
  virtual Status ExplainRead(ExplainedRead read, const ReadOptions& options,
                             ColumnFamilyHandle* column_family, const Slice& key,
                             ReadExplanation* explanation);

  // The innermost of a chain of wrappers.
  virtual DB* GetRootDB() { return this; }

  // What the counters of the statistics gained, look by look (stats_persist_period_sec), from
  // start_time to before end_time, in seconds since 1970. In memory: nothing of an earlier opening.
  virtual Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                                 std::unique_ptr<StatsHistoryIterator>* stats_iterator);

  // Of a secondary: reads what the primary has written since. NotSupported so far.
  virtual Status TryCatchUpWithPrimary();
};

// Keys in the map properties kCFWriteStallStats and kDBWriteStallStats.
struct ASHLAR_EXPORT WriteStallStatsMapKeys {
  static const std::string& TotalStops();
  static const std::string& TotalDelays();
  static const std::string& CFL0FileCountLimitDelaysWithOngoingCompaction();
  static const std::string& CFL0FileCountLimitStopsWithOngoingCompaction();
  // The counter of one cause and condition; empty for a pair that cannot occur.
  static std::string CauseConditionCount(WriteStallCause cause, WriteStallCondition condition);
};

inline DB::SizeApproximationFlags operator&(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) &
                                                 static_cast<uint8_t>(rhs));
}
inline DB::SizeApproximationFlags operator|(DB::SizeApproximationFlags lhs,
                                            DB::SizeApproximationFlags rhs) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(lhs) |
                                                 static_cast<uint8_t>(rhs));
}

// Deletes all files of a database, but no others in its directory. OK if there are none. It must
// not be open.
ASHLAR_EXPORT Status DestroyDB(const std::string& name, const Options& options,
                               const std::vector<ColumnFamilyDescriptor>& column_families =
                                   std::vector<ColumnFamilyDescriptor>());

// NotSupported so far. Makes a new MANIFEST from the table files and WALs that can be read; what
// cannot be read is lost. unknown_cf_opts: for families that are not listed, which are an error
// without.
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families);
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families,
                              const ColumnFamilyOptions& unknown_cf_opts);
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace ashlar
