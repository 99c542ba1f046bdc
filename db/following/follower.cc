// SPDX-License-Identifier: Apache-2.0
//
// A round of a follower: reads what is new of the MANIFEST and of the logs, and publishes it. The
// first and last steps are here; the logs are read in follower_logs.cc.
#include "db/following/follower.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "ashlar/system_clock.h"
#include "db/column_family/column_family_data.h"
#include "db/files/obsolete_files.h"
#include "db/opening/open_tables.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The limit of rounds in one catch-up. Every round but the last found that the primary had deleted
// or ingested a file since the MANIFEST was read.
constexpr int kMostRounds = 10;

// The error for an option that has no meaning, or cannot be kept, where another process writes.
Status NotWhileFollowing(const char* option) {
  return Status::NotSupported(
      StrCat(option, ": not where another process writes the database: open it without"));
}

std::vector<std::string> BaseNamesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(BaseNameOf(path));
  return names;
}

}  // namespace

Status SettleForFollowing(OpenRequest* request) {
  assert(request != nullptr);
  assert(request->is_following());
  DBOptions& options = request->db_options;
  if (options.best_efforts_recovery) return NotWhileFollowing("best_efforts_recovery");
  if (options.wal_filter != nullptr) return NotWhileFollowing("wal_filter");
  // Tables stay open for ever: the primary may delete a file at any time, and it could not be
  // opened again.
  options.max_open_files = -1;
  options.open_files_async = false;
  options.persist_stats_to_disk = false;
  const bool is_follower = request->access == Access::kFollower;
  if (is_follower && !options.db_paths.empty()) {
    return NotWhileFollowing("db_paths of a follower");
  }
  if (is_follower) options.db_paths.emplace_back(request->own_dir, 0);
  for (ColumnFamilyDescriptor& family : request->families) {
    // The log has the values before the callback, and the memtables of a log may be dropped and
    // filled again.
    if (family.options.inplace_callback != nullptr) return NotWhileFollowing("inplace_callback");
    family.options.inplace_update_support = false;
    if (is_follower && !family.options.cf_paths.empty()) {
      return NotWhileFollowing("cf_paths of a follower");
    }
  }
  return Status::OK();
}

// Takes over from the recovery: the version, and the reader of the MANIFEST at its position.
std::unique_ptr<Follower> Follower::Create(DbCore* core, const OpenRequest& request) {
  assert(core != nullptr);
  MutexLock lock(&core->mutex);
  SequenceNumber newest = 0;
  core->versions->ForEachLiveFile([&newest](const FamilyVersions&, Level, TableFile* file) {
    newest = std::max(newest, file->meta.largest_seqno);
  });
  std::string manifest =
      BaseNameOf(DescriptorFileName(core->paths.dir, core->versions->manifest_number()));
  return std::unique_ptr<Follower>(
      new Follower(core, request, std::move(manifest), core->versions->TakeReader(), newest));
}

Follower::Follower(DbCore* core, const OpenRequest& request, std::string manifest,
                   std::unique_ptr<ManifestReader> reader, SequenceNumber newest)
    : core_(core),
      access_(request.access),
      options_(request.db_options),
      manifest_(core->environment.fs.get(), core->paths.dir, std::move(manifest),
                std::move(reader)),
      sections_(/*is_allowed=*/true, nullptr, &core->undecided, &core->families),
      newest_(newest) {
  if (access_ == Access::kFollower) {
    links_.emplace(core->environment.fs.get(), core->paths.dir, request.own_dir);
  }
}

Follower::~Follower() {
  MutexLock lock(&thread_mutex_);
  assert(!has_thread_);
}

// ---- Rounds

// Called by the program or by the follower's own thread; turn_ admits one at a time.
Status Follower::CatchUp() {
  MutexLock turn(&turn_);
  Status status;
  for (int i = 0; i < kMostRounds; i++) {
    status = RunRound();
    if (!status.IsTryAgain()) break;
  }
  if (!status.ok()) {
    Warn(core_->services.info_log, "catching up: %s", status.ToString().c_str());
  }
  return status;
}

