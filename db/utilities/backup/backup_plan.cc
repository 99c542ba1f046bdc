// SPDX-License-Identifier: Apache-2.0
//
// The names of shared files are determined by the threads of the pool, because files may have to be
// read for it.
#include "db/utilities/backup/backup_plan.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "ashlar/db.h"
#include "db/utilities/backup/backup_names.h"
#include "db/utilities/copy/appended_edits.h"
#include "db/utilities/copy/decided_tables.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "table/format/table_property_names.h"
#include "table/sst/read/table_identity.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool IsSharedKind(FileType type) { return type == kTableFile || type == kBlobFile; }

// Whether two texts name one directory. Options may spell it in several ways.
bool IsOneDirectory(FileSystem* fs, const std::string& dir, const std::string& other) {
  return WithoutTrailingSlashes(dir) == WithoutTrailingSlashes(other) ||
         IsSameDirectory(fs, dir, fs, other);
}

// A backup restores all files to one directory, where files of different directories could have the
// same name.
Status CheckOneDirectory(FileSystem* fs, const std::vector<LiveFileStorageInfo>& files) {
  std::set<std::string_view> spellings;  // of the one directory
  for (const LiveFileStorageInfo& file : files) {
    // Logs may be in a directory of their own, because a restore can put them there again.
    if (file.file_type == kWalFile || spellings.contains(file.directory)) continue;
    const std::string first(spellings.empty() ? file.directory : *spellings.begin());
    if (!IsOneDirectory(fs, first, file.directory)) {
      return Status::NotSupported("backup: the database has files in several directories",
                                  StrCat(first, ", ", file.directory));
    }
    spellings.insert(file.directory);
  }
  return Status::OK();
}

// Removes the WALs from the list. Returns the number of the last one plus one; 0 if there is none.
uint64_t RemoveLogs(std::vector<LiveFileStorageInfo>* files) {
  assert(files != nullptr);
  uint64_t end = 0;
  std::erase_if(*files, [&end](const LiveFileStorageInfo& file) {
    if (file.file_type != kWalFile) return false;
    end = std::max(end, file.file_number + 1);
    return true;
  });
  return end;
}

// A database that does not know an id has an empty one; then names are made from checksums.
DatabaseIdentity IdentityOf(DB* db) {
  assert(db != nullptr);
  DatabaseIdentity identity;
  const Status id_status = db->GetDbIdentity(identity.id);
  if (!id_status.ok()) identity.id.clear();
  const Status session_status = db->GetDbSessionId(identity.session_id);
  if (!session_status.ok()) identity.session_id.clear();
  return identity;
}

}  // namespace

std::string PlannedFile::SourcePath() const {
  return StrCat(info.directory, "/", info.relative_filename);
}

CopySource PlannedFile::Source(FileSystem* fs) const {
  assert(fs != nullptr);
  return {.fs = fs,
          .path = SourcePath(),
          .bytes = info.size,
          .may_be_longer = info.trim_to_size,
          .temperature = info.temperature,
          .tail = tail};
}

// The files in the order in which the database has listed them. Names of shared files are found
// last, because that may need reads, which the threads of the pool do in parallel.
Result<std::vector<PlannedFile>> BackupPlanner::Plan(DB* db, const CreateBackupOptions& options,
                                                     BackupID id) {
  assert(db != nullptr);
  std::optional<DecidedTables> decided;
  if (!parts_.options->backup_log_files) decided.emplace(db);
  ASSIGN_OR_RETURN(std::vector<LiveFileStorageInfo> listed, ListFiles(db, options));
  if (decided.has_value()) {
    RETURN_IF_ERROR(decided->Check("backup with backup_log_files = false"));
  }
  // Without the logs, the copy of the MANIFEST must say that they are not needed; else an opening
  // would look for them.
  const uint64_t logs_end = parts_.options->backup_log_files ? 0 : RemoveLogs(&listed);
  std::vector<PlannedFile> files;
  std::vector<size_t> shared;  // indexes in `files`
  for (LiveFileStorageInfo& info : listed) {
    PlannedFile& file = files.emplace_back();
    file.is_shared = parts_.options->share_table_files && IsSharedKind(info.file_type);
    file.expected_crc = RecordedCrc(info);
    if (info.file_type == kDescriptorFile && logs_end > 0) {
      file.tail = AppendedEdits(info.size, {ForgetLogsBelow(FileNumber{logs_end})});
    }
    // Moved last, because the facts above are taken from it.
    file.info = std::move(info);
    if (file.is_shared) {
      shared.push_back(files.size() - 1);
    } else {
      file.name = StrCat(PrivateDirName(id), "/", file.info.relative_filename);
    }
  }
  FileSystem* const fs = db->GetFileSystem();
  const DatabaseIdentity database = IdentityOf(db);
  RETURN_IF_ERROR(parts_.pool->Run(
      {.count = shared.size(),
       .job = [&](size_t i) { return NameShared(fs, database, &files[shared[i]]); },
       .cpu_priority = PriorityOf(options)}));
  FileIdentities::Crcs crcs;
  for (const PlannedFile& file : files) {
    if (file.is_shared && file.expected_crc) crcs[file.info.file_number] = *file.expected_crc;
  }
  // The next backup in this session of the database need not read the same files again.
  parts_.identities->RememberCrcs(database, std::move(crcs));
  return files;
}

