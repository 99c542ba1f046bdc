// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: a copy of a database at one moment that can be opened as a database. Files are hard
// links where possible.
//
//   Checkpoint* checkpoint;
//   Status s = Checkpoint::Create(db, &checkpoint);
//   if (s.ok()) s = checkpoint->CreateCheckpoint("/data/copy");
//   delete checkpoint;
//
// Threads: one at a time per Checkpoint object. The database can be used meanwhile.
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

// Options that the engines for checkpoints and for backups share.
struct CheckpointOrBackupEngineOptions {
  // The log for messages of the engine; not owned. nullptr = the info log of the database.
  Logger* info_log = nullptr;
  // Bytes per read and write; 0 = the burst size of the rate limiter, or 5 MiB without one.
  uint64_t io_buffer_size = 0;
  // Maximum bytes per second that are written, 0 = no limit. Ignored if backup_rate_limiter is set,
  // which also limits reads if its mode includes them.
  uint64_t backup_rate_limit = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter{nullptr};
  // Number of files that are copied at the same time; less than 1 means 1.
  int max_background_operations = 1;
};

// Options of CheckpointEngine::Open().
struct CheckpointEngineOptions : public CheckpointOrBackupEngineOptions {
  // Create hard links where possible; false = copy every file.
  bool use_link_file_when_available = true;
};

// Options of one call that the two engines share.
struct CreateCheckpointOrBackupOptions {
  // Give the threads that copy files the priority below, if it is lower than theirs.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

// Options of CheckpointEngineBase::CreateCheckpoint().
struct CreateCheckpointOptions : public CreateCheckpointOrBackupOptions {
  // Flush first if the WALs have at least this many bytes: 0 = always, UINT64_MAX = never. With
  // DBOptions::allow_2pc the flush always happens.
  uint64_t log_size_for_flush = 0;
  // The families to copy; empty = all.
  std::vector<ColumnFamilyHandle*> column_families;
};

// The interface of CheckpointEngine.
class ASHLAR_EXPORT CheckpointEngineBase {
 public:
  CheckpointEngineBase() = default;
  virtual ~CheckpointEngineBase() = default;
  CheckpointEngineBase(const CheckpointEngineBase&) = delete;
  CheckpointEngineBase& operator=(const CheckpointEngineBase&) = delete;

  // As for the functions of Checkpoint below.
  virtual IOStatus CreateCheckpoint(DB* source_db, const std::string& destination_dir,
                                    uint64_t* sequence_number_ptr = nullptr,
                                    const CreateCheckpointOptions& options = {}) = 0;
  virtual IOStatus ExportColumnFamily(DB* source_db, ColumnFamilyHandle* handle,
                                      const std::string& destination_dir,
                                      ExportImportFilesMetaData** out_metadata,
                                      const CreateCheckpointOptions& options = {}) = 0;
};

// Creates checkpoints of any number of databases, with several threads and a limit of the rate that
// all calls share. Files that can be linked are linked, unless the options forbid it; exports copy
// file by file. Threads: any.
class ASHLAR_EXPORT CheckpointEngine : public CheckpointEngineBase {
 public:
  // InvalidArgument if the result pointer is null.
  static Status Open(const CheckpointEngineOptions& options,
                     std::unique_ptr<CheckpointEngine>* out_checkpoint_engine);
};

// Creates checkpoints of one database.
class ASHLAR_EXPORT Checkpoint {
 public:
  // Creates an object for checkpoints of `db`. The caller deletes it before the database.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);
  virtual ~Checkpoint() {}

  // Copies the database to a directory that must not exist (InvalidArgument) and whose parent must
  // exist. Tables become hard links if both directories are on the same file system. Flushes first
  // if the WALs have at least log_size_for_flush bytes: 0 = always, UINT64_MAX = never; with
  // DBOptions::allow_2pc always. If sequence_number_ptr is not null, it receives a sequence number
  // up to which the copy is complete. After a crash, the directory checkpoint_dir + ".tmp" may
  // remain; the next call removes it.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr);
  // The same for the default family and those in column_families only; empty = all families. The
  // copy is opened with exactly these families, and its OPTIONS file names no others.
  // InvalidArgument if a handle is null, of another database, or of a family that was dropped.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr);

  // Flushes one family, links or copies its tables and blob files to a new directory, and describes
  // the tables in **metadata, which the caller deletes; see DB::CreateColumnFamilyWithImport().
  // Blob files must stay beside the tables, with their names. Like a checkpoint, the directory
  // appears only when it is complete; a crash may leave export_dir + ".tmp". Busy while
  // transactions of WRITE_PREPARED or WRITE_UNPREPARED are undecided: their data would be visible
  // in the copy.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata);
};

}  // namespace ashlar
