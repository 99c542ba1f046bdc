// SPDX-License-Identifier: Apache-2.0
//
// `Attention` is a flag of the pipeline. A thread that sees a reason for it sets it, and it is
// cleared here when no reason is left. A reason that appears while the flag is being cleared sets
// it again.
#include "db/state/write_control.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "ashlar/db.h"
#include "db/read/point_read.h"
#include "db/state/log_needs.h"
#include "db/state/notify_errors.h"
#include "db/version/version.h"
#include "db/write/next_log.h"
#include "db/write/write_batch_reader.h"
#include "env/info_log.h"
#include "table/iterator/point_lookup.h"
#include "util/scope_exit.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Up to this time between two readings of the clock is not counted as a wait.
constexpr uint64_t kNoWaitMicros = 20;

// Counts the request for a flush of several families together.
void CountRequest(Statistics* statistics, const std::vector<ColumnFamilyData*>& filled,
                  FlushReason reason) {
  if (statistics == nullptr || filled.empty()) return;
  uint32_t ticker = ATOMIC_FLUSH_REQUEST_REASON_OTHER;
  if (reason == FlushReason::kWriteBufferManager) {
    ticker = ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER;
  } else if (reason == FlushReason::kWriteBufferFull) {
    // One full memtable is enough: the others are flushed with it, whatever their size is.
    const bool is_large = std::any_of(filled.begin(), filled.end(), [](ColumnFamilyData* family) {
      return family->mem()->ApproximateMemoryUsage() >= family->write_buffer_bytes();
    });
    ticker = is_large ? ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL
                      : ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS;
  }
  statistics->recordTick(ticker, 1);
}

}  // namespace

// Called by commits in an epoch. Takes no lock.
CommitFamily WriteControl::FindFamily(uint32_t family) {
  assert(InEpoch());  // the family may be dropped and freed
  const ColumnFamilyData* const data = core_->families.Find(family);
  if (data == nullptr) return {};
  return {.exists = true,
          .is_plain = data->is_plain(),
          .can_merge = data->merge_operator() != nullptr,
          .takes_writes = data->takes_writes(),
          .comparator = &data->comparator(),
          .bare = &data->bare_format()};
}

void WriteControl::FindInsertTarget(uint32_t family, InsertTarget* target) {
  assert(InEpoch());
  assert(target != nullptr);
  ColumnFamilyData* const data = core_->families.Find(family);
  target->family = data;
  target->memtable = data == nullptr ? nullptr : data->mem();
  // Operands of keys with timestamps are never merged early, because a read may ask for an older
  // timestamp.
  target->max_successive_merges =
      data == nullptr || data->comparator().stamp_bytes() != 0 ? 0 : data->max_successive_merges();
}

// The view may be the last one of its super version. Releasing it takes the DB mutex, for which no
// commit in flight may wait, so the views are collected in `*pins`.
const SuperVersion* WriteControl::PinNewest(uint32_t family,
                                            std::vector<std::shared_ptr<void>>* pins) {
  assert(pins != nullptr);
  assert(!InEpoch());
  const auto view = std::make_shared<ReadView>();
  pins->push_back(view);
  const EpochGuard guard;
  ColumnFamilyData* const data = core_->families.Find(family);
  if (data == nullptr) return nullptr;
  *view = data->AcquireView();
  return view->super_version();
}

// None if the operand cannot be merged now, for example because a file would have to be read; it is
// then inserted as it is.
std::optional<FoldedOperand> WriteControl::MergeNow(const WriteBatchRecord& record,
                                                    SequenceNumber seqno,
                                                    std::vector<std::shared_ptr<void>>* pins) {
  assert(seqno > 0);
  if (core_->undecided.is_used()) return std::nullopt;  // what is below may be rolled back
  const SuperVersion* const newest = PinNewest(record.family, pins);
  if (newest == nullptr) return std::nullopt;
  ReadOptions options;
  // A merge here is an optimisation, so by default it must not wait for a file.
  if (!newest->options().strict_max_successive_merges) options.read_tier = kBlockCacheTier;
  // The number below that of the operand, which is not in the memtable yet.
  const LookupKey key(record.key, seqno - 1, newest->version()->comparator().order());
  PinnableSlice value;
  PointLookup lookup(key, &value);
  lookup.KeepEntities();
  MergeTools tools = MergeToolsOf(*core_);
  const Status found = ReadWholly(tools, *newest, options, &lookup);
  if (!found.ok() && !found.IsNotFound()) return std::nullopt;
  // The operator is the one of the super version that was read, in case SetOptions() has changed
  // it.
  tools.merge_operator = newest->options().merge_operator.get();
  const MergeBase base{.value = value, .is_entity = lookup.is_entity()};
  Merged merged;
  const Status status =
      MergeFully(tools, record.key, found.ok() ? &base : nullptr, {record.value}, &merged);
  if (!status.ok()) return std::nullopt;
  return FoldedOperand{.type = merged.type(), .value = merged.AsSlice().ToString()};
}

