// SPDX-License-Identifier: Apache-2.0
//
// Slow steps are done while writes continue: reading and copying files, flushing, searching keys in
// tables. During the standstill only facts that may have changed since are checked again.
#include "db/ingestion/ingestions.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <set>
#include <utility>

#include "db/compaction/young_data.h"
#include "db/ingestion/file_as_batch.h"
#include "db/jobs/notify.h"
#include "db/state/family_handle.h"
#include "db/state/job_thread.h"
#include "db/write/write_batch_internal.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/scope_exit.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// The sequence numbers of a file's entries need not agree with the order of its timestamps and
// those of the database.
Status OverlapsInStampedFamily() {
  return Status::InvalidArgument(
      "external file: its range of keys, without timestamps, overlaps other files or the column "
      "family, whose keys have timestamps");
}

// Less than this is flushed about as fast as a MANIFEST record is written, so another round would
// not help.
constexpr uint64_t kLittleBytes = 1 << 20;
// Each round leaves the writes that came during it. If these do not become fewer, more rounds will
// not help.
constexpr int kMaxRounds = 4;

}  // namespace

// The state of one family during a commit. Its FamilyFiles outlive it.
struct Ingestions::Part {
  explicit Part(FamilyFiles* family_files) : staged(family_files) {}

  ColumnFamilyData* family() const { return staged->family.get(); }
  // A flush before an ingestion may have to be allowed by the program.
  Status CheckMayFlush() const {
    // Without an overlap no memtable needs a flush.
    if (!meets_memtables || staged->options.allow_blocking_flush) return Status::OK();
    return Status::InvalidArgument(
        "External file requires flush, but allow_blocking_flush is not set");
  }

  FamilyFiles* const staged;
  // Set by Look(), for the state of this view.
  ReadView view;
  bool meets_memtables = false;
  std::vector<std::optional<Level>> first_with_keys;  // by file

  // Set by Place(), by file; `ranges` keep compactions away from the places.
  std::vector<std::pair<Level, FileMetadata>> placed;
  std::vector<std::unique_ptr<TableFile>> ranges;
  std::deque<CompactionPlan> reserved;
  bool is_installed = false;  // set by Record(): a version of the family has the files

  // Set by WriteAsBatch(): the first sequence number of the batch; 0: the files were installed.
  SequenceNumber written_seqno = 0;
};

// While it exists, no commit is in flight and none begins, and scans insert no tombstones into the
// memtables of the families. Only one thread has a Standstill at a time.
class Ingestions::Standstill {
 public:
  // Waits for its turn first, and then for the commits in flight to end.
  Standstill(Ingestions* owner, const std::vector<Part*>& parts) EXCLUDES(db_mutex)
      : owner_(owner), parts_(parts), core_(owner->core_) {
    assert(owner != nullptr && !parts.empty());
    {
      MutexLock lock(&core_->mutex);
      while (owner_->is_installing_) core_->conditions.jobs.Wait();
      // Set before the mutex is released, so that a second ingestion waits.
      owner_->is_installing_ = true;
      for (const Part* part : parts_) {
        assert(part != nullptr && part->family() != nullptr);
        part->family()->is_ingesting = true;
        part->family()->BeginExternalChange();
      }
    }
    core_->pipeline->Pause();
  }
  ~Standstill() {
    core_->pipeline->Resume();
    MutexLock lock(&core_->mutex);
    for (const Part* part : parts_) {
      assert(part->family()->is_ingesting);
      part->family()->is_ingesting = false;
      part->family()->EndExternalChange();
    }
    assert(owner_->is_installing_);
    owner_->is_installing_ = false;
    core_->conditions.JobEnded();
  }
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;

 private:
  Ingestions* const owner_;
  const std::vector<Part*>& parts_;
  DbCore* const core_;
};

// 1. Prepare.

// Inspecting and copying the files does not disturb writers.
Status Ingestions::Prepare(const std::vector<IngestExternalFileArg>& args,
                           std::unique_ptr<FileIngestionHandle>* handle) {
  assert(handle != nullptr);
  assert(!InEpoch());
  handle->reset();
  const StopWatch watch(core_->environment.clock.get(), core_->services.statistics.get(),
                        INGEST_EXTERNAL_FILE_PREPARE_TIME);
  ASSIGN_OR_RETURN(*handle, StageFiles(core_, args));
  return Status::OK();
}

