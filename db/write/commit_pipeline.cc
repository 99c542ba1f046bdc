// SPDX-License-Identifier: Apache-2.0
//
// The kernel has the record before anything of the batch is inserted. Exception: a record that will
// be synced needs only to be staged in a mapped log; earlier records may still be incomplete, and
// the commit waits for them during the sync. The batch does not become visible before they are
// complete. The sync follows the publication, outside the order, so a slow disk delays only the
// writers that requested a sync. Such a writer sleeps once; the commits before it complete in the
// meantime.
#include "db/write/commit_pipeline.h"

#include <cassert>
#include <new>
#include <optional>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "db/wal/wal_compression.h"
#include "db/wal/wal_set.h"
#include "db/wal/wal_sink.h"
#include "db/write/in_place_put.h"
#include "db/write/write_batch_extras.h"
#include "memtable/memtable.h"
#include "util/result.h"
#include "util/scope_exit.h"
#include "util/statistics/perf_level_impl.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

namespace {

// Runs the call and stores the first exception thrown by application code, to be rethrown later.
template <typename Call>
void CallUser(Call&& call, std::exception_ptr* thrown) {
  try {
    call();
  } catch (...) {
    if (*thrown == nullptr) *thrown = std::current_exception();
  }
}

}  // namespace

CommitPipeline::CommitPipeline(CommitHost* host, WalSet* wals) : host_(host), wals_(wals) {}

Status CommitPipeline::Commit(const WriteOptions& options, WriteBatch* batch,
                              UserWriteCallback* callback, CommitHook* hook) {
  return Commit({.options = &options,
                 .logged = options.disableWAL ? nullptr : batch,
                 .inserted = {&batch, 1},
                 .callback = callback,
                 .hook = hook});
}

namespace {

// How many sequence numbers the commit takes.
uint64_t NumbersOf(const CommitPlan& plan) {
  if (plan.sub_batches != nullptr) [[unlikely]] {
    assert(plan.inserted.size() <= 1);
    assert(plan.sub_batches->numbers > plan.sub_batches->begins.size());
    return plan.sub_batches->numbers;
  }
  uint64_t count = 0;
  for (const WriteBatch* batch : plan.inserted) count += WriteBatchInternal::Count(*batch);
  return count;
}

}  // namespace

Status CommitPipeline::Commit(const CommitPlan& plan) {
  const WriteOptions& options = *plan.options;
  assert(plan.logged != nullptr || !plan.inserted.empty());
  const WriteBatch& sized = plan.logged != nullptr ? *plan.logged : *plan.inserted.front();
  const uint64_t bytes = sized.GetDataSize();
  if (wants_attention_.load(std::memory_order_acquire)) [[unlikely]] {
    RETURN_IF_ERROR(host_->PrepareForCommit(options, bytes));
  }
  uint64_t count = 0;
  {
    const PerfTimer timer(&PerfContextBase::write_pre_and_post_process_time);
    if (plan.logged != nullptr) RETURN_IF_ERROR(CheckBatch(plan, plan.logged));
    for (WriteBatch* batch : plan.inserted) {
      if (batch != plan.logged) RETURN_IF_ERROR(CheckBatch(plan, batch));
    }
    count = NumbersOf(plan);
  }
  const bool use_log = plan.logged != nullptr;
  LogRecord record;
  if (use_log) RETURN_IF_ERROR(PrepareRecord(*plan.logged, &record));
  // Without a log no byte is logged, and with a WAL termination point some are.
  if (record.batch_bytes < bytes && !plan.inserted.empty() && !has_unlogged_writes())
    has_unlogged_writes_.store(true, std::memory_order_relaxed);
  Reservation reservation{.has_recorder = plan.recorder != nullptr};
  const LogRecord* const logged = use_log ? &record : nullptr;
  if (plan.check != nullptr) [[unlikely]] {
    RETURN_IF_ERROR(ReserveChecked(plan, count, logged, bytes, &reservation));
  } else {
    while (!Reserve(count, logged, bytes, &reservation)) [[unlikely]] {
        RETURN_IF_ERROR(host_->PrepareForCommit(options, bytes));
      }
  }
  if (plan.recorder != nullptr) [[unlikely]]
    plan.recorder->OnReserved(reservation.recorders_before);
  WriteBatchInternal::SetSequence(use_log ? plan.logged : plan.inserted.front(),
                                  reservation.first_seqno);

  // The reference is taken before the publication, after which the log may be replaced.
  std::shared_ptr<WalSink> sync_log;
  if (options.sync && use_log) sync_log = reservation.log->shared_from_this();
  Leftovers leftovers;
  Status status = LogAndInsert(plan, reservation, &record, &leftovers);
  if (reservation.log_end > attention_log_bytes_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (!wants_attention_.load(std::memory_order_relaxed)) RequestAttention();
  }
  Publish(reservation);
  const bool is_inserted = status.ok();
  if (plan.hook != nullptr && is_inserted) {
    AwaitVisible(reservation.ticket);
    CallUser([&] { plan.hook->OnVisible(reservation.first_seqno, reservation.last_seqno); },
             &leftovers.thrown);
  }
  if (status.ok() && sync_log != nullptr) {
    const PerfTimer timer(&PerfContextBase::write_wal_time);
    status = wals_->SyncThrough(sync_log, reservation.log_end);
    if (!status.ok()) host_->NoteLogError(status, sync_log->log_number());
  }
  {
    const PerfTimer timer(&PerfContextBase::write_thread_wait_nanos);
    AwaitVisible(reservation.ticket);
  }

  if (plan.hook != nullptr && is_inserted) plan.hook->OnEnd(status);
  if (!status.ok()) [[unlikely]]
    host_->ReportErrors();
  if (leftovers.thrown != nullptr) [[unlikely]]
    std::rethrow_exception(leftovers.thrown);
  return status;
}

