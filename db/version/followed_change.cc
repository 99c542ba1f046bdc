// SPDX-License-Identifier: Apache-2.0
//
// When a follower reads a whole MANIFEST, the edits are reduced to those that lead from its current
// versions to the versions in the MANIFEST. So tables that stay are not opened again, and their
// blocks stay in the cache.
#include "db/version/followed_change.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include "db/version/version_set.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One family, as a whole MANIFEST describes it.
struct DescribedFamily {
  struct Table {
    Level level = 0;
    const FileMetadata* meta = nullptr;  // of an edit
  };
  struct Blob {
    const BlobFileAddition* addition = nullptr;  // of an edit
    uint64_t garbage_count = 0, garbage_bytes = 0;
  };

  FileNumber log_number = 0;
  std::optional<std::string> full_history_ts_low;
  std::map<FileNumber, Table> tables;
  std::map<FileNumber, Blob> blobs;

  void Apply(const VersionEdit& edit) {
    if (edit.log_number) log_number = std::max(log_number, *edit.log_number);
    if (edit.full_history_ts_low) full_history_ts_low = edit.full_history_ts_low;
    for (const auto& file : edit.deleted_files) tables.erase(file.number);
    for (const auto& [level, meta] : edit.new_files) tables[meta.number] = {level, &meta};
    for (const BlobFileAddition& blob : edit.blob_additions) blobs[blob.number].addition = &blob;
    for (const BlobFileGarbage& garbage : edit.blob_garbage) {
      Blob& blob = blobs[garbage.number];
      blob.garbage_count += garbage.garbage_count;
      blob.garbage_bytes += garbage.garbage_bytes;
    }
  }
};

// The oldest blob file to which a table refers. A MANIFEST may still name older ones, which no
// table needs; they must not count as missing.
FileNumber OldestLinkOf(const DescribedFamily& family) {
  FileNumber oldest = FileNumber::None();
  for (const auto& [number, table] : family.tables) {
    const FileNumber linked = table.meta->oldest_blob_file_number;
    if (linked != 0) oldest = std::min(oldest, linked);
  }
  return oldest;
}

// Adds the differences between the tables of the base and of the described family to the edit.
void CompareTables(const Version& base, const DescribedFamily& family, VersionEdit* edit) {
  assert(edit != nullptr);
  std::map<FileNumber, Level> present;
  for (Level level = 0; level < base.num_levels(); ++level) {
    for (const TableFile* file : base.files(level)) present[file->meta.number] = level;
  }
  for (const auto& [number, level] : present) {
    const auto table = family.tables.find(number);
    const bool stays = table != family.tables.end() && table->second.level == level;
    if (!stays) edit->DeleteFile(level, number);
  }
  for (const auto& [number, table] : family.tables) {
    const auto was = present.find(number);
    if (was == present.end() || was->second != table.level) {
      edit->AddFile(table.level, *table.meta);
    }
  }
}

// The same for blob files. A file that is described no longer becomes garbage as a whole, and a
// file that is all garbage is dropped if no table is linked to it.
void CompareBlobs(const BlobFiles* base, const DescribedFamily& family, VersionEdit* edit) {
  assert(edit != nullptr);
  const FileNumber oldest_link = OldestLinkOf(family);
  std::set<FileNumber> present;
  if (base != nullptr) {
    for (const BlobFiles::Live& live : base->all()) {
      const BlobFileAddition& meta = live.file->meta;
      present.insert(meta.number);
      BlobFileGarbage news{.number = meta.number,
                           .garbage_count = meta.blob_count - live.garbage_count,
                           .garbage_bytes = meta.blob_bytes - live.garbage_bytes};
      const auto described = family.blobs.find(meta.number);
      if (described != family.blobs.end()) {
        const auto& [addition, count, bytes] = described->second;
        news.garbage_count = count - std::min(count, live.garbage_count);
        news.garbage_bytes = bytes - std::min(bytes, live.garbage_bytes);
      }
      if (news.garbage_count > 0 || news.garbage_bytes > 0) edit->blob_garbage.push_back(news);
    }
  }
  for (const auto& [number, blob] : family.blobs) {
    if (blob.addition == nullptr || present.contains(number) || number < oldest_link) continue;
    edit->blob_additions.push_back(*blob.addition);
    if (blob.garbage_count == 0 && blob.garbage_bytes == 0) continue;
    edit->blob_garbage.push_back({number, blob.garbage_count, blob.garbage_bytes});
  }
}

}  // namespace

// Closes the tables of a change that was not installed.
FollowedChange::~FollowedChange() {
  for (auto& [id, family] : families_) {
    for (const auto& file : family.built.added) family.versions->tables->Close(file.get());
  }
}

VersionBuilder* FollowedChange::BuilderFor(Family* family, Builders* builders) {
  assert(family != nullptr);
  assert(builders != nullptr);
  std::unique_ptr<VersionBuilder>& builder = (*builders)[family->versions->id];
  if (builder == nullptr) {
    const FamilyVersions& versions = *family->versions;
    builder = std::make_unique<VersionBuilder>(versions.comparator, versions.tables.get(),
                                               family->base, versions.num_levels);
  }
  return builder.get();
}