// The newest value of the key before this commit.
Status WriteControl::ValueBefore(const WriteBatchRecord& record, SequenceNumber seqno,
                                 std::vector<std::shared_ptr<void>>* pins,
                                 std::optional<std::string>* value) {
  assert(value != nullptr);
  const SuperVersion* const newest = PinNewest(record.family, pins);
  value->reset();
  if (newest == nullptr) return Status::OK();
  return ReadValueBefore(MergeToolsOf(*core_), *newest, record.key, seqno, value);
}

// Called after every insertion, so it must be cheap: usually one comparison.
void WriteControl::NoteMemTableSize(const InsertTarget& target) {
  assert(target.memtable != nullptr);
  assert(target.family != nullptr);
  ColumnFamilyData* const data = target.family;
  const MemTable* const memtable = target.memtable;
  const uint64_t bytes = memtable->ApproximateMemoryUsage();
  const bool is_full = data->IsFull(*memtable, bytes);
  if (bytes < data->paced_bytes() && !is_full && !memtable->OwesMemoryReport() &&
      !log_ahead_.Wants(bytes, data->write_buffer_bytes())) [[likely]]
    return;
  if (is_full) {
    // Only the first writer that finds a full memtable raises attention.
    if (has_full_memtable_.load(std::memory_order_relaxed)) return;
    has_full_memtable_.store(true, std::memory_order_release);
  }
  core_->pipeline->RequestAttention();
}

void WriteControl::NoteLogError(const Status& error, FileNumber log_number) {
  ashlar::NoteLogError(core_, error, log_number);
}

// Part of a batch was not inserted, so memory and log differ.
void WriteControl::NotePartialInsert(const Status& error) {
  assert(!error.ok());
  core_->errors.RaiseFatal(error);
  core_->pipeline->RequestAttention();
}

void WriteControl::ReportErrors() { NotifyUnreportedError(core_); }

// Called before a commit if attention is raised. The time that it takes counts as a stall.
Status WriteControl::PrepareForCommit(const WriteOptions& options, uint64_t batch_bytes) {
  assert(!InEpoch());  // it waits
  MutexLock lock(&core_->mutex);
  Status status;
  {
    const PerfTimer timer(&PerfContextBase::write_scheduling_flushes_compactions_time);
    status = RunDueWorkLocked(options);
  }
  const PerfTimer timer(&PerfContextBase::write_delay_time);
  const uint64_t start_micros = core_->environment.NowMicros();
  // A write that must not be slowed down does not wait for flushes either; the stall below refuses
  // it if necessary.
  if (status.ok() && !options.no_slowdown) AwaitFlushProgressLocked();
  if (status.ok()) status = AwaitStallLocked(options, batch_bytes);
  if (status.ok()) status = AwaitMemoryLocked(options);
  const uint64_t waited_micros = core_->environment.NowMicros() - start_micros;
  // Short waits are scheduling and locks, and would make the counter of stalls useless.
  if (waited_micros > kNoWaitMicros) {
    stall_micros_ += waited_micros;
    RecordTick(core_->services.statistics.get(), STALL_MICROS, waited_micros);
    RecordInHistogram(core_->services.statistics.get(), WRITE_STALL, waited_micros);
  }
  SettleAttentionLocked();
  return status;
}

// Work that must be done before the next commit, by the thread that finds it.
Status WriteControl::RunDueWorkLocked(const WriteOptions& options) {
  assert(blocked_ >= 0);
  while (is_switching_ || blocked_ > 0) {
    // Whoever waits at the end of the database is woken and gets an error below.
    if (core_->shutdown.is_closing()) break;
    if (blocked_ > 0 && options.no_slowdown) return Status::Incomplete("Write stall", "LockWAL");
    core_->conditions.writers.Wait();
  }
  if (core_->shutdown.is_closing()) return Status::ShutdownInProgress();
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  RETURN_IF_ERROR(SwitchFullMemTablesLocked());
  RETURN_IF_ERROR(LimitMemoryLocked());
  RequestLogAheadLocked();
  return LimitLogsLocked();
}

