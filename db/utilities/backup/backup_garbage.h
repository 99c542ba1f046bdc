// SPDX-License-Identifier: Apache-2.0
//
// Deletion of backups, and of the remains of incomplete backups and deletions (garbage).
//
// A backup is deleted by renaming its meta file. Its files are deleted after the rename is durable,
// so that a crash leaves either the complete backup or garbage. A file that any meta file names is
// not garbage, even if that backup is damaged. While there is a meta file that cannot be read, has
// a newer schema or is one of another engine, no shared file is garbage.
//
// Threads: one at a time for each directory, and not concurrently with a restore.
#pragma once

#include "db/utilities/backup/backup_parts.h"

namespace ashlar {

// NotFound if there is no such backup. After another error the backup is deleted if it is no longer
// in the catalog; its remaining files are garbage.
Status DeleteBackupFiles(const BackupParts& parts, BackupID id);

// Continues after an error and returns the first one. Returns NotSupported or an I/O error without
// deleting anything if there is a meta file with unknown contents. Files with other names than
// those of backups are kept.
Status CollectBackupGarbage(const BackupParts& parts);

}  // namespace ashlar