// The work between the reservation and the publication. It must return normally and never throw,
// because the reserved place must be published.
Status CommitPipeline::LogAndInsert(const CommitPlan& plan, const Reservation& reservation,
                                    LogRecord* record, Leftovers* leftovers) {
  assert(leftovers != nullptr);
  std::exception_ptr* const thrown = &leftovers->thrown;
  UserWriteCallback* const callback = plan.callback;
  if (callback != nullptr) CallUser([&] { callback->OnWriteEnqueued(); }, thrown);
  Status status;
  try {
    if (reservation.log != nullptr) status = Log(reservation, plan.options->sync, record);
    if (!status.ok()) return status;
    if (callback != nullptr) CallUser([&] { callback->OnWalWriteFinish(); }, thrown);
    const auto place = [&reservation] {
      return CommitPlace{
          .log = reservation.log == nullptr ? FileNumber{} : reservation.log->log_number(),
          .first_seqno = reservation.first_seqno,
          .last_seqno = reservation.last_seqno};
    };
    if (plan.hook != nullptr) plan.hook->OnLogged(place());
    status = Insert(plan, reservation, leftovers);
    if (!status.ok()) host_->NotePartialInsert(status);
    if (plan.hook != nullptr && status.ok()) plan.hook->OnInserted(place());
  } catch (const std::bad_alloc&) {
    status = Status::MemoryLimit();  // without a message, which would take memory
    host_->NotePartialInsert(status);
  } catch (...) {
    *thrown = std::current_exception();
    status = Status::Aborted();
    host_->NotePartialInsert(status);
  }
  return status;
}

// Compression takes place before the reservation, in parallel with other writers, because the
// compressed length determines the log range to reserve.
Status CommitPipeline::PrepareRecord(const WriteBatch& batch, LogRecord* record) {
  record->part = WriteBatchInternal::PartForWal(batch);
  record->bytes = record->batch_bytes = kWriteBatchHeaderBytes + record->part.records.size();
  if (wals_->compressors() == nullptr) [[likely]]
    return Status::OK();
  if (record->batch_bytes >= kMaxCompressedRecordBytes) [[unlikely]] {
    return Status::InvalidArgument(StrCat("a batch of ", record->batch_bytes,
                                          " bytes, but a compressed log holds none of 4 GiB: ",
                                          "split it, or write without wal_compression"));
  }
  const PerfTimer timer(&PerfContextBase::write_wal_time);
  RETURN_IF_ERROR(wals_->compressors()->CompressBody(record->part.records, &record->frame));
  record->bytes = record->frame.size();
  return Status::OK();
}