// One log for all families, so the first family that is full enough suffices.
void WriteControl::RequestLogAheadLocked() {
  for (ColumnFamilyData* family : core_->families.All()) {
    if (!log_ahead_.Wants(family->mem()->ApproximateMemoryUsage(), family->write_buffer_bytes()))
      continue;
    log_ahead_.RequestLocked();
    return;
  }
}

// The flag is cleared before the full memtables are searched.
Status WriteControl::SwitchFullMemTablesLocked() {
  while (is_switching_) core_->conditions.writers.Wait();
  if (!has_full_memtable_.exchange(false, std::memory_order_acq_rel)) return Status::OK();
  std::vector<ColumnFamilyData*> full;
  for (ColumnFamilyData* family : core_->families.All()) {
    if (!family->HasFullMemTable()) continue;
    // If all buffers are in use, the write waits for a flush first; the next commit looks again.
    if (family->HasNoFreeBuffer()) {
      has_full_memtable_.store(true, std::memory_order_release);
      continue;
    }
    full.push_back(family);
  }
  if (full.empty()) return Status::OK();
  AddStoredHistoryLocked(&full);
  const Status switched = SwitchUnaskedLocked(full, FlushReason::kWriteBufferFull);
  // If no log could be created, the next commit tries again instead of growing the memtables.
  if (!switched.ok()) has_full_memtable_.store(true, std::memory_order_release);
  return switched;
}

// The family of stored statistics fills up in days. It is flushed with other families if no other
// family needs the logs that it holds.
void WriteControl::AddStoredHistoryLocked(std::vector<ColumnFamilyData*>* full) {
  assert(full != nullptr);
  ColumnFamilyData* const stored = core_->families.FindByName(kPersistentStatsColumnFamilyName);
  const auto goes = [full](ColumnFamilyData* family) {
    return std::find(full->begin(), full->end(), family) != full->end();
  };
  if (stored == nullptr || goes(stored) || stored->mem()->IsEmpty() || stored->HasNoFreeBuffer()) {
    return;
  }
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family == stored || goes(family)) continue;
    // A family whose logs are as old keeps them, so the flush would free no log.
    if (family->OldestLogNotDue() <= stored->OldestLogNotDue()) return;
  }
  full->push_back(stored);
}

// A switch that no call has requested concerns all families if they are flushed together.
Status WriteControl::SwitchUnaskedLocked(const std::vector<ColumnFamilyData*>& families,
                                         FlushReason reason) {
  if (!core_->mode.atomic_flush) {
    return SwitchMemTablesLocked(families, reason, FlushTogether::kNo);
  }
  return SwitchMemTablesLocked(core_->families.All(), reason, FlushTogether::kYes);
}

// Depends on options that SetOptions() may change.
uint64_t WriteControl::MaxTotalLogBytes() const {
  std::vector<uint64_t> budgets;
  for (const ColumnFamilyData* family : core_->families.All()) {
    budgets.push_back(family->options().write_buffer_size *
                      static_cast<uint64_t>(family->options().max_write_buffer_number));
  }
  return LogLimit(core_->options->max_total_wal_size, budgets, core_->wals->MaxLogBytes());
}

// If there is too much log, the families are flushed whose active or waiting memtables hold the
// oldest part. Logs that are needed only by memtables whose flush is due will be released soon
// anyway; stalls limit the number of these memtables.
Status WriteControl::LimitLogsLocked() {
  const uint64_t limit = MaxTotalLogBytes();
  std::vector<ColumnFamilyData*> holders;
  for (ColumnFamilyData* family : core_->families.All()) {
    // None: the family holds no log, or all that it holds is due for a flush already.
    const FileNumber oldest = family->OldestLogNotDue();
    if (oldest == FileNumber::None() || core_->wals->BytesFrom(oldest) <= limit) continue;
    holders.push_back(family);
    family->RequireFlush();
    if (family->is_flush_due()) flushes_->RequestFlushLocked(family);
  }
  if (!holders.empty()) RETURN_IF_ERROR(SwitchUnaskedLocked(holders, FlushReason::kWalFull));
  WatchLogSizeLocked();
  WarnOfPreparedLogsLocked();
  return Status::OK();
}

