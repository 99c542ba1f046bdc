// SPDX-License-Identifier: Apache-2.0
//
// EventListener: callbacks that tell a program what the engine does.
//
// Callbacks run in the thread that did the work, without engine locks. They should return soon, and
// must not close the database. What they call of it in the thread of a flush or compaction does not
// wait for jobs that come after this one, but answers Incomplete: in both WaitForCompact and
// PauseBackgroundWork; in a flush a Flush with wait, or without allow_write_stall where it would
// stop writes, Resume, and writes that wait for a flush; in a compaction CompactRange, and writes
// that wait for a compaction. The same holds for compaction filters and merge operators. The info
// structs live for the call only.
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

struct FileCreationBriefInfo {
  FileCreationBriefInfo() = default;
  FileCreationBriefInfo(const std::string& _db_name, const std::string& _cf_name,
                        const std::string& _file_path, int _job_id)
      : db_name(_db_name), cf_name(_cf_name), file_path(_file_path), job_id(_job_id) {}
  std::string db_name;
  std::string cf_name;
  std::string file_path;
  // Background job that makes the file, as in the event log.
  int job_id = 0;
};

struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  TableFileCreationInfo() = default;
  explicit TableFileCreationInfo(TableProperties&& prop) : table_properties(std::move(prop)) {}
  // 0 if the file was dropped again because it is empty.
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

enum class CompactionReason : int {
  kUnknown = 0,
  // Level: too many files in L0; a level over its size.
  kLevelL0FilesNum,
  kLevelMaxLevelSize,
  // Universal.
  kUniversalSizeAmplification,
  kUniversalSizeRatio,
  kUniversalSortedRunNum,
  // FIFO.
  kFIFOMaxSize,
  kFIFOReduceNumFiles,
  kFIFOTtl,
  // CompactRange, CompactFiles.
  kManualCompaction,
  // SuggestCompactRange, or a collector's NeedCompact().
  kFilesMarkedForCompaction,
  // Last-level files hold entries that a snapshot no longer needs.
  kBottommostFiles,
  kTtl,
  // Not compactions, but they make tables too.
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

// What failed.
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

struct WriteStallInfo {
  std::string cf_name;
  struct {
    WriteStallCondition cur;
    WriteStallCondition prev;
  } condition;
};

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

struct FlushJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  // The table that was written.
  std::string file_path;
  uint64_t file_number = 0;
  // 0 = none.
  uint64_t oldest_blob_file_number = 0;
  uint64_t thread_id = 0;
  int job_id = 0;
  // Whether the family stands at a stall limit now.
  bool triggered_writes_slowdown = false;
  bool triggered_writes_stop = false;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  TableProperties table_properties;
  FlushReason flush_reason = FlushReason::kOthers;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
};

struct CompactionFileInfo {
  int level;
  uint64_t file_number;
  uint64_t oldest_blob_file_number;
};

// A part of a compaction that runs in its own thread.
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

struct CompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  // In L0 before the compaction.
  int num_l0_files = 0;
  int base_input_level = 0;
  int output_level = 0;
  // Paths, and facts in the same order. Outputs are empty until the end.
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;
  // Of inputs and outputs, by path.
  TablePropertiesCollection table_properties;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
  std::vector<BlobFileGarbageInfo> blob_file_garbage_infos;
  bool aborted = false;
};

struct MemTableInfo {
  std::string cf_name;
  // Of the first entry; and a bound below which the memtable has nothing.
  SequenceNumber first_seqno = 0;
  SequenceNumber earliest_seqno = 0;
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  std::string newest_udt;
};

struct ExternalFileIngestionInfo {
  std::string cf_name;
  std::string external_file_path;
  // Inside the database.
  std::string internal_file_path;
  SequenceNumber global_seqno = 0;
  TableProperties table_properties;
};

struct BackgroundErrorRecoveryInfo {
  // What the recovery was for; what stands now (OK if it succeeded).
  Status old_bg_error;
  Status new_bg_error;
};

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