// Returns false if the pipeline is shut. `record` is null if nothing is logged.
bool CommitPipeline::Reserve(uint64_t count, const LogRecord* record, uint64_t batch_bytes,
                             Reservation* reservation) {
  while (true) {
    order_lock_.Lock();
    if (TryReserveLocked(Admission::kAnybody, count, record, batch_bytes, reservation)) [[likely]] {
      order_lock_.Unlock();
      return true;
    }
    const uint32_t gate = gate_.load(std::memory_order_relaxed);
    const uint64_t oldest = published_tickets_.load(std::memory_order_relaxed);
    const bool is_full = next_ticket_ - oldest >= kMaxInFlight;
    order_lock_.Unlock();
    if ((gate & kShut) != 0) return false;
    if (is_full) {
      AwaitVisible(oldest);
    } else {
      gate_.wait(gate, std::memory_order_acquire);
    }
  }
}

// Reserves a place for a commit with a check. The pause may coincide with one of another thread,
// for example for a new log or memtable. Then the function waits for its end and checks again.
Status CommitPipeline::ReserveChecked(const CommitPlan& plan, uint64_t count,
                                      const LogRecord* record, uint64_t batch_bytes,
                                      Reservation* reservation) {
  while (true) {
    uint32_t gate = kOpen;
    {
      Pause();
      const ScopeExit resume([this] { Resume(); });
      const SequenceNumber checked = visible_seqno();
      RETURN_IF_ERROR(plan.check->MayCommit());
      const SpinLockGuard guard(&order_lock_);
      const bool is_valid = visible_seqno() == checked;  // no tables were ingested meanwhile
      if (is_valid && TryReserveLocked(Admission::kPauser, count, record, batch_bytes, reservation))
        return Status::OK();
      gate = gate_.load(std::memory_order_relaxed);
    }
    if ((gate & kShut) != 0) {
      RETURN_IF_ERROR(host_->PrepareForCommit(*plan.options, batch_bytes));
    } else {
      gate_.wait(kPaused, std::memory_order_acquire);
    }
  }
}

inline bool CommitPipeline::TryReserveLocked(Admission admission, uint64_t count,
                                             const LogRecord* record, uint64_t batch_bytes,
                                             Reservation* reservation) {
  const uint32_t gate = gate_.load(std::memory_order_relaxed);
  const uint64_t oldest = published_tickets_.load(std::memory_order_relaxed);
  const bool is_open =
      gate == kOpen || (admission == Admission::kPauser && gate == kPaused && pauses_ == 1);
  if (!is_open || next_ticket_ - oldest >= kMaxInFlight) [[unlikely]]
    return false;
  assert(last_reserved_ >= visible_seqno_.load(std::memory_order_relaxed));
  reservation->ticket = next_ticket_++;
  reservation->recorders_before = recorded_commits_;
  recorded_commits_ += reservation->has_recorder ? 1 : 0;
  reservation->first_seqno = last_reserved_ + 1;
  last_reserved_ += count;
  reservation->last_seqno = last_reserved_;
  slots_[reservation->ticket % kMaxInFlight] = {reservation->last_seqno, false};
  if (record != nullptr) batch_bytes = record->batch_bytes;
  reserved_bytes_ += batch_bytes;
  if (record != nullptr) {
    last_logged_ = reservation->first_seqno;
    reservation->log = wals_->active();
    const WalSink::Range range = reservation->log->Reserve(record->bytes);
    reservation->log_offset = range.offset;
    reservation->log_end = range.end;
  } else {
    unlogged_bytes_ += batch_bytes;
    unlogged_commits_++;
  }
  return true;
}

Status CommitPipeline::Log(const Reservation& reservation, bool syncs, LogRecord* record) {
  assert(record != nullptr);
  const PerfTimer timer(&PerfContextBase::write_wal_time);
  char header_bytes[kWriteBatchHeaderBytes];
  EncodeFixed64(header_bytes, reservation.first_seqno);
  EncodeFixed32(header_bytes + 8, record->part.count);
  Slice header(header_bytes, sizeof(header_bytes)), body = record->part.records;
  if (!record->frame.empty()) [[unlikely]] {
    record->frame.Close(header, body);
    header = Slice();
    body = record->frame.bytes();
  }
  assert(reservation.log_end > reservation.log_offset);
  Status status =
      reservation.log->Stage({reservation.log_offset, reservation.log_end}, header, body);
  if (status.ok()) {
    status = syncs ? reservation.log->DeliverBeforeSync(reservation.log_end)
                   : reservation.log->Deliver(reservation.log_end);
  }
  if (!status.ok()) host_->NoteLogError(status, reservation.log->log_number());
  return status;
}

