// SPDX-License-Identifier: Apache-2.0
//
// EventListener: callbacks that notify a program of what the engine does.
//
// Callbacks run in the thread that performed the operation, without locks of the engine. They
// should return quickly and must not close the database. The structs passed to them are valid only
// during the call.
//
// A callback that runs in the thread of a background job (a flush, a compaction, also that of
// CompactFiles(), or a purge, which deletes files that a reader has released in the background)
// cannot wait for work that needs this thread. Such calls return Incomplete instead:
//   in each           WaitForCompact
//   in a flush        PauseBackgroundWork; Flush with `wait`, or without `allow_write_stall` where
//                     it would stop writes; Resume; writes that would wait for a flush
//   in a compaction   PauseBackgroundWork; CompactRange; writes that would wait for a compaction
//   in a purge        what needs a thread, if the pool has no other
// The same holds for compaction filters and merge operators.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/advanced_options.h"
#include "ashlar/compaction_job_stats.h"
#include "ashlar/compression_type.h"
#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/io_status.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;

using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

// Facts about a file that is about to be created.
struct FileCreationBriefInfo {
  FileCreationBriefInfo() = default;
  FileCreationBriefInfo(const std::string& _db_name, const std::string& _cf_name,
                        const std::string& _file_path, int _job_id)
      : db_name(_db_name), cf_name(_cf_name), file_path(_file_path), job_id(_job_id) {}
  std::string db_name;
  std::string cf_name;
  std::string file_path;
  // Id of the background job that creates the file, as in the info log.
  int job_id = 0;
};

struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

// Facts about a table that was created.
struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  TableFileCreationInfo() = default;
  explicit TableFileCreationInfo(TableProperties&& prop) : table_properties(std::move(prop)) {}
  // Bytes; 0 if the file was deleted again because it is empty.
  uint64_t file_size = 0;
  TableProperties table_properties;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

struct BlobFileCreationBriefInfo : public FileCreationBriefInfo {
  BlobFileCreationBriefInfo(const std::string& _db_name, const std::string& _cf_name,
                            const std::string& _file_path, int _job_id,
                            BlobFileCreationReason _reason)
      : FileCreationBriefInfo(_db_name, _cf_name, _file_path, _job_id), reason(_reason) {}
  BlobFileCreationReason reason;
};