// No flush releases the log of an undecided prepare section. One line for each log.
void WriteControl::WarnOfPreparedLogsLocked() {
  const FileNumber oldest = core_->prepared_logs.Oldest();
  if (oldest == FileNumber::None() || oldest == warned_prepared_log_) return;
  const uint64_t bytes = core_->wals->BytesFrom(oldest);
  if (bytes <= MaxTotalLogBytes()) return;
  warned_prepared_log_ = oldest;
  const std::string sections = core_->prepared_logs.Describe();
  // Writing to the info log is I/O, which must not happen under the mutex.
  MutexUnlock unlock(&core_->mutex);
  Warn(core_->services.info_log, "prepared transactions keep %llu bytes of logs: %s",
       static_cast<unsigned long long>(bytes), sections.c_str());
}

// Makes the pipeline request attention when the current log grows so large that there is too much.
void WriteControl::WatchLogSizeLocked() {
  const FileNumber current_log = core_->wals->current_number();
  const uint64_t current_bytes = core_->wals->BytesFrom(current_log);
  const uint64_t limit = MaxTotalLogBytes();
  FileNumber oldest = FileNumber::None();
  for (const ColumnFamilyData* family : core_->families.All()) {
    oldest = std::min(oldest, family->OldestLogNotDue());
  }
  // Only the current log is needed, so it alone may use the whole limit.
  if (oldest >= current_log) {
    // Commits that insert nothing make the log longer, too.
    const bool holds_nothing = oldest == FileNumber::None();
    core_->pipeline->RequestAttentionAt(holds_nothing ? current_bytes + limit : limit);
    return;
  }
  assert(core_->wals->BytesFrom(oldest) >= current_bytes);  // it counts the current one too
  const uint64_t older_bytes = core_->wals->BytesFrom(oldest) - current_bytes;
  core_->pipeline->RequestAttentionAt(limit - std::min(limit, older_bytes));
}

// A switch of memtables and logs in progress. Only one thread switches at a time.
class WriteControl::Switch final : public LogTurn {
 public:
  Switch(DbCore* core, LogAhead* log_ahead) : core_(core), log_ahead_(log_ahead) {
    assert(log_ahead != nullptr);
  }

  bool HasNextLocked() const override { return next != nullptr; }
  bool CurrentHasRecordsLocked() const override { return core_->wals->current_has_records(); }
  Status MakeNextLocked() override REQUIRES(db_mutex) {
    assert(!is_paused);
    assert(next == nullptr);
    next = log_ahead_->TakeLocked();
    const FileNumber number = next == nullptr ? core_->versions->NewFileNumber() : FileNumber{};
    MutexUnlock unlock(&core_->mutex);
    if (next == nullptr) {
      ASSIGN_OR_RETURN(next, core_->wals->Create(number));
    }
    // Writes most of the buffered records now, so that little is left for the pause.
    IgnoreError(core_->wals->Flush(), "a failed log is found when the next one is installed");
    return Status::OK();
  }
  void Pause() override {
    assert(!is_paused);
    core_->pipeline->Pause();
    is_paused = true;
  }
  void Resume() override {
    assert(is_paused);
    core_->pipeline->Resume();
    is_paused = false;
  }

  bool is_paused = false;            // this switch has paused the pipeline
  std::vector<MemTableInfo> sealed;  // for listeners; empty if there are none
  std::unique_ptr<WalSink> next;     // null: the current log is kept because it is empty

 private:
  DbCore* const core_;
  LogAhead* const log_ahead_;
};

// Also called when an allocation failed in the middle of the switch.
void WriteControl::EndSwitchLocked(Switch* turn) {
  assert(turn != nullptr);
  assert(is_switching_);
  if (turn->is_paused) turn->Resume();
  if (turn->next != nullptr) {  // the log was not installed
    MutexUnlock unlock(&core_->mutex);
    turn->next.reset();
  }
  is_switching_ = false;
  log_ahead_.NoteSwitchedLocked();
  core_->conditions.SwitchEnded();
}

