// SPDX-License-Identifier: Apache-2.0
//
// Recovery: the edits of the live MANIFEST are applied family by family; nothing is written.
#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "ashlar/db.h"
#include "db/version/manifest_reader.h"
#include "db/version/recovery_point.h"
#include "db/version/version_builder.h"
#include "db/version/version_set.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/str_cat.h"

namespace ashlar {

Result<std::vector<std::string>> VersionSet::ListFamilies(FileSystem* fs, const std::string& dir) {
  ASSIGN_OR_RETURN(const std::string manifest, ReadCurrent(fs, dir));
  ASSIGN_OR_RETURN(auto reader, ManifestReader::Open(fs, dir + "/" + manifest));
  std::map<uint32_t, std::string> names{{0, kDefaultColumnFamilyName}};
  bool has_counters = false;
  VersionEdit edit;
  while (reader->Next(&edit)) {
    has_counters |= edit.next_file_number.has_value();
    if (edit.added_family) names[edit.column_family] = *edit.added_family;
    if (edit.is_family_drop) names.erase(edit.column_family);
  }
  RETURN_IF_ERROR(reader->status());
  if (!has_counters) {
    return Status::Corruption(StrCat(dir, "/", manifest, ": holds no state of a database"));
  }
  std::vector<std::string> result;
  for (auto& [id, name] : names) result.push_back(std::move(name));
  return result;
}

// Works on a version set that nobody else sees yet.
class ManifestRecovery {
 public:
  // `point`: see there; null: all of the live MANIFEST.
  ManifestRecovery(VersionSet* set, std::vector<FamilyRequest> requests, const RecoveryPoint* point)
      : set_(set), point_(point) {
    for (FamilyRequest& request : requests) {
      std::string name = request.name;
      requests_.emplace(std::move(name), std::move(request));
    }
  }

  Status Run(bool allow_subset) REQUIRES(db_mutex);
  void TakeMissing(std::vector<FamilyRequest>* missing) {
    for (auto& [name, request] : requests_) missing->push_back(std::move(request));
  }

 private:
  struct Open {
    std::shared_ptr<FamilyVersions> versions;
    std::unique_ptr<VersionBuilder> builder;
  };

  Result<std::string> ManifestName() const;
  Status ApplyAll(ManifestReader* reader) REQUIRES(db_mutex);
  Status Apply(const VersionEdit& edit) REQUIRES(db_mutex);
  Status AddFamily(uint32_t id, const std::string& name);
  Status DropFamily(uint32_t id) REQUIRES(db_mutex);
  Status ApplyToFamily(const VersionEdit& edit) REQUIRES(db_mutex);
  Status CheckComparator(const VersionEdit& edit, const FamilyVersions& family) const;
  Status Finish(bool allow_subset) REQUIRES(db_mutex);
  Status CheckTables(const BuiltVersion& built, FamilyVersions* family) const REQUIRES(db_mutex);

  VersionSet* const set_;
  const RecoveryPoint* const point_;
  uint64_t changes_ = 0;  // that were applied, whole
  std::map<std::string, FamilyRequest> requests_;  // those not met in the MANIFEST yet
  std::map<uint32_t, Open> open_;
  std::map<uint32_t, std::string> skipped_;
  bool has_log_number_ = false, has_next_file_ = false, has_last_sequence_ = false;
};

Status VersionSet::Recover(std::vector<FamilyRequest> requests, bool allow_subset,
                           std::vector<FamilyRequest>* missing, const RecoveryPoint* point) {
  ManifestRecovery recovery(this, std::move(requests), point);
  RETURN_IF_ERROR(recovery.Run(allow_subset));
  recovery.TakeMissing(missing);
  return Status::OK();
}

Status ManifestRecovery::Run(bool allow_subset) {
  assert(set_->families_.empty() && open_.empty());  // once for each set
  FileSystem* fs = set_->options_.fs;
  ASSIGN_OR_RETURN(const std::string manifest, ManifestName());
  FileNumber number = 0;
  FileType type;
  ParseFileName(manifest, &number, &type);
  set_->manifest_number_ = number;
  ASSIGN_OR_RETURN(auto reader, ManifestReader::Open(fs, set_->options_.dir + "/" + manifest));
  RETURN_IF_ERROR(AddFamily(0, kDefaultColumnFamilyName));
  Status applied = ApplyAll(reader.get());
  if (!applied.ok()) return Status::CopyAppendMessage(applied, " in ", manifest);
  if (point_ == nullptr) RETURN_IF_ERROR(reader->status());
  set_->torn_manifest_bytes_ = reader->torn_tail_bytes();
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, set_->options_.dir + "/" + manifest));
  set_->manifest_bytes_ = bytes - std::min(bytes, set_->torn_manifest_bytes_);
  Status status = Finish(allow_subset);
  return status.IsCorruption() ? Status::CopyAppendMessage(status, " in ", manifest) : status;
}