// Edits of families that are not open here are skipped.
Status FollowedChange::Apply(const VersionEdit& edit, Builders* builders) {
  const auto found = families_.find(edit.column_family);
  if (found == families_.end() || found->second.is_dropped) return Status::OK();
  Family& family = found->second;
  if (edit.is_family_drop) {
    family.is_dropped = true;
    family.changes_files = false;
    builders->erase(edit.column_family);
    return Status::OK();
  }
  if (edit.log_number) family.log_number = std::max(family.log_number, *edit.log_number);
  if (edit.full_history_ts_low) family.full_history_ts_low = edit.full_history_ts_low;
  if (!edit.changes_files()) return Status::OK();
  family.changes_files = true;
  return BuilderFor(&family, builders)->Apply(edit);
}

// An error leaves the change unusable, but the current versions untouched.
Status FollowedChange::Build(const std::vector<VersionEdit>& edits, bool is_whole_manifest) {
  ManifestCounters next = is_whole_manifest ? ManifestCounters() : counters_;
  for (const VersionEdit& edit : edits) next.Apply(edit);
  RETURN_IF_ERROR(CheckIdentity(next));
  std::vector<VersionEdit> difference;
  if (is_whole_manifest) RETURN_IF_ERROR(ReduceToDifference(edits, &difference));
  counters_ = std::move(next);
  Builders builders;
  for (const VersionEdit& edit : is_whole_manifest ? difference : edits) {
    RETURN_IF_ERROR(Apply(edit, &builders));
  }
  for (auto& [id, builder] : builders) {
    BuiltVersion& built = families_.at(id).built;
    RETURN_IF_ERROR(builder->Build(&built));
    for (const auto& file : built.added) {
      largest_seqno_ = std::max(largest_seqno_, file->meta.largest_seqno);
    }
  }
  return Status::OK();
}

// The directory may have been emptied, and a new database created there.
Status FollowedChange::CheckIdentity(const ManifestCounters& next) const {
  if (counters_.db_id.empty() || next.db_id.empty() || counters_.db_id == next.db_id) {
    return Status::OK();
  }
  return Status::Corruption(StrCat("another database is here now: its id is ", next.db_id,
                                   " and not ", counters_.db_id, ": open it again"));
}

namespace {

// The error for a new MANIFEST that goes back behind what was read before: a write of the primary
// failed, but its record could be read, and the primary then began a new MANIFEST without it. When
// the primary has made the change after all, the next catch-up is possible.
Status TakenBack(uint32_t family, const std::string& change) {
  return Status::TryAgain(StrCat("the primary has taken back a change whose write failed: column ",
                                 "family ", family, " ", change,
                                 "; if this lasts, open the database again"));
}

}  // namespace

// Computes the difference between the base versions and a whole MANIFEST: one edit for each open
// family.
Status FollowedChange::ReduceToDifference(const std::vector<VersionEdit>& edits,
                                          std::vector<VersionEdit>* difference) const {
  assert(difference != nullptr);
  std::map<uint32_t, DescribedFamily> described;
  described[0];  // no record adds the default family
  for (const VersionEdit& edit : edits) {
    if (edit.added_family) described[edit.column_family];
    if (edit.is_family_drop) {
      described.erase(edit.column_family);
      continue;
    }
    const auto family = described.find(edit.column_family);
    if (family != described.end()) family->second.Apply(edit);
  }
  for (const uint32_t id : dropped_) {
    if (described.contains(id)) return TakenBack(id, "was dropped, and is there again");
  }
  for (const auto& [id, family] : families_) {
    VersionEdit& edit = difference->emplace_back();
    edit.column_family = id;
    const auto found = described.find(id);
    if (found == described.end()) {
      edit.is_family_drop = true;
      continue;
    }
    // The memtables of logs that are needed no more have been dropped.
    if (found->second.log_number < family.log_number) {
      return TakenBack(id, StrCat("needs logs from ", found->second.log_number,
                                  " on, but needed them from ", family.log_number, " on before"));
    }
    edit.log_number = found->second.log_number;
    edit.full_history_ts_low = found->second.full_history_ts_low;
    CompareTables(*family.base, found->second, &edit);
    CompareBlobs(family.base->blobs(), found->second, &edit);
  }
  return Status::OK();
}

FollowedChange VersionSet::BeginFollowed() const {
  assert(!is_writing_);
  assert(wals_ == nullptr);  // this process changes nothing
  FollowedChange change;
  for (const auto& [id, family] : families_) {
    FollowedChange::Family& taken = change.families_[id];
    taken.versions = family;
    taken.base = family->current;
    taken.log_number = family->log_number;
  }
  change.counters_ = counters_;
  MutexLock lock(&obsolete_mutex_);
  for (const auto& family : dropped_) change.dropped_.push_back(family->id);
  return change;
}

// Nothing here can fail, because the versions were built before. The follower takes over all
// counters of the primary.
void VersionSet::InstallFollowed(FollowedChange* change) {
  assert(change != nullptr);
  assert(!is_writing_);
  for (auto& [id, family] : change->families_) {
    if (family.is_dropped) {
      DropFamily(id);
      continue;
    }
    assert(family.base == family.versions->current);
    family.versions->log_number = family.log_number;
    if (family.full_history_ts_low) {
      family.versions->full_history_ts_low = std::move(family.full_history_ts_low);
    }
    if (family.built.version != nullptr) Adopt(family.versions.get(), std::move(family.built));
  }
  counters_ = change->counters_;
}

}  // namespace ashlar
