// SPDX-License-Identifier: Apache-2.0
//
// Flushes and compactions on request, and waiting for background work.
#include <algorithm>

#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "util/str_cat.h"

namespace ashlar {

Status DBImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  return FlushFamilies(options, {FamilyOrDefault(handle)});
}

Status DBImpl::Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  std::vector<ColumnFamilyData*> families;
  for (ColumnFamilyHandle* handle : handles) families.push_back(FamilyOrDefault(handle));
  return FlushFamilies(options, families);
}

Status DBImpl::FlushFamilies(const FlushOptions& options,
                             const std::vector<ColumnFamilyData*>& families) {
  RETURN_IF_ERROR(CheckWritable());
  if (options.force_atomic_flush) return Status::NotSupported("FlushOptions::force_atomic_flush");
  std::vector<uint64_t> newest;
  {
    MutexLock lock(&core_.mutex);
    if (core_.errors.BlocksWrites()) return core_.errors.Get();
    for (const ColumnFamilyData* family : families) {
      if (family->is_dropped()) return Status::ColumnFamilyDropped();
    }
    if (!options.allow_write_stall) AwaitRoomForSealed(families);
    RETURN_IF_ERROR(write_control_.SwitchMemTablesLocked(families));
    for (ColumnFamilyData* family : families) {
      if (family->is_dropped()) return Status::ColumnFamilyDropped();
      newest.push_back(family->sealed().empty() ? 0 : family->sealed().back().mem->id());
      if (!family->sealed().empty()) scheduler_.RequestFlushLocked(family);
    }
  }
  return options.wait ? AwaitFlushed(families, newest) : Status::OK();
}

// Of all families that live. One that is dropped meanwhile needs no flush, but the others do.
Status DBImpl::FlushAll(const FlushOptions& options) {
  Status status;
  do {
    const std::vector<ColumnFamilyData*> families = RefAllFamilies();
    status = FlushFamilies(options, families);
    for (ColumnFamilyData* family : families) family->Unref();
  } while (status.IsColumnFamilyDropped());
  return status;
}

// A flush on request shall not be what stops the writers: waits until another sealed memtable would
// not.
void DBImpl::AwaitRoomForSealed(const std::vector<ColumnFamilyData*>& families) {
  const auto is_full = [](const ColumnFamilyData* family) REQUIRES(db_mutex) {
    return !family->is_dropped() && !family->mem()->IsEmpty() &&
           static_cast<int>(family->sealed().size()) + 1 >=
               family->options().max_write_buffer_number;
  };
  while (std::any_of(families.begin(), families.end(), is_full) && !core_.errors.BlocksWrites() &&
         !core_.is_closing.load(std::memory_order_acquire) && !scheduler_.is_paused()) {
    for (ColumnFamilyData* family : families) {
      if (!family->sealed().empty()) scheduler_.RequestFlushLocked(family);
    }
    if (!std::any_of(families.begin(), families.end(),
                     [](const ColumnFamilyData* f)
                         REQUIRES(db_mutex) { return !f->sealed().empty(); })) {
      return;
    }
    core_.changed.Wait();
  }
}

// Until no memtable up to `newest` (an id; 0: none) is left in each family.
Status DBImpl::AwaitFlushed(const std::vector<ColumnFamilyData*>& families,
                            const std::vector<uint64_t>& newest) {
  MutexLock lock(&core_.mutex);
  for (size_t i = 0; i < families.size(); i++) {
    const auto is_pending = [&]() REQUIRES(db_mutex) {
      return !families[i]->sealed().empty() && families[i]->sealed().front().mem->id() <= newest[i];
    };
    while (is_pending()) {
      if (families[i]->is_dropped()) return Status::ColumnFamilyDropped();
      if (core_.errors.BlocksWrites()) return core_.errors.Get();
      if (core_.is_closing.load(std::memory_order_acquire)) return Status::ShutdownInProgress();
      core_.changed.Wait();
    }
  }
  return Status::OK();
}