Result<std::string> ManifestRecovery::ManifestName() const {
  if (point_ != nullptr) return point_->manifest;
  return ReadCurrent(set_->options_.fs, set_->options_.dir);
}

Status ManifestRecovery::ApplyAll(ManifestReader* reader) {
  VersionEdit edit;
  while ((point_ == nullptr || changes_ < point_->changes) && reader->Next(&edit)) {
    RETURN_IF_ERROR(Apply(edit));
    if (edit.atomic_group_remaining.value_or(0) == 0) changes_++;
  }
  return Status::OK();
}

Status ManifestRecovery::Apply(const VersionEdit& edit) {
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
  set_->ApplyCounters(edit);
  set_->max_column_family_ = std::max(set_->max_column_family_, edit.column_family);
  if (edit.is_family_drop) return DropFamily(edit.column_family);
  if (!edit.wal_additions.empty() || edit.wal_deletion) return Status::OK();
  if (point_ != nullptr && !point_->CountsForFiles(edit.column_family, changes_)) {
    has_log_number_ |= edit.log_number.has_value();
    return Status::OK();
  }
  return ApplyToFamily(edit);
}

Status ManifestRecovery::AddFamily(uint32_t id, const std::string& name) {
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

// The request comes back: the caller may want the family made anew.
Status ManifestRecovery::DropFamily(uint32_t id) {
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

Status ManifestRecovery::CheckComparator(const VersionEdit& edit,
                                         const FamilyVersions& family) const {
  assert(edit.column_family == family.id);
  const char* given = family.comparator.user_comparator()->Name();
  if (!edit.comparator || *edit.comparator == given) return Status::OK();
  return Status::InvalidArgument(
      StrCat("column family \"", family.name, "\" was written with comparator ", *edit.comparator,
             ", but is opened with ", given, "; does not match existing comparator"));
}

Status ManifestRecovery::ApplyToFamily(const VersionEdit& edit) {
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

Status ManifestRecovery::Finish(bool allow_subset) {
  assert(set_->families_.empty());
  if (!has_log_number_ || !has_next_file_ || !has_last_sequence_) {
    return Status::Corruption(StrCat("no ",
                                     !has_log_number_  ? "log number"
                                     : !has_next_file_ ? "next file number"
                                                       : "last sequence",
                                     " entry before the end at offset ", set_->manifest_bytes_));
  }
  if (!allow_subset && !skipped_.empty()) {
    std::string names;
    for (const auto& [id, name] : skipped_) StrAppend(&names, names.empty() ? "" : ", ", name);
    return Status::InvalidArgument("Column families not opened", names);
  }
  if (!open_.contains(0)) {
    return Status::InvalidArgument("the default column family must be opened");
  }
  for (auto& [id, open] : open_) {
    BuiltVersion built;
    RETURN_IF_ERROR(open.builder->Build(&built));
    assert(built.removed.empty());  // nobody has seen a version before
    RETURN_IF_ERROR(CheckTables(built, open.versions.get()));
    set_->Adopt(open.versions.get(), std::move(built));
    set_->families_[id] = std::move(open.versions);
  }
  return Status::OK();
}

Status ManifestRecovery::CheckTables(const BuiltVersion& built, FamilyVersions* family) const {
  assert(built.version != nullptr && built.version->file_count() == built.added.size());
  for (const auto& file : built.added) {
    family->next_epoch = std::max(family->next_epoch, file->meta.epoch_number + 1);
    if (file->meta.largest_seqno > set_->last_sequence_) {
      return Status::Corruption(StrCat("table ", file->meta.number, " holds sequence number ",
                                       file->meta.largest_seqno, ", but the last one is ",
                                       set_->last_sequence_));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