struct BlobFileCreationInfo : public BlobFileCreationBriefInfo {
  BlobFileCreationInfo(const std::string& _db_name, const std::string& _cf_name,
                       const std::string& _file_path, int _job_id, BlobFileCreationReason _reason,
                       uint64_t _total_blob_count, uint64_t _total_blob_bytes, Status _status,
                       const std::string& _file_checksum,
                       const std::string& _file_checksum_func_name)
      : BlobFileCreationBriefInfo(_db_name, _cf_name, _file_path, _job_id, _reason),
        total_blob_count(_total_blob_count),
        total_blob_bytes(_total_blob_bytes),
        status(std::move(_status)),
        file_checksum(_file_checksum),
        file_checksum_func_name(_file_checksum_func_name) {}
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// Why a compaction or another operation writes tables.
enum class CompactionReason : int {
  kUnknown = 0,
  // Levelled compaction: too many files in L0, or a level above its target size.
  kLevelL0FilesNum,
  kLevelMaxLevelSize,
  // Universal compaction.
  kUniversalSizeAmplification,
  kUniversalSizeRatio,
  kUniversalSortedRunNum,
  // FIFO compaction.
  kFIFOMaxSize,
  kFIFOReduceNumFiles,
  kFIFOTtl,
  // CompactRange() and CompactFiles().
  kManualCompaction,
  // SuggestCompactRange(), or TablePropertiesCollector::NeedCompact().
  kFilesMarkedForCompaction,
  // Files of the last level contain entries that no snapshot needs any more.
  kBottommostFiles,
  kTtl,
  // These are not compactions, but they write tables too.
  kFlush,
  kExternalSstIngestion,
  kPeriodicCompaction,
  kChangeTemperature,
  kForcedBlobGC,
  kRoundRobinTtl,
  kRefitLevel,
  kReadTriggered,
  kNumOfReasons,
};
ASHLAR_EXPORT const char* GetCompactionReasonString(CompactionReason compaction_reason);

// Why a memtable is flushed.
enum class FlushReason : int {
  kOthers = 0x00,
  kGetLiveFiles = 0x01,
  kShutDown = 0x02,
  kExternalFileIngestion = 0x03,
  kManualCompaction = 0x04,
  kWriteBufferManager = 0x05,
  kWriteBufferFull = 0x06,
  kTest = 0x07,
  kDeleteFiles = 0x08,
  kAutoCompaction = 0x09,
  kManualFlush = 0x0a,
  kErrorRecovery = 0xb,
  kErrorRecoveryRetryFlush = 0xc,
  kWalFull = 0xd,
  kCatchUpAfterErrorRecovery = 0xe,
  kMemtableMaxRangeDeletions = 0xf,
};
ASHLAR_EXPORT const char* GetFlushReasonString(FlushReason flush_reason);

// Which operation failed.
enum class BackgroundErrorReason {
  kFlush,
  kCompaction,
  kWriteCallback,
  kMemTable,
  kManifestWrite,
  kFlushNoWAL,
  kManifestWriteNoWAL,
  kAsyncFileOpen,
};

// Notifies of a change in how a family delays writes.
struct WriteStallInfo {
  std::string cf_name;
  struct {
    WriteStallCondition cur;
    WriteStallCondition prev;
  } condition;
};

// Facts about a file that was deleted.
struct FileDeletionInfo {
  FileDeletionInfo() = default;
  FileDeletionInfo(const std::string& _db_name, const std::string& _file_path, int _job_id,
                   Status _status)
      : db_name(_db_name), file_path(_file_path), job_id(_job_id), status(std::move(_status)) {}
  std::string db_name;
  std::string file_path;
  int job_id = 0;
  Status status;
};

struct TableFileDeletionInfo : public FileDeletionInfo {};

struct BlobFileDeletionInfo : public FileDeletionInfo {
  BlobFileDeletionInfo(const std::string& _db_name, const std::string& _file_path, int _job_id,
                       Status _status)
      : FileDeletionInfo(_db_name, _file_path, _job_id, std::move(_status)) {}
};

enum class FileOperationType {
  kRead,
  kWrite,
  kTruncate,
  kClose,
  kFlush,
  kSync,
  kFsync,
  kRangeSync,
  kAppend,
  kPositionedAppend,
  kOpen,
  kVerify,
};

// Facts about an operation on a file. The status says whether it succeeded.
struct FileOperationInfo {
  using Duration = std::chrono::nanoseconds;
  using SteadyTimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  using SystemTimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using StartTimePoint = std::pair<SystemTimePoint, SteadyTimePoint>;
  using FinishTimePoint = SteadyTimePoint;

  FileOperationType type;
  const std::string& path;
  Temperature temperature;
  uint64_t offset = 0;
  size_t length = 0;
  const Duration duration;
  const SystemTimePoint& start_ts;
  Status status;

  FileOperationInfo(const FileOperationType _type, const std::string& _path,
                    const StartTimePoint& _start_ts, const FinishTimePoint& _finish_ts,
                    const Status& _status, const Temperature _temperature = Temperature::kUnknown)
      : type(_type),
        path(_path),
        temperature(_temperature),
        duration(std::chrono::duration_cast<Duration>(_finish_ts - _start_ts.second)),
        start_ts(_start_ts.first),
        status(_status) {}

  static StartTimePoint StartNow() {
    return std::make_pair(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()),
                          std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()));
  }
  static FinishTimePoint FinishNow() {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
  }
};

// Blob files that a flush or compaction wrote, and garbage that it created in others.
struct BlobFileInfo {
  BlobFileInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number)
      : blob_file_path(_blob_file_path), blob_file_number(_blob_file_number) {}
  std::string blob_file_path;
  uint64_t blob_file_number;
};

struct BlobFileAdditionInfo : public BlobFileInfo {
  BlobFileAdditionInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number,
                       const uint64_t _total_blob_count, const uint64_t _total_blob_bytes)
      : BlobFileInfo(_blob_file_path, _blob_file_number),
        total_blob_count(_total_blob_count),
        total_blob_bytes(_total_blob_bytes) {}
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
};

struct BlobFileGarbageInfo : public BlobFileInfo {
  BlobFileGarbageInfo(const std::string& _blob_file_path, const uint64_t _blob_file_number,
                      const uint64_t _garbage_blob_count, const uint64_t _garbage_blob_bytes)
      : BlobFileInfo(_blob_file_path, _blob_file_number),
        garbage_blob_count(_garbage_blob_count),
        garbage_blob_bytes(_garbage_blob_bytes) {}
  uint64_t garbage_blob_count;
  uint64_t garbage_blob_bytes;
};

