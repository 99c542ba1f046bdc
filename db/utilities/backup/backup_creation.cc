// SPDX-License-Identifier: Apache-2.0
//
//   private/<id>/ -> deletions off, list, names -> copies -> deletions on -> directories synced ->
//   meta file written, synced, renamed -> meta/ synced
//
// The order of the steps decides what a crash leaves. Before the rename of the meta file the backup
// does not exist: all its files are garbage. After the rename everything that it names is durable.
#include "db/utilities/backup/backup_creation.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/db.h"
#include "db/utilities/backup/backup_names.h"
#include "db/utilities/copy/deletion_pause.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "env/new_entries.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// `statistics` may be null. The progress is counted over all files of the backup.
CopySettings SettingsOf(const BackupParts& parts, Statistics* statistics, CopyProgress* progress) {
  assert(parts.options != nullptr && progress != nullptr);
  return {.buffer_bytes = parts.options->io_buffer_size,
          .limiter = parts.options->backup_rate_limiter.get(),
          .is_stopped = parts.is_stopped,
          .progress = progress,
          .statistics = statistics,
          .read_ticker = BACKUP_READ_BYTES,
          .write_ticker = BACKUP_WRITE_BYTES,
          .sync = parts.options->sync};
}

// The first temperature unless it is unknown.
Temperature FirstKnown(Temperature first, Temperature second) {
  return first != Temperature::kUnknown ? first : second;
}

}  // namespace

BackupCreation::BackupCreation(const BackupParts& parts, const CreateBackupOptions& options, DB* db,
                               const std::string& app_metadata)
    : parts_(parts),
      options_(options),
      db_(db),
      app_metadata_(app_metadata),
      id_(parts.catalog->TakeNextId()),
      statistics_(db->GetDBOptions().statistics),
      progress_(options.progress_callback, parts.options->callback_trigger_interval_size),
      copier_(SettingsOf(parts, statistics_.get(), &progress_)) {}

// After an error the files are deleted. The id is given back only if no meta file with it can
// exist, also not after a crash.
Result<BackupPtr> BackupCreation::Run() {
  assert(parts_.catalog != nullptr && parts_.pool != nullptr);
  if (Status place = CheckPlace(); !place.ok()) {
    parts_.catalog->GiveBackId(id_);
    return place;
  }
  Info(parts_.info_log, "Backup %u begins", id_);
  Result<BackupPtr> backup = Make();
  if (!backup.ok()) {
    Error(parts_.info_log, "Backup %u failed: %s", id_, backup.status().ToString().c_str());
    Undo();
    // If the meta file may exist, the id must never be used for another backup.
    if (!may_be_committed_) parts_.catalog->GiveBackId(id_);
    return backup;
  }
  Info(parts_.info_log, "Backup %u is made: %zu files, %llu bytes, of which %zu files were copied",
       id_, (*backup)->files.size(), static_cast<unsigned long long>((*backup)->Bytes()),
       copied_count_);
  // Added last: nobody can find the backup before it is complete.
  parts_.catalog->Add(*backup);
  return backup;
}

Status BackupCreation::CheckPlace() const {
  if (id_ >= kLatestBackupId) return Status::InvalidArgument("backup: no id is left");
  // Not only this id: the backup would share files with one that the catalog does not know, and its
  // deletion would delete them.
  return parts_.catalog->ListMetaFiles(parts_.directory).status();
}

Result<BackupPtr> BackupCreation::Make() {
  assert(parts_.directory.fs != nullptr);
  FileSystem* const fs = parts_.directory.fs;
  const std::string own_dir = parts_.directory.PathOf(PrivateDirName(id_));
  // Each object opens its directory before files are created in it, so that a later sync covers
  // their names.
  std::vector<NewEntries> entries;
  entries.emplace_back(fs, own_dir);
  entries.emplace_back(fs, parts_.directory.PathOf(kPrivateDir));
  if (parts_.options->share_table_files) {
    entries.emplace_back(
        fs, parts_.directory.PathOf(parts_.options->share_files_with_checksum ? kSharedChecksumDir
                                                                              : kSharedDir));
  }
  // A directory with this name belongs to an incomplete backup.
  RETURN_IF_ERROR(DeleteFlatDirectory(fs, own_dir));
  RETURN_IF_ERROR(fs->CreateDir(own_dir, IOOptions(), nullptr));
  ASSIGN_OR_RETURN(const BackupMeta meta, CopyAll());
  // All names must be durable before the meta file names them.
  if (parts_.options->sync) {
    for (const NewEntries& of_one : entries) RETURN_IF_ERROR(of_one.Sync());
  }
  RETURN_IF_ERROR(WriteMetaFile(meta));
  auto backup = std::make_shared<Backup>();
  backup->id = id_;
  backup->timestamp = meta.timestamp;
  backup->sequence = meta.sequence;
  backup->app_metadata = meta.app_metadata;
  backup->excluded = meta.excluded;
  for (const BackupFile& file : meta.files) {
    // A file that other backups have with the same facts is one object in the catalog.
    const BackupFilePtr shared = parts_.catalog->FindShared(file.name);
    const bool is_known =
        shared != nullptr && shared->crc == file.crc && shared->temperature == file.temperature;
    backup->files.push_back(is_known ? shared : std::make_shared<const BackupFile>(file));
  }
  return BackupPtr(std::move(backup));
}

