// SPDX-License-Identifier: Apache-2.0
//
// Each flush of the group writes its own table. All of them are recorded by one change of the
// MANIFEST, so after a crash either all are flushed or none.
#include "db/jobs/flush_group.h"

#include <cassert>

#include "db/state/log_needs.h"
#include "db/state/notify_errors.h"

namespace ashlar {

// Whether memtables wait that must be flushed together. A group waits until none of its families is
// being flushed alone.
bool FlushGroup::IsWanted(const DbCore& core) {
  if (core.errors.BlocksFlushes()) return false;
  bool is_wanted = false;
  for (const ColumnFamilyData* family : core.families.All()) {
    if (family->is_dropped() || !family->AwaitsOthers()) continue;
    if (family->immutables().front().is_flushing) return false;
    is_wanted = true;
  }
  return is_wanted;
}

// Holds references on all families, including those without memtables to flush.
FlushGroup::FlushGroup(DbCore* core, const std::vector<FamilyRef>& families, FlushScope scope)
    : core_(core) {
  assert(!families.empty());
  for (const FamilyRef& family : families) {
    assert(family);
    families_.emplace_back(family.get());
    auto flush = BackgroundFlush::Begin(core, family.get(), scope);
    if (flush != nullptr) flushes_.push_back(std::move(flush));
  }
}

std::vector<ColumnFamilyData*> FlushGroup::FamiliesWithTables() const {
  std::vector<ColumnFamilyData*> families;
  for (const auto& flush : flushes_) {
    if (!flush->result().tables.empty()) families.push_back(flush->family());
  }
  return families;
}

// Sets what Env::GetThreadList() shows for this thread: a single flush from its beginning to its
// end, but one of several flushes only while it writes.
void FlushGroup::Announce() {
  if (flushes_.size() == 1) flushes_.front()->BeginOperation();
  for (const auto& flush : flushes_) flush->Announce();
}

// Tables of several families are written one after the other by one thread.
Status FlushGroup::WriteTables() {
  if (flushes_.size() == 1) return flushes_.front()->WriteTable();
  for (const auto& flush : flushes_) {
    flush->BeginOperation();
    const Status status = flush->WriteTable();
    flush->EndOperation();
    RETURN_IF_ERROR(status);
  }
  return Status::OK();
}

// Checks the limit of space. The size of a table is known only after it was written, so the limit
// may be exceeded by this flush, and stops the next one.
void FlushGroup::TablesWritten() {
  SstFileManagerImpl* const space = core_->resources.space;
  if (space == nullptr || !space->IsMaxAllowedSpaceReached()) return;
  NotifyBackgroundError(core_, Status::SpaceLimit(kSpaceLimitReached),
                        BackgroundErrorReason::kFlush);
}

// Describes the tables in edits. The last edit also says which logs are still needed. With several
// families it is an extra edit of the default family: the edit of a family that is dropped
// meanwhile is left out, and the default family cannot be dropped.
Status FlushGroup::Describe(VersionSet::Change* change) {
  assert(change != nullptr);
  assert(!flushes_.empty());
  assert(change->edits.empty());
  std::vector<LogsOfFamily> after;
  for (const auto& flush : flushes_) {
    flush->Describe(&change->edits.emplace_back());
    after.push_back({flush->family(), flush->log_number(), flush->prepared_log()});
  }
  change->is_atomic_group = flushes_.size() > 1;
  if (change->is_atomic_group) change->edits.emplace_back().column_family = 0;
  change->edits.back().min_log_number_to_keep = OldestLogNeeded(*core_, after);
  return Status::OK();
}

// For a recovery: after this change no family needs a log before `log_number`, whether or not it
// has a flush. The default family is the first one.
Status FlushGroup::DescribeWithoutLogs(FileNumber log_number, VersionSet::Change* change) {
  assert(log_number > 0);
  assert(log_number <= core_->wals->current_number());
  std::vector<LogsOfFamily> after;
  for (const ColumnFamilyData* family : core_->families.All()) {
    VersionEdit& edit = change->edits.emplace_back();
    edit.column_family = family->id();
    for (const auto& flush : flushes_) {
      if (flush->family() == family) flush->Describe(&edit);
    }
    edit.log_number = log_number;
    after.push_back({family, log_number});
  }
  assert(change->edits.front().column_family == 0);
  change->edits.front().min_log_number_to_keep = OldestLogNeeded(*core_, after);
  change->is_atomic_group = change->edits.size() > 1;
  return Status::OK();
}

// Completes all flushes. If a family was dropped meanwhile, its edit was left out of the change, so
// its flush counts as dropped.
void FlushGroup::Finish(const Status& status) {
  for (const auto& flush : flushes_) {
    // Others of the group, or edits of other families, may have been installed without it.
    const bool is_left_out = status.ok() && flush->family()->is_dropped();
    flush->Finish(is_left_out ? Status::ColumnFamilyDropped() : status);
  }
  core_->jobs.FlushSettles();
}

void FlushGroup::DeleteUnnamed() {
  for (const auto& flush : flushes_) flush->DeleteUnnamed();
}

void FlushGroup::Report(const Status&) {
  for (const auto& flush : flushes_) {
    flush->Report();
    flush->EndOperation();
  }
}

// The background error that a failure of the group becomes; none if any of the flushes says so. A
// log that could not be synced is reported by the flush that noticed it.
std::optional<BackgroundErrorReason> FlushGroup::ErrorReason(const Status& error) const {
  std::optional<BackgroundErrorReason> reason;
  for (const auto& flush : flushes_) {
    reason = flush->ErrorReason(error);
    if (!reason.has_value()) break;
  }
  return reason;
}

}  // namespace ashlar