// 2. Commit.

// Settles the handles: their files belong to the database afterwards, or are deleted by the
// handles.
Status Ingestions::Commit(std::vector<std::unique_ptr<FileIngestionHandle>> handles) {
  assert(!InEpoch());
  if (handles.empty()) return Status::InvalidArgument("CommitFileIngestionHandles: no handle");
  std::vector<StagedFiles*> all;
  for (const auto& handle : handles) {
    auto* const staged = static_cast<StagedFiles*>(handle.get());  // the only class of handles
    if (staged == nullptr || staged->is_settled || !staged->IsOf(core_)) {
      return Status::InvalidArgument(
          "CommitFileIngestionHandles: a handle that is not open in this database");
    }
    all.push_back(staged);
  }
  const StopWatch watch(core_->environment.clock.get(), core_->services.statistics.get(),
                        INGEST_EXTERNAL_FILE_RUN_TIME);
  const PerfTimer timer(&PerfContextBase::file_ingestion_nanos);
  return CommitStaged(all);
}

// The steps of ingestions.h. After an error nothing was installed.
Status Ingestions::CommitStaged(const std::vector<StagedFiles*>& all) {
  // A deque, because the parts are pointed to and must not move.
  assert(!all.empty());
  std::deque<Part> storage;
  std::vector<Part*> parts;
  std::set<const ColumnFamilyData*> families;
  for (StagedFiles* staged : all) {
    for (FamilyFiles& family : staged->families) {
      if (!families.insert(family.family.get()).second) {
        return Status::InvalidArgument("two handles are for one column family",
                                       family.family->name());
      }
      // One part for each family, whatever the number of handles is.
      parts.push_back(&storage.emplace_back(&family));
    }
  }
  Status status = FlushOverlapped(parts);
  if (status.ok()) {
    AwaitRoom(parts);
    // False: the files fit into one write, and are written as a batch instead.
    const Result<bool> is_installed = InstallWithoutWriters(all, parts);
    status = is_installed.status();
    if (status.ok() && !is_installed.value()) status = WriteAsBatch(parts);
  }
  writes_->NotifyOfStalls();
  if (!status.ok()) {
    Warn(core_->services.info_log.get(), "external files not ingested: %s",
         status.ToString().c_str());
    return status;
  }
  Report(parts);
  return status;
}

// Flushes while writers continue. Stops when there is little left, which is flushed in the
// standstill.
Status Ingestions::FlushOverlapped(const std::vector<Part*>& parts) {
  assert(!parts.empty());
  for (int round = 0; round < kMaxRounds; round++) {
    std::vector<ColumnFamilyData*> overlapped;
    bool is_little = true;
    for (Part* part : parts) {
      assert(part != nullptr);
      RETURN_IF_ERROR(Look(part));
      if (!part->meets_memtables) continue;
      RETURN_IF_ERROR(part->CheckMayFlush());
      overlapped.push_back(part->family());
      is_little &= part->view.super_version()->mem()->raw_bytes() < kLittleBytes;
    }
    if (overlapped.empty() || (round > 0 && is_little)) return Status::OK();
    RETURN_IF_ERROR(
        flushes_->Flush(FlushOptions(), overlapped, FlushReason::kExternalFileIngestion));
  }
  return Status::OK();
}