// Copies what the backup does not share with earlier ones, and returns the content of the meta
// file.
Result<BackupMeta> BackupCreation::CopyAll() {
  // From the listing until the last copy no live file may be deleted.
  const DeletionPause kept(db_);
  RETURN_IF_ERROR(kept.status());
  BackupMeta meta;
  meta.app_metadata = app_metadata_;
  // The backup has at least the writes up to this number, because its files are listed later.
  meta.sequence = db_->GetLatestSequenceNumber();
  RETURN_IF_ERROR(parts_.backup_env->GetCurrentTime(&meta.timestamp));
  ASSIGN_OR_RETURN(std::vector<PlannedFile> files,
                   BackupPlanner(parts_, &copier_).Plan(db_, options_, id_));
  RETURN_IF_ERROR(Exclude(&files));
  std::vector<BackupFile> results(files.size());
  std::vector<size_t> to_copy;
  for (size_t i = 0; i < files.size(); i++) {
    // Neither an excluded file nor one that exists needs a copy.
    if (files[i].is_excluded || files[i].existing != nullptr) continue;
    to_copy.push_back(i);
    // Noted before the copy begins, so that a failed backup deletes incomplete files as well.
    if (files[i].is_shared) made_.push_back(files[i].name);
  }
  RETURN_IF_ERROR(parts_.pool->Run(
      {.count = to_copy.size(),
       // Each job writes to a place of its own in `results`, so no lock is needed.
       .job = [&](size_t i) { return CopyFile(files[to_copy[i]], &results[to_copy[i]]); },
       .cpu_priority = PriorityOf(options_)}));
  copied_count_ = to_copy.size();
  // The next backup in this session of the database need not read these files again.
  FileIdentities::Crcs crcs;
  for (const size_t i : to_copy) {
    if (files[i].is_shared && results[i].crc) crcs[files[i].info.file_number] = *results[i].crc;
  }
  parts_.identities->AddCrcs(std::move(crcs));
  // In the order of the list, whatever order the copies were made in.
  for (size_t i = 0; i < files.size(); i++) {
    if (files[i].is_excluded) {
      meta.excluded.push_back(files[i].name);
    } else {
      if (files[i].existing != nullptr) results[i] = TakeOver(files[i]);
      meta.files.push_back(std::move(results[i]));
    }
  }
  return meta;
}

// The program decides about new shared files only: private files belong to the backup, and shared
// files that exist cost nothing.
Status BackupCreation::Exclude(std::vector<PlannedFile>* files) const {
  assert(files != nullptr);
  if (!options_.exclude_files_callback) return Status::OK();
  std::vector<MaybeExcludeBackupFile> offered;
  std::vector<PlannedFile*> planned;
  offered.reserve(files->size());
  for (PlannedFile& file : *files) {
    if (!file.is_shared || file.existing != nullptr) continue;
    offered.emplace_back(BackupExcludedFileInfo(file.name));
    planned.push_back(&file);
  }
  assert(offered.size() == planned.size());
  if (offered.empty()) return Status::OK();
  RETURN_IF_ERROR(CallUser("exclude_files_callback", [&] {
    options_.exclude_files_callback(offered.data(), offered.data() + offered.size());
  }));
  for (size_t i = 0; i < offered.size(); i++) planned[i]->is_excluded = offered[i].exclude_decision;
  return Status::OK();
}