struct ManualFlushInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  FlushReason flush_reason = FlushReason::kOthers;
};

// Facts about a flush.
struct FlushJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  // Path of the table that was written.
  std::string file_path;
  uint64_t file_number = 0;
  // Number of the oldest blob file that the table refers to; 0 = none.
  uint64_t oldest_blob_file_number = 0;
  uint64_t thread_id = 0;
  int job_id = 0;
  // Whether the family has reached a limit at which writes are slowed down or stopped.
  bool triggered_writes_slowdown = false;
  bool triggered_writes_stop = false;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  TableProperties table_properties;
  FlushReason flush_reason = FlushReason::kOthers;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
};

// Level and number of an input or output of a compaction.
struct CompactionFileInfo {
  int level;
  uint64_t file_number;
  uint64_t oldest_blob_file_number;
};

// Facts about one part of a compaction, which runs in its own thread.
struct SubcompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  int subcompaction_job_id = 0;
  int base_input_level = 0;
  int output_level = 0;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
};

// Facts about a compaction.
struct CompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  // Number of L0 files before the compaction.
  int num_l0_files = 0;
  int base_input_level = 0;
  int output_level = 0;
  // Paths of the files, and facts about them in the same order. Outputs are empty until the
  // compaction has written them.
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;
  // Properties of inputs and outputs, by path.
  TablePropertiesCollection table_properties;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
  std::vector<BlobFileGarbageInfo> blob_file_garbage_infos;
  bool aborted = false;
};

// Facts about a memtable that became immutable.
struct MemTableInfo {
  std::string cf_name;
  // Sequence number of the first entry; and a number such that the memtable has no older entries.
  SequenceNumber first_seqno = 0;
  SequenceNumber earliest_seqno = 0;
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  std::string newest_udt;
};

// Facts about an ingested file.
struct ExternalFileIngestionInfo {
  std::string cf_name;
  std::string external_file_path;
  // Path in the directory of the database. Empty if the entries of a small file were written to the
  // memtable; global_seqno is the first number of that write then.
  std::string internal_file_path;
  SequenceNumber global_seqno = 0;
  TableProperties table_properties;
};

// Result of a recovery from a background error.
struct BackgroundErrorRecoveryInfo {
  // The error from which the database recovered, and the current one (OK if recovery succeeded).
  Status old_bg_error;
  Status new_bg_error;
};

// Facts about an I/O error.
struct IOErrorInfo {
  IOErrorInfo(const IOStatus& _io_status, FileOperationType _operation,
              const std::string& _file_path, size_t _length, uint64_t _offset)
      : io_status(_io_status),
        operation(_operation),
        file_path(_file_path),
        length(_length),
        offset(_offset) {}
  IOStatus io_status;
  FileOperationType operation;
  std::string file_path;
  size_t length;
  uint64_t offset;
};

// How busy the background threads are. "Scheduled" jobs are waiting for a thread. Compactions of
// all levels run in the thread pool of low priority; all of its threads may be busy at the same
// time.
struct BackgroundJobPressure {
  int compaction_scheduled = 0;
  int compaction_running = 0;
  int compaction_low_scheduled = 0;
  int compaction_low_running = 0;
  int compaction_bottom_scheduled = 0;
  int compaction_bottom_running = 0;
  int flush_scheduled = 0;
  int flush_running = 0;
  // How close writes are to being slowed down or stopped, in percent, for the family that is
  // closest to a limit; 100 or more means that they are.
  int write_stall_proximity_pct = 0;
  bool compaction_speedup_active = false;

  bool operator==(const BackgroundJobPressure& rhs) const {
    return compaction_scheduled == rhs.compaction_scheduled &&
           compaction_running == rhs.compaction_running &&
           compaction_low_scheduled == rhs.compaction_low_scheduled &&
           compaction_low_running == rhs.compaction_low_running &&
           compaction_bottom_scheduled == rhs.compaction_bottom_scheduled &&
           compaction_bottom_running == rhs.compaction_bottom_running &&
           flush_scheduled == rhs.flush_scheduled && flush_running == rhs.flush_running &&
           write_stall_proximity_pct == rhs.write_stall_proximity_pct &&
           compaction_speedup_active == rhs.compaction_speedup_active;
  }
  bool operator!=(const BackgroundJobPressure& rhs) const { return !(*this == rhs); }
};

