// SPDX-License-Identifier: Apache-2.0
//
// Writes: each is a batch for the commit pipeline.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "db/db_impl.h"
#include "db/options/options_check.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "env/rate_limiter.h"
#include "util/scope_exit.h"
#include "util/statistics/statistics.h"
#include "util/threads/epoch.h"
#include "util/threads/thread_object.h"

namespace ashlar {
namespace {

// The batch for a single update. Each thread reuses one, so that small updates allocate nothing.
// The memory of a large batch is not kept.
class ScratchBatch {
 public:
  explicit ScratchBatch(const WriteOptions& options) : scratch_(&ThreadObject<Scratch>::Get()) {
    // A callback that writes during an update of its thread gets a batch of its own.
    if (scratch_->is_in_use) [[unlikely]]
      scratch_ = new Scratch{.is_nested = true};
    scratch_->is_in_use = true;
    assert(scratch_->batch->Count() == 0);  // the last user has cleared it
    if (options.protection_bytes_per_key != 0) [[unlikely]] {
      IgnoreError(WriteBatchInternal::AddProtection(get()), "an empty batch is well-formed");
    }
  }
  ~ScratchBatch() {
    assert(scratch_->is_in_use);
    if (scratch_->is_nested) [[unlikely]] {
      delete scratch_;
      return;
    }
    const bool is_plain = scratch_->batch->GetProtectionBytesPerKey() == 0;
    if (scratch_->batch->Data().capacity() > kMaxKeptBytes || !is_plain) [[unlikely]] {
      scratch_->batch.emplace();  // not an assignment, which may keep the memory
    } else {
      scratch_->batch->Clear();
    }
    scratch_->is_in_use = false;
  }
  ScratchBatch(const ScratchBatch&) = delete;
  ScratchBatch& operator=(const ScratchBatch&) = delete;

  WriteBatch* operator->() { return &*scratch_->batch; }
  WriteBatch* get() { return &*scratch_->batch; }

 private:
  // For larger updates, the allocation of a batch costs little in comparison.
  static constexpr size_t kMaxKeptBytes = 64 * 1024;
  struct Scratch {
    std::optional<WriteBatch> batch{std::in_place};
    bool is_in_use = false;
    bool is_nested = false;  // used for one update and deleted afterwards
  };
  Scratch* scratch_;
};

// Returns the batch without updates of families that do not exist, if there are any. Such updates
// must not reach the log, because recovery would conclude that the MANIFEST is too old.
std::optional<WriteBatch> WithoutMissingFamilies(const WriteBatch& batch,
                                                 const FamilySet& families) {
  EpochGuard guard;
  const Slice contents = WriteBatchInternal::Contents(batch);
  WriteBatchReader reader(contents);
  WriteBatchRecord record;
  // The copy begins with the header; its count is corrected at the end.
  std::string kept(contents.data(), std::min(contents.size(), kWriteBatchHeaderBytes));
  uint32_t missing = 0;
  // Where the log ends in the copy: what is left out before that point makes it smaller.
  SavePoint logged = batch.GetWalTerminationPoint();
  const size_t logged_bytes = logged.size;
  while (reader.Next(&record)) {
    if (record.IsCounted() && families.Find(record.family) == nullptr) {
      missing++;
      if (reader.next_offset() > logged_bytes) continue;
      logged.size -= reader.next_offset() - reader.record_offset();
      logged.count--;
      continue;
    }
    kept.append(contents.data() + reader.record_offset(),
                reader.next_offset() - reader.record_offset());
  }
  if (missing == 0 || !reader.status().ok()) return std::nullopt;
  assert(missing <= WriteBatchInternal::Count(batch));
  WriteBatch result(std::move(kept));
  WriteBatchInternal::SetCount(&result, WriteBatchInternal::Count(batch) - missing);
  WriteBatchInternal::TakeOverPlaceholders(batch, &result);
  WriteBatchInternal::SetWalTerminationPoint(&result, logged);
  return result;
}

// Only in a batch that was made from bytes. A replay would take it for two batches, which have more
// sequence numbers than the one that was written.
bool HasNoopBetweenUpdates(const Slice& batch) {
  WriteBatchReader reader(batch);
  bool has_updates = false, has_noop = false;
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.IsCounted()) {
      if (has_noop) return true;
      has_updates = true;
    } else if (record.type == kTypeNoop) {
      has_noop = has_updates;
    }
  }
  return false;
}

