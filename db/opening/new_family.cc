// SPDX-License-Identifier: Apache-2.0
//
// The record that adds a family and the one with its files form an atomic group, which every
// reader of a MANIFEST applies as a whole.
#include "db/opening/new_family.h"

#include <utility>

#include "db/opening/open.h"
#include "db/options/options_check.h"

namespace ashlar {

NewFamily::NewFamily(DbCore* core, FamilyHost* host, std::unique_ptr<FamilyRequest> request,
                     std::shared_ptr<const ColumnFamilyOptions> options,
                     std::shared_ptr<const ColumnFamilyOptions> settled)
    : core_(core),
      host_(host),
      request_(std::move(request)),
      options_(std::move(options)),
      settled_(std::move(settled)),
      id_(core->versions->ReserveFamilyId()) {
  assert(id_ > 0 && core->versions->Family(id_) == nullptr);  // ids are never reused
}

Result<std::unique_ptr<NewFamily>> NewFamily::Begin(DbCore* core, FamilyHost* host,
                                                    const std::string& name,
                                                    const ColumnFamilyOptions& settled) {
  assert(core != nullptr);
  if (core->versions->Family(name) != nullptr) {
    return Status::InvalidArgument("Column family already exists", name);
  }
  const ColumnFamilyOptions options = SanitizeSettledOptions(*core->options, settled);
  auto request = std::make_unique<FamilyRequest>(name, InternalKeyComparator(options.comparator));
  request->num_levels = options.num_levels;
  request->tables = std::make_unique<TableCache>(TableCacheOptionsFor(core, options));
  return std::unique_ptr<NewFamily>(new NewFamily(
      core, host, std::move(request), std::make_shared<const ColumnFamilyOptions>(options),
      std::make_shared<const ColumnFamilyOptions>(settled)));
}

// The mutex is released while the MANIFEST is written. The family becomes visible to other threads
// only at the end, when its record is durable.
Status NewFamily::Add(VersionEdit* contents, SequenceNumber last_seqno) {
  assert(added_ == nullptr && request_ != nullptr);
  RETURN_IF_ERROR(Record(contents, last_seqno));
  FamilyRef family = FamilyRef::Adopt(
      new ColumnFamilyData(core_->versions->Family(id_), options_, core_->versions.get(), host_));
  family->settled_options = settled_;
  family->BeginBehind(core_->pipeline->visible_seqno());
  family->PublishSuperVersion();
  if (const size_t stamp_bytes = family->comparator().stamp_bytes(); stamp_bytes != 0) {
    // The set of sizes is read by writers without a lock, so no commit may be in flight while it
    // changes.
    core_->pipeline->Pause();
    core_->wals->AddTimestampSize({id_, static_cast<uint16_t>(stamp_bytes)});
    core_->pipeline->Resume();
  }
  added_ = family.get();
  core_->families.Add(std::move(family));
  return Status::OK();
}

// All logs from the current one on may hold writes of the family.
Status NewFamily::Record(VersionEdit* contents, SequenceNumber last_seqno) {
  VersionSet::Change change;
  VersionEdit& addition = change.edits.emplace_back();
  addition.column_family = id_;
  addition.added_family = request_->name;
  addition.comparator = options_->comparator->Name();
  addition.log_number = core_->wals->current_number();
  if (contents != nullptr) {
    contents->column_family = id_;
    change.edits.push_back(std::move(*contents));
    change.is_atomic_group = true;
  }
  change.last_sequence = last_seqno;
  change.added_family = std::move(request_);
  return core_->versions->LogAndApply(std::move(change), &core_->mutex);
}

// The id of a family that was refused because of its name can be given back: no record has it.
Result<ColumnFamilyData*> CreateFamilyLocked(DbCore* core, FamilyHost* host,
                                             const std::string& name,
                                             const ColumnFamilyOptions& settled) {
  ASSIGN_OR_RETURN(const auto family, NewFamily::Begin(core, host, name, settled));
  const Status status = family->Add(nullptr, core->pipeline->visible_seqno());
  const bool is_refused = status.IsInvalidArgument() && core->versions->Family(name) != nullptr;
  if (is_refused) core->versions->ReturnFamilyId(family->id());
  RETURN_IF_ERROR(status);
  return family->added();
}

}  // namespace ashlar