namespace {

bool IsUnchanged(const WriteBatchRecord& record, const std::vector<uint64_t>& protection,
                 size_t index) {
  return index < protection.size() && protection[index] == ChecksumOfRecord(record);
}

}  // namespace

// The insertion can fail halfway only in three cases: an exception; a protected batch whose memory
// has changed since it was logged; an in-place update whose old value cannot be read. Other
// failures are impossible: CheckBatch() accepts only kinds that memtables support, lengths in a
// batch have 32 bits, and no other commit has these sequence numbers. Decoding the batch a second
// time costs a Put about 20 of its 4,000 instructions.
Status CommitPipeline::Insert(const CommitPlan& plan, const Reservation& reservation,
                              Leftovers* leftovers) {
  const PerfTimer timer(&PerfContextBase::write_memtable_time);
  SequenceNumber seqno = reservation.first_seqno;
  for (const WriteBatch* batch : plan.inserted) {
    RETURN_IF_ERROR(InsertBatch(plan, reservation, *batch, &seqno, leftovers));
  }
  // Each number belongs to one record or to the records of one sub-batch. The last number may
  // belong to a marker alone.
  assert(plan.sub_batches == nullptr ? seqno == reservation.last_seqno + 1
                                     : seqno <= reservation.last_seqno + 1);
  return Status::OK();
}

[[gnu::always_inline]] inline Status CommitPipeline::InsertBatch(const CommitPlan& plan,
                                                                 const Reservation& reservation,
                                                                 const WriteBatch& batch,
                                                                 SequenceNumber* next_seqno,
                                                                 Leftovers* leftovers) {
  std::optional<EpochGuard> guard(std::in_place);
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  WriteBatchRecord record;
  SequenceNumber seqno = *next_seqno;
  size_t index = 0;  // of the counted record
  uint32_t family = UINT32_MAX;
  InsertTarget target;
  bool updates_in_place = false;  // whether the target's memtable updates values in place
  InsertHint hint;
  const std::vector<uint64_t>& protection = WriteBatchInternal::Protection(batch);
  const auto finish_family = [&] {
    if (target.memtable == nullptr) return;
    target.memtable->AddCounters(&hint);
    host_->NoteMemTableSize(target);
  };
  while (reader.Next(&record)) {
    if (!record.IsCounted()) continue;
    if (plan.sub_batches != nullptr) [[unlikely]]
      seqno = *next_seqno + plan.sub_batches->IndexAt(reader.record_offset());
    if (!protection.empty() && !IsUnchanged(record, protection, index)) [[unlikely]] {
      finish_family();
      return RefuseChanged(record, seqno);
    }
    record.DropWriteTime();
    if (record.family != family || IsEpochOver(index)) {
      finish_family();
      if (IsEpochOver(index)) [[unlikely]]
        RenewEpoch(&guard);
      family = record.family;
      host_->FindInsertTarget(family, &target);
      updates_in_place = target.memtable != nullptr && target.memtable->UpdatesInPlace();
      if (plan.prepared_log != nullptr && target.memtable != nullptr) [[unlikely]] {
        target.memtable->NotePreparedLog(*plan.prepared_log);
      }
    }
    // Null: the family was dropped after the check of the batch. Its records are skipped, as in a
    // replay.
    if (target.memtable != nullptr) {
      const bool needs_order =
          updates_in_place || (record.type == kTypeMerge && plan.sub_batches == nullptr &&
                               IsFoldDue(record, seqno, target));
      const Status added =
          needs_order ? InsertInOrder(reservation, seqno, record, target, &hint, leftovers, &guard)
                      : target.memtable->Add(seqno, record.type, record.key, record.value, &hint);
      if (!added.ok()) [[unlikely]] {
        assert(needs_order);  // otherwise the checksum has been verified already
        finish_family();
        return added;
      }
    }
    index++;
    seqno++;
  }
  finish_family();
  if (!protection.empty()) [[unlikely]] {
    RETURN_IF_ERROR(reader.status());
    if (index != WriteBatchInternal::Count(batch)) return RefuseChanged(record, seqno);
  }
  *next_seqno = seqno;
  return Status::OK();
}

[[gnu::cold]] Status CommitPipeline::RefuseChanged(const WriteBatchRecord& record,
                                                   SequenceNumber seqno) {
  return Status::Corruption(
      StrCat("write batch: the update with sequence number ", seqno, " of column family ",
             record.family, " differs from its checksum; it was whole before it was logged"));
}