// Lists the live files, after a flush if the options ask for one. File deletions are disabled by
// the caller.
Result<std::vector<LiveFileStorageInfo>> BackupPlanner::ListFiles(
    DB* db, const CreateBackupOptions& options) const {
  assert(db != nullptr);
  LiveFilesStorageInfoOptions wanted;
  wanted.include_checksum_info = true;
  // 0 flushes always; the greatest number only with allow_2pc, which always flushes.
  wanted.wal_size_for_flush = options.flush_before_backup ? 0 : UINT64_MAX;
  wanted.atomic_flush = options.atomic_flush;
  std::vector<LiveFileStorageInfo> files;
  RETURN_IF_ERROR(db->GetLiveFilesStorageInfo(wanted, &files));
  RETURN_IF_ERROR(CheckOneDirectory(db->GetFileSystem(), files));
  return files;
}

Status BackupPlanner::NameShared(FileSystem* fs, const DatabaseIdentity& database,
                                 PlannedFile* file) const {
  assert(file != nullptr && fs != nullptr);
  if (parts_.options->share_files_with_checksum) {
    RETURN_IF_ERROR(NameByContent(fs, database, file));
    if (file->may_be_another) RETURN_IF_ERROR(KeepApart(fs, database, file));
  } else {
    file->name = StrCat(kSharedDir, "/", file->info.relative_filename);
    // After a restore, the database can create another file with the same number.
    file->may_be_another = true;
  }
  return FindExisting(fs, database, file);
}

// Chooses the shared name. Finding the session may need the table's properties, finding the
// checksum may need the whole file.
Status BackupPlanner::NameByContent(FileSystem* fs, const DatabaseIdentity& database,
                                    PlannedFile* file) const {
  assert(file != nullptr);
  const auto naming = parts_.options->share_files_with_checksum_naming;
  FileIdentityForName identity{.database_name = file->info.relative_filename,
                               .type = file->info.file_type,
                               .bytes = file->info.size,
                               .session_id = {},
                               .crc = {}};
  const auto kind = naming & BackupEngineOptions::kMaskNoNamingFlags;
  // Blob files have no properties with a session, so their names have a checksum.
  if (kind == BackupEngineOptions::kUseDbSessionId && identity.type == kTableFile) {
    ASSIGN_OR_RETURN(TableMaker maker, parts_.identities->MakerOf(database, fs, file->info));
    identity.session_id = std::move(maker.session_id);
    // Two tables of one SstFileWriter get the same number if each is ingested after a restore.
    file->may_be_another = !identity.session_id.empty() && !maker.is_exact;
  }
  if (NameNeedsCrc(identity, naming)) {
    RETURN_IF_ERROR(FindCrc(fs, database, file));
    identity.crc = file->expected_crc;
  }
  assert(!NameNeedsCrc(identity, naming) || identity.crc.has_value());
  file->name = SharedChecksumName(identity, naming);
  return Status::OK();
}

namespace {

// Whether two files, which have the same session, are one table: a session gives every table it
// makes another number. An ingestion may write a sequence number into its copy.
bool IsOneTable(const TableProperties& a, const TableProperties& b) {
  const auto sequence_of = [](const TableProperties& table) {
    const auto& properties = table.user_collected_properties;
    const auto found = properties.find(std::string(kGlobalSeqnoProperty));
    return found == properties.end() ? std::string() : found->second;
  };
  return a.db_id == b.db_id && a.db_session_id == b.db_session_id &&
         a.orig_file_number == b.orig_file_number && sequence_of(a) == sequence_of(b);
}

}  // namespace

