// SPDX-License-Identifier: Apache-2.0
//
// SstFileManager: the space that tables and blob files take, and how fast obsolete ones are
// deleted. For DBOptions::sst_file_manager; may be shared by databases, and outlive them. Thread
// safe.
//
// A database that runs out of disk space (NoSpace) while it has one looks once a second whether
// there is space again, and then resumes by itself, unless a listener wants it otherwise
// (EventListener::OnErrorRecoveryBegin).
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

  // A flush or compaction that reaches it is followed by a background error: writes fail with
  // SpaceLimit until DB::Resume(), which needs room. Compactions that would not fit below it are
  // not begun; CompactRange() answers CompactionTooLarge. 0 = no limit.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Space kept free for compactions that run.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  virtual bool IsMaxAllowedSpaceReached() = 0;
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;
  // Bytes of all tracked files, trash included, and each by its path. Those of a database that was
  // closed are tracked no longer.
  virtual uint64_t GetTotalSize() = 0;
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;
  // 0 = delete at once. Else a file is renamed, to its name with ".trash" at the end, and deleted
  // in the background; trash that an earlier process left is deleted when its database is opened.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // Share of the tracked bytes that trash may take; beyond it files are deleted at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  virtual uint64_t GetTotalTrashSize() = 0;
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// The caller owns the result. `env` and `fs` are those of the databases, and outlive it. trash_dir
// is not used any more; what is in it is deleted, and *status says whether that went well. Of files
// above bytes_max_delete_chunk (0: of none) so much is deleted at a time, if they have no other
// name.
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