// Where the records of a batch up to `end` end without the Noops behind the last other record.
size_t EndWithoutNoops(const Slice& batch, size_t end) {
  WriteBatchReader reader(batch);
  bool has_updates = false;
  size_t result = end;
  WriteBatchRecord record;
  while (reader.next_offset() < end && reader.Next(&record)) {
    has_updates |= record.IsCounted();
    if (record.type != kTypeNoop) result = reader.next_offset();
  }
  return has_updates && reader.status().ok() ? result : end;
}

// Takes the Noops behind the last record off a batch for the time of its commit. In a log they
// would say that the batch is numbered by sub-batch. Only a batch that was made from bytes has such
// Noops, for example one that a replica gets from a database whose transactions write before they
// commit.
class LastNoopsTaken {
 public:
  // `batch` may be null.
  explicit LastNoopsTaken(WriteBatch* batch) : batch_(batch) {
    if (batch == nullptr) return;
    const Slice contents = WriteBatchInternal::Contents(*batch);
    const SavePoint& logged = batch->GetWalTerminationPoint();
    const size_t end =
        logged.is_cleared() ? contents.size() : std::min(contents.size(), logged.size);
    const bool may_be_noop = end > kWriteBatchHeaderBytes && contents[end - 1] == kTypeNoop;
    if (may_be_noop) [[unlikely]]
      Take(contents, end);
  }
  ~LastNoopsTaken() {
    if (!logged_.is_cleared()) [[unlikely]]
      WriteBatchInternal::SetWalTerminationPoint(batch_, logged_);
    for (; taken_ > 0; taken_--) WriteBatchInternal::AppendSeparator(batch_);
  }
  LastNoopsTaken(const LastNoopsTaken&) = delete;
  LastNoopsTaken& operator=(const LastNoopsTaken&) = delete;

 private:
  // Behind a WAL termination point the batch goes on, so there the point moves instead.
  void Take(const Slice& contents, size_t end) {
    const size_t noops = end - EndWithoutNoops(contents, end);
    SavePoint logged = batch_->GetWalTerminationPoint();
    if (logged.is_cleared()) {
      for (; taken_ < noops; taken_++) WriteBatchInternal::TakeBackSeparator(batch_);
    } else if (noops > 0) {
      logged_ = logged;
      logged.size -= noops;
      WriteBatchInternal::SetWalTerminationPoint(batch_, logged);
    }
  }

  WriteBatch* const batch_;
  size_t taken_ = 0;
  SavePoint logged_;  // the termination point that was moved
};

// Records a batch in the trace: before its commit begins or, if the trace keeps the order of
// writes, when the commit has its place.
class TracedCommit final : public CommitRecorder {
 public:
  // Both outlive the object, whose recorder() is that of the commit. Records may be added to the
  // batch meanwhile: they are not of the program.
  TracedCommit(QueryTrace* trace, const WriteBatch* batch)
      : trace_(trace),
        batch_(batch),
        bytes_(WriteBatchInternal::Contents(*batch).size()),
        is_ordered_(trace->keeps_write_order()) {
    assert(batch != nullptr);
    if (!is_ordered_) trace->OnWrite(WriteBatchInternal::Contents(*batch));
  }
  CommitRecorder* recorder() { return is_ordered_ ? this : nullptr; }