// How busy the background threads are. Scheduled: handed to the threads, not begun. Compactions of
// all levels run in the threads of low priority, all of which may be busy at any time.
struct BackgroundJobPressure {
  int compaction_scheduled = 0;
  int compaction_running = 0;
  int compaction_low_scheduled = 0;
  int compaction_low_running = 0;
  int compaction_bottom_scheduled = 0;
  int compaction_bottom_running = 0;
  int flush_scheduled = 0;
  int flush_running = 0;
  // Percent of the way to the nearest limit at which writes are slowed down or stopped, of the
  // family that is nearest to one; 100 and more = they are.
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

// Job ids number the flushes, compactions and deletions of a database since it was opened. Tables
// that are moved to another level as they are stand among inputs and outputs of a compaction.
//
// No function of a listener may throw: the thread that calls it is the database's as a rule, which
// has nobody to pass the exception on to. What is thrown nevertheless goes to the info log, and the
// listeners after it are called.
class ASHLAR_EXPORT EventListener : public Customizable {
 public:
  ~EventListener() override {}
  static const char* Type() { return "EventListener"; }
  static Status CreateFromString(const ConfigOptions& options, const std::string& id,
                                 std::shared_ptr<EventListener>* result);
  const char* Name() const override { return ""; }

  // A flush has been installed; one is about to start.
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  // A call (Flush, CompactRange, Close ...) has asked for the flush of a family that has something to
  // flush, and is about to wait for it if it does. A call for each family.
  virtual void OnManualFlushScheduled(DB* /*db*/,
                                      const std::vector<ManualFlushInfo>& /*manual_flush_info*/) {}

  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}

  // A compaction is about to start; has its outputs, before they are installed; has ended, also by
  // an error, see info.status.
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionPreCommit(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*info*/) {}

  // Also for a file that could not be finished, see info.status.
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}

  // A memtable takes no more writes. Called on the write path: be quick. The flush is asked for when
  // all listeners have returned, so one that waits for it waits for ever.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}
  // A handle is about to be destroyed, also the one of DefaultColumnFamily() when the database is
  // closed. It still answers.
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}

  // Setting *bg_error to OK lets the database go on as if nothing had happened; not so for
  // kWriteCallback: a log that failed takes no more writes before DB::Resume(). Each failure is
  // told once, to a thread that holds no lock; writes fail already.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}
  // A family begins to hold writes up, in another way, or no longer. In the order of the changes.
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

  // Operations on tables, logs, MANIFESTs and blob files, when they have ended, well or not; only if
  // ShouldBeNotifiedOnFileIO() returns true at open. In the thread that did it, which may hold locks:
  // calls of the database would wait for themselves. Logs are not memory-mapped then. Nothing is cut
  // (OnFileTruncateFinish) so far.
  virtual void OnFileReadFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileWriteFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileFlushFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileRangeSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileTruncateFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileCloseFinish(const FileOperationInfo& /*info*/) {}
  virtual bool ShouldBeNotifiedOnFileIO() { return false; }

  // The database recovers by itself from an error: a compaction that failed is tried again, and
  // what a flush, a log or a MANIFEST failed of, if that may go away. Setting *auto_recovery to
  // false leaves that to DB::Resume(): before it, where the error leaves writes alone, only calls
  // compact, and writes that would have to wait for a flush or compaction fail.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // An attempt to recover, DB::Resume() for example, has ended: OnErrorRecoveryEnd says how;
  // OnErrorRecoveryCompleted, the older form, is called if it succeeded, when writes work again.
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}

  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}

  // One of those operations failed. With its length and place, where it has them.
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
  // A flush or compaction begins or has ended, and the pressure is not what was told last. In the
  // order of the changes, one call at a time; the thread of a job makes it.
  virtual void OnBackgroundJobPressureChanged(DB* /*db*/, const BackgroundJobPressure& /*info*/) {}
  // Before anything else is done to close the database; it still works.
  virtual void OnDBShutdownBegin(DB* /*db*/) {}
};

}  // namespace ashlar
