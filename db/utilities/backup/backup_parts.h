// SPDX-License-Identifier: Apache-2.0
//
// BackupParts are the objects of an engine that its operations use. The engine owns them.
#pragma once

#include <atomic>

#include "ashlar/env.h"
#include "ashlar/utilities/backup_engine.h"
#include "db/utilities/backup/backup_catalog.h"
#include "db/utilities/backup/file_identities.h"
#include "db/utilities/copy/copy_pool.h"

namespace ashlar {

struct BackupParts {
  const BackupEngineOptions* options = nullptr;  // default values are filled in
  BackupDirectory directory;
  // The Envs and file systems must outlive the engine.
  Env* backup_env = nullptr;
  FileSystem* db_fs = nullptr;  // the file system of restored databases
  // Thread-safe; the backups of the directory.
  BackupCatalog* catalog = nullptr;
  FileIdentities* identities = nullptr;
  // The threads that copy and verify, shared by all operations of the engine.
  CopyPool* pool = nullptr;
  // Set by StopBackup(); copies look at it after each piece.
  const std::atomic<bool>* is_stopped = nullptr;
  Logger* info_log = nullptr;  // may be null
};

}  // namespace ashlar