// One round. After an error of the insertion the memtables are incomplete, so every later round
// fails with the same error.
Status Follower::RunRound() {
  RETURN_IF_ERROR(failure_);
  RETURN_IF_ERROR(CheckIdentity());
  RETURN_IF_ERROR(manifest_.Read());
  RETURN_IF_ERROR(ApplyManifest());
  has_read_batches_ = false;
  Status read = ReadLogs();
  if (read.ok()) read = CheckOrder();
  const Status ended = EndInserter();
  if (failure_.ok()) failure_ = ended;
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(failure_);
  DecideMissing();
  if (has_news_) Publish();
  return Status::OK();
}

// Ingestions, and flushes of writes that skipped the log, are in the MANIFEST only. If there is one
// between the reading of the MANIFEST and the end of the logs, batches that come after it were
// read, so the next round must add it to them.
Status Follower::CheckOrder() {
  if (!has_read_batches_) return Status::OK();
  RETURN_IF_ERROR(manifest_.Read());
  if (!manifest_.MayChangeContents()) return Status::OK();
  return Status::TryAgain("tables were added or deleted while logs were read");
}

// Refuses to go on if the directory contains another database now. That database may use the names
// of the old files, which are still open here.
Status Follower::CheckIdentity() const {
  const std::string path = IdentityFileName(core_->paths.dir);
  auto identity = ReadWholeFile(core_->environment.fs.get(), path);
  if (IsMissing(identity.status())) return Status::OK();  // RocksDB's option write_identity_file
  RETURN_IF_ERROR(identity.status());
  Slice id(*identity);
  while (id.ends_with("\n")) id.remove_suffix(1);
  const std::string& known = core_->identity.db_id;
  if (id.empty() || known.empty() || id == Slice(known)) return Status::OK();
  return Status::Corruption(StrCat(path, ": another database is here now: its id is ",
                                   id.ToString(), ", and not ", known, ": open it again"));
}

// Decides transactions whose decision was in a log that is gone. The number is above those at which
// readers read already, so their data does not appear there, and it is published next. The primary
// has given it, to the decision or to something later, unless tables have higher numbers than the
// logs: then PrepareMemTables() keeps what gets it from the readers of this round.
void Follower::DecideMissing() {
  FileNumber min_log;
  {
    MutexLock lock(&core_->mutex);
    min_log = core_->versions->min_log_number_to_keep();
  }
  const SequenceNumber decided_at =
      sections_.DecideBefore(min_log, std::max(newest_, published_ + 1));
  if (decided_at == 0) return;
  newest_ = std::max(newest_, decided_at);
  has_news_ = true;
}

// Shows the new state to readers. All families change at one moment, because a reader may read
// several.
void Follower::Publish() {
  {
    MutexLock lock(&core_->mutex);
    published_ = std::max(published_, newest_);
    core_->pipeline->StartAt(published_);
    for (ColumnFamilyData* family : core_->families.All()) {
      family->SetNewestSeqno(published_);
      family->PublishSuperVersion();
    }
  }
  has_news_ = has_own_memtables_ = false;
  if (core_->undecided.is_used()) TrimUndecided();
  PurgeObsoleteFiles(core_);
  if (links_.has_value()) links_->DeleteUnused();
}

// Forgets decided transactions that no reader distinguishes any more. The readers of a dropped
// family go on at its last number, as those of a snapshot do.
void Follower::TrimUndecided() {
  std::erase_if(dropped_, [](const DroppedFamily& family) { return family.versions.expired(); });
  const SequenceNumber visible = core_->pipeline->visible_seqno();
  std::vector<SequenceNumber> numbers = core_->snapshots.SequenceNumbers();
  for (const DroppedFamily& family : dropped_) numbers.push_back(family.seqno);
  std::sort(numbers.begin(), numbers.end());
  core_->undecided.Trim(visible, numbers);
}

// ---- MANIFEST

