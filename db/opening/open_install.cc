// SPDX-License-Identifier: Apache-2.0
//
// The write half of opening: what was recovered becomes durable under a new MANIFEST.
#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/version.h"
#include "db/opening/open.h"
#include "db/opening/replayed_flushes.h"
#include "db/options/options_check.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status Opener::OpenLog() {
  const DBOptions& options = request_.db_options;
  core_->services.info_log = options.info_log;
  if (core_->services.info_log == nullptr) {
    InfoLogOptions log;
    log.db_path = core_->paths.dir;
    log.log_dir = options.db_log_dir;
    log.level = options.info_log_level;
    log.max_file_bytes = options.max_log_file_size;
    log.roll_after_seconds = options.log_file_time_to_roll;
    log.keep_file_count = options.keep_log_file_num;
    // A database works without its text log.
    auto opened = OpenInfoLog(core_->environment.fs, core_->environment.clock, log);
    core_->services.info_log = opened.ok() ? opened.Take() : NewNullLogger();
  }
  core_->services.events =
      std::make_unique<EventLogger>(core_->services.info_log.get(), core_->environment.clock.get());
  LogOptions();
  for (const std::string& note : report_.notes) {
    Warn(core_->services.info_log, "best-efforts recovery: %s", note.c_str());
  }
  for (const DroppedLogBytes& drop : report_.dropped) {
    Warn(core_->services.info_log, "recovery dropped %llu bytes of log %llu at offset %llu: %s",
         static_cast<unsigned long long>(drop.bytes),
         static_cast<unsigned long long>(drop.log_number.value()),
         static_cast<unsigned long long>(drop.offset), drop.reason.c_str());
  }
  core_->services.events->Event("recovery_finished")
      .Add("logs", report_.logs_read)
      .Add("records", report_.records_applied)
      .Add("last_sequence", core_->pipeline->visible_seqno());
  return Status::OK();
}

// At the top of each file of the log, in RocksDB's words.
void Opener::LogOptions() const {
  Logger* const log = core_->services.info_log.get();
  Header(log, "RocksDB version: %s, of %s", GetRocksVersionAsString().c_str(),
         GetRocksBuildInfoAsString("Ashlar").c_str());
  core_->options->Dump(log);
  for (const ColumnFamilyData* family : core_->families.All()) {
    Header(log, "--------------- Options for column family [%s]:", family->name().c_str());
    family->options().Dump(log);
  }
}

std::string Opener::StoredDbId() const {
  auto identity = ReadWholeFile(core_->environment.fs.get(), IdentityFileName(core_->paths.dir));
  std::string stored = identity.ok() ? identity.Take() : "";
  if (!stored.empty() && stored.back() == '\n') stored.pop_back();
  return stored;
}

// The MANIFEST's id wins; a database without one keeps the one in IDENTITY.
Status Opener::SettleDbId() {
  assert(!core_->mode.is_read_only);
  core_->identity.db_id = core_->versions->db_id();
  const std::string stored = StoredDbId();
  if (core_->identity.db_id.empty()) {
    core_->identity.db_id = stored.empty() ? core_->environment.env->GenerateUniqueId() : stored;
  }
  core_->versions->set_db_id(core_->identity.db_id);
  core_->environment.outputs.db_id = core_->identity.db_id;
  core_->environment.outputs.db_host_id = HostIdFor(request_.db_options);
  return stored == core_->identity.db_id ? Status::OK() : WriteIdentity();
}

Status Opener::WriteIdentity() {
  return WriteFileAtomically(core_->environment.fs.get(), core_->paths.dir,
                             BaseNameOf(TempFileName(core_->paths.dir, 0)),
                             BaseNameOf(IdentityFileName(core_->paths.dir)), core_->identity.db_id);
}

