// SPDX-License-Identifier: Apache-2.0
//
// The DB mutex is held to decide which files are obsolete, and is not held while they are deleted.
#include "db/files/obsolete_files.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "db/files/options_files.h"
#include "db/jobs/notify.h"
#include "db/state/job_thread.h"
#include "db/state/log_needs.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/rare_sort.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

// Dropped families without users are always taken; files wait while deletions are disabled.
ObsoleteFiles CollectObsolete(DbCore* core) {
  assert(core != nullptr);
  assert(core->kept_files.deletions_disabled >= 0);
  ObsoleteFiles files;
  files.families = core->versions->TakeUnusedFamilies();
  // An instance that follows another process deletes nothing, but must close files that the other
  // one has deleted.
  if (core->mode.is_following()) {
    files.tables = core->versions->TakeObsolete();
    files.blobs = core->versions->TakeObsoleteBlobs();
  }
  if (core->kept_files.deletions_disabled > 0 || core->mode.is_read_only) return files;
  files.tables = core->versions->TakeObsolete();
  files.blobs = core->versions->TakeObsoleteBlobs();
  for (const WalSet::Info& log :
       core->wals->ReleaseBelow(OldestLogOfManifest(*core->versions), &files.logs)) {
    // The log holds writes that were refused, so that it must be neither archived nor reused.
    if (log.has_failed) {
      files.paths.push_back(LogFileName(core->paths.wal_dir, log.number));
    } else {
      files.old_logs.push_back(log.number);
    }
  }
  for (FileNumber number : core->versions->TakeReplacedManifests()) {
    files.paths.push_back(DescriptorFileName(core->paths.dir, number));
  }
  // The MANIFEST was written anew since these jobs failed.
  if (!core->versions->is_in_doubt()) {
    for (std::string& path : core->jobs.TakeDoubtful()) files.paths.push_back(std::move(path));
  }
  for (FileNumber number : TakeOldOptionsFiles(core)) {
    files.paths.push_back(OptionsFileName(core->paths.dir, number));
  }
  return files;
}

namespace {

// Decides for each name in a directory whether its file is obsolete. Used at open.
class DirectoryScan {
 public:
  // Collects the live numbers once; the scan then asks for each name.
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
    SortRarely(&live_);
  }

  Status Run(const std::string& dir, const Result<std::vector<std::string>>& names,
             ObsoleteFiles* files) REQUIRES(db_mutex) {
    // A directory of tables that does not exist has no obsolete files.
    if (IsMissing(names.status())) return Status::OK();
    if (!names.ok()) return names.status();
    for (const std::string& name : names.value()) {
      FileNumber number;
      FileType type;
      if (IsTrashFileName(name)) files->paths.push_back(dir + "/" + name);
      if (!ParseFileName(name, &number, &type)) continue;
      if (!IsObsolete(type, number)) {
        // The file is kept. In the next case it is a log that recovery has read completely, which
        // may be archived or reused like those of a running database.
      } else if (type == kWalFile && core_->findings.has_whole_logs &&
                 dir == core_->paths.wal_dir) {
        files->old_logs.push_back(number);
      } else {
        Settle(type, dir + "/" + name, files);
      }
      // The list of OPTIONS files is rebuilt from the names; TakeOldOptionsFiles() chooses among
      // them.
      if (type == kOptionsFile && dir == core_->paths.dir)
        core_->kept_files.options_files[number] = 0;
    }
    return Status::OK();
  }

  // Whether a table was kept because it could not be read.
  bool has_unread_table() const { return has_unread_table_; }

 private:
  bool IsObsolete(FileType type, FileNumber number) const REQUIRES(db_mutex) {
    switch (type) {
      case kWalFile: return number < min_log_;
      // Older MANIFESTs only. A newer one may belong to a switch of CURRENT that a crash
      // interrupted, and is left alone.
      case kDescriptorFile: return number < core_->versions->manifest_number();
      case kBlobFile:
      // A running job may have files that no version contains yet.
      case kTableFile: return !IsLive(number) && !core_->jobs.IsProtected(number);
      case kTempFile: return !core_->jobs.IsProtected(number);
      default: return false;
    }
  }

  bool IsLive(FileNumber number) const {
    return std::binary_search(live_.begin(), live_.end(), number);
  }

  // Decides what happens to an obsolete file: it is deleted, unless it may hold writes that the
  // recovered state lacks.
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

  // Whether the file may hold writes that the recovered state lacks. An error: it cannot be read.
  Result<bool> IsLost(FileType type, const std::string& path) const REQUIRES(db_mutex) {
    if (core_->findings.has_gone_back) return type != kTempFile;
    if (type != kTableFile) return false;
    return IsNewerThanState(path);
  }