// If tables come faster than compactions remove them, writers would be stopped; so the call waits.
// Files for deeper levels wait for nothing.
void Ingestions::AwaitRoom(const std::vector<Part*>& parts) {
  MutexLock lock(&core_->mutex);
  const auto may_wait = [this]() REQUIRES(db_mutex) {
    return !core_->errors.BlocksWrites() && !scheduler_->is_paused() &&
           !core_->shutdown.is_background_cancelled();
  };
  const auto awaits = [this](const Part* part) REQUIRES(db_mutex) {
    const IngestExternalFileOptions& options = part->staged->options;
    if (options.ingest_behind || options.fail_if_not_bottommost_level) return false;
    // Without a look it is not known where the file will go.
    if (part->first_with_keys.empty()) return false;
    const auto& meets = part->first_with_keys;
    const bool goes_above = part->staged->overlap_each_other ||
                            std::any_of(meets.begin(), meets.end(),
                                        [](const auto& level) { return level.has_value(); });
    return goes_above && scheduler_->WillMakeRoomLocked(part->family(), part->staged->files.size());
  };
  while (may_wait() && !JobThread::HoldsUpCompactions(core_) &&
         std::any_of(parts.begin(), parts.end(), awaits)) {
    core_->conditions.jobs.Wait();  // for the end of a compaction
  }
}

// Finds out what the files of a family overlap now. Tables are searched only if the version has
// changed since the last time.
Status Ingestions::Look(Part* part) {
  assert(part != nullptr);
  const uint64_t known =
      part->first_with_keys.empty() ? 0 : part->view.super_version()->version()->number();
  part->view = part->family()->AcquireView();
  part->view.PurgeInBackground();  // deleting files, and listeners, must not hold up writers
  const bool is_stamped = part->family()->comparator().stamp_bytes() != 0;
  if (is_stamped && part->staged->options.ingest_behind) {
    return Status::NotSupported("ingest_behind: not in a column family with timestamps");
  }
  if (part->staged->options.ingest_behind) return Status::OK();  // all present data is newer
  const SuperVersion& super_version = *part->view.super_version();
  const std::vector<ExternalFile>& files = part->staged->files;
  part->meets_memtables = std::any_of(files.begin(), files.end(), [&](const ExternalFile& file) {
    return OverlapsMemTables(super_version, file.bounds);
  });
  if (is_stamped && (part->meets_memtables || part->staged->overlap_each_other)) {
    return OverlapsInStampedFamily();
  }
  if (super_version.version()->number() == known) return Status::OK();
  part->first_with_keys.clear();
  std::vector<std::optional<Level>> found;
  for (const ExternalFile& file : files) {
    ASSIGN_OR_RETURN(found.emplace_back(),
                     FirstLevelWithKeys(*super_version.version(), file.bounds));
    if (is_stamped && found.back().has_value()) return OverlapsInStampedFamily();
  }
  assert(found.size() == files.size());
  part->first_with_keys = std::move(found);
  return Status::OK();
}

// This is the only step of an ingestion during which writers wait: `standstill` holds them up until
// the function returns.
Result<bool> Ingestions::InstallWithoutWriters(const std::vector<StagedFiles*>& all,
                                               const std::vector<Part*>& parts) {
  const Standstill standstill(this, parts);
  const PerfTimer timer(&PerfContextBase::file_ingestion_blocking_live_writes_nanos);
  std::vector<ColumnFamilyData*> overlapped;
  for (Part* part : parts) {
    RETURN_IF_ERROR(Look(part));
    if (part->meets_memtables) overlapped.push_back(part->family());
  }
  if (!overlapped.empty()) {
    if (MayBeWritten(parts)) return false;
    for (const Part* part : parts) RETURN_IF_ERROR(part->CheckMayFlush());
    FlushOptions now;
    now.allow_write_stall = true;  // writers are waiting anyway
    RETURN_IF_ERROR(flushes_->Flush(now, overlapped, FlushReason::kExternalFileIngestion));
  }
  // A snapshot that is taken while the MANIFEST is written would see the files appear.
  core_->snapshots.Hold();
  const ScopeExit let_go([this] { core_->snapshots.LetGo(); });
  while (true) {
    for (Part* part : parts) RETURN_IF_ERROR(Look(part));
    MutexLock lock(&core_->mutex);
    // A flush or a compaction may have ended between the look and the lock. Then the search is
    // repeated with the new version, which is rare and quick.
    // In that case nothing is reserved yet, so there is nothing to undo.
    if (!IsAsLookedAt(parts)) continue;
    SequenceNumber last_seqno = core_->pipeline->visible_seqno();
    const ScopeExit release([&]() REQUIRES(db_mutex) {
      for (const Part* part : parts) {
        for (const CompactionPlan& plan : part->reserved) compactions_->ReleaseLocked(&plan);
      }
    });
    for (Part* part : parts) RETURN_IF_ERROR(Place(part, &last_seqno));
    {
      // The files are written without the mutex. Nobody else knows them, and the places stay
      // reserved.
      MutexUnlock unlock(&core_->mutex);
      RETURN_IF_ERROR(WriteSeqnos(parts));
    }
    RETURN_IF_ERROR(Record(all, parts, last_seqno));
    return true;
  }
}

