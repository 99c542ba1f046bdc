// SPDX-License-Identifier: Apache-2.0
//
// Deleting backups, and what is left of backups that were not completed or not wholly deleted.
//
// A backup is deleted by renaming its meta file; only when that is durable its files go. A crash
// leaves it whole, or as garbage. Nothing that the meta file of any backup names is garbage, also
// where the backup itself is damaged; and while there is a meta file that cannot be read, or that
// is of a newer schema, nothing is.
//
// Threads: one at a time for each directory, and nobody restores what is deleted.
#pragma once

#include "db/utilities/backup/backup_parts.h"

namespace ashlar {

// NotFound without such a backup. After other errors it is gone if the catalog no longer has it,
// and the rest of it is garbage.
Status DeleteBackupFiles(const BackupParts& parts, BackupID id);

// Goes on after an error, and returns the first one. NotSupported or an I/O error that names a meta
// file: there is one that keeps everything. Names that no engine gives are left alone.
Status CollectBackupGarbage(const BackupParts& parts);

}  // namespace ashlar
