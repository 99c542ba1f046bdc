// SPDX-License-Identifier: Apache-2.0
//
// The steps of a flush: take memtables, write them to a table, and release their logs.
#include "db/jobs/background_flush.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/compaction/compaction_picker.h"
#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "env/new_entries.h"
#include "table/format/compression.h"
#include "util/statistics/statistics.h"

namespace ashlar {

// Whether the family has memtables to flush now. Flushes of a family are installed in the order of
// its memtables, so this is false while another job flushes older ones.
bool BackgroundFlush::IsWanted(const DbCore& core, const ColumnFamilyData& family) {
  if (family.is_dropped() || !family.is_flush_due() || core.errors.BlocksFlushes()) return false;
  assert(!family.immutables().empty());
  const ImmutableMemTable& oldest = family.immutables().front();
  return !oldest.is_flushing && !oldest.awaits_others;
}

std::unique_ptr<BackgroundFlush> BackgroundFlush::Begin(DbCore* core, ColumnFamilyData* family,
                                                        FlushScope scope) {
  assert(core != nullptr);
  core->mutex.AssertHeld();
  assert(family != nullptr);
  if (family->is_dropped() || core->errors.IsFatal()) return nullptr;
  FlushJobOptions work = BeginFlush(core, family, scope);
  if (work.memtables.empty()) return nullptr;
  return std::unique_ptr<BackgroundFlush>(new BackgroundFlush(core, family, std::move(work)));
}

// The oldest memtable gives the reason that listeners see. Older logs need a sync if other
// families, or prepared transactions, depend on them; see SyncFiles().
BackgroundFlush::BackgroundFlush(DbCore* core, ColumnFamilyData* family, FlushJobOptions work)
    : FamilyJob(core, family),
      work_(std::move(work)),
      reason_(family->immutables().front().reason),
      log_number_(family->LogNumberAfter(work_.memtables)),
      syncs_older_logs_(core->families.All().size() > 1 || core->options->allow_2pc),
      blob_notifier_(core, *family, {.job_id = id_, .reason = BlobFileCreationReason::kFlush}) {
  assert(!work_.memtables.empty());
  // BeginFlush() has protected the number from deletion.
  numbers_.Adopt(work_.table.file_number);
  NoteStallTriggers();
  work_.blob_observer = &blob_notifier_;
  work_.may_filter = true;
  work_.new_blob_number = [this] { return numbers_.NewNumber(); };
  work_.on_progress = [this](double progress) { NoteProgress(progress); };
}

// Notes whether the number of tables slows or stops writes. Listeners see the state before the
// flush and after it, so this is called twice.
void BackgroundFlush::NoteStallTriggers() {
  const ColumnFamilyOptions& options = family_->options();
  const int tables = RunsThatSlowWrites(*family_->current(), options);
  slows_writes_ = tables >= options.level0_slowdown_writes_trigger;
  stops_writes_ = tables >= options.level0_stop_writes_trigger;
}

FlushNotice BackgroundFlush::MakeNotice() const {
  return {.job_id = id_,
          .file_number = work_.table.file_number,
          .reason = reason_,
          .slows_writes = slows_writes_,
          .stops_writes = stops_writes_,
          .blob_compression = work_.table.family_options->blob_compression_type};
}

// What Env::GetThreadList() shows for the thread.
OperationInfo BackgroundFlush::OperationToShow() const {
  OperationInfo facts{.type = ThreadStatus::OP_FLUSH,
                      .stage = ThreadStatus::STAGE_FLUSH_RUN,
                      .db_name = core_->paths.dir,
                      .family_name = family_->name()};
  facts.properties[ThreadStatus::FLUSH_JOB_ID] = static_cast<uint64_t>(id_);
  for (const MemTable* memtable : work_.memtables) {
    facts.properties[ThreadStatus::FLUSH_BYTES_MEMTABLES] += memtable->ApproximateMemoryUsage();
  }
  return facts;
}

// The share of the flush in the statistics of its family.
JobWork BackgroundFlush::WorkDone() const {
  JobWork work;
  work.jobs = 1;
  work.micros = ElapsedMicros();
  work.cpu_micros = result_.cpu_micros;
  work.written_bytes = result_.bytes_written + result_.blob_bytes_written();
  return work;
}

// Called by the job several times while it writes; `progress` goes from 0 to 1. Wakes the writers
// whose speed is tied to that of the flush.
void BackgroundFlush::NoteProgress(double progress) {
  assert(progress >= 0);
  if (bytes_.has_value()) bytes_->Tell();
  MutexLock lock(&core_->mutex);
  family_->NoteFlushProgress(std::clamp(progress, 0.0, 1.0));
  core_->conditions.FlushProgressed();
}

// The info log gets its line before listeners are notified.
void BackgroundFlush::Announce() {
  LogFlushStarted(*core_, *family_, id_, work_.memtables, reason_);
  NotifyFlushBegin(core_, *family_, MakeNotice());
}

// Writes the table and makes it durable. Counters and listeners hear of it before it takes effect,
// because threads that wait for the flush continue at that moment and may check them.
Status BackgroundFlush::WriteTable() {
  assert(result_.tables.empty());
  assert(!work_.memtables.empty());
  SetStage(ThreadStatus::STAGE_FLUSH_WRITE_L0);
  for (const MemTable* memtable : work_.memtables) {
    assert(memtable != nullptr);
    memory_bytes_ += memtable->ApproximateMemoryUsage();
    payload_bytes_ += memtable->raw_bytes();
  }
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_micros = clock->CPUMicros();
  const NewEntries entries(core_->environment.fs.get(), work_.table.dir);
  bytes_.emplace(operation(), TrackedBytes::kNone, ThreadStatus::FLUSH_BYTES_WRITTEN);
  Status status = FlushJob(work_).Run(&result_);
  if (status.ok()) {
    result_.cpu_micros = clock->CPUMicros() - start_micros;
    status = SyncFiles(entries);
  }
  bytes_.reset();
  RecordTime(core_->services.statistics.get(), FLUSH_TIME, ElapsedMicros());
  if (status.ok() && core_->services.statistics != nullptr) Count();
  NotifyTable(status);
  return status;
}

// Listeners get exactly one event for the table, whichever step fails.
void BackgroundFlush::NotifyTable(const Status& status) {
  assert(result_.tables.size() <= 1);
  if (has_notified_table_) return;
  has_notified_table_ = true;
  NotifyFlushedTable(core_, *family_, MakeNotice(), result_, status);
}

// After a machine crash, a table must not contain writes that come later in the order of writes
// than what the logs of the other families contain. So if there are other families, older logs are
// synced first. With two-phase commit they are synced in any case: a log that stays because of an
// undecided section may hold markers of transactions whose data is in the table, and these must not
// come back as prepared. One sync of the directory covers the table and the logs that were created
// since, if they are in the same directory. Only after both syncs may the MANIFEST name the table.
Status BackgroundFlush::SyncFiles(const NewEntries& entries) {
  assert(!work_.table.dir.empty());
  assert(result_.tables.size() <= 1);
  WalSet& wals = *core_->wals;
  // A failure of the sync may have concerned any log up to this one.
  const FileNumber newest_log = wals.current_number();
  Status status = syncs_older_logs_ ? wals.SyncSealed() : Status::OK();
  if (status.ok() && !result_.tables.empty()) {
    // Entries up to this log are covered by the sync that follows; a log that is created during the
    // sync is not.
    const FileNumber newest_entry = wals.current_number();
    status = entries.Sync();
    if (status.ok() && work_.table.dir == core_->paths.wal_dir) {
      wals.NoteEntriesSynced(newest_entry);
    }
  }
  if (status.ok()) status = wals.SyncEntries();
  if (!status.ok() && !wals.error().ok()) failed_log_ = newest_log;
  return status;
}

// Adds the table to the edit, and the first log that the family still needs. Log numbers of a
// family only ascend, because its flushes are installed in order.
void BackgroundFlush::Describe(VersionEdit* edit) {
  assert(log_number_ <= core_->wals->current_number());
  assert(result_.tables.size() + result_.blob_files.size() <= numbers_.count());
  SetStage(ThreadStatus::STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS);
  assert(edit != nullptr);
  assert(outcome_.ok());
  edit->column_family = family_->id();
  edit->log_number = log_number_;
  DescribeOutput(result_, work_.table.level, edit);
  numbers_.ExpectNaming();
}

// A failed flush returns its memtables to the family, which may flush them again.
void BackgroundFlush::Finish(const Status& status) {
  core_->mutex.AssertHeld();
  outcome_ = status;
  SettleNumbers(status, work_.table);
  if (status.ok()) {
    family_->RemoveFlushed(work_.memtables);
    family_->work.AddFlush(WorkDone());
    NoteStallTriggers();
  } else {
    family_->ReturnFromFlush(work_.memtables);
  }
  shape_ = ShapeOf(*family_);
}

// Deletes the table of a failed flush. If the MANIFEST on disk may name it, the table stays until a
// new MANIFEST is certain not to.
void BackgroundFlush::DeleteUnnamed() {
  if (!outcome_.ok() && !numbers_.may_be_named()) DeleteUnnamedFiles(work_.table, &result_);
}

// The kind of background error that a failure becomes. In RocksDB's names of reasons, "NoWAL" means
// an I/O error while the log is intact. A log that failed has reported its own error already.
std::optional<BackgroundErrorReason> BackgroundFlush::ErrorReason(const Status& error) const {
  assert(!error.ok());
  if (error.IsColumnFamilyDropped() || failed_log_.has_value()) return std::nullopt;
  if (!error.IsIOError()) return BackgroundErrorReason::kFlush;
  return numbers_.is_described() ? BackgroundErrorReason::kManifestWriteNoWAL
                                 : BackgroundErrorReason::kFlushNoWAL;
}

// Statistics of a flush that has written its table. Garbage is the part of the memtables' bytes
// that is not in the table, such as overwritten values.
void BackgroundFlush::Count() const {
  Statistics* const statistics = core_->services.statistics.get();
  uint64_t kept_bytes = 0;  // of the payload, what the table contains
  for (const OutputTable& table : result_.tables) {
    statistics->recordTick(FLUSH_WRITE_BYTES, table.meta.file_size);
    kept_bytes += table.properties.raw_key_size + table.properties.raw_value_size;
  }
  statistics->recordTick(FLUSH_WRITE_BYTES, result_.blob_bytes_written());
  statistics->recordTick(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, payload_bytes_);
  statistics->recordTick(MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
                         payload_bytes_ - std::min(payload_bytes_, kept_bytes));
  statistics->recordInHistogram(FLUSH_MEMTABLE_MEMORY_BYTES, memory_bytes_);
  statistics->recordInHistogram(FLUSH_MEMTABLE_TOTAL_DATA_SIZE, payload_bytes_);
  if (reason_ == FlushReason::kWriteBufferFull) {
    statistics->recordTick(FLUSH_REASON_WRITE_BUFFER_FULL, 1);
    statistics->recordInHistogram(FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES, memory_bytes_);
  } else if (reason_ == FlushReason::kWriteBufferManager) {
    statistics->recordTick(FLUSH_REASON_WRITE_BUFFER_MANAGER, 1);
    statistics->recordInHistogram(FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES, memory_bytes_);
  } else if (reason_ == FlushReason::kMemtableMaxRangeDeletions) {
    statistics->recordTick(FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS, 1);
  }
}

// The end of the flush, after its effect: the error of a log, the line of the event log, the
// listeners.
void BackgroundFlush::Report() {
  assert(!failed_log_.has_value() || !outcome_.ok());
  if (failed_log_.has_value()) {
    NoteLogError(core_, outcome_, *failed_log_);
    NotifyUnreportedError(core_);
  }
  EventLine line = core_->services.events->Event("flush_finished");
  line.Add("job", id_)
      .Add("cf_name", family_->name())
      .Add("memtables", work_.memtables.size())
      .Add("input_entries", result_.input_entries)
      .Add("output_entries", result_.output_entries)
      .Add("micros", ElapsedMicros())
      .Add("output_compression", CompressionPropertyName(CompressionFor(work_.table)))
      .Add("status", outcome_.ToString());
  AddShape(shape_, &line);
  for (const OutputTable& table : result_.tables) {
    line.Add("file_number", table.meta.number).Add("file_size", table.meta.file_size);
  }
  NotifyTable(outcome_);  // of a flush that never wrote, because another one of the group failed
  NotifyFlushCompleted(core_, *family_, MakeNotice(), result_, outcome_);
}

}  // namespace ashlar
