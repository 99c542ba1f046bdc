// SPDX-License-Identifier: Apache-2.0
//
// Writes: every one is a batch for the commit pipeline.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/write_batch.h"
#include "db/db_impl.h"
#include "db/options/options_check.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "env/rate_limiter.h"
#include "util/statistics/statistics.h"
#include "util/threads/epoch.h"
#include "util/threads/thread_object.h"

namespace ashlar {
namespace {

// The batch of a single update: one per thread, used again and again, so that small updates
// allocate nothing. It does not keep the memory of a large one.
class ScratchBatch {
 public:
  explicit ScratchBatch(const WriteOptions& options) : scratch_(&ThreadObject<Scratch>::Get()) {
    // A callback of an update that is under way makes one itself.
    if (scratch_->is_in_use) [[unlikely]]
      scratch_ = new Scratch{.is_nested = true};
    scratch_->is_in_use = true;
    assert(scratch_->batch->Count() == 0);  // whoever had it before left nothing in it
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
  // An update of so many bytes costs more than the allocation of its batch.
  static constexpr size_t kMaxKeptBytes = 64 * 1024;
  struct Scratch {
    std::optional<WriteBatch> batch{std::in_place};
    bool is_in_use = false;
    bool is_nested = false;  // of one update only
  };
  Scratch* scratch_;
};

// The updates of families that exist, if there are others: none of those may reach the log, for a
// recovery would take the MANIFEST for too old.
std::optional<WriteBatch> WithoutMissingFamilies(const WriteBatch& batch,
                                                 const FamilySet& families) {
  EpochGuard guard;
  const Slice contents = WriteBatchInternal::Contents(batch);
  WriteBatchReader reader(contents);
  WriteBatchRecord record;
  std::string kept(contents.data(), std::min(contents.size(), kWriteBatchHeaderBytes));
  uint32_t missing = 0;
  while (reader.Next(&record)) {
    if (record.IsCounted() && families.Find(record.family) == nullptr) {
      missing++;
      continue;
    }
    kept.append(contents.data() + reader.record_offset(),
                reader.next_offset() - reader.record_offset());
  }
  if (missing == 0 || !reader.status().ok()) return std::nullopt;
  assert(missing <= WriteBatchInternal::Count(batch));
  WriteBatch result(std::move(kept));
  WriteBatchInternal::SetCount(&result, WriteBatchInternal::Count(batch) - missing);
  return result;
}

}  // namespace

Status DBImpl::CheckWritable() const {
  if (core_.mode.is_read_only) {
    return Status::NotSupported("the database is open for reading only", core_.paths.dir);
  }
  return Status::OK();
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Put(handle, key, value));
  return Write(options, batch.get());
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& ts, const Slice& value) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Put(handle, key, ts, value));
  return Write(options, batch.get());
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Delete(handle, key));
  return Write(options, batch.get());
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                      const Slice& ts) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Delete(handle, key, ts));
  return Write(options, batch.get());
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->SingleDelete(handle, key));
  return Write(options, batch.get());
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle,
                            const Slice& key, const Slice& ts) {
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->SingleDelete(handle, key, ts));
  return Write(options, batch.get());
}

Status DBImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                     const Slice& value) {
  RETURN_IF_ERROR(CheckHandle(handle));
  if (FamilyOf(handle)->merge_operator() == nullptr) [[unlikely]] {
    return Status::NotSupported("Provide a merge_operator when opening DB");
  }
  ScratchBatch batch(options);
  RETURN_IF_ERROR(batch->Merge(handle, key, value));
  return Write(options, batch.get());
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WriteWithCallback(options, updates, nullptr);
}

Status DBImpl::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                 UserWriteCallback* callback) {
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
  Status status = core_.pipeline->Commit(options, updates, callback);
  if (core_.services.statistics != nullptr && status.ok()) [[unlikely]]
    CountWrite(options, *updates);
  return status;
}

// Before the batch has a place in the log, so that nobody waits behind one who is paced.
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

// A log that fails while this runs may have been replaced at the end, and what it held not be
// durable: so the error state is looked at again.
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

Status DBImpl::UnlockWAL() {
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&core_.mutex);
  if (!write_control_.UnblockWritesLocked()) {
    return Status::Aborted("UnlockWAL without a LockWAL before it");
  }
  return Status::OK();
}

SequenceNumber DBImpl::GetLatestSequenceNumber() const { return VisibleSeqno(); }

}  // namespace ashlar