[[gnu::cold]] [[gnu::noinline]] void CommitPipeline::RenewEpoch(std::optional<EpochGuard>* guard) {
  guard->reset();
  guard->emplace();
}

// Whether the memtable holds as many consecutive newest operands of the key as the options allow.
bool CommitPipeline::IsFoldDue(const WriteBatchRecord& record, SequenceNumber seqno,
                               const InsertTarget& target) {
  if (target.max_successive_merges == 0) return false;
  const LookupKey key(record.key, seqno, target.memtable->comparator().order());
  return target.memtable->HasOperandsOnTop(key, target.max_successive_merges);
}

// Inserts an update that depends on the previous value of its key. All earlier commits must be
// visible first, so this function waits for them. It leaves the epoch for the wait; the memtable
// stays alive because this commit is in flight.
Status CommitPipeline::InsertInOrder(const Reservation& reservation, SequenceNumber seqno,
                                     WriteBatchRecord record, const InsertTarget& target,
                                     InsertHint* hint, Leftovers* leftovers,
                                     std::optional<EpochGuard>* guard) {
  assert(guard != nullptr);
  MemTable* const memtable = target.memtable;
  guard->reset();
  const ScopeExit enter([guard] { guard->emplace(); });
  if (reservation.ticket > 0) AwaitVisible(reservation.ticket - 1);
  if (memtable->UpdatesInPlace() && IsPut(record)) {
    return PutInPlace(record, seqno, memtable, hint, [&](std::optional<std::string>* value) {
      return host_->ValueBefore(record, seqno, &leftovers->pins, value);
    });
  }
  if (record.type == kTypeMerge &&
      (!memtable->UpdatesInPlace() || IsFoldDue(record, seqno, target))) {
    FoldOperand(seqno, &record, leftovers);
  }
  return memtable->Add(seqno, record.type, record.key, record.value, hint);
}

// Turns the record into a put if its operand can be merged now. The log keeps the operand; a replay
// has the same result.
void CommitPipeline::FoldOperand(SequenceNumber seqno, WriteBatchRecord* record,
                                 Leftovers* leftovers) {
  assert(leftovers != nullptr);
  assert(record->type == kTypeMerge);
  std::optional<FoldedOperand> folded = host_->MergeNow(*record, seqno, &leftovers->pins);
  // Otherwise the operand is inserted as it is, and a read merges it later.
  if (!folded.has_value()) return;
  leftovers->folded = std::move(folded->value);
  record->type = folded->type;
  record->value = leftovers->folded;
}

void CommitPipeline::Publish(const Reservation& reservation) {
  order_lock_.Lock();
  Slot& slot = slots_[reservation.ticket % kMaxInFlight];
  assert(!slot.is_complete && slot.last_seqno == reservation.last_seqno);
  slot.is_complete = true;
  uint64_t head = published_tickets_.load(std::memory_order_relaxed);
  assert(head <= reservation.ticket && reservation.ticket < next_ticket_);
  if (head != reservation.ticket) {
    order_lock_.Unlock();
    return;
  }
  SequenceNumber visible = 0;
  for (; head != next_ticket_ && slots_[head % kMaxInFlight].is_complete; head++) {
    visible = slots_[head % kMaxInFlight].last_seqno;
  }
  assert(visible >= visible_seqno_.load(std::memory_order_relaxed));
  visible_seqno_.store(visible, std::memory_order_release);
  published_tickets_.store(head, std::memory_order_release);
  const bool has_sleepers = sleepers_ > 0;
  order_lock_.Unlock();
  if (!has_sleepers) [[likely]]
    return;
  wakes_.fetch_add(1, std::memory_order_release);
  wakes_.notify_all();
}

// Most waits are for a writer in the middle of its insertion, so the function spins briefly before
// it sleeps.
void CommitPipeline::AwaitVisible(uint64_t ticket) {
  constexpr int kSpins = 200;
  for (int i = 0; i < kSpins; i++) {
    if (published_tickets_.load(std::memory_order_acquire) > ticket) return;
    SpinPause();
  }
  SleepUntilVisible(ticket);
}

