// SPDX-License-Identifier: Apache-2.0
//
// The write half of opening: what was recovered becomes durable with a new MANIFEST.
#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/version.h"
#include "db/opening/new_family.h"
#include "db/opening/open.h"
#include "db/opening/replayed_flushes.h"
#include "db/options/options_check.h"
#include "db/state/two_phase_writes.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/hash/crc32c_internal.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Opens the info log, and reports what recovery has found: until now there was no place for it.
Status Opener::OpenLog() {
  assert(core_->services.events == nullptr);
  const DBOptions& options = request_.db_options;
  core_->services.info_log = options.info_log;
  if (core_->services.info_log == nullptr) {
    InfoLogOptions log;
    log.db_path = request_.is_following() ? request_.own_dir : core_->paths.dir;
    log.log_dir = options.db_log_dir;
    log.level = options.info_log_level;
    log.max_file_bytes = options.max_log_file_size;
    log.roll_after_seconds = options.log_file_time_to_roll;
    log.keep_file_count = options.keep_log_file_num;
    // A database also works without its info log.
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

// Written at the beginning of each file of the info log, in RocksDB's words.
void Opener::LogOptions() const {
  Logger* const log = core_->services.info_log.get();
  Header(log, "RocksDB version: %s, of %s", GetRocksVersionAsString().c_str(),
         GetRocksBuildInfoAsString("Ashlar").c_str());
  crc32c::Implementation fast[crc32c::kMaxHardwareImplementations];
  const bool has_fast_crc = crc32c::HardwareImplementations(fast) != 0;
  Header(log, "Fast CRC32 supported: %s", has_fast_crc ? "Supported on x86" : "Not supported");
  Header(log, "Jemalloc supported: 0");
  core_->options->Dump(log);
  for (const ColumnFamilyData* family : core_->families.All()) {
    Header(log, "--------------- Options for column family [%s]:", family->name().c_str());
    family->options().Dump(log);
  }
}

// A missing or unreadable IDENTITY counts as empty.
std::string Opener::StoredDbId() const {
  auto identity = ReadWholeFile(core_->environment.fs.get(), IdentityFileName(core_->paths.dir));
  std::string stored = identity.ok() ? identity.Take() : "";
  if (!stored.empty() && stored.back() == '\n') stored.pop_back();
  return stored;
}

// The id in the MANIFEST is used if there is one, otherwise the one in IDENTITY.
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

// Written under another name and renamed, so that a crash leaves the old or the new content.
Status Opener::WriteIdentity() {
  return WriteFileAtomically(core_->environment.fs.get(), core_->paths.dir,
                             BaseNameOf(TempFileName(core_->paths.dir, 0)),
                             BaseNameOf(IdentityFileName(core_->paths.dir)), core_->identity.db_id,
                             request_.db_options.metadata_write_temperature);
}

// Makes sure that no number of any file in the directories is allocated again.
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
  // A log may have been deleted since, but a later log with the same number could be mistaken for
  // it.
  core_->versions->MarkFileNumberUsed(highest_log_.Next());
  return Status::OK();
}

// Either all replayed entries are written to tables, or (avoid_flush_during_recovery) none, and the
// logs are kept. Damaged logs are not kept, because the next recovery would fail on them again. Nor
// are logs from which a filter has removed entries, because that decision is final.
Status Opener::FlushReplayed() {
  assert(edits_.empty() && flushed_.empty());
  bool any_full = false;
  for (ColumnFamilyData* family : core_->families.All()) {
    any_full |= !family->immutables().empty();
  }
  keeps_logs_ = request_.db_options.avoid_flush_during_recovery && !any_full && !stopped_early_ &&
                report_.dropped.empty() && report_.batches_filtered == 0;
  if (keeps_logs_) RETURN_IF_ERROR(SyncReplayedLogs());
  const std::vector<ColumnFamilyData*> families = core_->families.All();
  edits_.resize(families.size());
  ReplayedFlushes flushes(core_);
  for (size_t i = 0; i < families.size(); i++) {
    edits_[i].column_family = families[i]->id();
    if (keeps_logs_) continue;
    if (!families[i]->mem()->IsEmpty()) families[i]->SwitchMemTable(highest_log_.Next());
    std::vector<MemTable*> taken = flushes.Add(families[i], &edits_[i]);
    if (!taken.empty()) flushed_.emplace_back(families[i], std::move(taken));
  }
  RETURN_IF_ERROR(flushes.Run());
  for (const std::string& path : core_->paths.table_dirs) {
    RETURN_IF_ERROR(SyncDirectory(core_->environment.fs.get(), path));
  }
  return Status::OK();
}

// Logs that are kept are synced: if their ends were lost after a synced write to the new log, there
// would be a hole. If the file system cannot open a file for syncing, no log is kept.
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

// If the replay has stopped early, the new log begins with an empty batch that has the next
// sequence number. It tells a later recovery that this log continues the recovered state.
// Undecided prepare sections are logged again, so that no older log is needed. After a crash before
// the MANIFEST changes, the next opening finds them in both logs.
Status Opener::StartLog() {
  const DBOptions& given = request_.db_options;
  WalSetOptions options;
  options.log.fs = core_->environment.fs.get();
  options.log.file_options =
      core_->environment.fs->OptimizeForLogWrite(core_->environment.file_options, given);
  options.log.file_options.temperature = given.wal_write_temperature;
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
  options.records_timestamp_sizes = !WritesForRocksDb78(given);
  core_->wals->Configure(options);
  for (const ColumnFamilyData* family : core_->families.All()) {
    const size_t stamp_bytes = family->comparator().stamp_bytes();
    if (stamp_bytes == 0) continue;
    core_->wals->AddTimestampSize({family->id(), static_cast<uint16_t>(stamp_bytes)});
  }
  const FileNumber number = core_->versions->NewFileNumber();
  assert(number > highest_log_);  // the new log is newer than all that were replayed
  ASSIGN_OR_RETURN(std::unique_ptr<WalSink> log, core_->wals->Create(number));
  WalSink* sink = log.get();
  RETURN_IF_ERROR(core_->wals->Install(std::move(log), core_->pipeline->visible_seqno() + 1));
  core_->versions->TrackLogs(core_->wals.get());
  RETURN_IF_ERROR(core_->wals->SyncEntries());
  const SequenceNumber next_seqno = core_->pipeline->visible_seqno() + 1;
  if (stopped_early_) {
    std::string marker;
    PutFixed64(&marker, next_seqno);
    PutFixed32(&marker, 0);
    RETURN_IF_ERROR(sink->Append(marker));
    RETURN_IF_ERROR(core_->wals->SyncAll());
  }
  return LogSectionsAgain(&core_->prepared_logs, core_->wals.get(), next_seqno);
}

// Makes the recovery durable with one change of the MANIFEST: the new tables, and the new log as
// the oldest one that is needed. Before this change a crash repeats the recovery; after it the old
// logs are obsolete.
Status Opener::InstallRecovery() {
  assert(!edits_.empty() && edits_.front().column_family == 0);  // the default family comes first
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
  // The new tables are in the MANIFEST now, so they need no protection from the deletion of
  // obsolete files.
  core_->jobs.UnprotectAll();
  assert(flushed_.empty() || !keeps_logs_);
  return Status::OK();
}

// Created in the order of the caller's list, so their ids have that order.
Status Opener::CreateMissingFamilies() {
  for (const ColumnFamilyDescriptor& family : request_.families) {
    const bool is_missing =
        std::any_of(missing_.begin(), missing_.end(),
                    [&](const FamilyRequest& request) { return request.name == family.name; });
    if (!is_missing) continue;
    RETURN_IF_ERROR(
        CreateFamilyLocked(core_, host_, family.name, SettledOptionsOf(family.name)).status());
  }
  return Status::OK();
}

}  // namespace ashlar