Status WriteControl::SwitchMemTablesLocked(const std::vector<ColumnFamilyData*>& families,
                                           FlushReason reason, FlushTogether together) {
  std::vector<uint32_t> ids;
  for (const ColumnFamilyData* family : families) ids.push_back(family->id());
  while (is_switching_) core_->conditions.writers.Wait();
  assert(flushes_ != nullptr);
  const std::vector<ColumnFamilyData*> filled = FilledLocked(ids);
  if (together == FlushTogether::kYes)
    CountRequest(core_->services.statistics.get(), filled, reason);
  if (filled.empty()) {
    if (together == FlushTogether::kYes) FlushTogetherLocked(ids);
    return Status::OK();
  }

  Status status;
  {
    Switch turn(core_, &log_ahead_);
    const ScopeExit request([&]() REQUIRES(db_mutex) { RequestFlushesLocked(ids); });
    {
      is_switching_ = true;
      const ScopeExit end([&]() REQUIRES(db_mutex) { EndSwitchLocked(&turn); });
      status = SwitchAloneLocked(ids, reason, &turn);
      if (status.ok() && together == FlushTogether::kYes) FlushTogetherLocked(ids);
    }
    if (!turn.sealed.empty()) NotifySealedLocked(turn.sealed);
  }
  if (!status.ok()) {
    MutexUnlock unlock(&core_->mutex);
    ReportErrors();
    return status;
  }
  UpdateStallLocked();
  NotifyOfStallsLocked();
  return Status::OK();
}

// Requests the flushes that are due. If an allocation fails here, the next switch of the family or
// the end of its next flush requests them again.
void WriteControl::RequestFlushesLocked(const std::vector<uint32_t>& ids) {
  try {
    for (const uint32_t id : ids) {
      ColumnFamilyData* family = core_->families.Find(id);
      if (family != nullptr && family->is_flush_due()) flushes_->RequestFlushLocked(family);
    }
  } catch (const std::bad_alloc&) {
    Warn(core_->services.info_log.get(), "no memory to ask for a flush");
  }
}

// The mutex was held since the memtables became immutable, so no flush of one of them has begun.
void WriteControl::FlushTogetherLocked(const std::vector<uint32_t>& ids) {
  for (const uint32_t id : ids) {
    ColumnFamilyData* family = core_->families.Find(id);
    if (family != nullptr) family->RequireFlushTogether();
  }
}

// The switch is over, so writes continue while listeners are notified.
void WriteControl::NotifySealedLocked(const std::vector<MemTableInfo>& sealed) {
  assert(!core_->services.listeners.empty());
  MutexUnlock unlock(&core_->mutex);
  NotifyMemTablesSealed(core_->services, sealed);
}

// The families that exist and have a memtable that is not empty. A family may be freed whenever the
// mutex is released, so the callers keep ids, which are never reused.
std::vector<ColumnFamilyData*> WriteControl::FilledLocked(const std::vector<uint32_t>& ids) const {
  std::vector<ColumnFamilyData*> filled;
  for (uint32_t id : ids) {
    ColumnFamilyData* family = core_->families.Find(id);
    if (family != nullptr && !family->mem()->IsEmpty()) filled.push_back(family);
  }
  return filled;
}

Status WriteControl::SwitchAloneLocked(const std::vector<uint32_t>& ids, FlushReason reason,
                                       Switch* turn) {
  assert(turn != nullptr);
  assert(is_switching_);
  assert(!turn->is_paused);
  RETURN_IF_ERROR(PauseWithNextLog(turn));
  if (turn->next != nullptr) RETURN_IF_ERROR(InstallLogLocked(turn));
  assert(turn->is_paused);  // no commit is half inserted into the memtables
  const FileNumber log_number = core_->wals->current_number();
  core_->write_times.Note(core_->pipeline->visible_seqno(), core_->environment.NowSeconds());
  for (ColumnFamilyData* family : FilledLocked(ids)) {
    if (!core_->services.listeners.empty()) turn->sealed.push_back(family->ActiveMemTableInfo());
    family->SwitchMemTable(log_number, reason);
  }
  MoveIdleFamiliesLocked(log_number);
  return Status::OK();
}

// The pipeline is paused, so everything that an empty memtable will receive is in this log or
// later.
void WriteControl::MoveIdleFamiliesLocked(FileNumber log_number) {
  assert(log_number == core_->wals->current_number());
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->mem()->num_entries() == 0) family->SetActiveLog(log_number);
  }
}