  void OnReserved(uint64_t place) noexcept override {
    const Slice contents = WriteBatchInternal::Contents(*batch_);
    assert(contents.size() >= bytes_);
    trace_->OnWriteInOrder(place, Slice(contents.data(), bytes_));
  }

 private:
  static_assert(CommitPipeline::kMaxInFlight <= QueryTrace::kMostInOrder);
  QueryTrace* const trace_;
  const WriteBatch* const batch_;
  const size_t bytes_;
  const bool is_ordered_;
};

}  // namespace

// A read-only database has no log to write to.
Status DBImpl::CheckWritable() const {
  if (core_.mode.is_following()) {
    return Status::NotSupported("Not supported operation in secondary mode", core_.paths.dir);
  }
  if (core_.mode.is_read_only) {
    return Status::NotSupported("the database is open for reading only", core_.paths.dir);
  }
  return Status::OK();
}

// Single updates build a batch in the thread's scratch object, so they allocate nothing.
Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Put(handle, key, value));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& ts, const Slice& value) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Put(handle, key, ts, value));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Delete(handle, key));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                      const Slice& ts) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Delete(handle, key, ts));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->SingleDelete(handle, key));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key, const Slice& ts) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->SingleDelete(handle, key, ts));
  return WriteUpdates(options, batch.get(), {});
}

// Checked here, because a merge operand without an operator could never be read.
Status DBImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                     const Slice& value) {
  RETURN_IF_ERROR(CheckHandle(handle));
  if (FamilyOf(handle)->merge_operator() == nullptr) [[unlikely]] {
    return Status::NotSupported("Provide a merge_operator when opening DB");
  }
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Merge(handle, key, value));
  return WriteUpdates(options, batch.get(), {});
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WriteWithCallback(options, updates, nullptr);
}

Status DBImpl::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                 UserWriteCallback* callback) {
  return WriteObserved(options, updates, {.callback = callback});
}

Status DBImpl::WriteObserved(const WriteOptions& options, WriteBatch* updates,
                             const CommitObservers& observers) {
  const LastNoopsTaken without_noops(updates);
  return WriteUpdates(options, updates, observers);
}

// The common path of all writes: checks the options, applies the limits of rate and priority, and
// commits. `observers` are the callbacks of transactions; they may be empty.
Status DBImpl::WriteUpdates(const WriteOptions& options, WriteBatch* updates,
                            const CommitObservers& observers) {
  if (core_.mode.is_read_only) [[unlikely]]
    return CheckWritable();
  if (updates == nullptr) return Status::InvalidArgument("Write: the batch is a null pointer");
  RETURN_IF_ERROR(CheckWriteOptionsSupported(options));
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("Sync writes has to enable WAL.");
  }
  if (options.disableWAL && core_.wals->recycler()->is_on()) [[unlikely]] {
    return Status::InvalidArgument(
        "WriteOptions::disableWAL: not with recycle_log_file_num above 0, where recovery goes on "
        "with the next log by its sequence number");
  }
  if (options.low_pri) [[unlikely]] {
    RETURN_IF_ERROR(write_control_.AdmitLowPriority(options, updates->GetDataSize()));
  }
  if (options.rate_limiter_priority != Env::IO_TOTAL) [[unlikely]]
    RETURN_IF_ERROR(AwaitTurn(options, updates->GetDataSize()));
  std::optional<WriteBatch> existing;
  if (options.ignore_missing_column_families) [[unlikely]] {
    RETURN_IF_ERROR(updates->VerifyChecksum());
    existing = WithoutMissingFamilies(*updates, core_.families);
    if (existing.has_value()) {
      if (updates->GetProtectionBytesPerKey() != 0) {
        RETURN_IF_ERROR(WriteBatchInternal::AddProtection(&*existing));
      }
      updates = &*existing;
    }
  }
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_WRITE);
  // What is logged and what is inserted are the same batch here. Without a log only the second
  // remains.
  WriteBatch* const inserted[] = {updates};
  CommitPlan plan;
  plan.options = &options;
  plan.logged = options.disableWAL ? nullptr : updates;
  plan.inserted = inserted;
  plan.callback = observers.callback;
  plan.hook = observers.hook;
  plan.check = observers.check;
  std::optional<TracedCommit> traced;
  if (core_.query_trace.is_on()) [[unlikely]]
    plan.recorder = traced.emplace(&core_.query_trace, updates).recorder();
  const bool numbers_sub_batches = core_.numbers_sub_batches.load(std::memory_order_relaxed);
  const Status status =
      numbers_sub_batches ? CommitSubBatches(plan, updates) : core_.pipeline->Commit(plan);
  if (core_.services.statistics != nullptr && status.ok()) [[unlikely]]
    CountWrite(options, *updates);
  return status;
}

