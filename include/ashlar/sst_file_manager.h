// SPDX-License-Identifier: Apache-2.0
//
// SstFileManager: the space that table files take, and how fast obsolete ones are deleted. May be
// shared by databases. Thread safe.
//
// So far it tracks files and limits their total size; paced deletion is not built: files are
// deleted at once, whatever the rate. Databases do not use one yet: Options::sst_file_manager is
// refused with NotSupported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/export.h"
#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

class Env;
class Logger;
class Statistics;

class ASHLAR_EXPORT SstFileManager {
 public:
  virtual ~SstFileManager() {}

  // Above it, writes fail with SpaceLimit. 0 = no limit.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Space kept free for compactions that run.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  virtual bool IsMaxAllowedSpaceReached() = 0;
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;
  // Bytes of all tracked files, and each by its path.
  virtual uint64_t GetTotalSize() = 0;
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;
  // 0 = delete at once.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // Share of the database that waiting deletions may take before they are hurried.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  virtual uint64_t GetTotalTrashSize() = 0;
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// The caller owns the result. *status says whether old trash could be deleted.
ASHLAR_EXPORT SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<FileSystem> fs, std::shared_ptr<Logger> info_log = nullptr,
    const std::string& trash_dir = "", int64_t rate_bytes_per_sec = 0,
    bool delete_existing_trash = true, Status* status = nullptr, double max_trash_db_ratio = 0.25,
    uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);
ASHLAR_EXPORT SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<Logger> info_log = nullptr, std::string trash_dir = "",
    int64_t rate_bytes_per_sec = 0, bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25, uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);

}  // namespace ashlar