// Both sides use order_lock_: either the publisher sees the sleeper in sleepers_, or the sleeper
// sees that the ticket is published. wakes_ is read before the lock is released, so a wake-up in
// between changes the word and the futex wait returns at once.
void CommitPipeline::SleepUntilVisible(uint64_t ticket) {
  while (true) {
    uint32_t wakes_seen = 0;
    {
      SpinLockGuard guard(&order_lock_);
      if (published_tickets_.load(std::memory_order_relaxed) > ticket) return;
      ++sleepers_;
      wakes_seen = wakes_.load(std::memory_order_relaxed);
    }
    wakes_.wait(wakes_seen, std::memory_order_acquire);
    SpinLockGuard guard(&order_lock_);
    --sleepers_;
  }
}

void CommitPipeline::ChangeGate(uint32_t set, uint32_t clear) {
  // An exchange: notify_all() must not read the number of waiters before it.
  gate_.exchange((gate_.load(std::memory_order_relaxed) | set) & ~clear);
}

void CommitPipeline::Pause() {
  uint64_t last_ticket = 0;
  {
    SpinLockGuard guard(&order_lock_);
    pauses_++;
    ChangeGate(/*set=*/kPaused, /*clear=*/0);
    last_ticket = next_ticket_;
  }
  if (last_ticket > 0) AwaitVisible(last_ticket - 1);
}

void CommitPipeline::Resume() {
  {
    SpinLockGuard guard(&order_lock_);
    assert(pauses_ > 0);
    if (--pauses_ > 0) return;
    ChangeGate(/*set=*/0, /*clear=*/kPaused);
  }
  gate_.notify_all();
}

void CommitPipeline::Shut() {
  {
    SpinLockGuard guard(&order_lock_);
    ChangeGate(/*set=*/kShut, /*clear=*/0);
  }
  gate_.notify_all();  // wakes the commits that wait for the end of a pause
}

void CommitPipeline::Reopen() {
  SpinLockGuard guard(&order_lock_);
  assert((gate_.load(std::memory_order_relaxed) & kShut) != 0);
  ChangeGate(/*set=*/0, /*clear=*/kShut);
}

SequenceNumber CommitPipeline::last_logged_seqno() {
  SpinLockGuard guard(&order_lock_);
  assert(pauses_ > 0);
  return last_logged_;
}

CommitTotals CommitPipeline::totals() {
  SpinLockGuard guard(&order_lock_);
  assert(unlogged_bytes_ <= reserved_bytes_ && unlogged_commits_ <= next_ticket_);
  CommitTotals totals;
  totals.commits = next_ticket_;
  totals.updates = last_reserved_ - start_seqno_;
  totals.bytes = reserved_bytes_;
  totals.logged_commits = next_ticket_ - unlogged_commits_;
  totals.logged_bytes = reserved_bytes_ - unlogged_bytes_;
  return totals;
}

[[gnu::cold]] std::string CommitPipeline::DebugString() {
  SequenceNumber reserved = 0;
  uint64_t tickets = 0;
  int pauses = 0;
  {
    SpinLockGuard guard(&order_lock_);
    reserved = last_reserved_;
    tickets = next_ticket_;
    pauses = pauses_;
  }
  const bool is_shut = (gate_.load(std::memory_order_acquire) & kShut) != 0;
  const bool wants_attention = wants_attention_.load(std::memory_order_acquire);
  std::string text =
      StrCat("commits: ", tickets, " begun, ", published_tickets_.load(std::memory_order_acquire),
             " published; sequence numbers to ", reserved, ", visible to ", visible_seqno());
  if (pauses > 0) StrAppend(&text, ", paused ", pauses, " times");
  return StrCat(text, is_shut ? ", shut" : "", wants_attention ? ", attention wanted" : "", "\n");
}

void CommitPipeline::SkipTo(SequenceNumber seqno) {
  SpinLockGuard guard(&order_lock_);
  assert(pauses_ > 0 && published_tickets_.load(std::memory_order_relaxed) == next_ticket_);
  if (seqno <= last_reserved_) return;
  start_seqno_ += seqno - last_reserved_;  // skipped numbers do not count as updates
  last_reserved_ = seqno;
  visible_seqno_.store(seqno, std::memory_order_release);
}

void CommitPipeline::StartAt(SequenceNumber seqno) {
  SpinLockGuard guard(&order_lock_);
  assert(next_ticket_ == 0 && last_reserved_ <= seqno);
  last_reserved_ = start_seqno_ = seqno;
  visible_seqno_.store(seqno, std::memory_order_release);
}

}  // namespace ashlar