// Applies the new edits of the MANIFEST. All new files are opened first, so an error changes
// nothing.
Status Follower::ApplyManifest() {
  if (manifest_.empty() && has_looked_at_all_) return Status::OK();
  FollowedChange change = BeginChange();
  const Status built = change.Build(manifest_.edits(), manifest_.is_whole());
  if (!built.ok()) {
    // The next round reads the MANIFEST from its start.
    const std::string name = manifest_.name();
    manifest_.StartOver();
    return Status::CopyAppendMessage(built, " in ", name);
  }
  std::vector<std::string> paths;
  const Status opened = OpenFiles(change, &paths);
  if (!opened.ok()) return ExplainMissing(opened, paths);
  Install(&change);
  if (links_.has_value()) links_->MarkInstalled(BaseNamesOf(paths));
  manifest_.MarkDone();
  has_looked_at_all_ = true;
  has_news_ = true;
  return Status::OK();
}

FollowedChange Follower::BeginChange() {
  MutexLock lock(&core_->mutex);
  return core_->versions->BeginFollowed();
}

// Opens the new files. `paths` receives their paths; after an error, also the path of the file that
// could not be opened.
Status Follower::OpenFiles(const FollowedChange& change, std::vector<std::string>* paths) {
  assert(paths != nullptr);
  std::vector<NamedTable> tables;
  std::vector<std::pair<const FamilyVersions*, std::shared_ptr<BlobFile>>> blobs;
  for (const auto& [id, family] : change.families()) {
    if (family.is_dropped) continue;
    const bool is_new = family.built.version != nullptr;
    if (!is_new && has_looked_at_all_) continue;
    const Version& version = family.next();
    const FamilyVersions* const versions = family.versions.get();
    for (Level level = 0; level < version.num_levels(); ++level) {
      for (TableFile* file : version.files(level)) {
        if (file->reader.load(std::memory_order_acquire) != nullptr) continue;
        if (access_ == Access::kFollower && file->meta.path_id != 0) {
          return Status::NotSupported("a follower of a database with several paths");
        }
        paths->push_back(versions->tables->PathOf(file->meta));
        tables.push_back({versions, file});
      }
    }
    if (version.blobs() == nullptr) continue;
    for (const BlobFiles::Live& live : version.blobs()->all()) {
      if (live.file->opened() != nullptr) continue;
      paths->push_back(live.file->path);
      blobs.emplace_back(versions, live.file);
    }
  }
  if (links_.has_value()) RETURN_IF_ERROR(links_->Make(BaseNamesOf(*paths)));
  for (const auto& [versions, file] : blobs) {
    RETURN_IF_ERROR(versions->tables->blobs()->EnsureOpen(file));
  }
  RETURN_IF_ERROR(LookAtTables(core_->environment, core_->resources.open_tables, options_, tables));
  // Without paranoid_checks, a table that cannot be opened is not an error here. A damaged table
  // may be shown to readers, who get its error. But a table that was deleted could not be read
  // later either, so it is an error.
  for (const NamedTable& table : tables) {
    if (table.file->reader.load(std::memory_order_acquire) != nullptr) continue;
    const std::string path = table.family->tables->PathOf(table.file->meta);
    ASSIGN_OR_RETURN(const bool exists, IsThere(path));
    if (!exists) return Status::PathNotFound(path);
  }
  return Status::OK();
}

// Whether the file exists; in the directory of the primary, or as a link of the follower.
Result<bool> Follower::IsThere(const std::string& path) const {
  for (const std::string& name : {path, LevelDbPathOf(path)}) {
    const IOStatus exists = core_->environment.fs->FileExists(name, IOOptions(), nullptr);
    if (exists.ok()) return true;
    if (!IsMissing(exists)) return Status(exists);
  }
  return false;
}