// The batch ends with a Noop in the log, by which a replay knows how its records are numbered.
Status DBImpl::CommitSubBatches(CommitPlan plan, WriteBatch* updates) {
  assert(updates != nullptr);
  // Also of a batch that is shorter than its header, which the pipeline refuses.
  if (updates->Count() == 0) return core_.pipeline->Commit(plan);
  if (!updates->GetWalTerminationPoint().is_cleared()) {
    return Status::NotSupported(
        "write batch: a WAL termination point in a database whose transactions write before they "
        "commit: the log must have the whole batch");
  }
  const Slice contents = WriteBatchInternal::Contents(*updates);
  std::vector<size_t> begins;
  if (WriteBatchInternal::Count(*updates) > 1) {
    if (HasNoopBetweenUpdates(contents)) {
      return Status::InvalidArgument(
          "write batch: a Noop between updates, which ends a batch in the log of a database whose "
          "transactions write before they commit");
    }
    begins = FindSubBatches(contents, kWriteBatchHeaderBytes, contents.size(), comparator_of_);
  }
  const SubBatches sub_batches{.begins = begins, .numbers = begins.size() + 1};
  plan.sub_batches = &sub_batches;
  WriteBatchInternal::AppendSeparator(updates);
  const ScopeExit take_back([updates] { WriteBatchInternal::TakeBackSeparator(updates); });
  return core_.pipeline->Commit(plan);
}

// After a transaction was decided whose data was written before: readers see it, or jobs may drop
// it.
void DBImpl::NoteDecision(PreparedSections sections) {
  if (!sections.first()->is_written_before_commit()) return;
  core_.undecided.NoteDecided(sections.all().size());
  if (!core_.undecided.IsTrimDue()) return;
  core_.TrimUndecided();
  RequestDueTables();
}

// A value made for one call: it only collects the parts that two-phase commit works on.
TwoPhaseWrites DBImpl::TwoPhase() {
  return {core_.pipeline.get(), &core_.prepared_logs, &core_.undecided, comparator_of_};
}

// The checks of WriteObserved() for the parts of a two-phase commit.
Status DBImpl::CheckTwoPhaseWrite(const WriteOptions& options, const WriteBatch& batch) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckWriteOptionsSupported(options));
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("Sync writes has to enable WAL.");
  }
  if (options.rate_limiter_priority == Env::IO_TOTAL) return Status::OK();
  return AwaitTurn(options, batch.GetDataSize());
}

// Logs the section without inserting it. Only this part of a two-phase commit may be held back for
// its low priority: the decision releases locks.
Status DBImpl::WritePrepare(const WriteOptions& options, PreparedSection* section,
                            CommitHook* hook) {
  assert(section != nullptr);
  RETURN_IF_ERROR(CheckTwoPhaseWrite(options, *section->batch()));
  if (options.low_pri) {
    RETURN_IF_ERROR(write_control_.AdmitLowPriority(options, section->batch()->GetDataSize()));
  }
  return TwoPhase().Prepare(options, section, hook);
}

