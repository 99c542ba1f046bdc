// SPDX-License-Identifier: Apache-2.0
//
// Each flush does its own part; what they share is the change of the MANIFEST.
#include "db/jobs/flush_group.h"

#include <algorithm>
#include <cassert>

namespace ashlar {

bool FlushGroup::IsWanted(const DbCore& core) {
  if (core.errors.BlocksFlushes()) return false;
  bool is_wanted = false;
  for (const ColumnFamilyData* family : core.families.All()) {
    if (family->is_dropped() || !family->AwaitsOthers()) continue;
    if (family->sealed().front().is_flushing) return false;
    is_wanted = true;
  }
  return is_wanted;
}

FlushGroup::FlushGroup(DbCore* core, const std::vector<FamilyRef>& families, FlushScope scope)
    : core_(core) {
  for (const FamilyRef& family : families) {
    families_.emplace_back(family.get());
    auto flush = BackgroundFlush::Begin(core, family.get(), scope);
    if (flush != nullptr) flushes_.push_back(std::move(flush));
  }
}

void FlushGroup::Announce() {
  for (const auto& flush : flushes_) flush->Announce();
}

Status FlushGroup::WriteTables() {
  for (const auto& flush : flushes_) {
    flush->BeginOperation();
    const Status status = flush->WriteTables();
    flush->EndOperation();
    RETURN_IF_ERROR(status);
  }
  return Status::OK();
}

Status FlushGroup::Describe(const ColumnFamilyData* family, VersionEdit* edit) {
  assert(edit->column_family == family->id());
  for (const auto& flush : flushes_) {
    if (flush->family() != family) continue;
    RETURN_IF_ERROR(flush->Describe(edit));
    edit->min_log_number_to_keep.reset();
    flush->numbers().ExpectNaming();
  }
  return Status::OK();
}

// Each flush alone would keep the logs of the others. The default family always lives.
Status FlushGroup::DescribeAll(std::vector<VersionEdit>* edits) {
  assert(edits->empty() && !flushes_.empty());
  for (const auto& flush : flushes_) {
    VersionEdit& edit = edits->emplace_back();
    edit.column_family = flush->family()->id();
    RETURN_IF_ERROR(Describe(flush->family(), &edit));
  }
  VersionEdit& logs = edits->emplace_back();
  logs.column_family = 0;
  logs.min_log_number_to_keep = OldestLogNeededAfter();
  return Status::OK();
}

FileNumber FlushGroup::OldestLogNeededAfter() const {
  const FileNumber current_log = core_->wals->current_number();
  FileNumber oldest = current_log;
  for (const ColumnFamilyData* family : core_->families.All()) {
    if (family->is_dropped()) continue;
    const auto flush = std::find_if(flushes_.begin(), flushes_.end(), [family](const auto& each) {
      return each->family() == family;
    });
    oldest = std::min(oldest, flush != flushes_.end() ? (*flush)->log_number()
                                                      : family->OldestLogNeeded(current_log));
  }
  return oldest;
}

void FlushGroup::Finish(const Status& status) {
  assert(outcomes_.empty());
  for (const auto& flush : flushes_) {
    const bool is_left_out = status.ok() && flush->family()->is_dropped();
    outcomes_.push_back(is_left_out ? Status::ColumnFamilyDropped() : status);
    flush->numbers().Settle(outcomes_.back());
    flush->Finish(outcomes_.back());
  }
}

void FlushGroup::Report() {
  assert(outcomes_.size() == flushes_.size());
  for (size_t i = 0; i < flushes_.size(); i++) {
    BackgroundFlush& flush = *flushes_[i];
    if (!outcomes_[i].ok() && !flush.numbers().may_be_named()) {
      DeleteUnnamedFiles(flush.table_options(), &flush.result());
    }
    flush.Report(outcomes_[i]);
  }
}

// A log that could not be synced is told of by the flush that noticed it.
std::optional<BackgroundErrorReason> FlushGroup::ErrorReason(const Status& error) const {
  std::optional<BackgroundErrorReason> reason;
  for (const auto& flush : flushes_) {
    reason = flush->ErrorReason(error);
    if (!reason.has_value()) break;
  }
  return reason;
}

}  // namespace ashlar