// Only if all files fit into one write, because one write makes them visible together.
bool Ingestions::MayBeWritten(const std::vector<Part*>& parts) {
  assert(!parts.empty());
  uint64_t bytes = 0, most = UINT64_MAX;
  for (const Part* part : parts) {
    const IngestExternalFileOptions& options = part->staged->options;
    if (!options.allow_global_seqno || options.fail_if_not_bottommost_level) return false;
    if (options.ingest_behind) return false;
    if (part->family()->comparator().stamp_bytes() != 0) return false;
    if (!part->family()->takes_writes()) return false;
    // The smallest limit counts, because one batch goes to all families.
    most = std::min(most, MaxBytesAsBatch(part->family()->write_buffer_bytes()));
    for (const ExternalFile& file : part->staged->files) {
      const bool needs_operator = file.properties->num_merge_operands != 0;
      if (!file.takes_seqno) return false;
      if (needs_operator && part->family()->merge_operator() == nullptr) return false;
      bytes += file.properties->raw_key_size + file.properties->raw_value_size;
    }
  }
  return bytes <= most;
}

// Makes one synced write of all files.
Status Ingestions::WriteAsBatch(const std::vector<Part*>& parts) {
  assert(!parts.empty());
  WriteBatch batch;
  for (Part* part : parts) {
    assert(part->placed.empty());  // nothing was installed
    const InspectOptions inspect{.fs = core_->environment.fs.get(),
                                 .file_options = core_->environment.file_options,
                                 .comparator = &part->family()->comparator(),
                                 .family_id = part->family()->id()};
    for (const ExternalFile& file : part->staged->files) {
      RETURN_IF_ERROR(AppendFile(inspect, file, &batch));
    }
    part->view.Reset();  // otherwise the view keeps its memtables in memory
  }
  WriteOptions synced;
  synced.sync = true;
  RETURN_IF_ERROR(core_->pipeline->Commit(synced, &batch));
  for (Part* part : parts) part->written_seqno = WriteBatchInternal::Sequence(batch);
  return Status::OK();
}

// False if a flush or compaction that ended meanwhile has installed another version.
bool Ingestions::IsAsLookedAt(const std::vector<Part*>& parts) const {
  return std::all_of(parts.begin(), parts.end(), [](const Part* part) REQUIRES(db_mutex) {
    assert(!part->meets_memtables);  // no commit has been in flight since
    return part->family()->is_dropped() ||
           part->family()->current() == part->view.super_version()->version();
  });
}