namespace {

// All updates of a commit in the order of their numbers: those before the marker follow the
// sections if the prepare has given out the numbers of these.
Status CollectUpdates(const CommitRecords& records, PreparedSections sections,
                      WriteBatch* updates) {
  std::vector<const WriteBatch*> parts;
  for (const PreparedSection* section : sections.all()) parts.push_back(section->batch());
  const bool is_written = sections.first()->is_written_before_commit();
  parts.insert(is_written ? parts.end() : parts.begin(), records.before);
  if (records.after != nullptr) parts.push_back(records.after);
  for (const WriteBatch* part : parts) {
    WriteBatch copied;
    RETURN_IF_ERROR(WriteBatchInternal::CopyUpdates(*part, &copied));
    RETURN_IF_ERROR(WriteBatchInternal::Append(updates, copied, /*wal_only=*/false));
  }
  return Status::OK();
}

}  // namespace

// Inserts the section of an earlier WritePrepare(), unless that has inserted it, and logs the
// marker that decides all sections.
Status DBImpl::WriteCommit(const WriteOptions& options, const CommitRecords& records,
                           PreparedSections sections, CommitHook* hook) {
  RETURN_IF_ERROR(CheckTwoPhaseWrite(options, *sections.first()->batch()));
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_WRITE);
  std::optional<WriteBatch> updates;
  std::optional<TracedCommit> traced;
  CommitRecorder* recorder = nullptr;
  if (core_.query_trace.is_on()) [[unlikely]] {
    RETURN_IF_ERROR(CollectUpdates(records, sections, &updates.emplace()));
    recorder = traced.emplace(&core_.query_trace, &*updates).recorder();
  }
  const Status status = TwoPhase().Commit(options, records, sections, hook, recorder);
  NoteDecision(sections);
  if (core_.services.statistics != nullptr && status.ok()) CountCommit(options, records, sections);
  return status;
}

// One write, whose updates are in several batches.
void DBImpl::CountCommit(const WriteOptions& options, const CommitRecords& records,
                         PreparedSections sections) {
  CountWrite(options, *sections.first()->batch());
  const auto count = [this](const WriteBatch& batch) {
    core_.services.statistics->recordTick(NUMBER_KEYS_WRITTEN, batch.Count());
    core_.services.statistics->recordTick(BYTES_WRITTEN, batch.GetDataSize());
  };
  for (const PreparedSection* section : sections.all().subspan(1)) count(*section->batch());
  for (const WriteBatch* later : {records.before, records.after}) {
    const bool is_counted = later == records.after || sections.first()->is_written_before_commit();
    if (later != nullptr && later->Count() > 0 && is_counted) count(*later);
  }
}

// Logs the marker that discards the sections.
Status DBImpl::WriteRollback(const WriteOptions& options, WriteBatch* marker,
                             PreparedSections sections, CommitHook* hook) {
  assert(marker != nullptr);
  RETURN_IF_ERROR(CheckTwoPhaseWrite(options, *marker));
  const Status status = TwoPhase().Rollback(options, marker, sections, hook);
  NoteDecision(sections);
  return status;
}

// An ordinary commit. If the keys come in order, the memtable's tree inserts them without a search;
// a separate memtable for the batch would have to be searched by every reader.
Status DBImpl::IngestWriteBatchWithIndex(const WriteOptions& options,
                                         std::shared_ptr<WriteBatchWithIndex> batch) {
  constexpr const char* kCall = "DB::IngestWriteBatchWithIndex";
  if (batch == nullptr) return Status::InvalidArgument(kCall, "the batch is a null pointer");
  if (!options.disableWAL) return Status::NotSupported(kCall, "needs WriteOptions::disableWAL");
  if (!batch->GetOverwriteKey()) {
    return Status::NotSupported(kCall, "needs a batch that was made with overwrite_key");
  }
  WriteBatch* const updates = batch->GetWriteBatch();
  if (updates->Count() != batch->GetWBWIOpCount()) {
    return Status::NotSupported(kCall, "not for a batch that was added to directly");
  }
  const Status status = Write(options, updates);
  if (status.ok()) RecordTick(core_.services.statistics.get(), NUMBER_WBWI_INGEST);
  return status;
}