// Receives notifications from databases. Job ids number the flushes, compactions and file deletions
// of a database since it was opened. Tables that are moved to another level without being rewritten
// are listed among the inputs and outputs of a compaction.
//
// Callbacks must not throw, because they usually run in a thread of the database, where nobody
// could catch the exception. If one throws nevertheless, that is written to the info log, and the
// other listeners are still called.
class ASHLAR_EXPORT EventListener : public Customizable {
 public:
  ~EventListener() override {}
  static const char* Type() { return "EventListener"; }
  static Status CreateFromString(const ConfigOptions& options, const std::string& id,
                                 std::shared_ptr<EventListener>* result);
  const char* Name() const override { return ""; }

  // OnFlushCompleted(): a flush has been installed; if nothing was left of its memtables, without a
  // table: the properties then have no entries. OnFlushBegin(): a flush is about to start.
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  // A call (Flush(), CompactRange(), Close() and so on) has requested the flush of a family with
  // unflushed data, and is about to wait for it, if it waits. Called once for each family.
  virtual void OnManualFlushScheduled(DB* /*db*/,
                                      const std::vector<ManualFlushInfo>& /*manual_flush_info*/) {}

  // A table has been deleted.
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}

  // OnCompactionBegin(): a compaction is about to start. OnCompactionPreCommit(): it has written
  // its outputs, but not installed them. OnCompactionCompleted(): it has ended, possibly with an
  // error (see info.status). The parts of a compaction have callbacks of their own.
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionPreCommit(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*info*/) {}

  // OnTableFileCreated(): a table has been created, or creating it failed (see info.status).
  // OnTableFileCreationStarted(): a table is about to be created.
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}

  // A memtable has become immutable. Called by a writing thread: must return quickly. The flush is
  // requested after all listeners have returned, so a listener that waits for it waits for ever.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}
  // A handle is about to be destroyed, also the handle of DefaultColumnFamily() when the database
  // is closed. The handle can still be used during the call.
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // A file has been ingested.
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}

  // A background error has occurred. Called once per error, without locks. The error takes effect
  // when all listeners have returned, and setting *bg_error to OK makes the database continue as if
  // there had been no error. It has no effect for kWriteCallback (a WAL) and kMemTable, where
  // writes fail already, and for kManifestWrite if a failed call, such as a drop, cannot be undone.
  // Then writes fail until DB::Resume(), after kMemTable until the database is opened again.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}
  // A family begins to delay writes, delays them in a different way, or stops delaying them. Called
  // in the order of the changes.
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

  // Operations on tables, WALs, MANIFESTs and blob files have ended, successfully or not. Called
  // only if ShouldBeNotifiedOnFileIO() returned true when the database was opened, by the thread
  // that performed the operation. That thread may hold locks, so calls to the database would
  // deadlock. WALs are not memory-mapped in this case. Files are truncated where they end: with
  // direct writes the padding of the last page is cut off, and with recycle_log_file_num the rest
  // of the older log.
  virtual void OnFileReadFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileWriteFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileFlushFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileRangeSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileTruncateFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileCloseFinish(const FileOperationInfo& /*info*/) {}
  virtual bool ShouldBeNotifiedOnFileIO() { return false; }

  // The database is about to recover from an error by itself: it retries a failed compaction, or a
  // flush, WAL or MANIFEST write whose error may go away. Setting *auto_recovery to false leaves
  // this to DB::Resume(). Until then, if the error does not stop writes, only compactions that
  // calls request run, and writes that would have to wait for a flush or compaction fail.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // An attempt to recover has ended, for example DB::Resume(). OnErrorRecoveryEnd() has the result;
  // OnErrorRecoveryCompleted(), the older form, is called only after success, when writes are
  // possible again.
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}

  // A blob file is about to be created; has been created, or creating it failed; has been deleted.
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}

  // One of the file operations above failed. Offset and length are set if the operation has them.
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
  // A flush or compaction begins or has ended, and the pressure has changed since the last call.
  // Called in the order of the changes, one call at a time, by the thread of a job.
  virtual void OnBackgroundJobPressureChanged(DB* /*db*/, const BackgroundJobPressure& /*info*/) {}
  // The database is about to be closed. It can still be used during the call.
  virtual void OnDBShutdownBegin(DB* /*db*/) {}
};

}  // namespace ashlar