Status DBImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) {
  RETURN_IF_ERROR(CheckWritable());
  if (manual_compaction_disabled_.load(std::memory_order_acquire) > 0 ||
      (options.canceled != nullptr && options.canceled->load(std::memory_order_acquire))) {
    return Status::Incomplete(Status::kManualCompactionPaused);
  }
  if (options.target_path_id != 0)
    return Status::NotSupported("CompactRangeOptions::target_path_id");
  if (options.change_level) return Status::NotSupported("CompactRangeOptions::change_level");
  if (options.full_history_ts_low != nullptr) {
    return Status::NotSupported("CompactRangeOptions::full_history_ts_low");
  }
  ColumnFamilyData* family = FamilyOrDefault(handle);
  FlushOptions flush;
  flush.allow_write_stall = options.allow_write_stall;
  RETURN_IF_ERROR(FlushFamilies(flush, {family}));
  return CompactLevels(options, family, begin, end);
}

// Where the range has files; an automatic compaction may change that at any time.
DBImpl::RangeLevels DBImpl::LevelsOf(ColumnFamilyData* family, const Slice* begin,
                                     const Slice* end) {
  MutexLock lock(&core_.mutex);
  RangeLevels levels;
  if (family->is_dropped()) return levels;
  const Version* version = family->current();
  for (int level = version->deepest_level(); level >= 0; level--) {
    const LevelFiles found = version->Overlapping(level, begin, end);
    if (found.files.empty()) continue;
    levels.first = level;
    if (levels.last >= 0) continue;
    levels.last = level;
    for (const TableFile* file : found.files) {
      levels.oldest_in_last = std::min(levels.oldest_in_last, file->meta.number);
    }
  }
  levels.base = AssessCompaction(*version, family->options()).base_level;
  return levels;
}

// Level by level downwards, so that everything in the range ends on one level: the deepest that has
// files, or the base level if there is none.
Status DBImpl::CompactLevels(const CompactRangeOptions& options, ColumnFamilyData* family,
                             const Slice* begin, const Slice* end) {
  const uint64_t first_new_file = core_.versions->next_file_number();
  ManualCompaction manual;
  manual.family = family;
  if (begin != nullptr) manual.begin = begin->ToString();
  if (end != nullptr) manual.end = end->ToString();
  manual.cancel = {.of_database = &cancels_manual_, .of_caller = options.canceled};
  manual.is_exclusive = options.exclusive_manual_compaction;
  manual.max_subcompactions = options.max_subcompactions;
  RangeLevels levels = LevelsOf(family, begin, end);
  for (int level = std::max(levels.first, 0); level < std::max(levels.last, 1); level++) {
    manual.input_level = level;
    manual.output_level = level == 0 ? std::max(levels.base, 1) : level + 1;
    if (level > 0 && level < levels.base) continue;
    manual.allow_trivial_move = manual.output_level < levels.last;
    RETURN_IF_ERROR(RunManualCompaction(&manual));
    levels = LevelsOf(family, begin, end);
  }
  // There are no compaction filters yet, so kIfHaveCompactionFilter leaves the level alone too.
  const bool rewrites_bottom =
      options.bottommost_level_compaction == BottommostLevelCompaction::kForce ||
      options.bottommost_level_compaction == BottommostLevelCompaction::kForceOptimized;
  if (!rewrites_bottom || levels.last < 1 || levels.oldest_in_last >= first_new_file) {
    return Status::OK();
  }
  manual.input_level = manual.output_level = levels.last;
  manual.allow_trivial_move = false;
  return RunManualCompaction(&manual);
}

Status DBImpl::RunManualCompaction(ManualCompaction* manual) {
  MutexLock lock(&core_.mutex);
  manual->is_taken = manual->is_done = false;
  {
    // Whoever has taken it is waited for also when memory runs out here.
    struct Queued {
      Queued(DBImpl* db, ManualCompaction* manual) : db(db), manual(manual) {
        db->compaction_runner_.AddManualLocked(manual);
      }
      ~Queued() {
        while (manual->is_taken && !manual->is_done) db->core_.changed.Wait();
        db->compaction_runner_.RemoveManualLocked(manual);
      }
      DBImpl* const db;
      ManualCompaction* const manual;
    } queued(this, manual);
    AwaitManualLocked(manual);
  }
  // Those that waited for an exclusive one, and the automatic ones it held up.
  scheduler_.RequestCompactionLocked(manual->family);
  core_.changed.SignalAll();
  return manual->status;
}

