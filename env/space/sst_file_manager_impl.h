// SPDX-License-Identifier: Apache-2.0
//
// SstFileManagerImpl is what NewSstFileManager() makes: the sizes of the tables and blob files of
// the databases that share it, a limit on their sum, their deletion in its own time, and a watch
// for those that ran out of space.
//
// A file that is to be deleted slowly first gets another name, with ".trash" at its end: whoever
// opens the database next knows by it what it is. Until it is gone it counts as tracked.
//
// Threads: any; none of its locks is held while files are touched or others are called, so those
// functions that touch none may be called under a DB mutex.
// Crash: trash that stays is deleted when its database is opened again.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ashlar/sst_file_manager.h"
#include "env/space/paced_deleter.h"
#include "env/space/space_watch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Whether a file of this name or path is trash.
bool IsTrashName(const std::string& name);

class SstFileManagerImpl final : public SstFileManager {
 public:
  struct Settings {
    double max_trash_ratio = 0.25;
    uint64_t poll_micros = 1'000'000;  // between looks at the free space
  };
  SstFileManagerImpl(PacedDeleterOptions deletions, const Settings& settings);
  ~SstFileManagerImpl() override;

  // Null if it is of somebody else's making.
  static SstFileManagerImpl* From(SstFileManager* manager);

  // A file's size, as new or as changed; a file that is gone, or not to be counted any more.
  void OnAddFile(const std::string& path, uint64_t bytes);
  void OnDeleteFile(const std::string& path);
  // Deletes the file now or, as the rate says, later. A file that is not there is no error.
  Status Delete(const std::string& path);

  // Whether a compaction of so much input fits below the limit, beside those that run: then the
  // space is its own until it gives it back.
  bool ReserveForCompaction(uint64_t bytes);
  void ReleaseReserved(uint64_t bytes);
  bool HasRoomFor(uint64_t bytes) const;

  SpaceWatch* watch() { return &watch_; }
  // Returns when there is no trash.
  void AwaitEmptyTrash() { deleter_.AwaitEmpty(); }

  void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) override;
  void SetCompactionBufferSize(uint64_t compaction_buffer_size) override;
  bool IsMaxAllowedSpaceReached() override;
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override { return deleter_.rate(); }
  void SetDeleteRateBytesPerSecond(int64_t delete_rate) override { deleter_.SetRate(delete_rate); }
  double GetMaxTrashDBRatio() override;
  void SetMaxTrashDBRatio(double ratio) override;
  uint64_t GetTotalTrashSize() override { return deleter_.waiting_bytes(); }
  void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) override;

 private:
  bool IsToBePaced() const;
  // The name it has now; empty: it stays as it was.
  std::string RenameToTrash(const std::string& path);
  void Count(uint32_t ticker) const;
  bool FitsLocked(uint64_t bytes) const REQUIRES(mutex_);

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<Logger> info_log_;

  mutable Mutex mutex_{LockRank::kLeaf};
  std::unordered_map<std::string, uint64_t> files_ GUARDED_BY(mutex_);
  uint64_t total_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t max_bytes_ GUARDED_BY(mutex_) = 0;  // 0 = no limit
  uint64_t compaction_buffer_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t reserved_bytes_ GUARDED_BY(mutex_) = 0;
  double max_trash_ratio_ GUARDED_BY(mutex_);
  std::shared_ptr<Statistics> statistics_ GUARDED_BY(mutex_);

  // Last: their threads, which end first, use all of the above.
  SpaceWatch watch_;
  PacedDeleter deleter_;
};

// Space that a compaction has reserved; given back with the object, at the latest. Nothing without
// a manager. Threads: one at a time.
class SpaceReservation {
 public:
  SpaceReservation() = default;
  SpaceReservation(SpaceReservation&& other) noexcept
      : manager_(std::exchange(other.manager_, nullptr)), bytes_(other.bytes_) {}
  SpaceReservation& operator=(SpaceReservation&& other) noexcept {
    std::swap(manager_, other.manager_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SpaceReservation() { Release(); }

  // False: it does not fit. `manager` may be null, and outlives the object.
  bool Take(SstFileManagerImpl* manager, uint64_t bytes) {
    assert(manager_ == nullptr);
    if (manager == nullptr) return true;
    if (!manager->ReserveForCompaction(bytes)) return false;
    manager_ = manager;
    bytes_ = bytes;
    return true;
  }
  void Release() {
    if (manager_ != nullptr) manager_->ReleaseReserved(bytes_);
    manager_ = nullptr;
  }

 private:
  SstFileManagerImpl* manager_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace ashlar