// The pipeline is paused, so exactly the sequence numbers up to the visible one have been assigned.
// A log that has failed, or whose end cannot be written, is never followed by another one: replay
// could not reach the records behind it.
Status WriteControl::InstallLogLocked(Switch* turn) {
  assert(turn != nullptr);
  assert(turn->is_paused);
  assert(turn->next != nullptr);
  MutexUnlock unlock(&core_->mutex);
  const FileNumber sealed_number = core_->wals->current_number();
  Status status = core_->wals->error();
  if (status.ok()) status = core_->wals->Flush();
  if (!status.ok()) {
    NoteLogError(status, sealed_number);
    return status;
  }
  assert(turn->next->log_number() > sealed_number);
  return core_->wals->Install(std::move(turn->next), core_->pipeline->visible_seqno() + 1,
                              core_->pipeline->last_logged_seqno());
}

Result<FileNumber> WriteControl::BeginRecoveryLocked(std::vector<MemTableInfo>* sealed) {
  assert(sealed != nullptr);
  assert(sealed->empty());
  while (is_switching_) core_->conditions.writers.Wait();
  core_->pipeline->Shut();
  Switch turn(core_, &log_ahead_);
  is_switching_ = true;
  const ScopeExit end([&]() REQUIRES(db_mutex) { EndSwitchLocked(&turn); });
  log_ahead_.DiscardLocked();  // it may be on the device that has failed
  const Status error = core_->wals->error();
  if (error.ok()) {
    RETURN_IF_ERROR(PauseWithNextLog(&turn));
    if (turn.next != nullptr) RETURN_IF_ERROR(InstallLogLocked(&turn));
  } else {
    const FileNumber number = core_->versions->NewFileNumber();
    MutexUnlock unlock(&core_->mutex);
    ASSIGN_OR_RETURN(turn.next, core_->wals->Create(number));
    turn.Pause();
    core_->errors.ForgetLogsBefore(number);
    const auto closed_here =
        core_->wals->ReplaceAll(std::move(turn.next), core_->pipeline->visible_seqno() + 1, error);
  }
  const FileNumber log_number = core_->wals->current_number();
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->mem()->IsEmpty()) continue;
    sealed->push_back(family->ActiveMemTableInfo());
    family->SwitchMemTable(log_number, FlushReason::kErrorRecovery);
  }
  MoveIdleFamiliesLocked(log_number);
  return log_number;
}

void WriteControl::FinishRecoveryLocked() {
  assert(core_->errors.BlocksWrites());
  core_->pipeline->Reopen();
  core_->errors.Clear();
  UpdateStallLocked();
  SettleAttentionLocked();
  core_->conditions.ErrorChanged();
}

// Cleared first and raised again if a reason is left: a reason that appears in between is not lost.
void WriteControl::SettleAttentionLocked() {
  core_->pipeline->ClearAttention();
  const bool has_reason = has_full_memtable_.load(std::memory_order_acquire) ||
                          stall_.condition != WriteStallCondition::kNormal ||
                          core_->errors.BlocksWrites() || blocked_ > 0 ||
                          (core_->resources.memory_manager != nullptr &&
                           core_->resources.memory_manager->IsStallActive()) ||
                          core_->shutdown.is_closing();
  if (has_reason) core_->pipeline->RequestAttention();
}

std::string WriteControl::DebugStringLocked() const {
  std::string text =
      StrCat("writes: ", stall_.condition == WriteStallCondition::kNormal    ? "free"
                         : stall_.condition == WriteStallCondition::kDelayed ? "delayed"
                                                                             : "stopped");
  if (rate_ > 0) StrAppend(&text, ", ", rate_, " bytes a second");
  if (blocked_ > 0) StrAppend(&text, ", locked out by ", blocked_, " calls");
  if (is_switching_) text += ", memtables are being switched";
  if (has_full_memtable_.load(std::memory_order_acquire)) text += ", a memtable is full";
  if (is_compaction_behind_.load(std::memory_order_relaxed)) text += ", those of low priority wait";
  return text + "\n";
}

// Calls nest: each needs a call of UnblockWritesLocked().
void WriteControl::BlockWritesLocked() {
  assert(blocked_ >= 0);
  while (is_switching_) core_->conditions.writers.Wait();
  if (blocked_++ == 0) {
    core_->pipeline->RequestAttention();
    // Writes that have passed the check already do not begin either.
    core_->pipeline->Pause();
  }
}

bool WriteControl::UnblockWritesLocked() {
  assert(blocked_ >= 0);
  if (blocked_ == 0) return false;
  if (--blocked_ == 0) core_->pipeline->Resume();
  core_->conditions.WritesUnblocked();
  return true;
}

}  // namespace ashlar
