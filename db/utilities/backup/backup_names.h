// SPDX-License-Identifier: Apache-2.0
//
// Names within a backup directory, built and parsed. All are relative to it:
//
//   meta/7                        what backup 7 consists of: the backup is there iff this file is
//   meta/.7.tmp                   the same while it is written
//   private/7/                    MANIFEST, CURRENT, OPTIONS, logs of backup 7
//   shared_checksum/000009_s<session id>_1001.sst    what several backups may have in common
//   shared_checksum/.<name>.tmp                      the same while it is copied
//   shared/000009.sst             the same where names say nothing of the content
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

// Stands for the newest backup that is not corrupt; no backup has it.
inline constexpr BackupID kLatestBackupId = 0xfffffffe;

std::string MetaName(BackupID id);
std::string MetaTempName(BackupID id);
std::string PrivateDirName(BackupID id);

// "shared_checksum/x" -> "shared_checksum/.x.tmp"
std::string TempNameOf(const std::string& shared_name);
// Whether a name within a directory is one that TempNameOf() or MetaTempName() gives.
bool IsTempName(std::string_view base_name);

// Decimal, without leading zeros, from 1 up.
std::optional<BackupID> ParseBackupId(std::string_view name);

// The file's name in a database: the base name without what lies from its first '_' up to its last
// '.'.
std::string DatabaseNameOf(std::string_view backup_name);
bool IsSharedName(std::string_view backup_name);
// Whether it is the base name of a file that a database has, with or without what names in
// shared_checksum/ have besides.
bool IsNameOfBackupFile(const std::string& base_name);

// What the content of a table or blob file is known by.
struct FileIdentityForName {
  std::string database_name;  // "000009.sst"
  FileType type = kTableFile;
  uint64_t bytes = 0;
  std::string session_id;       // of the table's creator; empty: unknown, or a blob file
  std::optional<uint32_t> crc;  // CRC-32C of the file, if it is known already
};

// Whether the name has the file's CRC in it, which then must be known.
bool NameNeedsCrc(const FileIdentityForName& file, BackupEngineOptions::ShareFilesNaming naming);
// In shared_checksum/.
std::string SharedChecksumName(const FileIdentityForName& file,
                               BackupEngineOptions::ShareFilesNaming naming);

// The session id in a name of shared_checksum/, if it has one: 20 characters behind "_s".
std::optional<std::string> SessionIdIn(std::string_view backup_name);

}  // namespace ashlar
