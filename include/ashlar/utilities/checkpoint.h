// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: openable copies of a database at one moment, made of hard links where possible.
//
//   Checkpoint* checkpoint;
//   Status s = Checkpoint::Create(db, &checkpoint);
//   if (s.ok()) s = checkpoint->CreateCheckpoint("/data/copy");
//   delete checkpoint;
//
// Threads: a checkpoint object may be used by one thread at a time; the database goes on as usual.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/io_status.h"
#include "ashlar/port_defs.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
class Logger;
class RateLimiter;
struct ExportImportFilesMetaData;
struct LiveFileMetaData;

// What the engines for checkpoints and backups have in common.
struct CheckpointOrBackupEngineOptions {
  // Null: the info log of the database.
  Logger* info_log = nullptr;
  // Bytes per read and write; 0 lets the engine choose.
  uint64_t io_buffer_size = 0;
  // Bytes per second, 0 for no limit; or a limiter, which then counts.
  uint64_t backup_rate_limit = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter{nullptr};
  // Threads that copy files.
  int max_background_operations = 1;
};

struct CheckpointEngineOptions : public CheckpointOrBackupEngineOptions {
  // False copies every file.
  bool use_link_file_when_available = true;
};

struct CreateCheckpointOrBackupOptions {
  // Give the copying threads the priority below, if that is lower than theirs.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

struct CreateCheckpointOptions : public CreateCheckpointOrBackupOptions {
  // Flush first if the WALs have at least so many bytes: 0 always, UINT64_MAX never.
  uint64_t log_size_for_flush = 0;
  // Only these families; none means all.
  std::vector<ColumnFamilyHandle*> column_families;
};

// Makes checkpoints of any database with several threads.
class ASHLAR_EXPORT CheckpointEngineBase {
 public:
  CheckpointEngineBase() = default;
  virtual ~CheckpointEngineBase() = default;
  CheckpointEngineBase(const CheckpointEngineBase&) = delete;
  CheckpointEngineBase& operator=(const CheckpointEngineBase&) = delete;

  // As the members of Checkpoint below.
  virtual IOStatus CreateCheckpoint(DB* source_db, const std::string& destination_dir,
                                    uint64_t* sequence_number_ptr = nullptr,
                                    const CreateCheckpointOptions& options = {}) = 0;
  virtual IOStatus ExportColumnFamily(DB* source_db, ColumnFamilyHandle* handle,
                                      const std::string& destination_dir,
                                      ExportImportFilesMetaData** out_metadata,
                                      const CreateCheckpointOptions& options = {}) = 0;
};

class ASHLAR_EXPORT CheckpointEngine : public CheckpointEngineBase {
 public:
  // NotSupported so far.
  static Status Open(const CheckpointEngineOptions& options,
                     std::unique_ptr<CheckpointEngine>* out_checkpoint_engine);
};

class ASHLAR_EXPORT Checkpoint {
 public:
  // The caller deletes the result, before the database.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);
  virtual ~Checkpoint() {}

  // Copies the database to a directory that must not exist (InvalidArgument) and whose parent must.
  // Table files become hard links if the file systems are the same. Flushes first if the WALs have
  // at least log_size_for_flush bytes (0: always; UINT64_MAX: never). *sequence_number_ptr, if not
  // null, gets a sequence number that the copy certainly contains. Left over after a crash:
  // checkpoint_dir + ".tmp", which the next call removes.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr);
  // The same with only these families. NotSupported so far, but with none, which means all.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr);

  // Flushes one family, links or copies its table files to a new directory and describes them in
  // **metadata, which the caller deletes, for DB::CreateColumnFamilyWithImport. Like a checkpoint
  // it appears whole, and leaves export_dir + ".tmp" behind in a crash.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata);
};

}  // namespace ashlar