// Decides the level and the sequence number of each file of a family, and reserves the places.
Status Ingestions::Place(Part* part, SequenceNumber* last_seqno) {
  assert(part != nullptr);
  assert(part->placed.empty() && part->reserved.empty());
  ColumnFamilyData* const family = part->family();
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  assert(family->current() != nullptr);
  const Version& version = *family->current();
  const std::vector<const CompactionPlan*> running = compactions_->PlansLocked(family);
  const Level base_level =
      AssessCompaction(version, family->options(), family->versions()->claims).base_level;
  // New data is young.
  const std::optional<Level> young_level = YoungLevel(version, family->options());
  const int levels_in_use =
      young_level.has_value() ? int{young_level->Next()} : LevelsInUse(version, family->options());
  for (size_t i = 0; i < part->staged->files.size(); i++) {
    const ExternalFile& file = part->staged->files[i];
    IngestPlaceOptions place{.version = &version,
                             .bounds = &file.bounds,
                             .base_level = base_level,
                             .levels_in_use = levels_in_use,
                             .running = &running};
    Level level = Level{version.num_levels() - 1};
    SequenceNumber seqno = 0;
    if (part->staged->options.ingest_behind) {
      RETURN_IF_ERROR(CheckFitsBehind(place));
    } else {
      assert(i < part->first_with_keys.size());
      place.first_with_keys = part->first_with_keys[i];
      ASSIGN_OR_RETURN(level, PickLevel(*part, i, place));
      ASSIGN_OR_RETURN(seqno, NumberOf(*part, i, last_seqno));
    }
    assert(level < version.num_levels());
    FileMetadata meta = MetadataOf(file, seqno);
    meta.epoch_number = family->versions()->next_epoch++;
    meta.oldest_ancestor_time = meta.file_creation_time = core_->environment.NowSeconds();
    // Level 0 needs no reservation, because its tables may overlap.
    if (level > 0) {
      CompactionPlan& plan = part->reserved.emplace_back();
      plan.start_level = plan.output_level = level;
      part->ranges.push_back(std::make_unique<TableFile>(meta));
      plan.inputs.push_back({level, {part->ranges.back().get()}});
      compactions_->ReserveLocked(family, &plan);
    }
    part->placed.emplace_back(level, std::move(meta));
  }
  assert(part->placed.size() == part->staged->files.size());
  return Status::OK();
}

// Level 0 if the files of the call overlap each other, because their order must be kept, and with
// FIFO.
Result<Level> Ingestions::PickLevel(const Part& part, size_t i,
                                    const IngestPlaceOptions& place) const {
  assert(i < part.staged->files.size());
  Level level = 0;
  const bool is_fifo = part.family()->options().compaction_style == kCompactionStyleFIFO;
  if (!part.staged->overlap_each_other && !is_fifo) level = PickIngestLevel(place);
  if (part.staged->options.fail_if_not_bottommost_level &&
      level + 1 != place.version->num_levels()) {
    return Status::TryAgain(
        StrCat("external file ", part.staged->files[i].source,
               ": tables of the last level, or those that a compaction is ",
               "about to write there, overlap it, and fail_if_not_bottommost_level is set"));
  }
  return level;
}

// The sequence number of all entries of the file; 0: the entries keep their own. Without a number
// of their own the entries could not be distinguished from files that are ingested behind them.
Result<SequenceNumber> Ingestions::NumberOf(const Part& part, size_t i,
                                            SequenceNumber* last_seqno) const {
  assert(last_seqno != nullptr);
  assert(i < part.staged->files.size() && i < part.first_with_keys.size());
  const ExternalFile& file = part.staged->files[i];
  const IngestExternalFileOptions& options = part.staged->options;
  const bool is_seen_by_none = !options.snapshot_consistency || core_->snapshots.count() == 0;
  const bool needs_one =
      part.first_with_keys[i].has_value() || part.staged->overlap_each_other || !is_seen_by_none;
  const bool tells_age =
      part.family()->options().cf_allow_ingest_behind || core_->floors.expects_transactions();
  const bool wants_one = tells_age && file.takes_seqno && options.allow_global_seqno;
  if (!needs_one && !wants_one) {
    // The database's number must not fall behind those that the file's entries keep.
    *last_seqno = std::max(*last_seqno, file.bounds.largest_seqno);
    return SequenceNumber{0};
  }
  if (!options.allow_global_seqno) {
    return Status::InvalidArgument("Global seqno is required, but disabled", file.source);
  }
  if (!file.takes_seqno) {
    return Status::InvalidArgument(
        "an external file that needs a sequence number has no place for one", file.source);
  }
  return ++*last_seqno;
}

// Writes into files that other releases will read. The files are not in the MANIFEST yet.
Status Ingestions::WriteSeqnos(const std::vector<Part*>& parts) {
  for (Part* part : parts) {
    if (!part->staged->options.write_global_seqno) continue;
    InspectOptions inspect{.fs = core_->environment.fs.get(),
                           .file_options = core_->environment.file_options};
    inspect.checksum_factory = core_->environment.outputs.checksum_factory.get();
    assert(part->placed.size() == part->staged->files.size());
    for (size_t i = 0; i < part->placed.size(); i++) {
      const ExternalFile& file = part->staged->files[i];
      FileMetadata& meta = part->placed[i].second;
      if (!file.takes_seqno || meta.largest_seqno == file.bounds.largest_seqno) continue;
      RETURN_IF_ERROR(WriteGlobalSeqno(inspect, file, &meta));
    }
  }
  return Status::OK();
}

