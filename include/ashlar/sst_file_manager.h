// SPDX-License-Identifier: Apache-2.0
//
// SstFileManager tracks the disk space of tables and blob files, and limits the rate at which
// obsolete files are deleted. It is set as DBOptions::sst_file_manager. Several databases may share
// it, and it may outlive them. Thread safe.
//
// If a database with an SstFileManager runs out of disk space (NoSpace), it checks once a second
// whether space is available again and then resumes by itself, unless a listener prevents this
// (EventListener::OnErrorRecoveryBegin()).
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

// Tracks disk space and limits file deletion. Created by NewSstFileManager().
class ASHLAR_EXPORT SstFileManager {
 public:
  virtual ~SstFileManager() {}

  // Sets a limit in bytes on the space of all tracked files; 0 = no limit. When a flush or
  // compaction reaches it, a background error follows: writes fail with SpaceLimit until
  // DB::Resume() is called, which requires free space. Compactions that would exceed the limit are
  // not started; CompactRange() and CompactFiles() return CompactionTooLarge then.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Sets the number of bytes below that limit that are kept free for running compactions. Without a
  // limit it has no effect.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  // Whether the limit has been reached; the second form also counts the outputs of running
  // compactions.
  virtual bool IsMaxAllowedSpaceReached() = 0;
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;
  // Total bytes of all tracked files, including trash, and the size of each file by path. Files of
  // a closed database are not tracked any more.
  virtual uint64_t GetTotalSize() = 0;
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;
  // The rate in bytes per second; 0 = files are deleted at once. Otherwise a file gets the suffix
  // ".trash" and is deleted in the background. Trash that an earlier process has left is deleted
  // when its database is opened.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // Maximum ratio of trash to all tracked bytes. Above it, files are deleted at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  virtual uint64_t GetTotalTrashSize() = 0;
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// Creates a manager, which the caller owns. `env` and `fs` must be those of the databases and must
// outlive it. trash_dir is a directory that older releases used: its contents are deleted, and
// *status receives the result. Files larger than bytes_max_delete_chunk are deleted in pieces of
// that size if they have no other hard link; 0 = always as a whole. A piece is cut off the end of a
// file that other processes may have open. So if secondaries (DB::OpenAsSecondary()) read the
// directory and files are deleted at a limited rate, this must be 0: reads of a cut file fail with
// Corruption and, if it is memory-mapped (allow_mmap_reads), may end the process. A follower has
// hard links, and needs nothing.
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
