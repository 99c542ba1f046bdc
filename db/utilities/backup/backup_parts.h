// SPDX-License-Identifier: Apache-2.0
//
// BackupParts is what the operations of one engine work with. The engine owns all of it.
#pragma once

#include <atomic>

#include "ashlar/env.h"
#include "ashlar/utilities/backup_engine.h"
#include "db/utilities/backup/backup_catalog.h"
#include "db/utilities/backup/file_identities.h"
#include "db/utilities/copy/copy_pool.h"

namespace ashlar {

struct BackupParts {
  const BackupEngineOptions* options = nullptr;  // settled
  BackupDirectory directory;
  Env* backup_env = nullptr;
  FileSystem* db_fs = nullptr;  // to which backups are restored
  BackupCatalog* catalog = nullptr;
  FileIdentities* identities = nullptr;
  CopyPool* pool = nullptr;
  const std::atomic<bool>* is_stopped = nullptr;
  Logger* info_log = nullptr;  // may be null
};

}  // namespace ashlar