  // Whether the file is a complete table with writes that the recovered state lacks, which means
  // that a MANIFEST with this table is lost. An error: the file could not be read, so it may be
  // such a table.
  Result<bool> IsNewerThanState(const std::string& path) const REQUIRES(db_mutex) {
    // Each comparator is tried, because the family of the table is not known.
    for (const ColumnFamilyData* family : core_->families.All()) {
      ASSIGN_OR_RETURN(auto file, RandomReader::Open(core_->environment.fs.get(), path,
                                                     core_->environment.file_options));
      TableReaderOptions options;
      options.icmp = &family->comparator();
      auto table = TableReader::Open(std::move(file), options);
      // An unfinished table of a crash cannot be opened with any comparator.
      if (IsNoTable(table.status())) continue;
      if (!table.ok()) return table.status();
      Result<bool> is_newer = HoldsNewerThan(core_->pipeline->visible_seqno(), **table);
      if (IsNoTable(is_newer.status())) return false;
      return is_newer;
    }
    return false;
  }

  // Whether the status describes the contents of the file, rather than a failure to read it.
  static bool IsNoTable(const Status& status) {
    return status.IsCorruption() || status.IsInvalidArgument() || status.IsNotSupported();
  }

  // Older tables of RocksDB do not store their largest sequence number, so their entries are read.
  static Result<bool> HoldsNewerThan(SequenceNumber seqno, const TableReader& table) {
    const TableProperties& properties = table.properties();
    if (properties.HasKeyLargestSeqno()) return properties.key_largest_seqno > seqno;
    ReadOptions options;
    // A scan must not displace useful blocks.
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

// Logs a deletion in the event log. As RocksDB's tools expect, tables and blob files are named by
// number, and other files by name.
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

// Why files are renamed instead of deleted; for log messages.
const char* WhyAside(const DbCore& core) {
  return core.findings.has_gone_back
             ? ": left out by best-efforts recovery: renamed to "
             : ": not in the MANIFEST, but newer than the recovered state: renamed to ";
}

// A table that is renamed aside may refer to any obsolete blob file, so these are renamed too.
void PutBlobsAside(ObsoleteFiles* files) {
  assert(files != nullptr);
  // Without such a table, the blob files can be deleted.
  if (files->asides.empty()) return;
  const auto is_no_blob = [](const std::string& path) { return !IsPathOf(kBlobFile, path); };
  const auto blobs = std::stable_partition(files->paths.begin(), files->paths.end(), is_no_blob);
  files->asides.insert(files->asides.end(), blobs, files->paths.end());
  files->paths.erase(blobs, files->paths.end());
}

// A table that could not be read may refer to any obsolete blob file too, so these are not deleted.
void LeaveBlobs(ObsoleteFiles* files) {
  assert(files != nullptr);
  std::erase_if(files->paths, [](const std::string& path) { return IsPathOf(kBlobFile, path); });
}

}  // namespace

// Scans all directories of the database: tables, WAL directory and the main one.
Result<ObsoleteFiles> ScanForObsolete(DbCore* core, DirectoryNames* names) {
  assert(core != nullptr);
  ObsoleteFiles files;
  assert(!core->mode.is_read_only);  // the caller deletes the files
  DirectoryScan scan(core);
  std::set<std::string> dirs = core->paths.table_dirs;
  dirs.insert({core->paths.dir, core->paths.wal_dir});
  core->kept_files.options_files.clear();
  for (const std::string& dir : dirs) RETURN_IF_ERROR(scan.Run(dir, names->In(dir), &files));
  for (auto* paths : {&files.paths, &files.asides, &files.warnings}) {
    std::sort(paths->begin(), paths->end());  // directories list names in no order
  }
  SortRarely(&files.old_logs);
  PutBlobsAside(&files);
  if (scan.has_unread_table()) LeaveBlobs(&files);
  core->versions->TakeReplacedManifests();  // the scan has found them too
  for (const std::string& path : files.asides) {
    StrAppend(&core->findings.recovery_report, path, WhyAside(*core), BaseNameOf(path),
              ".orphan\n");
  }
  for (const std::string& text : files.warnings)
    StrAppend(&core->findings.recovery_report, text, "\n");
  return files;
}

namespace {

// Deletes a file at once, or leaves it to the space manager, which may delete it later. Only
// tables, blob files and trash go to the manager.
Status DeleteOrLeaveToManager(DbCore* core, const std::string& path) {
  assert(core != nullptr);
  const bool is_tracked = IsPathOf(kTableFile, path) || IsPathOf(kBlobFile, path);
  if (core->resources.space != nullptr && (is_tracked || IsTrashName(path)))
    return core->resources.space->Delete(path);
  const Status status = DeleteFileIfExists(core->environment.fs.get(), path);
  if (status.ok()) RecordTick(core->services.statistics.get(), FILES_DELETED_IMMEDIATELY);
  return status;
}

// Keeps the file of an obsolete log for reuse, if possible. The caller must be the only owner of
// the sink, because another owner would truncate the file when it closes the sink.
bool KeepForReuse(DbCore* core, const std::shared_ptr<WalSink>& log) {
  assert(core != nullptr);
  LogRecycler* const recycler = core->wals->recycler();
  if (!recycler->is_on() || log.use_count() != 1) return false;
  // Only such logs are offered: a log whose records lack their number cannot be told from its
  // successor.
  assert(log->framing().is_recyclable());
  // A log that failed has an unknown end.
  if (!log->error().ok() || !log->CloseForReuse().ok()) return false;
  return recycler->Offer(log->log_number());
}

// Moves a log to the archive. If this fails, the log is kept, because the program wants it, and the
// next open tries again.
void Archive(DbCore* core, FileNumber number, const std::string& path) {
  assert(core != nullptr);
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

// Tables and logs are closed before their files are deleted.
void DeleteObsolete(DbCore* core, ObsoleteFiles files) {
  assert(core != nullptr);
  assert(!core->mode.is_read_only || files.paths.empty());
  // Deletes one file and reports the result. An error leaves the file to the next open.
  const auto remove = [core, job_id = files.job_id](const std::string& path) {
    if (core->mode.access == Access::kSecondary) return;  // it was closed, and is the primary's
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
  // Closing before deleting frees the space at once, and lets the log be reused.
  std::set<FileNumber> kept_logs;
  for (std::shared_ptr<WalSink>& log : files.logs) {
    if (KeepForReuse(core, log)) kept_logs.insert(log->log_number());
    log.reset();
  }
  for (ObsoleteTable& table : files.tables) {
    assert(table.family != nullptr);
    assert(table.file != nullptr);
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
    // The suffix keeps the engine from taking the file for its own; a person can rename it back.
    IgnoreError(core->environment.fs->RenameFile(path, path + ".orphan", IOOptions(), nullptr),
                "the file keeps its name until the next open");
  }
  for (const std::string& text : files.warnings)
    Warn(core->services.info_log.get(), "%s", text.c_str());
}

namespace {

// A deletion that this thread runs. Those who disable deletions wait for its end.
class RunningPurge {
 public:
  explicit RunningPurge(DbCore* core) REQUIRES(db_mutex)
      : core_(core), outer_(std::exchange(innermost_, this)) {
    core_->kept_files.purges_running++;
  }
  ~RunningPurge() {
    innermost_ = outer_;
    MutexLock lock(&core_->mutex);
    assert(core_->kept_files.purges_running > 0);
    core_->kept_files.purges_running--;
    core_->conditions.PurgeEnded();
  }
  RunningPurge(const RunningPurge&) = delete;
  RunningPurge& operator=(const RunningPurge&) = delete;

  // Whether the calling thread is in a deletion of this database, so that it is in a callback.
  static bool IsIn(const DbCore* core) {
    const RunningPurge* purge = innermost_;
    while (purge != nullptr && purge->core_ != core) purge = purge->outer_;
    return purge != nullptr;
  }

 private:
  static constinit thread_local const RunningPurge* innermost_;

  DbCore* const core_;
  const RunningPurge* const outer_;
};

constinit thread_local const RunningPurge* RunningPurge::innermost_ = nullptr;

}  // namespace

void AwaitPurges(DbCore* core) {
  assert(core->kept_files.deletions_disabled > 0);
  // The callback of a purge may wait for any job.
  if (RunningPurge::IsIn(core) || JobThread::IsInJob(core)) return;
  while (core->kept_files.purges_running > 0) core->conditions.purges.Wait();
}

void DeleteKnownObsolete(DbCore* core) {
  std::optional<RunningPurge> running;
  ObsoleteFiles files;
  bool prunes_archive = false;
  {
    MutexLock lock(&core->mutex);
    files = CollectObsolete(core);
    // A job id is used only if there is work.
    if (!files.empty()) files.job_id = core->jobs.NewJobId();
    prunes_archive = core->kept_files.deletions_disabled == 0 && !core->mode.is_read_only;
    const bool deletes = !files.empty() || core->kept_files.archive.is_on();
    if (prunes_archive && deletes) running.emplace(core);
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
  assert(core != nullptr);
  ObsoleteFiles files;
  files.old_logs = core->wals->recycler()->Drain();
  if (!files.empty()) DeleteObsolete(core, std::move(files));
}

void PurgeObsoleteFiles(DbCore* core) {
  // Replaced super versions may still wait in the epoch for readers that have already left.
  EpochReclaimAll();
  DeleteKnownObsolete(core);
}

}  // namespace ashlar
