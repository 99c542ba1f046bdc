// SPDX-License-Identifier: Apache-2.0
//
// CheckpointMaker makes checkpoints and exports of one database; Checkpoint and CheckpointEngine
// differ only in its settings.
//
// Everything is made in dir.tmp and renamed when it is durable, so that a crash leaves either
// nothing under the final name or a complete copy:
//
//   keep obsolete files -> list what is live -> link tables and blob files, copy the rest
//   -> sync -> rename -> sync
//
// The database continues meanwhile: the MANIFEST and the current WAL are cut at the lengths that
// they had when the list was made, and tables and blob files never change.
//
// Threads: one at a time per object; the settings may be shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "ashlar/port_defs.h"
#include "ashlar/status.h"
#include "db/utilities/copy/file_copier.h"

namespace ashlar {

class CopyPool;

struct CheckpointSettings {
  CopySettings copy;         // without the statistics, which are those of the database
  bool may_link = true;      // false: every file is copied
  CopyPool* pool = nullptr;  // copies the files; null: the calling thread does
  std::optional<CpuPriority> cpu_priority = std::nullopt;  // of the threads of the pool
};

class CheckpointMaker {
 public:
  // The database outlives the object.
  CheckpointMaker(DB* db, const CheckpointSettings& settings);

  struct Request {
    std::string dir;  // must not exist; its parent must
    // 0: always flush first; UINT64_MAX: only with allow_2pc, which always does
    uint64_t log_size_for_flush = 0;
    // The families to copy besides the default one; empty: all.
    std::vector<ColumnFamilyHandle*> families;
  };
  // `*seqno`, unless it is null, becomes a number up to which the copy is complete.
  Status MakeCheckpoint(const Request& request, SequenceNumber* seqno);
  // Copies the tables and the blob files of one family. The caller deletes `**metadata`.
  Status ExportFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                      ExportImportFilesMetaData** metadata);

 private:
  Status FillDirectory(const Request& request, const std::string& dir);
  Status ExportFiles(ColumnFamilyHandle* handle, const std::string& unfinished,
                     const std::string& dir, ExportImportFilesMetaData* exported);

  DB* const db_;
  FileSystem* const fs_;  // of db_
  CheckpointSettings settings_;
};

}  // namespace ashlar
