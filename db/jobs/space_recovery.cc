// SPDX-License-Identifier: Apache-2.0
//
// What a database does when the SstFileManager, which watches the free space, finds some.
#include "db/jobs/space_recovery.h"

#include <cassert>
#include <optional>

#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "util/statistics/statistics.h"

namespace ashlar {

namespace {

constexpr uint64_t kBytesOfLog = 1 << 20;  // more than a new log allocates

// A file system that cannot tell its free space does not prevent the attempt.
bool HasFreeBytes(const DbCore& core, const std::string& dir, uint64_t bytes) {
  uint64_t free_bytes = 0;
  const IOStatus status = core.environment.fs->GetFreeSpace(dir, IOOptions(), &free_bytes, nullptr);
  return !status.ok() || free_bytes >= bytes;
}

// Whether there is space for the log that a recovery creates, if logs have a directory of their
// own, which may be on another disk.
bool HasSpaceForLog(const DbCore& core) {
  const DbPaths& paths = core.paths;
  return paths.wal_dir == paths.dir || HasFreeBytes(core, paths.wal_dir, kBytesOfLog);
}

// A safe estimate of the space that a recovery writes, in bytes: all memtables, uncompressed.
uint64_t BytesToRecover(DbCore* core) {
  assert(core != nullptr);
  uint64_t bytes = kBytesOfLog;  // for a log, a MANIFEST record, and the overhead of tables
  MutexLock lock(&core->mutex);
  for (const ColumnFamilyData* family : core->families.All()) {
    bytes += family->mem()->raw_bytes();
    for (const ImmutableMemTable& immutable : family->immutables())
      bytes += immutable.mem->raw_bytes();
  }
  return bytes;
}

}  // namespace

bool HasSpaceToRecover(DbCore* core) {
  assert(core != nullptr);
  return HasSpaceForLog(*core) && HasFreeBytes(*core, core->paths.dir, BytesToRecover(core));
}

void SpaceRecovery::OnDiskFull() {
  is_disk_full_.store(true, std::memory_order_release);
  if (core_->resources.space->watch()->Await(this)) return;
  Warn(core_->services.info_log, "no thread to wait for free space; DB::Resume() is needed");
  LeaveToResume(core_);
}

// Only the least is kept: as soon as it fits, the compactions of all families are picked again, and
// those that still do not fit are refused anew.
void SpaceRecovery::OnNoRoomForCompaction(uint64_t bytes) {
  assert(bytes > 0);
  uint64_t least = refused_bytes_.load(std::memory_order_relaxed);
  while ((least == 0 || bytes < least) &&
         !refused_bytes_.compare_exchange_weak(least, bytes, std::memory_order_release,
                                               std::memory_order_relaxed)) {
  }
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
  if (free_bytes < BytesToRecover(core_) || !HasSpaceForLog(*core_)) return false;
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

// Queues the compactions of all families again when the least one that was refused has room. True:
// nothing is left to do.
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
