// SPDX-License-Identifier: Apache-2.0
//
// What is obsolete is decided under the mutex; deleting, which may be slow, happens without it.
#include "db/files/obsolete_files.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <set>

#include "db/files/options_files.h"
#include "db/jobs/notify.h"
#include "db/state/log_needs.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

ObsoleteFiles CollectObsolete(DbCore* core) {
  assert(core->kept_files.deletions_disabled >= 0);
  ObsoleteFiles files;
  files.families = core->versions->TakeUnusedFamilies();
  if (core->kept_files.deletions_disabled > 0 || core->mode.is_read_only) return files;
  files.tables = core->versions->TakeObsolete();
  files.blobs = core->versions->TakeObsoleteBlobs();
  for (const WalSet::Info& log :
       core->wals->ReleaseBelow(OldestLogOfManifest(*core->versions), &files.logs)) {
    if (log.has_failed) {
      files.paths.push_back(LogFileName(core->paths.wal_dir, log.number));
    } else {
      files.old_logs.push_back(log.number);
    }
  }
  for (FileNumber number : core->versions->TakeReplacedManifests()) {
    files.paths.push_back(DescriptorFileName(core->paths.dir, number));
  }
  for (FileNumber number : TakeOldOptionsFiles(core)) {
    files.paths.push_back(OptionsFileName(core->paths.dir, number));
  }
  return files;
}

namespace {

// Decides about one name found in a directory.
class DirectoryScan {
 public:
  explicit DirectoryScan(DbCore* core) REQUIRES(db_mutex)
      : core_(core), min_log_(OldestLogOfManifest(*core->versions)) {
    core_->versions->ForEachLiveFile([this](const FamilyVersions&, Level, TableFile* file) {
      live_.push_back(file->meta.number);
    });
    for (const FamilyVersions* family : core_->versions->LiveFamilies()) {
      if (family->current->blobs() == nullptr) continue;
      for (const BlobFiles::Live& blob : family->current->blobs()->all()) {
        live_.push_back(blob.file->meta.number);
      }
    }
    std::sort(live_.begin(), live_.end());
  }

  Status Run(const std::string& dir, const Result<std::vector<std::string>>& names,
             ObsoleteFiles* files) REQUIRES(db_mutex) {
    if (names.status().IsNotFound() || names.status().IsPathNotFound()) return Status::OK();
    if (!names.ok()) return names.status();
    for (const std::string& name : names.value()) {
      FileNumber number;
      FileType type;
      if (IsTrashFileName(name)) files->paths.push_back(dir + "/" + name);
      if (!ParseFileName(name, &number, &type)) continue;
      if (!IsObsolete(type, number)) {
        // It stays.
      } else if (type == kWalFile && core_->findings.has_whole_logs &&
                 dir == core_->paths.wal_dir) {
        files->old_logs.push_back(number);
      } else {
        Settle(type, dir + "/" + name, files);
      }
      if (type == kOptionsFile && dir == core_->paths.dir)
        core_->kept_files.options_files[number] = 0;
    }
    return Status::OK();
  }

  // One at least stays because it could not be looked at.
  bool has_unread_table() const { return has_unread_table_; }

 private:
  bool IsObsolete(FileType type, FileNumber number) const REQUIRES(db_mutex) {
    switch (type) {
      case kWalFile: return number < min_log_;
      case kDescriptorFile: return number < core_->versions->manifest_number();
      case kBlobFile:
      case kTableFile: return !IsLive(number) && !core_->jobs.IsProtected(number);
      case kTempFile: return !core_->jobs.IsProtected(number);
      default: return false;
    }
  }

  bool IsLive(FileNumber number) const {
    return std::binary_search(live_.begin(), live_.end(), number);
  }

  // An obsolete file goes, unless it may hold writes that the recovered state lacks.
  void Settle(FileType type, const std::string& path, ObsoleteFiles* files) REQUIRES(db_mutex) {
    Result<bool> is_lost = IsLost(type, path);
    if (!is_lost.ok()) {
      has_unread_table_ = true;
      files->warnings.push_back(StrCat(
          path, ": not in the MANIFEST, and cannot be looked at now: left for the next open: ",
          is_lost.status().ToString()));
    } else {
      (*is_lost ? files->asides : files->paths).push_back(path);
    }
  }

  Result<bool> IsLost(FileType type, const std::string& path) const REQUIRES(db_mutex) {
    if (core_->findings.has_gone_back) return type != kTempFile;
    if (type != kTableFile) return false;
    return IsNewerThanState(path);
  }