// No number that any file in the directories carries is given out again.
Status Opener::SettleFileNumbers() {
  assert(!core_->mode.is_read_only);
  std::set<std::string> dirs = core_->paths.table_dirs;
  dirs.insert({core_->paths.dir, core_->paths.wal_dir});
  for (const std::string& dir : dirs) {
    const Result<std::vector<std::string>>& names = names_->In(dir);
    if (!names.ok()) continue;
    for (const std::string& name : names.value()) {
      FileNumber number;
      FileType type;
      if (ParseFileName(name, &number, &type) && type != kInfoLogFile) {
        core_->versions->MarkFileNumberUsed(number);
      }
    }
  }
  core_->versions->MarkFileNumberUsed(highest_log_.Next());
  return Status::OK();
}

// Either everything that was replayed goes to tables, or (avoid_flush_during_recovery) nothing does
// and the logs stay. Damaged logs do not: the next recovery would stumble over them again. Nor do
// those of which a filter has left something out: that is decided.
Status Opener::FlushReplayed() {
  bool has_sealed = false;
  for (ColumnFamilyData* family : core_->families.All()) {
    has_sealed |= !family->sealed().empty();
  }
  keeps_logs_ = request_.db_options.avoid_flush_during_recovery && !has_sealed && !stopped_early_ &&
                report_.dropped.empty() && report_.batches_filtered == 0;
  if (keeps_logs_) RETURN_IF_ERROR(SyncReplayedLogs());
  const std::vector<ColumnFamilyData*> families = core_->families.All();
  edits_.resize(families.size());
  ReplayedFlushes flushes(core_);
  for (size_t i = 0; i < families.size(); i++) {
    edits_[i].column_family = families[i]->id();
    if (keeps_logs_) continue;
    if (!families[i]->mem()->IsEmpty()) families[i]->SealMemTable(highest_log_.Next());
    std::vector<MemTable*> taken = flushes.Add(families[i], &edits_[i]);
    if (!taken.empty()) flushed_.emplace_back(families[i], std::move(taken));
  }
  RETURN_IF_ERROR(flushes.Run());
  for (const std::string& path : core_->paths.table_dirs) {
    RETURN_IF_ERROR(SyncDirectory(core_->environment.fs.get(), path));
  }
  return Status::OK();
}

// Logs that stay are made durable: their tails may not be lost behind a synced write to the new
// log, which would leave a hole. A file system that opens no file again cannot: then none stays.
Status Opener::SyncReplayedLogs() {
  assert(keeps_logs_);
  if (replayed_.empty()) return Status::OK();
  for (const auto& log : replayed_) {
    const Status synced = core_->environment.fs->SyncFile(
        LogFileName(core_->paths.wal_dir, log.first), core_->environment.file_options, IOOptions(),
        request_.db_options.use_fsync, nullptr);
    if (synced.IsNotSupported()) {
      keeps_logs_ = false;
      return Status::OK();
    }
    RETURN_IF_ERROR(synced);
  }
  return SyncDirectory(core_->environment.fs.get(), core_->paths.wal_dir);
}

// After a replay that stopped early the new log begins with an empty batch that carries the next
// sequence number: a later recovery then knows that this log continues what survived.
Status Opener::StartLog() {
  const DBOptions& given = request_.db_options;
  WalSetOptions options;
  options.log.fs = core_->environment.fs.get();
  options.log.file_options =
      core_->environment.fs->OptimizeForLogWrite(core_->environment.file_options, given);
  options.log.manual_flush = given.manual_wal_flush;
  options.log.buffer_bytes = given.writable_file_max_buffer_size;
  options.log.bytes_per_sync = given.wal_bytes_per_sync;
  options.log.statistics = core_->services.statistics.get();
  options.log.use_fsync = given.use_fsync;
  options.log.env = core_->environment.env;
  options.wal_dir = core_->paths.wal_dir;
  options.compresses = given.wal_compression == kZSTD;
  options.describes_predecessors = given.track_and_verify_wals;
  options.max_recycled_logs = given.recycle_log_file_num;
  core_->wals->Configure(options);
  const FileNumber number = core_->versions->NewFileNumber();
  assert(number > highest_log_);  // a log is newer than all that were replayed
  ASSIGN_OR_RETURN(std::unique_ptr<WalSink> log, core_->wals->Create(number));
  WalSink* sink = log.get();
  RETURN_IF_ERROR(core_->wals->Install(std::move(log), core_->pipeline->visible_seqno() + 1));
  core_->versions->TrackLogs(core_->wals.get());
  RETURN_IF_ERROR(core_->wals->SyncEntries());
  if (!stopped_early_) return Status::OK();
  std::string marker;
  PutFixed64(&marker, core_->pipeline->visible_seqno() + 1);
  PutFixed32(&marker, 0);
  RETURN_IF_ERROR(sink->Append(marker));
  return core_->wals->SyncAll();
}

