// SPDX-License-Identifier: Apache-2.0
//
// SstFileManagerImpl is the object that NewSstFileManager() returns. It knows the sizes of the
// tables and blob files of all databases that share it, limits their sum, deletes files at a given
// rate, and watches the free space for databases that ran out of it.
//
// A file that waits for its deletion first gets a name that ends in ".trash". The next opening of
// its database recognizes it by this name. The file is tracked until it is deleted.
//
// Threads: any. None of its locks is held during file operations or calls of other objects, so that
// the functions that do neither may be called under a DB mutex.
// Crash: trash that is left is deleted when its database is opened again.
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
  // `max_trash_ratio`: the share of the tracked bytes that may wait for deletion. With more trash,
  // files are deleted at once.
  struct Settings {
    double max_trash_ratio = 0.25;
    uint64_t poll_micros = 1'000'000;  // between two checks of the free space
  };
  // `deletions` also gives the file system and the info log of the manager itself.
  SstFileManagerImpl(PacedDeleterOptions deletions, const Settings& settings);
  ~SstFileManagerImpl() override;

  // `manager` itself, or null if it is of another class.
  static SstFileManagerImpl* From(SstFileManager* manager);

  // OnAddFile() records the size of a file, which may be new or have changed. OnDeleteFile() is for
  // a file that was deleted or that is not to be counted any more.
  void OnAddFile(const std::string& path, uint64_t bytes);
  void OnDeleteFile(const std::string& path);
  // Deletes the file now, or later if a rate is set. It is no error if the file does not exist.
  // After an error the file is still there, under its old name or as trash. Makes file operations.
  Status Delete(const std::string& path);

  // Reserves space for a compaction with `bytes` of input, and returns whether it fits below the
  // limit together with the compactions that run. The space stays reserved until ReleaseReserved().
  bool ReserveForCompaction(uint64_t bytes);
  void ReleaseReserved(uint64_t bytes);
  // Whether a compaction with `bytes` of input would fit now; reserves nothing.
  bool HasRoomFor(uint64_t bytes) const;

  // Owned by this object.
  SpaceWatch* watch() { return &watch_; }
  // Waits until there is no trash.
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
  // Returns the new name, or "" if the file could not be renamed.
  std::string RenameToTrash(const std::string& path);
  // Adds 1 to a ticker of the statistics object, if there is one.
  void Count(uint32_t ticker) const;
  // Whether tracked and reserved bytes, the compaction buffer and `bytes` together stay within the
  // limit.
  bool FitsLocked(uint64_t bytes) const REQUIRES(mutex_);

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<Logger> info_log_;

  mutable Mutex mutex_{LockRank::kLeaf};
  // Sizes in bytes by path. total_bytes_ is their sum.
  std::unordered_map<std::string, uint64_t> files_ GUARDED_BY(mutex_);
  uint64_t total_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t max_bytes_ GUARDED_BY(mutex_) = 0;  // 0 = no limit
  // Space that stays free for compactions, in bytes.
  uint64_t compaction_buffer_bytes_ GUARDED_BY(mutex_) = 0;
  // The sum over the running compactions that reserved space.
  uint64_t reserved_bytes_ GUARDED_BY(mutex_) = 0;
  double max_trash_ratio_ GUARDED_BY(mutex_);
  // Null, or where deletions are counted.
  std::shared_ptr<Statistics> statistics_ GUARDED_BY(mutex_);

  // These are last: their threads use all the other members, and must end before those are
  // destroyed.
  SpaceWatch watch_;
  PacedDeleter deleter_;
};

// Space reserved for a compaction, which the destructor releases at the latest. Without a manager
// it does nothing. One thread at a time.
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

  // Returns false if the space does not fit. `manager` may be null; it outlives this object.
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