void DBImpl::AwaitManualLocked(ManualCompaction* manual) {
  scheduler_.DispatchLocked();
  while (!manual->is_done) {
    const bool is_refused =
        manual->cancel.IsSet() || core_.is_closing.load(std::memory_order_acquire);
    if (is_refused && !manual->is_taken) {
      manual->status = Status::Incomplete(Status::kManualCompactionPaused);
      return;
    }
    // Nobody signals when the caller sets its own flag.
    constexpr uint64_t kLookAgainMicros = 50 * 1000;
    if (manual->cancel.of_caller == nullptr) {
      core_.changed.Wait();
    } else {
      core_.changed.WaitFor(kLookAgainMicros);
    }
    scheduler_.DispatchLocked();
  }
}

Status DBImpl::CompactFiles(const CompactionOptions&, ColumnFamilyHandle*,
                            const std::vector<std::string>&, const int, const int,
                            std::vector<std::string>* const, CompactionJobInfo*) {
  return Status::NotSupported("CompactFiles");
}

Status DBImpl::PauseBackgroundWork() {
  scheduler_.Pause();
  return Status::OK();
}

Status DBImpl::ContinueBackgroundWork() {
  return scheduler_.Continue() ? Status::OK()
                               : Status::InvalidArgument("background work is not paused");
}

Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) {
    RETURN_IF_ERROR(SetOptions(handle, {{"disable_auto_compactions", "false"}}));
  }
  return Status::OK();
}

void DBImpl::DisableManualCompaction() {
  MutexLock lock(&core_.mutex);
  manual_compaction_disabled_.fetch_add(1, std::memory_order_acq_rel);
  cancels_manual_.store(true, std::memory_order_release);
  core_.changed.SignalAll();
  // None may finish while they are disabled, nor escape by being enabled again at once.
  while (compaction_runner_.HasManualLocked()) core_.changed.Wait();
}

void DBImpl::EnableManualCompaction() {
  MutexLock lock(&core_.mutex);
  if (manual_compaction_disabled_.load(std::memory_order_acquire) == 0) return;
  if (manual_compaction_disabled_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    cancels_manual_.store(false, std::memory_order_release);
  }
}

// Aborting is stopping the manual ones and letting no automatic one begin.
void DBImpl::AbortAllCompactions() {
  DisableManualCompaction();
  scheduler_.PauseCompactions();
}

void DBImpl::ResumeAllCompactions() {
  scheduler_.ContinueCompactions();
  EnableManualCompaction();
}

void DBImpl::AbortCompactions(ColumnFamilyHandle*) { AbortAllCompactions(); }
void DBImpl::ResumeCompactions(ColumnFamilyHandle*) { ResumeAllCompactions(); }

Status DBImpl::WaitForCompact(const WaitForCompactOptions& options) {
  RETURN_IF_ERROR(CheckWritable());
  const uint64_t timeout_micros = static_cast<uint64_t>(options.timeout.count());
  const uint64_t deadline = timeout_micros > 0 ? core_.NowMicros() + timeout_micros : UINT64_MAX;
  if (options.flush) RETURN_IF_ERROR(FlushAll(FlushOptions()));
  {
    MutexLock lock(&core_.mutex);
    while (!scheduler_.IsIdleLocked() || compaction_runner_.HasManualLocked()) {
      if (core_.is_closing.load(std::memory_order_acquire)) return Status::ShutdownInProgress();
      RETURN_IF_ERROR(core_.errors.Get());
      if (scheduler_.are_compactions_paused() && options.abort_on_pause) return Status::Aborted();
      const uint64_t now = core_.NowMicros();
      if (now >= deadline) return Status::TimedOut();
      if (deadline == UINT64_MAX) {
        core_.changed.Wait();
      } else {
        core_.changed.WaitFor(deadline - now);
      }
    }
  }
  PurgeObsoleteFiles(&core_);
  return options.close_db ? Close() : Status::OK();
}

Status DBImpl::SuggestCompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {
  return Status::NotSupported("SuggestCompactRange");
}

}  // namespace ashlar