// The views are published before the sequence number, so a reader that sees the number sees the
// files. If a failed change may have reached the MANIFEST, its sequence numbers are not reused and
// its files are kept until a new MANIFEST does not name them.
Status Ingestions::Record(const std::vector<StagedFiles*>& all, const std::vector<Part*>& parts,
                          SequenceNumber last_seqno) {
  assert(last_seqno >= core_->pipeline->visible_seqno());
  VersionSet::Change change;
  change.last_sequence = last_seqno;
  change.is_atomic_group = parts.size() > 1;
  for (Part* part : parts) {
    VersionEdit& edit = change.edits.emplace_back();
    edit.column_family = part->family()->id();
    for (const auto& [level, meta] : part->placed) edit.AddFile(level, meta);
  }
  assert(change.edits.size() == parts.size());
  for (StagedFiles* staged : all) staged->numbers.ExpectNaming();
  const Status status = core_->versions->LogAndApply(std::move(change), &core_->mutex);
  bool may_be_named = status.ok();
  for (StagedFiles* staged : all) {
    if (!status.ok()) staged->numbers.NoteFailedWrite();
    staged->numbers.Settle(status, status.ok() ? std::vector<std::string>() : staged->Paths());
    staged->is_settled = status.ok() || staged->numbers.may_be_named();
    may_be_named |= staged->numbers.may_be_named();
  }
  if (status.ok()) {
    for (Part* part : parts) {
      ColumnFamilyData* const family = part->family();
      if (family->is_dropped()) continue;
      part->is_installed = true;
      family->PublishSuperVersion();
      family->last_external_change = family->current()->number();
      scheduler_->RequestCompactionLocked(family);
    }
    writes_->UpdateStallLocked();
  }
  if (may_be_named) core_->pipeline->SkipTo(last_seqno);
  return status;
}

// 3. Report. The files of a family that was dropped before the installation are not named anywhere.
// Those of a family that was dropped later are deleted with its versions.

void Ingestions::Report(const std::vector<Part*>& parts) {
  for (Part* part : parts) {
    part->view.Reset();
    for (size_t i = 0; i < part->staged->files.size(); i++) {
      const ExternalFile& file = part->staged->files[i];
      if (file.source != file.path) ReportFile(*part, i);  // else the call itself has written it
      if (part->is_installed && core_->resources.space != nullptr)
        core_->resources.space->OnAddFile(file.path, file.bytes);
      if (!part->is_installed && part->written_seqno == 0) {
        IgnoreError(DeleteFileIfExists(core_->environment.fs.get(), file.path),
                    "the next open deletes it");
      }
      if (!part->staged->options.move_files || file.source == file.path) continue;
      IgnoreError(DeleteFileIfExists(core_->environment.fs.get(), file.source),
                  "the file is in the database; its other name does no harm");
    }
  }
}

// Writes the event to the info log and notifies the listeners.
void Ingestions::ReportFile(const Part& part, size_t i) {
  assert(i < part.staged->files.size());
  const ExternalFile& file = part.staged->files[i];
  const bool is_written = part.written_seqno != 0;
  SequenceNumber seqno = part.written_seqno;
  if (!is_written && file.takes_seqno) seqno = part.placed[i].second.largest_seqno;
  core_->services.events->Event("external_file_ingested")
      .Add("cf_name", part.family()->name())
      .Add("file", file.source)
      .Add("file_number", file.number)
      .Add("level", is_written ? -1 : int{part.placed[i].first})
      .Add("global_seqno", seqno);
  NotifyExternalFileIngested(core_, *part.family(),
                             {.external_path = file.source,
                              .internal_path = is_written ? "" : file.path,
                              .seqno = seqno,
                              .properties = file.properties.get()});
}

}  // namespace ashlar
