// SPDX-License-Identifier: Apache-2.0
//
// Replays a MANIFEST. Each requested family has a VersionBuilder, to which the edits of the family
// are applied.
#include "db/version/manifest_replay.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/db.h"
#include "util/text/str_cat.h"

namespace ashlar {

ManifestReplay::ManifestReplay(std::vector<FamilyRequest> requests, const RecoveryPoint* point)
    : point_(point) {
  for (FamilyRequest& request : requests) {
    std::string name = request.name;
    requests_.emplace(std::move(name), std::move(request));
  }
  // A MANIFEST has no record that adds the default family: the family always exists.
  [[maybe_unused]] const Status added = AddFamily(0, kDefaultColumnFamilyName);
  assert(added.ok());
}

// Applies one edit. Counters and families are applied in all cases; changes of files only up to the
// recovery point of the family, if there is one.
Status ManifestReplay::Apply(const VersionEdit& edit) {
  has_next_file_ |= edit.next_file_number.has_value();
  has_last_sequence_ |= edit.last_sequence.has_value();
  if (edit.added_family) RETURN_IF_ERROR(AddFamily(edit.column_family, *edit.added_family));
  if (edit.last_sequence && *edit.last_sequence >= kMaxSequenceNumber) {
    return Status::Corruption(StrCat("impossible last sequence number ", *edit.last_sequence));
  }
  if (edit.next_file_number &&
      (*edit.next_file_number == 0 || *edit.next_file_number > kMaxFileNumber)) {
    return Status::Corruption(StrCat("impossible next file number ", *edit.next_file_number));
  }
  counters_.Apply(edit);
  counters_.max_column_family = std::max(counters_.max_column_family, edit.column_family);
  const uint64_t change = changes_;
  if (edit.atomic_group_remaining.value_or(0) == 0) changes_++;
  if (edit.is_family_drop) return DropFamily(edit.column_family);
  if (!edit.wal_additions.empty() || edit.wal_deletion) return Status::OK();
  if (point_ != nullptr && !point_->CountsForFiles(edit.column_family, change)) {
    has_log_number_ |= edit.log_number.has_value();
    return Status::OK();
  }
  return ApplyToFamily(edit);
}

// A family that the program does not open is remembered as skipped, so that later edits of it can
// be told from edits of a family that never existed.
Status ManifestReplay::AddFamily(uint32_t id, const std::string& name) {
  if (open_.contains(id) || skipped_.contains(id)) {
    return Status::Corruption(StrCat("column family ", id, " is added twice"));
  }
  const auto request = requests_.find(name);
  if (request == requests_.end()) {
    skipped_[id] = name;
    return Status::OK();
  }
  Open open;
  open.versions = std::make_shared<FamilyVersions>(request->second.comparator);
  open.versions->id = id;
  open.versions->name = name;
  open.versions->num_levels = request->second.num_levels;
  open.versions->tables = std::move(request->second.tables);
  open.builder = std::make_unique<VersionBuilder>(
      open.versions->comparator, open.versions->tables.get(), nullptr, open.versions->num_levels);
  requests_.erase(request);
  open_[id] = std::move(open);
  return Status::OK();
}

// Drops a family. Its request becomes open again, because a later edit may create a family with the
// same name, or else the caller may create it.
Status ManifestReplay::DropFamily(uint32_t id) {
  if (skipped_.erase(id) > 0) return Status::OK();
  const auto it = open_.find(id);
  if (it == open_.end()) {
    return Status::Corruption(StrCat("column family ", id, " is dropped but does not exist"));
  }
  FamilyVersions& versions = *it->second.versions;
  FamilyRequest request(versions.name, versions.comparator);
  request.num_levels = versions.num_levels;
  request.tables = std::move(versions.tables);
  requests_.emplace(versions.name, std::move(request));
  open_.erase(it);
  return Status::OK();
}

// A family must be opened with the order in which its tables were written.
Status ManifestReplay::CheckComparator(const VersionEdit& edit,
                                       const FamilyVersions& family) const {
  assert(edit.column_family == family.id);
  const char* given = family.comparator.user_comparator()->Name();
  if (!edit.comparator || *edit.comparator == given) return Status::OK();
  return Status::InvalidArgument(
      StrCat("column family \"", family.name, "\" was written with comparator ", *edit.comparator,
             ", but is opened with ", given, "; does not match existing comparator"));
}

// Applies an edit to its family. Edits of families that were not requested are skipped.
Status ManifestReplay::ApplyToFamily(const VersionEdit& edit) {
  assert(!edit.is_family_drop);
  const auto it = open_.find(edit.column_family);
  if (it == open_.end()) {
    if (skipped_.contains(edit.column_family)) {
      has_log_number_ |= edit.log_number.has_value();
      return Status::OK();
    }
    return Status::Corruption(StrCat("unknown column family ", edit.column_family));
  }
  FamilyVersions& family = *it->second.versions;
  RETURN_IF_ERROR(CheckComparator(edit, family));
  RETURN_IF_ERROR(it->second.builder->Apply(edit));
  if (edit.log_number) {
    has_log_number_ = true;
    family.log_number = std::max(family.log_number, *edit.log_number);
  }
  for (const auto& [level, meta] : edit.new_files) {
    family.next_epoch = std::max(family.next_epoch, meta.epoch_number + 1);
  }
  for (const auto& cursor : edit.compact_cursors) family.compact_cursors[cursor.level] = cursor.key;
  if (edit.persist_user_defined_timestamps) {
    family.persist_user_defined_timestamps = edit.persist_user_defined_timestamps;
  }
  if (edit.full_history_ts_low) family.full_history_ts_low = edit.full_history_ts_low;
  for (const auto& field : edit.unknown_fields) {
    std::erase_if(family.unknown_fields, [&](const auto& old) { return old.first == field.first; });
    family.unknown_fields.push_back(field);
  }
  return Status::OK();
}

// Completes the replay. Every MANIFEST has these three counters, so one without them has lost its
// end.
Result<std::vector<ReplayedFamily>> ManifestReplay::Finish(bool allow_subset) {
  if (!has_log_number_ || !has_next_file_ || !has_last_sequence_) {
    return Status::Corruption(StrCat("no ",
                                     !has_log_number_  ? "log number"
                                     : !has_next_file_ ? "next file number"
                                                       : "last sequence",
                                     " entry before the end"));
  }
  if (!allow_subset && !skipped_.empty()) {
    std::string names;
    for (const auto& [id, name] : skipped_) StrAppend(&names, names.empty() ? "" : ", ", name);
    return Status::InvalidArgument("Column families not opened", names);
  }
  if (!open_.contains(0)) {
    return Status::InvalidArgument("the default column family must be opened");
  }
  std::vector<ReplayedFamily> families;
  for (auto& [id, open] : open_) {
    BuiltVersion built;
    RETURN_IF_ERROR(open.builder->Build(&built));
    assert(built.removed.empty());  // no version was installed before
    RETURN_IF_ERROR(CheckTables(built, open.versions.get()));
    families.push_back({std::move(open.versions), std::move(built)});
  }
  return families;
}

std::vector<FamilyRequest> ManifestReplay::TakeMissing() {
  std::vector<FamilyRequest> missing;
  for (auto& [name, request] : requests_) missing.push_back(std::move(request));
  return missing;
}

// Each change writes the last sequence number to the MANIFEST, so no table may have a larger
// number.
Status ManifestReplay::CheckTables(const BuiltVersion& built, FamilyVersions* family) const {
  assert(built.version != nullptr);
  assert(built.version->file_count() == built.added.size());
  for (const auto& file : built.added) {
    family->next_epoch = std::max(family->next_epoch, file->meta.epoch_number + 1);
    if (file->meta.largest_seqno > counters_.last_sequence) {
      return Status::Corruption(StrCat("table ", file->meta.number, " holds sequence number ",
                                       file->meta.largest_seqno, ", but the last one is ",
                                       counters_.last_sequence));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
