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
// Threads: all members may be called from many threads at the same time without external locking,
// except Close() and the destructor. Delete iterators and column family handles, and release
// snapshots, before the database.
//
// Statuses that most calls can return:
//   Corruption, IOError   damaged files, or an error of the file system
//   InvalidArgument       an argument is not valid
//   ColumnFamilyDropped   a write to a dropped family
//   ShutdownInProgress    the database is being closed
//   NotSupported          the database or wrapper cannot do this; the message names the call
//
// Calls with a timestamp `ts` need a comparator with timestamps; calls without `ts` need one
// without. A call without a column family handle addresses the default family.
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

// Name and options with which a column family is opened. Default: the default family.
struct ColumnFamilyDescriptor {
  std::string name;
  ColumnFamilyOptions options;

  ColumnFamilyDescriptor() : name(kDefaultColumnFamilyName), options(ColumnFamilyOptions()) {}
  ColumnFamilyDescriptor(const std::string& _name, const ColumnFamilyOptions& _options)
      : name(_name), options(_options) {}
};

// Refers to an open column family. The caller deletes it, directly or with
// DB::DestroyColumnFamilyHandle(), before the database. After DB::Close() the handle can still be
// used, but only returns errors.
class ASHLAR_EXPORT ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() {}

  // The name of the family.
  virtual const std::string& GetName() const = 0;
  // The id of the family. Ids are never used again; the default family has 0.
  virtual uint32_t GetID() const = 0;
  // Returns the name and the current options, including changes by DB::SetOptions().
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;
  // The comparator of the family. Not owned by the caller.
  virtual const Comparator* GetComparator() const = 0;
};

// Files that DB::PrepareFileIngestion() has staged: the first of the two steps of an ingestion. The
// destructor deletes the staged files unless they were committed.
class ASHLAR_EXPORT FileIngestionHandle {
 public:
  virtual ~FileIngestionHandle() = default;
  FileIngestionHandle(const FileIngestionHandle&) = delete;
  FileIngestionHandle& operator=(const FileIngestionHandle&) = delete;

  // Deletes the staged files now and returns the result.
  virtual Status Abort() = 0;

 protected:
  FileIngestionHandle() = default;
};

static const int kMajorVersion = ROCKSDB_MAJOR;
static const int kMinorVersion = ROCKSDB_MINOR;

// Options of DB::GetMergeOperands().
struct GetMergeOperandsOptions {
  using ContinueCallback = std::function<bool(Slice)>;

  // Number of elements in the caller's array. If there are more operands, the call returns
  // Incomplete and sets *number_of_operands to the number needed.
  int expected_max_number_of_operands = 0;
  // If set, it is called for each operand, newest first. The search ends when it returns false.
  ContinueCallback continue_cb;
};

// An open database.
//
// Calls return InvalidArgument for a null handle of a column family; calls without a status return
// false, zero or an empty result. As in RocksDB, only Put, Delete, SingleDelete and DeleteRange
// without a timestamp take a null handle for the default family.
class ASHLAR_EXPORT DB {
 public:
  // Opens the database in the directory `name`. After an error the result is null. The forms with
  // column families must name every existing family, otherwise they return InvalidArgument;
  // *handles gets one handle per family, in the same order. The caller deletes the database and the
  // handles.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr);

  // Opens a database without changing any file. It is enough to name some of the families, if the
  // default one is among them. Writes return NotSupported. If error_if_wal_file_exists is true, the
  // call fails if there are WALs with unflushed data.
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

  // Opens a database for reading while another process, the primary, may have it open for writing.
  // It shows one state of the named families until TryCatchUpWithPrimary(); snapshots and iterators
  // keep theirs. Families that the primary creates later are not visible; those that it drops stay
  // readable. Files stay open as long as a state needs them, whatever max_open_files says. Only an
  // info log is written, in secondary_path. Writes, best_efforts_recovery, wal_filter and
  // inplace_callback are NotSupported. TryAgain: the primary replaced files too fast.
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