// Waits for the rate limiter before the batch has a place in the log, so that no other writer waits
// behind this one.
Status DBImpl::AwaitTurn(const WriteOptions& options, size_t bytes) {
  assert(options.rate_limiter_priority == Env::IO_USER && !options.disableWAL);
  const bool writes_log_later = [this] {
    MutexLock lock(&core_.mutex);
    return core_.options->manual_wal_flush;
  }();
  if (writes_log_later) {
    return Status::InvalidArgument(
        "WriteOptions::rate_limiter_priority: with manual_wal_flush a write writes no log");
  }
  AwaitTokens(core_.environment.outputs.writer_options.rate_limiter, bytes,
              options.rate_limiter_priority, core_.services.statistics.get(),
              RateLimiter::OpType::kWrite);
  return Status::OK();
}

// Counts a write that was made by its own thread, as all writes are.
void DBImpl::CountWrite(const WriteOptions& options, const WriteBatch& batch) {
  assert(core_.services.statistics != nullptr);
  Statistics* statistics = core_.services.statistics.get();
  statistics->recordTick(NUMBER_KEYS_WRITTEN, batch.Count());
  statistics->recordTick(BYTES_WRITTEN, batch.GetDataSize());
  statistics->recordTick(WRITE_DONE_BY_SELF, 1);
  statistics->recordInHistogram(BYTES_PER_WRITE, batch.GetDataSize());
  if (options.disableWAL) return;
  statistics->recordTick(WRITE_WITH_WAL, 1);
  statistics->recordTick(WAL_FILE_BYTES, batch.GetDataSize());
  if (options.sync) statistics->recordTick(WAL_FILE_SYNCED, 1);
}

// A log that fails during the call may have been replaced at its end although its content is not
// durable. So the error state is checked again.
Status DBImpl::FlushWAL(bool sync) {
  RETURN_IF_ERROR(CheckWritable());
  if (core_.errors.HasLogError()) return core_.errors.Get();
  const FileNumber newest_log = core_.wals->current_number();
  Status status = sync ? core_.wals->SyncAll() : core_.wals->Flush();
  if (!status.ok()) {
    write_control_.NoteLogError(status, newest_log);
    write_control_.ReportErrors();
    return status;
  }
  if (sync) RecordTick(core_.services.statistics.get(), WAL_FILE_SYNCED);
  return core_.errors.HasLogError() ? core_.errors.Get() : Status::OK();
}

Status DBImpl::FlushWAL(const FlushWALOptions& options) { return FlushWAL(options.sync); }

Status DBImpl::SyncWAL() { return FlushWAL(/*sync=*/true); }

// While the WAL is locked no write begins, so its files do not change. After an error it is not
// locked.
Status DBImpl::LockWAL() {
  RETURN_IF_ERROR(CheckWritable());
  {
    MutexLock lock(&core_.mutex);
    write_control_.BlockWritesLocked();
  }
  Status status = FlushWAL(/*sync=*/false);
  if (!status.ok()) {
    MutexLock lock(&core_.mutex);
    write_control_.UnblockWritesLocked();
  }
  return status;
}

// Aborted: there is no LockWAL() to undo.
Status DBImpl::UnlockWAL() {
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&core_.mutex);
  if (!write_control_.UnblockWritesLocked()) {
    return Status::Aborted("UnlockWAL without a LockWAL before it");
  }
  return Status::OK();
}

// The newest number that readers see. Commits in flight may have higher ones.
SequenceNumber DBImpl::GetLatestSequenceNumber() const { return VisibleSeqno(); }

}  // namespace ashlar