  // A whole table with writes that the recovered state lacks: a MANIFEST that named it is lost. An
  // error: the file could not be looked at, and may be one.
  Result<bool> IsNewerThanState(const std::string& path) const REQUIRES(db_mutex) {
    for (const ColumnFamilyData* family : core_->families.All()) {
      ASSIGN_OR_RETURN(auto file, RandomReader::Open(core_->environment.fs.get(), path,
                                                     core_->environment.file_options));
      TableReaderOptions options;
      options.icmp = &family->comparator();
      auto table = TableReader::Open(std::move(file), options);
      // What a crash left unfinished does not open with any comparator.
      if (IsNoTable(table.status())) continue;
      if (!table.ok()) return table.status();
      Result<bool> is_newer = HoldsNewerThan(core_->pipeline->visible_seqno(), **table);
      if (IsNoTable(is_newer.status())) return false;
      return is_newer;
    }
    return false;
  }

  // Says what the file is, and not that it could not be read.
  static bool IsNoTable(const Status& status) {
    return status.IsCorruption() || status.IsInvalidArgument() || status.IsNotSupported();
  }

  // Older tables of RocksDB do not say how new they are: then their entries do.
  static Result<bool> HoldsNewerThan(SequenceNumber seqno, const TableReader& table) {
    const TableProperties& properties = table.properties();
    if (properties.HasKeyLargestSeqno()) return properties.key_largest_seqno > seqno;
    ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<InternalIterator> it(table.NewIterator(options, nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (TrailerSeqno(ExtractTrailer(it->key())) > seqno) return true;
    }
    RETURN_IF_ERROR(it->status());
    return false;
  }

  DbCore* const core_;
  const FileNumber min_log_;
  bool has_unread_table_ = false;
  std::vector<FileNumber> live_;  // ascending
};

// Tables and blob files by their numbers, as RocksDB's tools know them; the rest by name.
void LogDeletion(const EventLogger& events, int job_id, const std::string& path) {
  FileNumber number;
  FileType type = kTempFile;
  const bool is_named = ParseFileName(BaseNameOf(path), &number, &type);
  if (is_named && (type == kTableFile || type == kBlobFile)) {
    const char* const event = type == kTableFile ? "table_file_deletion" : "blob_file_deletion";
    events.Event(event).Add("job", job_id).Add("file_number", number);
  } else {
    events.Event("file_deletion").Add("job", job_id).Add("file", BaseNameOf(path));
  }
}

bool IsPathOf(FileType wanted, const std::string& path) {
  FileNumber number;
  FileType type;
  return ParseFileName(BaseNameOf(path), &number, &type) && type == wanted;
}

const char* WhyAside(const DbCore& core) {
  return core.findings.has_gone_back
             ? ": left out by best-efforts recovery: renamed to "
             : ": not in the MANIFEST, but newer than the recovered state: renamed to ";
}

// A table that is put aside may refer to any blob file that nobody can explain either.
void PutBlobsAside(ObsoleteFiles* files) {
  if (files->asides.empty()) return;
  const auto is_no_blob = [](const std::string& path) { return !IsPathOf(kBlobFile, path); };
  const auto blobs = std::stable_partition(files->paths.begin(), files->paths.end(), is_no_blob);
  files->asides.insert(files->asides.end(), blobs, files->paths.end());
  files->paths.erase(blobs, files->paths.end());
}

// So may one that could not be looked at.
void LeaveBlobs(ObsoleteFiles* files) {
  std::erase_if(files->paths, [](const std::string& path) { return IsPathOf(kBlobFile, path); });
}

}  // namespace

Result<ObsoleteFiles> ScanForObsolete(DbCore* core, DirectoryNames* names) {
  ObsoleteFiles files;
  assert(!core->mode.is_read_only);  // what it finds is deleted
  DirectoryScan scan(core);
  std::set<std::string> dirs = core->paths.table_dirs;
  dirs.insert({core->paths.dir, core->paths.wal_dir});
  core->kept_files.options_files.clear();
  for (const std::string& dir : dirs) RETURN_IF_ERROR(scan.Run(dir, names->In(dir), &files));
  for (auto* paths : {&files.paths, &files.asides, &files.warnings}) {
    std::sort(paths->begin(), paths->end());  // the names come in no order
  }
  std::sort(files.old_logs.begin(), files.old_logs.end());
  PutBlobsAside(&files);
  if (scan.has_unread_table()) LeaveBlobs(&files);
  core->versions->TakeReplacedManifests();  // they are among what the scan has found
  for (const std::string& path : files.asides) {
    StrAppend(&core->findings.recovery_report, path, WhyAside(*core), BaseNameOf(path),
              ".orphan\n");
  }
  for (const std::string& text : files.warnings)
    StrAppend(&core->findings.recovery_report, text, "\n");
  return files;
}

namespace {

// Tables and blob files may take their time.
Status DeleteOrLeaveToManager(DbCore* core, const std::string& path) {
  const bool is_tracked = IsPathOf(kTableFile, path) || IsPathOf(kBlobFile, path);
  if (core->resources.space != nullptr && (is_tracked || IsTrashName(path)))
    return core->resources.space->Delete(path);
  const Status status = DeleteFileIfExists(core->environment.fs.get(), path);
  if (status.ok()) RecordTick(core->services.statistics.get(), FILES_DELETED_IMMEDIATELY);
  return status;
}

// Whether the file of an obsolete log is left for a later one. Nobody may have the log but the
// caller: the last who lets go of it would cut the file.
bool KeepForReuse(DbCore* core, const std::shared_ptr<WalSink>& log) {
  LogRecycler* const recycler = core->wals->recycler();
  if (!recycler->is_on() || log.use_count() != 1) return false;
  assert(log->framing().is_recyclable());
  if (!log->error().ok() || !log->CloseForReuse().ok()) return false;
  return recycler->Offer(log->log_number());
}

// The program wants to keep the log: what cannot be moved stays, and the next open tries again.
void Archive(DbCore* core, FileNumber number, const std::string& path) {
  const Status status = core->kept_files.archive.Add(number);
  if (status.ok()) return;
  Warn(core->services.info_log.get(), "cannot move %s to the archive, so it stays: %s",
       path.c_str(), status.ToString().c_str());
}

}  // namespace

void ForEachLivePath(const DbCore& core,
                     const std::function<void(const std::string& path, uint64_t bytes)>& call) {
  core.versions->ForEachLiveFile([&](const FamilyVersions& family, Level, TableFile* file) {
    call(family.tables->PathOf(file->meta), file->meta.file_size);
  });
  for (const FamilyVersions* family : core.versions->LiveFamilies()) {
    if (family->current->blobs() == nullptr) continue;
    for (const BlobFiles::Live& blob : family->current->blobs()->all()) {
      call(blob.file->path, blob.file->meta.file_bytes());
    }
  }
}

void DeleteObsolete(DbCore* core, ObsoleteFiles files) {
  assert(!core->mode.is_read_only || files.paths.empty());
  const auto remove = [core, job_id = files.job_id](const std::string& path) {
    Status status = DeleteOrLeaveToManager(core, path);
    if (IsPathOf(kTableFile, path)) NotifyTableDeleted(core, path, job_id, status);
    if (IsPathOf(kBlobFile, path)) NotifyBlobFileDeleted(core, path, job_id, status);
    if (!status.ok()) {
      Warn(core->services.info_log.get(), "cannot delete %s: %s", path.c_str(),
           status.ToString().c_str());
      return;
    }
    LogDeletion(*core->services.events, job_id, path);
  };
  std::set<FileNumber> kept_logs;
  for (std::shared_ptr<WalSink>& log : files.logs) {
    if (KeepForReuse(core, log)) kept_logs.insert(log->log_number());
    log.reset();
  }
  for (ObsoleteTable& table : files.tables) {
    assert(table.family != nullptr && table.file != nullptr);
    const std::string path = table.family->tables->PathOf(table.file->meta);
    table.Close();
    remove(path);
  }
  for (std::unique_ptr<BlobFile>& blob : files.blobs) {
    const std::string path = blob->path;
    blob.reset();
    remove(path);
  }
  for (FileNumber number : files.old_logs) {
    if (kept_logs.contains(number)) continue;
    const std::string path = LogFileName(core->paths.wal_dir, number);
    if (core->kept_files.archive.is_on()) {
      Archive(core, number, path);
    } else {
      remove(path);
    }
  }
  for (const std::string& path : files.paths) remove(path);
  for (const std::string& path : files.asides) {
    Warn(core->services.info_log.get(), "%s%s%s.orphan", path.c_str(), WhyAside(*core),
         path.c_str());
    IgnoreError(core->environment.fs->RenameFile(path, path + ".orphan", IOOptions(), nullptr),
                "then it stays under its name until the next open");
  }
  for (const std::string& text : files.warnings)
    Warn(core->services.info_log.get(), "%s", text.c_str());
}

void DeleteKnownObsolete(DbCore* core) {
  ObsoleteFiles files;
  bool prunes_archive = false;
  {
    MutexLock lock(&core->mutex);
    files = CollectObsolete(core);
    if (!files.empty()) files.job_id = core->jobs.NewJobId();
    prunes_archive = core->kept_files.deletions_disabled == 0 && !core->mode.is_read_only;
  }
  if (!files.empty()) DeleteObsolete(core, std::move(files));
  if (!prunes_archive) return;
  const Status status = core->kept_files.archive.Prune();
  if (!status.ok()) {
    Warn(core->services.info_log.get(), "cannot prune the archive of logs: %s",
         status.ToString().c_str());
  }
}

void DeleteRecycledLogs(DbCore* core) {
  ObsoleteFiles files;
  files.old_logs = core->wals->recycler()->Drain();
  if (!files.empty()) DeleteObsolete(core, std::move(files));
}

void PurgeObsoleteFiles(DbCore* core) {
  // Super versions that were replaced may still wait for readers that are long gone.
  EpochReclaimAll();
  DeleteKnownObsolete(core);
}

}  // namespace ashlar