// Explains why a file is missing. The primary deletes a file only after the MANIFEST says that it
// is not needed any more. If the MANIFEST has more to read, the next round will not need the file.
// Otherwise it is missing for good, and the database is damaged.
Status Follower::ExplainMissing(const Status& status, const std::vector<std::string>& paths) {
  bool is_one_missing = IsMissing(status);
  for (const std::string& path : paths) {
    if (is_one_missing) break;
    const std::string source = core_->paths.dir + "/" + BaseNameOf(path);
    auto exists = IsThere(access_ == Access::kFollower ? source : path);
    is_one_missing = exists.ok() && !*exists;
  }
  if (!is_one_missing) return status;
  const size_t edits = manifest_.edits().size();
  const std::string name = manifest_.name();
  RETURN_IF_ERROR(manifest_.Read());
  if (manifest_.edits().size() == edits && manifest_.name() == name) {
    return status.IsCorruption() ? status
                                 : Status::Corruption(StrCat("the MANIFEST names a file that does ",
                                                             "not exist: ", status.ToString()));
  }
  return Status::TryAgain("a file was deleted before it was opened", status.ToString());
}

// Replaces the versions, and drops memtables whose entries are in the new tables.
void Follower::Install(FollowedChange* change) {
  assert(change != nullptr);
  std::vector<uint32_t> dropped;
  newest_ = std::max(newest_, change->largest_seqno());
  MutexLock lock(&core_->mutex);
  for (const auto& [id, family] : change->families()) {
    if (family.is_dropped) dropped.push_back(id);
  }
  NoteDropped(*change);
  core_->versions->InstallFollowed(change);
  for (const uint32_t id : dropped) core_->families.Remove(id);
  for (ColumnFamilyData* family : core_->families.All()) {
    family->DropMemTablesBelow(family->versions()->log_number);
  }
}

// Of families that are about to be dropped. Where no transaction is undecided, none of its data is
// in them: logs that are read later add nothing to a dropped family.
void Follower::NoteDropped(const FollowedChange& change) {
  if (!core_->undecided.is_used()) return;
  for (const auto& [id, family] : change.families()) {
    if (!family.is_dropped) continue;
    const SequenceNumber seqno = core_->families.Find(id)->super_version()->newest_seqno();
    dropped_.push_back({.versions = family.versions, .seqno = seqno});
  }
}

// ---- The thread of a follower

void Follower::StartThread() {
  assert(access_ == Access::kFollower);
  {
    MutexLock lock(&thread_mutex_);
    has_thread_ = true;
  }
  core_->environment.env->StartThread([](void* self) { static_cast<Follower*>(self)->RunThread(); },
                                      this);
}

void Follower::StopThread() {
  MutexLock lock(&thread_mutex_);
  is_stopping_ = true;
  thread_changed_.SignalAll();
  while (has_thread_) thread_changed_.Wait();
}

// Catches up at regular intervals until StopThread(). Errors are only logged, and tried again after
// the interval. Only TryAgain, which mostly says that the leader was faster, is tried earlier.
void Follower::RunThread() {
  while (!AwaitStop(options_.follower_refresh_catchup_period_ms)) {
    for (uint64_t retries = 0; CatchUp().IsTryAgain(); retries++) {
      if (retries == options_.follower_catchup_retry_count) break;
      if (AwaitStop(options_.follower_catchup_retry_wait_ms)) break;
    }
  }
  MutexLock lock(&thread_mutex_);
  has_thread_ = false;
  thread_changed_.SignalAll();
}

// Waits for this long by the clock of the environment, or until the thread shall end. Returns
// whether it shall end.
bool Follower::AwaitStop(uint64_t millis) {
  constexpr uint64_t kMostMillis = uint64_t{1000} * 1000 * 1000 * 1000;  // 31 years: no overflow
  SystemClock* const clock = core_->environment.clock.get();
  MutexLock lock(&thread_mutex_);
  if (is_stopping_) return true;
  const uint64_t deadline = clock->NowMicros() + std::min(millis, kMostMillis) * 1000;
  clock->TimedWait(&thread_changed_, std::chrono::microseconds(deadline));
  return is_stopping_;
}

}  // namespace ashlar
