// SPDX-License-Identifier: Apache-2.0
//
// The names are described in docs/formats/backup.md.
#include "db/utilities/backup/backup_names.h"

#include <algorithm>
#include <cassert>

#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Naming = BackupEngineOptions::ShareFilesNaming;

// A session id has 20 characters, each a digit or a capital letter.
constexpr size_t kSessionIdLength = 20;

std::string_view BaseOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Whether the name is a path below this directory.
bool IsIn(std::string_view dir, std::string_view name) {
  return name.size() > dir.size() && name.starts_with(dir) && name[dir.size()] == '/';
}

// Without session id the CRC takes its place; blob files never have a session id.
bool UsesSessionId(const FileIdentityForName& file, Naming naming) {
  const auto kind = static_cast<uint32_t>(naming & BackupEngineOptions::kMaskNoNamingFlags);
  return kind == BackupEngineOptions::kUseDbSessionId && file.type == kTableFile &&
         !file.session_id.empty();
}

}  // namespace

std::string MetaName(BackupID id) { return StrCat(kMetaDir, "/", id); }
std::string MetaTempName(BackupID id) { return StrCat(kMetaDir, "/.", id, ".tmp"); }
std::string PrivateDirName(BackupID id) { return StrCat(kPrivateDir, "/", id); }

std::string TempNameOf(const std::string& shared_name) {
  // The dot in front hides the file from everything that looks for names of database files.
  const std::string_view base = BaseOf(shared_name);
  const std::string_view dir(shared_name.data(), shared_name.size() - base.size());
  return StrCat(dir, ".", base, ".tmp");
}

bool IsTempName(std::string_view base_name) {
  return base_name.size() > 5 && base_name.starts_with(".") && base_name.ends_with(".tmp");
}

// Only the canonical form counts: decimal digits without zeros in front, within 32 bits.
std::optional<BackupID> ParseBackupId(std::string_view name) {
  // Ten digits are less than 2^34, so that the sum below cannot overflow.
  if (name.empty() || name.size() > 10 || name.front() == '0') return std::nullopt;
  uint64_t id = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    id = id * 10 + static_cast<uint64_t>(c - '0');
  }
  if (id >= kLatestBackupId) return std::nullopt;
  return static_cast<BackupID>(id);
}

// "000012_s..._345.sst" becomes "000012.sst": the name of the file in a database.
std::string DatabaseNameOf(std::string_view backup_name) {
  const std::string_view base = BaseOf(backup_name);
  // Names of database files contain no '_', so the first one begins what the backup has added.
  const size_t mark = base.find('_');
  const size_t dot = base.rfind('.');
  // A dot before the mark belongs to something else, so the name is returned as it is.
  if (mark == std::string_view::npos || dot == std::string_view::npos || dot < mark) {
    return std::string(base);
  }
  return StrCat(base.substr(0, mark), base.substr(dot));
}

bool IsSharedName(std::string_view backup_name) {
  return IsIn(kSharedChecksumDir, backup_name) || IsIn(kSharedDir, backup_name);
}

bool IsNameOfBackupFile(const std::string& base_name) {
  FileNumber number = 0;
  FileType type = kTempFile;
  return ParseFileName(DatabaseNameOf(base_name), &number, &type);
}

bool NameNeedsCrc(const FileIdentityForName& file, Naming naming) {
  return !UsesSessionId(file, naming);
}

// Files of the same database number can have different contents, so the name also has the session
// or the checksum, and the size.
std::string SharedChecksumName(const FileIdentityForName& file, Naming naming) {
  assert(!file.database_name.empty());
  const size_t dot = file.database_name.rfind('.');
  assert(dot != std::string::npos);
  const std::string_view name(file.database_name);
  const std::string_view stem = name.substr(0, dot), ending = name.substr(dot);
  if (!UsesSessionId(file, naming)) {
    assert(file.crc.has_value());
    return StrCat(kSharedChecksumDir, "/", stem, "_", *file.crc, "_", file.bytes, ending);
  }
  const auto flags = static_cast<uint32_t>(naming & BackupEngineOptions::kMaskNamingFlags);
  const bool has_bytes = (flags & BackupEngineOptions::kFlagIncludeFileSize) != 0;
  return StrCat(kSharedChecksumDir, "/", stem, "_s", file.session_id, has_bytes ? "_" : "",
                has_bytes ? StrCat(file.bytes) : "", ending);
}

// The session id that the name contains, if it is a name of that form.
std::optional<std::string> SessionIdIn(std::string_view backup_name) {
  std::string_view base = BaseOf(backup_name);
  const size_t mark = base.find("_s");
  if (!IsIn(kSharedChecksumDir, backup_name) || mark == std::string_view::npos) return std::nullopt;
  base.remove_prefix(mark + 2);
  // The id ends at the size or at the ending of the file.
  const std::string_view id = base.substr(0, base.find_first_of("_."));
  const bool is_id = id.size() == kSessionIdLength && std::ranges::all_of(id, [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
                     });
  if (!is_id) return std::nullopt;
  return std::string(id);
}

}  // namespace ashlar