  // A secondary of leader_path with a thread that catches up, and with hard links of its tables in
  // `name`, which must not be a database. Same file system; without db_paths and cf_paths.
  static Status OpenAsFollower(const Options& options, const std::string& name,
                               const std::string& leader_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsFollower(const DBOptions& db_options, const std::string& name,
                               const std::string& leader_path,
                               const std::vector<ColumnFamilyDescriptor>& column_families,
                               std::vector<ColumnFamilyHandle*>* handles,
                               std::unique_ptr<DB>* dbptr);

  // The worker's half of a CompactionService: runs the compaction that `input` describes on a
  // database that another process has open, writes the tables to output_directory and describes the
  // result in *output. Options come from the OPTIONS file of the database; the override supplies
  // objects and the options in options_map. An interrupted job starts again from the beginning,
  // even if allow_resumption is set.
  static Status OpenAndCompact(const std::string& name, const std::string& output_directory,
                               const std::string& input, std::string* output,
                               const CompactionServiceOptionsOverride& override_options);
  static Status OpenAndCompact(const OpenAndCompactOptions& options, const std::string& name,
                               const std::string& output_directory, const std::string& input,
                               std::string* output,
                               const CompactionServiceOptionsOverride& override_options);

  // Opens a database and removes from its families with user-defined timestamps all versions newer
  // than trim_ts; InvalidArgument if trim_ts is below full_history_ts_low. After another error the
  // database is not open, and a part may be gone; a further call continues.
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                   std::string trim_ts);
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& dbname,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles,
                                   std::unique_ptr<DB>* dbptr, std::string trim_ts);

  // Returns the names of the families of a database without opening it. IOError with the subcode
  // kPathNotFound if there is no database.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() {}
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes the database if Close() has not been called. Errors are lost then.
  virtual ~DB();

  // Ends the read-only state that a background error has caused. Call it after the cause has been
  // removed. Returns the error if the database still cannot write.
  virtual Status Resume();

  // Stops background work and releases all files; returns the first error. Aborted if there are
  // unreleased snapshots. Does not sync the WAL. Afterwards the only permitted operation is to
  // delete the object.
  virtual Status Close();

  // Column families. Creating a family that exists returns InvalidArgument. If an error occurs in
  // the middle of a list, the families before it exist and their handles are in *handles. A dropped
  // family can still be read through existing handles and iterators.
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
  // Deletes a handle. InvalidArgument for the handle that DefaultColumnFamily() returns.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family);

  // Writes. Each call is a batch of its own. When it returns OK, the write is visible to readers
  // and has been handed to the WAL (and synced, if options.sync is set). Incomplete if
  // options.no_slowdown is set and the write would have to wait.

  // Sets the value of a key.
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& ts, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value);
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& ts,
                     const Slice& value);

  // Sets the value of a key to a set of named columns, in any order. The second form writes to
  // several families at once. Corruption, as in RocksDB, if two columns have the same name;
  // InvalidArgument if there are no groups.
  virtual Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, const WideColumns& columns);
  virtual Status PutEntity(const WriteOptions& options, const Slice& key,
                           const AttributeGroups& attribute_groups);

  // Removes a key. OK if the key does not exist.
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(const WriteOptions& options, const Slice& key);
  virtual Status Delete(const WriteOptions& options, const Slice& key, const Slice& ts);

  // Removes a key that has been put exactly once since it was last removed. Compactions handle it
  // at less cost than Delete(). For any other key, also one that Delete() removed last or that has
  // been merged since, the result is undefined: an older value may come back.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, const Slice& ts) = 0;
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key);
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key, const Slice& ts);

  // Removes all keys in [begin_key, end_key). InvalidArgument if end_key sorts before begin_key.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key);
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key, const Slice& ts);
  virtual Status DeleteRange(const WriteOptions& options, const Slice& begin_key,
                             const Slice& end_key);
  virtual Status DeleteRange(const WriteOptions& options, const Slice& begin_key,
                             const Slice& end_key, const Slice& ts);

  // Adds an operand for the merge operator of the family. NotSupported if it has none.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, const Slice& key, const Slice& value);
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& ts, const Slice& value);

  // Applies all updates of a batch atomically. The batch receives its sequence number; it can be
  // used again.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;
  // The same; the functions of user_write_cb are called during the write.
  virtual Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                   UserWriteCallback* user_write_cb);
  // Applies a batch that overwrites keys (overwrite_key) without the log, as Write() does: the
  // calling thread inserts it into the memtables. NotSupported without disableWAL, for a batch that
  // does not overwrite keys, and for a batch to which updates were added directly; InvalidArgument
  // for a null pointer.
  virtual Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                           std::shared_ptr<WriteBatchWithIndex> wbwi);

  // Point reads. NotFound if the key does not exist; Incomplete if the read would need I/O that
  // options.read_tier excludes; TimedOut after options.deadline. *timestamp, if not null, receives
  // the timestamp of the version found.
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

  // Returns the value as columns; a plain value is returned as one column with an empty name. The
  // second form reads one key from all families that *result names, in one consistent state; each
  // group gets a status of its own.
  virtual Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, PinnableWideColumns* columns);
  virtual Status GetEntity(const ReadOptions& options, const Slice& key,
                           PinnableAttributeGroups* result);
  // NotSupported so far. Does not read columns in blob files until they are asked for.
  virtual Status GetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                               const Slice& key, LazyWideColumns* columns);

  // Returns the operands of a key before they are merged, oldest first, in merge_operands[0 ..
  // *number_of_operands). A plain value counts as the first operand; of an entity, the default
  // column does. merge_operands must have expected_max_number_of_operands elements.
  virtual Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  const Slice& key, PinnableSlice* merge_operands,
                                  GetMergeOperandsOptions* get_merge_operands_options,
                                  int* number_of_operands) = 0;

  // Reads many keys in one consistent state. The forms with vectors resize their results; those
  // with arrays fill values[i] and statuses[i] for each i < num_keys. sorted_input promises that
  // the keys ascend (first by family, then by key).
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
  // Calls GetEntity() for many keys in one consistent state.
  virtual void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* column_family,
                              size_t num_keys, const Slice* keys, PinnableWideColumns* results,
                              Status* statuses, bool sorted_input = false);
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys,
                              ColumnFamilyHandle** column_families, const Slice* keys,
                              PinnableWideColumns* results, Status* statuses,
                              bool sorted_input = false);
  virtual void MultiGetEntity(const ReadOptions& options, size_t num_keys, const Slice* keys,
                              PinnableAttributeGroups* results);
  // NotSupported so far. Calls GetEntityLazy() for many keys.
  virtual void MultiGetEntityLazy(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  size_t num_keys, const Slice* keys, LazyWideColumnsBatch* results,
                                  Status* statuses, bool sorted_input = false);

  // Returns false if the key certainly does not exist, and true if it may exist. Reads no file. If
  // the value is found in memory, it is returned in *value and *value_found is set to true; both
  // pointers may be null.
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, std::string* timestamp,
                           bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                           bool* value_found = nullptr);
  virtual bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                           std::string* timestamp, bool* value_found = nullptr);

  // Creates iterators, which the caller deletes. The result is never null: errors are in status().
  // The form with a list returns one iterator per family; all of them see the same state.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Iterator* NewIterator(const ReadOptions& options);
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;
  // Iterates over several families in one order of keys. If a key exists in several families, the
  // result has the columns of all; if two have the same column, the later family wins. Never null.
  // The status is InvalidArgument if there are no families or if their comparators differ.
  virtual std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // The same, but the columns of each family are returned separately. Never null.
  virtual std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // Scans several ranges. column_family must not be null.
  virtual std::unique_ptr<MultiScan> NewMultiScan(const ReadOptions& options,
                                                  ColumnFamilyHandle* column_family,
                                                  const MultiScanArgs& scan_opts);

  // Notified of the end of an asynchronous read.
  class AsyncCallback {
   public:
    virtual ~AsyncCallback() = default;
    // Whether OnComplete() should receive counters; if not, it receives null pointers.
    virtual bool EnableStats() const { return false; }
    // Called exactly once, from any thread, after the results have been stored.
    virtual void OnComplete(const PerfContext* callback_perf_context,
                            const IOStatsContext* callback_iostats_context) = 0;
  };
  // Reads that notify a callback of their end. All arguments must live until then. Experimental: at
  // present they read in the calling thread and call back before they return.
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

  // Pins the current state for later reads; nullptr if snapshots are not possible
  // (inplace_update_support). Each snapshot must be released before the database is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Names of properties for GetProperty(). Properties that are numbers can be read with
  // GetIntProperty() too, and those that are maps with GetMapProperty(). Append a level number to
  // names that end in Prefix or AtLevel, and a temperature to the name that ends in AtTemperature.
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

  // Returns a property as text, map or number. False if the name is unknown or has no value of this
  // kind.
  virtual bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::string* value) = 0;
  virtual bool GetProperty(const Slice& property, std::string* value);
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  virtual bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value);
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              uint64_t* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value);
  // Returns the sum over all families. A block cache that several families share counts once.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;
  // Sets to zero, for all families, the counters behind kStats, kCFStats and kDBStats, their
  // histograms of reads, and kBackgroundErrors. Does not reset tickers: see Statistics::Reset().
  // Work that is under way is counted when it ends.
  virtual Status ResetStats();

  // What GetApproximateSizes() counts.
  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1,
    INCLUDE_BLOB_FILES = 1 << 2,
  };

  // Estimates how many bytes each of `n` key ranges takes on disk, and stores the results in
  // sizes[0 .. n). InvalidArgument if the options exclude both files and memtables.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  virtual Status GetApproximateSizes(
      ColumnFamilyHandle* column_family, const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);
  virtual Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);

  // Estimates the number of entries and bytes that a range has in the memtables.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                           uint64_t* const count, uint64_t* const size) = 0;
  virtual void GetApproximateMemTableStats(const Range& range, uint64_t* const count,
                                           uint64_t* const size);

  // Flushes, then compacts all levels of a key range (a null pointer means no bound), and returns
  // when this is done. Incomplete with the subcode kManualCompactionPaused if it was cancelled.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin,
                              const Slice* end);

  // Changes dynamic options, which are given as texts. Either all changes of a call take effect or
  // none, also if several families are named. InvalidArgument for an invalid value (NotSupported
  // for one that this build lacks) or for a name that is unknown or not dynamic (SetDBOptions()
  // returns NotFound for such a name). Writes one new OPTIONS file.
  virtual Status SetOptions(ColumnFamilyHandle* column_family,
                            const std::unordered_map<std::string, std::string>& opts_map);
  virtual Status SetOptions(const std::unordered_map<std::string, std::string>& new_options);
  virtual Status SetOptions(const std::vector<ColumnFamilyHandle*>& column_families,
                            const std::unordered_map<std::string, std::string>& opts_map);
  virtual Status SetOptions(
      const std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>&
          column_family_opts_map);
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) = 0;

  // Compacts the given table files (named as in the metadata) into output_level. output_path_id =
  // -1 lets the database choose the directory. output_file_names and compaction_job_info, if not
  // null, receive the names of the new tables, then those of the new blob files, and the facts of
  // the job. Aborted if another compaction is using one of the files.
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

  // PauseBackgroundWork() waits for running flushes and compactions and prevents new ones until
  // ContinueBackgroundWork() has been called as often, except a flush of unlogged writes at close.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;
  // Sets disable_auto_compactions to false for these families and starts the compactions that are
  // needed.
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) = 0;
  // DisableManualCompaction() cancels manual compactions and refuses new ones until
  // EnableManualCompaction() has been called as often. An Enable call that comes first cancels the
  // next Disable call.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;
  // Cancels all compactions (they return Incomplete with the subcode kCompactionAborted) and
  // prevents new ones until as many Resume calls have been made; in the whole database or in one
  // family.
  virtual void AbortAllCompactions() = 0;
  virtual void ResumeAllCompactions() = 0;
  virtual void AbortCompactions(ColumnFamilyHandle* column_family) = 0;
  virtual void ResumeCompactions(ColumnFamilyHandle* column_family) = 0;
  // Returns when no flush or compaction is running or needed. TimedOut after options.timeout; the
  // background error if there is one; ShutdownInProgress if background work has been cancelled.
  virtual Status WaitForCompact(const WaitForCompactOptions& wait_for_compact_options) = 0;

  // Options in use, and the place of the database.
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

  // Writes memtables to level 0. If options.wait is set, returns when the flush is done. With
  // DBOptions::atomic_flush, the families are flushed together.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) = 0;
  virtual Status Flush(const FlushOptions& options);
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Passes the buffered part of the WAL to the operating system (see DBOptions::manual_wal_flush).
  // If `sync` is true, the WAL is synced too.
  virtual Status FlushWAL(bool sync);
  virtual Status FlushWAL(const FlushWALOptions& options);
  // Syncs the WAL.
  virtual Status SyncWAL() = 0;
  // LockWAL() flushes the WAL and blocks all writes until UnlockWAL() has been called as often.
  virtual Status LockWAL();
  virtual Status UnlockWAL();

  // The sequence number of the newest visible write.
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

  // The timestamp below which older versions may be dropped and reads are refused; null: default
  // family. InvalidArgument if it would decrease; TryAgain if another thread has raised it further.
  virtual Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* column_family,
                                          std::string ts_low) = 0;
  virtual Status GetFullHistoryTsLow(ColumnFamilyHandle* column_family, std::string* ts_low) = 0;
  // NotSupported so far. The newest timestamp that was written, for families that do not store
  // timestamps.
  virtual Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* column_family,
                                               std::string* newest_timestamp) = 0;

  // DisableFileDeletions() keeps obsolete files, for copies, until EnableFileDeletions() was called
  // as often. It waits for deletions that have begun, but not in a callback of one or of a job.
  virtual Status DisableFileDeletions() = 0;
  virtual Status EnableFileDeletions() = 0;
  // Form of older releases: if `force` is true, it undoes all Disable calls at once.
  virtual Status EnableFileDeletions(bool force);

  // Returns the creation time of the oldest table, in seconds since 1970; 0 if unknown,
  // UINT64_MAX without tables. NotSupported unless max_open_files is -1.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* creation_time) = 0;

  // Iterates over the batches in the WALs, beginning with the batch that contains seq_number or, if
  // there is none, with the first batch after it. Set WAL_ttl_seconds or WAL_size_limit_MB:
  // otherwise WALs are deleted after each flush.
  //
  // When the iterator has reached the end, Next() returns the batches that were written since. Only
  // batches that readers can see are returned, and with manual_wal_flush only batches that were
  // flushed. The status of the iterator becomes NotFound where sequence numbers are missing,
  // because writes with disableWAL and ingested tables are not in the WALs: begin again after the
  // gap, or with another copy.
  //
  // With two-phase commit a batch may be the prepare section of a transaction, which takes no
  // sequence number, or hold the marker of its commit, which takes those of the section, or of its
  // rollback: a reader joins them by the name of the transaction. A section may be returned again
  // after the database was reopened.
  //
  // NotFound if seq_number has not been written yet, or if the WALs contain nothing from it on; for
  // 0 in a database without writes, OK and an iterator at its end. After an error *iter is
  // unchanged. NotSupported if the database is open for reading only. Delete the iterator before
  // the database; it must be used by one thread at a time.
  virtual Status GetUpdatesSince(
      SequenceNumber seq_number, std::unique_ptr<WalIterator>* iter,
      const WalIterator::ReadOptions& read_options = WalIterator::ReadOptions()) = 0;

  // Facts about files: all live tables; the checksums of tables; and the files that must be copied
  // for a consistent image. The last call flushes as its options say, unless the database is open
  // for reading only.
  virtual void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata);
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) = 0;
  virtual Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& opts,
                                         std::vector<LiveFileStorageInfo>* files) = 0;
  // Facts about a live table for IngestExternalFileArg::file_infos. NotFound for other tables.
  virtual Status GetPreparedFileInfoForExternalSstIngestion(
      const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) = 0;

  // Returns the levels and files of one family, or of all families.
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

  // Returns the names, relative to GetName(), of all files of the database except WALs. Only the
  // first *manifest_file_size bytes of the MANIFEST belong to this state. Flushes first if
  // flush_memtable is true.
  virtual Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;
  // Returns all WAL files with data, live and archived ones, oldest first; and the WAL that is
  // being written. NotSupported if the database is open for reading only: it knows only the WALs
  // that it has read, which GetLiveFilesStorageInfo() returns.
  virtual Status GetSortedWalFiles(VectorWalPtr& files) = 0;
  virtual Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) = 0;

  // Adds table files that were made by SstFileWriter. Their keys hide all existing values. If
  // several families are given, either all files are added or none.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  virtual Status IngestExternalFile(const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options);
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;
  // The same in two steps: the first checks and stages the files; the second commits all handles
  // atomically. A handle must be destroyed before the database.
  virtual Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                                      std::unique_ptr<FileIngestionHandle>* handle) = 0;
  virtual Status PrepareFileIngestion(ColumnFamilyHandle* column_family,
                                      const std::vector<std::string>& external_files,
                                      const IngestExternalFileOptions& options,
                                      std::unique_ptr<FileIngestionHandle>* handle);
  virtual Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<FileIngestionHandle>> handles) = 0;
  virtual Status CommitFileIngestionHandle(std::unique_ptr<FileIngestionHandle> handle);

  // Creates a family from files that Checkpoint::ExportColumnFamily() has written, from this
  // database or another one; blob files are copied. No key may occur in two of several exports.
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

  // Removes all keys outside [begin_key, end_key), also from files; some files are rewritten.
  virtual Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                                  const Slice& end_key) = 0;

  // Compares the checksums of whole files with those in the MANIFEST. InvalidArgument without
  // file_checksum_gen_factory. A secondary skips files that its primary has deleted.
  virtual Status VerifyFileChecksums(const ReadOptions& read_options);
  // Reads all tables and verifies the checksum of every block. The message of a Corruption names
  // the file.
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  virtual Status VerifyChecksum();

  // The id that was created with the database, and the id that was created when it was opened.
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  // The handle of the default family. Owned by the database.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // Returns the properties of table files, by file name.
  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  virtual Status GetPropertiesOfAllTables(TablePropertiesCollection* props);
  virtual Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                              std::size_t n, TablePropertiesCollection* props) = 0;
  virtual Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) = 0;

  // Marks the files in a range for compaction; background threads compact them soon. A null pointer
  // means no bound.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                                     const Slice* end);
  // Moves all files of level 0 to target_level without rewriting them. The files must not overlap,
  // and the levels up to target_level must be empty.
  virtual Status PromoteL0(ColumnFamilyHandle* column_family, int target_level);

  // Traces: records of what the database does, in RocksDB's formats. At most one trace of each kind
  // runs at a time; a second one is Busy. A trace that cannot be written ends, and the End call
  // returns the error. Closing the database ends its traces. The writer is closed by the End call
  // or by a failed Start call; null is InvalidArgument. Threads: all calls from any thread.
  //
  // Queries: each Write() and its forms, Get(), MultiGet() and their forms, and seeks of iterators.
  // A prepared transaction is recorded as one write when it commits.
  virtual Status StartTrace(const TraceOptions& options,
                            std::unique_ptr<TraceWriter>&& trace_writer);
  // IOError: no trace is running.
  virtual Status EndTrace();
  // Operations on the database's files, with their durations. Stores into mapped logs are no
  // operations. EndIOTrace() without a trace is OK.
  virtual Status StartIOTrace(const TraceOptions& options,
                              std::unique_ptr<TraceWriter>&& trace_writer);
  virtual Status EndIOTrace();
  // Accesses to blocks of tables. With TraceOptions only max_trace_file_size and sampling_frequency
  // are used. EndBlockCacheTrace() without a trace is OK.
  virtual Status StartBlockCacheTrace(const TraceOptions& trace_options,
                                      std::unique_ptr<TraceWriter>&& trace_writer);
  virtual Status StartBlockCacheTrace(const BlockCacheTraceOptions& options,
                                      std::unique_ptr<BlockCacheTraceWriter>&& trace_writer);
  virtual Status EndBlockCacheTrace();
  // A replayer for a query trace, see ashlar/utilities/replayer.h. Records of families that are not
  // among `handles` cannot be executed. The database and the handles outlive *replayer.
  // InvalidArgument: `reader` is null, or a handle is.
  virtual Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                                    std::unique_ptr<TraceReader>&& reader,
                                    std::unique_ptr<Replayer>* replayer);

  // Used by ExplainGet() and ExplainSeek() in ashlar/explain.h. RocksDB does not have it.
  virtual Status ExplainRead(ExplainedRead read, const ReadOptions& options,
                             ColumnFamilyHandle* column_family, const Slice& key,
                             ReadExplanation* explanation);

  // In a chain of wrappers such as StackableDB, the innermost database.
  virtual DB* GetRootDB() { return this; }

  // Returns samples of how much the counters of the statistics have grown (see
  // stats_persist_period_sec), from start_time up to but excluding end_time, in seconds since 1970.
  // Samples in memory begin when the database was opened.
  virtual Status GetStatsHistory(uint64_t start_time, uint64_t end_time,
                                 std::unique_ptr<StatsHistoryIterator>* stats_iterator);

  // In a secondary or follower: shows what the primary has written to files since, in all families
  // at one moment, at a cost that depends on what is new. After an error the state is as before.
  // TryAgain as at opening, or if the primary undid a change. Elsewhere NotSupported. Any thread.
  virtual Status TryCatchUpWithPrimary();
};

// Names of the entries in the map properties kCFWriteStallStats and kDBWriteStallStats.
struct ASHLAR_EXPORT WriteStallStatsMapKeys {
  static const std::string& TotalStops();
  static const std::string& TotalDelays();
  static const std::string& CFL0FileCountLimitDelaysWithOngoingCompaction();
  static const std::string& CFL0FileCountLimitStopsWithOngoingCompaction();
  // The name of the counter for a cause and a condition; empty if they cannot occur together.
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

// Deletes the files of a database that is not open (in wal_dir logs only, in db_paths and cf_paths
// tables and blob files only), nothing in a directory with another CURRENT. OK if there is none.
ASHLAR_EXPORT Status DestroyDB(const std::string& name, const Options& options,
                               const std::vector<ColumnFamilyDescriptor>& column_families =
                                   std::vector<ColumnFamilyDescriptor>());

// Makes a database that can be opened out of what can be read of one that is not open; moves the
// rest to directories `lost`. NotFound without directory, Corruption if it has nothing to repair,
// InvalidArgument if a family is not listed (unless unknown_cf_opts are given). Guide: repair.md.
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families);
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families,
                              const ColumnFamilyOptions& unknown_cf_opts);
ASHLAR_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace ashlar