Status Opener::InstallRecovery() {
  assert(!edits_.empty() && edits_.front().column_family == 0);  // the default family is the first
  const FileNumber log_number = core_->wals->current_number();
  VersionSet::Change change;
  change.last_sequence = core_->pipeline->visible_seqno();
  if (!keeps_logs_) {
    for (VersionEdit& edit : edits_) edit.log_number = log_number;
    edits_.front().min_log_number_to_keep = log_number;
  } else {
    for (const auto& [number, log] : replayed_) {
      core_->wals->AddRecovered({.number = number,
                                 .first_seqno = log.first_seqno,
                                 .synced_bytes = log.end_offset,
                                 .end_bytes = log.end_offset});
    }
  }
  change.edits = std::move(edits_);
  RETURN_IF_ERROR(core_->versions->LogAndApply(std::move(change), &core_->mutex));
  for (auto& [family, memtables] : flushed_) family->RemoveFlushed(memtables);
  core_->jobs.UnprotectAll();
  assert(flushed_.empty() || !keeps_logs_);
  return Status::OK();
}

Status CreateFamilyLocked(DbCore* core, FamilyHost* host, const std::string& name,
                          const ColumnFamilyOptions& settled) {
  const ColumnFamilyOptions options = SanitizeSettledOptions(*core->options, settled);
  auto request = std::make_unique<FamilyRequest>(name, InternalKeyComparator(options.comparator));
  request->num_levels = options.num_levels;
  request->tables = std::make_unique<TableCache>(TableCacheOptionsFor(core, options));
  const uint32_t id = core->versions->ReserveFamilyId();
  assert(id > 0 && core->versions->Family(id) == nullptr);  // ids are never used again
  VersionEdit edit;
  edit.column_family = id;
  edit.added_family = name;
  edit.comparator = options.comparator->Name();
  edit.log_number = core->wals->current_number();
  VersionSet::Change change;
  change.edits.push_back(std::move(edit));
  change.last_sequence = core->pipeline->visible_seqno();
  change.added_family = std::move(request);
  const Status status = core->versions->LogAndApply(std::move(change), &core->mutex);
  // Refused, not failed: what failed may have reached the MANIFEST.
  const bool is_refused = status.IsInvalidArgument() && core->versions->Family(name) != nullptr;
  if (is_refused) core->versions->ReturnFamilyId(id);
  RETURN_IF_ERROR(status);
  FamilyRef family = FamilyRef::Adopt(new ColumnFamilyData(
      core->versions->Family(id), std::make_shared<const ColumnFamilyOptions>(options),
      core->versions.get(), host));
  family->settled_options = std::make_shared<const ColumnFamilyOptions>(settled);
  family->PublishSuperVersion();
  core->families.Add(std::move(family));
  return Status::OK();
}

// In the order of the caller's list: their ids follow it.
Status Opener::CreateMissingFamilies() {
  for (const ColumnFamilyDescriptor& family : request_.families) {
    const bool is_missing =
        std::any_of(missing_.begin(), missing_.end(),
                    [&](const FamilyRequest& request) { return request.name == family.name; });
    if (!is_missing) continue;
    RETURN_IF_ERROR(CreateFamilyLocked(core_, host_, family.name, SettledOptionsOf(family.name)));
  }
  return Status::OK();
}

}  // namespace ashlar
