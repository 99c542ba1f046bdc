// SPDX-License-Identifier: Apache-2.0
//
// Functions that build and parse the names in a backup directory. All names are relative to it:
//
//   meta/7                        lists the files of backup 7, which exists iff this file exists
//   meta/.7.tmp                   the same file while it is written or the backup is deleted
//   private/7/                    MANIFEST, CURRENT, OPTIONS and WALs of backup 7
//   shared_checksum/000009_s<session id>_1001.sst    a table, shared by several backups
//   shared_checksum/.<name>.tmp                      the same file while it is copied
//   shared/000009.sst             a table if share_files_with_checksum is false
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ashlar/types.h"
#include "ashlar/utilities/backup_engine.h"

namespace ashlar {

inline constexpr std::string_view kMetaDir = "meta";
inline constexpr std::string_view kPrivateDir = "private";
inline constexpr std::string_view kSharedDir = "shared";
inline constexpr std::string_view kSharedChecksumDir = "shared_checksum";

// In calls: the newest backup that can be restored. No backup has this id.
inline constexpr BackupID kLatestBackupId = 0xfffffffe;

// The names of the meta file of a backup, of the same file while it is written or retired, and of
// the directory with the files that only this backup has.
std::string MetaName(BackupID id);
std::string MetaTempName(BackupID id);
std::string PrivateDirName(BackupID id);

// "shared_checksum/x" -> "shared_checksum/.x.tmp"
std::string TempNameOf(const std::string& shared_name);
// Whether TempNameOf() or MetaTempName() can return a path with this base name.
bool IsTempName(std::string_view base_name);

// A decimal number from 1 to kLatestBackupId - 1 without leading zeros.
std::optional<BackupID> ParseBackupId(std::string_view name);

// The name of the file in the database: its base name without the part from the first '_' to the
// last '.'.
std::string DatabaseNameOf(std::string_view backup_name);
// Whether the file is in one of the two directories of shared files.
bool IsSharedName(std::string_view backup_name);
// Whether DatabaseNameOf() of this name is the name of a database file.
bool IsNameOfBackupFile(const std::string& base_name);

// Facts about a table or blob file that its name in shared_checksum/ can contain.
struct FileIdentityForName {
  std::string database_name;  // "000009.sst"
  FileType type = kTableFile;
  uint64_t bytes = 0;
  std::string session_id;       // of the session that created a table; empty = unknown
  std::optional<uint32_t> crc;  // CRC-32C of the file, if known
};

// Whether the name contains the CRC of the file, which must then be known.
bool NameNeedsCrc(const FileIdentityForName& file, BackupEngineOptions::ShareFilesNaming naming);
// The name in shared_checksum/.
std::string SharedChecksumName(const FileIdentityForName& file,
                               BackupEngineOptions::ShareFilesNaming naming);

// The session id in a name in shared_checksum/: the 20 characters after "_s".
std::optional<std::string> SessionIdIn(std::string_view backup_name);

}  // namespace ashlar
