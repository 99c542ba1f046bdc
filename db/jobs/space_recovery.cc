// SPDX-License-Identifier: Apache-2.0
//
// What a database does when the SstFileManager, which watches the free space, finds some.
#include "db/jobs/space_recovery.h"

#include <cassert>
#include <optional>

#include "env/info_log.h"
#include "util/statistics/statistics.h"

namespace ashlar {

namespace {

// A safe estimate of the space that a recovery writes, in bytes: all memtables, uncompressed.
uint64_t BytesToRecover(DbCore* core) {
  assert(core != nullptr);
  uint64_t bytes = 1 << 20;  // for a log, a MANIFEST record, and the overhead of tables
  MutexLock lock(&core->mutex);
  for (const ColumnFamilyData* family : core->families.All()) {
    bytes += family->mem()->raw_bytes();
    for (const ImmutableMemTable& immutable : family->immutables())
      bytes += immutable.mem->raw_bytes();
  }
  return bytes;
}

}  // namespace

// A file system that cannot tell its free space does not prevent the attempt.
bool HasSpaceToRecover(DbCore* core) {
  assert(core != nullptr);
  uint64_t free_bytes = 0;
  const IOStatus status =
      core->environment.fs->GetFreeSpace(core->paths.dir, IOOptions(), &free_bytes, nullptr);
  return !status.ok() || free_bytes >= BytesToRecover(core);
}

void SpaceRecovery::OnDiskFull() {
  is_disk_full_.store(true, std::memory_order_release);
  if (core_->resources.space->watch()->Await(this)) return;
  Warn(core_->services.info_log, "no thread to wait for free space; DB::Resume() is needed");
}

void SpaceRecovery::OnNoRoomForCompaction(uint64_t bytes) {
  assert(bytes > 0);
  // Without a thread to watch the space, the next flush requests compactions anyway.
  refused_bytes_.store(bytes, std::memory_order_release);
  core_->resources.space->watch()->Await(
      this);  // without a thread, the next flush asks for compactions
}

void SpaceRecovery::StopTrying() {
  if (core_->resources.space != nullptr) core_->resources.space->watch()->Forget(this);
}

// True: the watch may forget this database.
bool SpaceRecovery::TryWith(uint64_t free_bytes) {
  if (core_->shutdown.is_background_cancelled()) return true;
  const bool is_resumed = Resume(free_bytes);
  return CompactAgain() && is_resumed;
}

// Tries to recover from a full disk. True: nothing is left to do, because a call of the program has
// resumed the database meanwhile, or a worse error has come that free space does not cure.
bool SpaceRecovery::Resume(uint64_t free_bytes) {
  if (!is_disk_full_.load(std::memory_order_acquire)) return true;
  const Status error = core_->errors.Get();
  if (!error.IsNoSpace() || error.severity() >= Status::kFatalError) {
    is_disk_full_.store(false, std::memory_order_release);
    return true;
  }
  if (free_bytes < BytesToRecover(core_)) return false;
  // If the attempt itself finds the disk full, it sets the flag again.
  is_disk_full_.store(false, std::memory_order_release);
  const std::optional<Status> status = recovery_->RunUnasked(ErrorRecovery::Notify::kSuccess);
  if (status.has_value() && status->ok()) {
    RecordTick(core_->services.statistics.get(), ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
    return true;
  }
  is_disk_full_.store(true, std::memory_order_release);
  return false;
}

// Queues compactions again after one was refused for lack of space. True: nothing is left to do.
bool SpaceRecovery::CompactAgain() {
  uint64_t bytes = refused_bytes_.load(std::memory_order_acquire);
  if (bytes == 0) return true;
  if (!core_->resources.space->HasRoomFor(bytes)) return false;
  // A compaction that was refused meanwhile keeps its entry.
  if (!refused_bytes_.compare_exchange_strong(bytes, 0)) return false;
  MutexLock lock(&core_->mutex);
  for (ColumnFamilyData* family : core_->families.All()) {
    scheduler_->RequestCompactionLocked(family);
  }
  return true;
}

}  // namespace ashlar
