// SPDX-License-Identifier: Apache-2.0
//
// Each thread takes the next flush in the list.
#include "db/opening/replayed_flushes.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

#include "db/column_family/column_family_data.h"
#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "env/start_thread.h"

namespace ashlar {
namespace {

// Below these sizes an additional table of a family, or the use of threads, does not pay off.
constexpr uint64_t kLeastBytesOfTable = 32 << 20;
constexpr uint64_t kLeastBytesForThreads = 8 << 20;
constexpr size_t kMostThreads = 8;

// The number of threads that can run at the same time.
size_t Processors() {
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

// The bytes of keys and values.
uint64_t RawBytesOf(const std::vector<MemTable*>& memtables) {
  uint64_t bytes = 0;
  for (const MemTable* memtable : memtables) bytes += memtable->raw_bytes();
  return bytes;
}

}  // namespace

// The numbers of new files are protected until the MANIFEST names the files, so that no scan for
// obsolete files deletes them.
void ReplayedFlushes::AddJob(FlushJobOptions job, const ColumnFamilyData* family,
                             VersionEdit* edit) {
  assert(!job.memtables.empty());
  // Code of the program may not run while the database is opened.
  job.merge.merge_operator = nullptr;
  job.new_blob_number = [core = core_] {
    MutexLock lock(&core->mutex);
    const FileNumber number = core->versions->NewFileNumber();
    core->jobs.Protect(number);
    return number;
  };
  flushes_.push_back(
      {.job = std::move(job), .family = family, .edit = edit, .id = core_->jobs.NewJobId()});
}

// Divides many memtables into tables of similar size, so that several threads can write them.
std::vector<MemTable*> ReplayedFlushes::Add(ColumnFamilyData* family, VersionEdit* edit) {
  assert(family != nullptr && edit != nullptr);
  FlushJobOptions whole = BeginFlush(core_, family, FlushScope::kAll);
  std::vector<MemTable*> all = std::move(whole.memtables);
  if (all.empty()) return all;
  const uint64_t bytes = RawBytesOf(all);
  bytes_ += bytes;
  const size_t parts =
      std::clamp<size_t>(bytes / kLeastBytesOfTable, 1, std::min(Processors(), all.size()));
  for (size_t i = 0; i < parts; i++) {
    FlushJobOptions job = whole;
    const auto begin = all.begin() + static_cast<ptrdiff_t>(i * all.size() / parts);
    const auto end = all.begin() + static_cast<ptrdiff_t>((i + 1) * all.size() / parts);
    job.memtables.assign(begin, end);
    if (i > 0) {
      // Tables of one family need different epoch numbers, which order level 0 by age.
      job.table.epoch_number = family->versions()->next_epoch++;
      job.table.file_number = core_->versions->NewFileNumber();
      core_->jobs.Protect(job.table.file_number);
    }
    AddJob(std::move(job), family, edit);
  }
  return all;
}

// After an error the tables that were written are deleted: no MANIFEST names them.
Status ReplayedFlushes::Run() {
  const bool pays = bytes_ >= kLeastBytesForThreads;
  const size_t threads = pays ? std::min(Processors(), flushes_.size()) : 1;
  {
    const MutexUnlock unlock(&core_->mutex);
    RunAll(threads);
  }
  const auto failed = std::find_if(flushes_.begin(), flushes_.end(),
                                   [](const Flush& flush) { return !flush.status.ok(); });
  if (failed == flushes_.end()) {
    for (const Flush& flush : flushes_) DescribeOutput(flush.result, 0, flush.edit);
    return Status::OK();
  }
  for (Flush& flush : flushes_) {
    if (flush.status.ok()) DeleteUnnamedFiles(flush.job.table, &flush.result);
  }
  return failed->status;
}

// The calling thread is one of the threads.
void ReplayedFlushes::RunAll(size_t threads) {
  assert(threads > 0);
  {
    MutexLock lock(&mutex_);
    running_ = threads - 1;
  }
  const auto run = [](void* self) { static_cast<ReplayedFlushes*>(self)->RunHelper(); };
  for (size_t i = 1; i < threads; i++) {
    if (TryStartThread(core_->environment.env, run, this)) continue;
    MutexLock lock(&mutex_);
    running_--;
  }
  TakeFlushes();
  MutexLock lock(&mutex_);
  while (running_ > 0) helper_ended_.Wait();
}

// The main function of an additional thread.
void ReplayedFlushes::RunHelper() {
  TakeFlushes();
  MutexLock lock(&mutex_);
  assert(running_ > 0);
  running_--;
  helper_ended_.SignalAll();
}

// Takes flushes until none is left, or until one has failed.
void ReplayedFlushes::TakeFlushes() {
  while (!has_failed_.load(std::memory_order_relaxed)) {
    const size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= flushes_.size()) return;
    RunOne(&flushes_[i]);
    if (!flushes_[i].status.ok()) has_failed_.store(true, std::memory_order_relaxed);
  }
}

// Listeners are notified of tables, not of flushes.
void ReplayedFlushes::RunOne(Flush* flush) {
  assert(flush != nullptr);
  const FlushNotice told{.job_id = flush->id,
                         .file_number = flush->job.table.file_number,
                         .creation_reason = TableFileCreationReason::kRecovery};
  BlobFileNotifier blob_teller(core_, *flush->family,
                               {.job_id = flush->id, .reason = BlobFileCreationReason::kRecovery});
  flush->job.blob_observer = &blob_teller;
  try {
    NotifyFlushedTableBegun(core_, *flush->family, told);
    flush->status = FlushJob(flush->job).Run(&flush->result);
    NotifyFlushedTable(core_, *flush->family, told, flush->result, flush->status);
  } catch (const std::bad_alloc&) {
    flush->status = Status::MemoryLimit("no memory to write what was replayed");
  }
}

}  // namespace ashlar