// A file that an earlier backup has copied. Only its temperature may be newer.
BackupFile BackupCreation::TakeOver(const PlannedFile& file) const {
  assert(file.existing != nullptr);
  BackupFile result = *file.existing;
  const Temperature current = result.temperature, recorded = file.info.temperature;
  result.temperature = parts_.options->current_temperatures_override_manifest
                           ? FirstKnown(current, recorded)
                           : FirstKnown(recorded, current);
  return result;
}

Status BackupCreation::CopyFile(const PlannedFile& file, BackupFile* result) const {
  assert(!file.is_excluded && file.existing == nullptr);
  assert(result != nullptr);
  const BackupDirectory& directory = parts_.directory;
  const std::string path = directory.PathOf(file.name);
  const CopyTarget target{.fs = directory.fs,
                          // A shared file gets its name only when it is complete, because later
                          // backups rely on the name.
                          .path = file.is_shared ? directory.PathOf(TempNameOf(file.name)) : path};
  CopiedFile copied;
  // Some files are described by their contents, and exist nowhere in this form.
  if (!file.info.replacement_contents.empty()) {
    ASSIGN_OR_RETURN(copied, copier_.Write(file.info.replacement_contents, target));
  } else {
    CopySource source = file.Source(db_->GetFileSystem());
    source.prefers_reported_temperature = parts_.options->current_temperatures_override_manifest;
    ASSIGN_OR_RETURN(copied, copier_.Copy(source, target));
  }
  // The copy is compared with what the database has recorded, which finds damage of the source too.
  if (file.expected_crc) {
    RETURN_IF_ERROR(CheckCrc(file.SourcePath(), *file.expected_crc, copied.crc));
  }
  *result = {.name = file.name,
             .crc = copied.crc,
             .bytes = copied.bytes,
             .temperature = copied.temperature};
  // Private files need no other name: nothing refers to them before the meta file exists.
  if (!file.is_shared) return Status::OK();
  return directory.fs->RenameFile(target.path, path, IOOptions(), nullptr);
}

// The rename of the meta file is the moment at which the backup begins to exist.
Status BackupCreation::WriteMetaFile(const BackupMeta& meta) {
  assert(!may_be_committed_);
  const BackupDirectory& directory = parts_.directory;
  const NewEntries entries(directory.fs, directory.PathOf(kMetaDir));
  const std::string temp = directory.PathOf(MetaTempName(id_));
  const std::string path = directory.PathOf(MetaName(id_));
  const std::string text = WriteMeta(meta, parts_.options->schema_version);
  // The temporary name is no name of a backup, so a crash here leaves garbage only.
  RETURN_IF_ERROR(WriteStringToFile(directory.fs, text, temp, parts_.options->sync));
  // The last moment at which StopBackup() has an effect.
  if (parts_.is_stopped->load(std::memory_order_relaxed)) return Status::Incomplete("stopped");
  // If the rename fails, the file system may have done it nevertheless.
  may_be_committed_ = true;
  RETURN_IF_ERROR(directory.fs->RenameFile(temp, path, IOOptions(), nullptr));
  return parts_.options->sync ? entries.Sync(path) : Status::OK();
}

// Deletes the meta file first, then the files that it may name. Errors leave garbage, which a later
// collection deletes.
void BackupCreation::Undo() const {
  const BackupDirectory& directory = parts_.directory;
  Status status = DeleteFileIfExists(directory.fs, directory.PathOf(MetaTempName(id_)));
  if (may_be_committed_) {
    // The files are kept unless the deletion of the meta file is durable: otherwise a crash could
    // bring back a meta file whose files are gone.
    const NewEntries entries(directory.fs, directory.PathOf(kMetaDir));
    status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(MetaName(id_))));
    if (parts_.options->sync) status.UpdateIfOk(entries.Sync());
    if (!status.ok()) return;
  }
  // A file that was there before may be that of a backup whose meta file could not be read.
  const bool knows_all_names = parts_.catalog->CheckKnowsAllNames(directory).ok();
  // Both names are tried, because the failure may have come before or after the rename.
  for (const std::string& name : made_) {
    status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(TempNameOf(name))));
    // Another backup names the file, so it stays.
    if (!knows_all_names || parts_.catalog->IsNamed(name)) continue;
    status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(name)));
  }
  status.UpdateIfOk(DeleteFlatDirectory(directory.fs, directory.PathOf(PrivateDirName(id_))));
  IgnoreError(status, "garbage collection deletes what remains");
}

}  // namespace ashlar
