// SPDX-License-Identifier: Apache-2.0
//
// SstFileTracker is what NewSstFileManager() makes: the sizes of live table files, and a limit on
// their sum. The database tells it of each file. Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/sst_file_manager.h"
#include "util/mutex.h"

namespace ashlar {

class SstFileTracker final : public SstFileManager {
 public:
  SstFileTracker(int64_t delete_rate, double max_trash_ratio)
      : delete_rate_(delete_rate), max_trash_ratio_(max_trash_ratio) {}

  // A file's size, as new or as changed; a file that is gone.
  void OnAddFile(const std::string& path, uint64_t bytes);
  void OnDeleteFile(const std::string& path);
  // Space that running compactions may still need.
  void OnCompactionStart(uint64_t bytes);
  void OnCompactionEnd(uint64_t bytes);

  void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) override;
  void SetCompactionBufferSize(uint64_t compaction_buffer_size) override;
  bool IsMaxAllowedSpaceReached() override;
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override;
  void SetDeleteRateBytesPerSecond(int64_t delete_rate) override;
  double GetMaxTrashDBRatio() override;
  void SetMaxTrashDBRatio(double ratio) override;
  uint64_t GetTotalTrashSize() override { return 0; }
  void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) override;

 private:
  Mutex mutex_{LockRank::kLeaf};
  std::unordered_map<std::string, uint64_t> files_ GUARDED_BY(mutex_);
  uint64_t total_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t max_bytes_ GUARDED_BY(mutex_) = 0;  // 0 = no limit
  uint64_t compaction_buffer_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t compaction_reserved_bytes_ GUARDED_BY(mutex_) = 0;
  int64_t delete_rate_ GUARDED_BY(mutex_);
  double max_trash_ratio_ GUARDED_BY(mutex_);
  std::shared_ptr<Statistics> statistics_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