// What cannot be read is not the same; then the checksums are compared.
bool BackupPlanner::HasSameIdentity(FileSystem* fs, const PlannedFile& file,
                                    const BackupFile& existing) const {
  if (existing.bytes != file.info.size || !existing.crc) return false;
  Result<TableProperties> copy =
      ReadTableProperties(parts_.directory.fs, parts_.directory.PathOf(existing.name));
  if (!copy.ok() || copy->db_session_id.empty() || copy->orig_file_number == 0) return false;
  Result<TableProperties> table = ReadTableProperties(fs, file.SourcePath());
  return table.ok() && IsOneTable(*copy, *table);
}

// If backups have another file of this name, the table is named by its checksum, like a table
// without a session.
Status BackupPlanner::KeepApart(FileSystem* fs, const DatabaseIdentity& database,
                                PlannedFile* file) const {
  assert(file != nullptr && file->may_be_another);
  const BackupFilePtr existing = parts_.catalog->FindShared(file->name);
  if (existing == nullptr) return Status::OK();
  if (!file->expected_crc) {
    file->expected_crc = parts_.identities->KnownCrc(database, file->info.file_number);
  }
  // The properties are a small part of a table. The next backup of this session needs not even
  // them.
  if (!file->expected_crc && HasSameIdentity(fs, *file, *existing)) {
    file->expected_crc = existing->crc;
  }
  RETURN_IF_ERROR(FindCrc(fs, database, file));
  if (existing->bytes == file->info.size && existing->crc == file->expected_crc) {
    return Status::OK();
  }
  file->name = SharedChecksumName({.database_name = file->info.relative_filename,
                                   .type = file->info.file_type,
                                   .bytes = file->info.size,
                                   .session_id = {},
                                   .crc = file->expected_crc},
                                  parts_.options->share_files_with_checksum_naming);
  file->may_be_another = false;
  return Status::OK();
}

// The checksum that the database has recorded, or that this engine has computed before, or the
// checksum of the file as it is read now.
Status BackupPlanner::FindCrc(FileSystem* fs, const DatabaseIdentity& database,
                              PlannedFile* file) const {
  assert(file != nullptr);
  if (file->expected_crc) return Status::OK();
  file->expected_crc = parts_.identities->KnownCrc(database, file->info.file_number);
  if (file->expected_crc) return Status::OK();
  // Reads the whole file, which happens once for each file and session.
  ASSIGN_OR_RETURN(const CopiedFile read, copier_->Read(file->Source(fs)));
  file->expected_crc = read.crc;
  return Status::OK();
}

// A file that backups name but that is missing or has another size is copied again. This repairs
// these backups.
Status BackupPlanner::FindExisting(FileSystem* fs, const DatabaseIdentity& database,
                                   PlannedFile* file) const {
  assert(file != nullptr);
  const BackupFilePtr existing = parts_.catalog->FindShared(file->name);
  // Without a checksum it cannot be compared, so the file is copied anew.
  if (existing == nullptr || !existing->crc) return Status::OK();
  const std::string path = parts_.directory.PathOf(file->name);
  const Result<uint64_t> bytes = FileSizeOf(parts_.directory.fs, path);
  if (!bytes.ok() || bytes.value() != existing->bytes) {
    Warn(parts_.info_log, "%s is missing or has another size; it is copied again", path.c_str());
    return Status::OK();
  }
  // Then the name does not identify the content.
  if (file->may_be_another) RETURN_IF_ERROR(FindCrc(fs, database, file));
  // The size is compared in any case, because it costs nothing.
  const bool is_same = existing->bytes == file->info.size &&
                       (!file->expected_crc || *file->expected_crc == *existing->crc);
  if (!is_same) {
    return Status::Corruption(StrCat(
        file->SourcePath(), ": backups have another file as ", file->name, ", of ", existing->bytes,
        " bytes with crc32 ", *existing->crc, ", the database one of ", file->info.size, " bytes",
        file->expected_crc ? StrCat(" with crc32 ", *file->expected_crc) : ""));
  }
  file->existing = existing;
  return Status::OK();
}

}  // namespace ashlar
