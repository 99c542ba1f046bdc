// SPDX-License-Identifier: Apache-2.0
//
// Applies edits as opening a database does, to plain values.
#include "tools/ldb/manifest_state.h"
#include "tools/lib/program_parts.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <memory>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "db/manifest/manifest_reader.h"
#include "db/version/version_builder.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint32_t kDefaultFamilyId = 0;

}  // namespace

bool FamilyState::RefersToBlobFile(FileNumber blob_number) const {
  for (const auto& files : levels) {
    for (const FileMetadata& file : files) {
      if (file.oldest_blob_file_number == blob_number) return true;
    }
  }
  return false;
}

FileNumber FamilyState::OldestBlobFile() const {
  FileNumber oldest = FileNumber::None();
  for (const auto& files : levels) {
    for (const FileMetadata& file : files) {
      // 0 means that the table refers to no blob file.
      if (file.oldest_blob_file_number != 0) {
        oldest = std::min(oldest, file.oldest_blob_file_number);
      }
    }
  }
  return oldest;
}

// A new MANIFEST need not add the default family, see ApplyFamilyChange().
ManifestState::ManifestState() { families_[kDefaultFamilyId].name = kDefaultColumnFamilyName; }

// The edits must be applied in their order. Corruption if an edit contradicts the state.
Status ManifestState::Apply(const VersionEdit& edit) {
  if (edit.next_file_number) next_file_number_ = *edit.next_file_number;
  if (edit.last_sequence) last_sequence_ = *edit.last_sequence;
  if (edit.prev_log_number) prev_log_number_ = *edit.prev_log_number;
  if (edit.max_column_family) max_column_family_ = *edit.max_column_family;
  // Never goes back: an older edit that is written later must not make an obsolete log necessary
  // again.
  if (edit.min_log_number_to_keep) {
    min_log_number_to_keep_ = std::max(min_log_number_to_keep_, *edit.min_log_number_to_keep);
  }
  ApplyLogs(edit);
  if (edit.is_family_change()) RETURN_IF_ERROR(ApplyFamilyChange(edit));
  // A drop has removed the family above, and has nothing else to apply.
  const auto found = families_.find(edit.column_family);
  if (found == families_.end()) {
    if (edit.is_family_drop) return Status::OK();
    return Status::Corruption(StrCat("an edit for column family ", edit.column_family,
                                     ", which does not exist at this point"));
  }
  FamilyState* const family = &found->second;
  family->id = edit.column_family;
  if (edit.comparator) family->comparator = *edit.comparator;
  if (edit.log_number) family->log_number = *edit.log_number;
  RETURN_IF_ERROR(ApplyFiles(edit, family));
  return ApplyBlobFiles(edit, family);
}

void ManifestState::ApplyLogs(const VersionEdit& edit) {
  const auto learn = [this](FileNumber number, uint64_t synced_bytes) {
    // The greatest size counts, as a log only grows.
    uint64_t& known = synced_log_bytes_[number];
    known = std::max(known, synced_bytes);
  };
  for (const WalAddition& wal : edit.wal_additions) {
    if (wal.synced_bytes) learn(wal.log_number, *wal.synced_bytes);
  }
  for (const LogSummary& log : edit.logs) learn(log.number, log.synced_bytes);
  const FileNumber obsolete_end = std::max(edit.wal_deletion.value_or(FileNumber{}),
                                           edit.forgotten_logs_end.value_or(FileNumber{}));
  // Logs below this number are deleted or forgotten, whichever of the two was recorded.
  synced_log_bytes_.erase(synced_log_bytes_.begin(), synced_log_bytes_.lower_bound(obsolete_end));
}

Status ManifestState::ApplyFamilyChange(const VersionEdit& edit) {
  assert(edit.is_family_change());
  max_column_family_ = std::max(max_column_family_, edit.column_family);
  if (edit.is_family_drop) {
    if (families_.erase(edit.column_family) == 1) return Status::OK();
    return Status::Corruption(
        StrCat("column family ", edit.column_family, " is dropped, but does not exist"));
  }
  const auto [added, is_new] = families_.try_emplace(edit.column_family);
  // The default family exists from the beginning, whether or not an edit adds it.
  if (!is_new && edit.column_family != kDefaultFamilyId) {
    return Status::Corruption(StrCat("column family ", edit.column_family, " is added twice"));
  }
  added->second.name = *edit.added_family;
  return Status::OK();
}

// Deletions come first: an edit that moves a file deletes it from one level and adds it to another.
Status ManifestState::ApplyFiles(const VersionEdit& edit, FamilyState* family) {
  assert(family != nullptr);
  for (const VersionEdit::DeletedFile& deleted : edit.deleted_files) {
    const size_t level = static_cast<size_t>(deleted.level);
    const auto has_number = [&](const FileMetadata& file) { return file.number == deleted.number; };
    if (level >= family->levels.size() || std::erase_if(family->levels[level], has_number) == 0) {
      return Status::Corruption(StrCat("file ", deleted.number, " is deleted from level ",
                                       deleted.level, ", but is not there"));
    }
  }
  for (const VersionEdit::NewFile& added : edit.new_files) {
    // The number of levels is not recorded, so the list grows as far as the files need.
    const size_t level = static_cast<size_t>(added.level);
    if (level >= family->levels.size()) family->levels.resize(level + 1);
    family->levels[level].push_back(added.meta);
  }
  return Status::OK();
}

// New blob files come before garbage, because one edit may add a file and report garbage in it.
// Garbage of an unknown file is Corruption.
Status ManifestState::ApplyBlobFiles(const VersionEdit& edit, FamilyState* family) {
  assert(family != nullptr);
  for (const BlobFileAddition& added : edit.blob_additions) {
    family->blobs[added.number].added = added;
  }
  for (const BlobFileGarbage& garbage : edit.blob_garbage) {
    const auto found = family->blobs.find(garbage.number);
    if (found == family->blobs.end()) {
      return Status::Corruption(
          StrCat("garbage in blob file ", garbage.number, ", which does not exist"));
    }
    // Each edit reports what is garbage in addition to what was known before.
    found->second.garbage_count += garbage.garbage_count;
    found->second.garbage_bytes += garbage.garbage_bytes;
  }
  return Status::OK();
}

// The MANIFEST has no record of the removal of a blob file: it is no longer live when all of it is
// garbage and no table refers to it, or when it is older than all that tables refer to.
void ManifestState::Finish() {
  for (auto& entry : families_) {
    FamilyState& family = entry.second;
    // Null for a comparator that this program does not know; deeper levels then stay in the order
    // of the edits.
    const Comparator* comparator = OrderOfBoundaries(family);
    for (size_t level = 0; level < family.levels.size(); level++) {
      std::vector<FileMetadata>& files = family.levels[level];
      if (level == 0) {
        // Newest first, as a read searches them.
        std::sort(files.begin(), files.end(), IsNewer);
      } else if (comparator != nullptr) {
        const InternalKeyComparator order(comparator);
        std::sort(files.begin(), files.end(), [&](const FileMetadata& a, const FileMetadata& b) {
          return order.Compare(a.smallest, b.smallest) < 0;
        });
      }
    }
    const FileNumber oldest = family.OldestBlobFile();
    std::erase_if(family.blobs, [&](const auto& numbered) {
      const auto& [number, blob] = numbered;
      // `oldest` is the greatest possible number if no table refers to a blob file; then all of
      // them are obsolete.
      return number < oldest ||
             (blob.garbage_count >= blob.added.blob_count && !family.RefersToBlobFile(number));
    });
  }
}

const FamilyState* ManifestState::Family(const std::string& name) const {
  for (const auto& [id, family] : families_) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

FileNumber ManifestState::FirstNeededLog() const {
  // A prepare section may keep a log that is older than those of all families.
  if (min_log_number_to_keep_ > 0) return min_log_number_to_keep_;
  // The minimum over all families: each of them may still need entries from its own log on.
  FileNumber first = FileNumber::None();
  for (const auto& [id, family] : families_) first = std::min(first, family.log_number);
  return first;
}

Status ReadManifestUpToDamage(FileSystem* fs, const std::string& path,
                              const std::function<void(const VersionEdit&)>& on_edit,
                              std::optional<ManifestState>* state) {
  assert(fs != nullptr);
  assert(state != nullptr);
  RETURN_IF_ERROR(fs->FileExists(path, IOOptions(), nullptr));
  // `edit` is reused, so that its vectors keep their memory.
  ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader, ManifestReader::Open(fs, path));
  VersionEdit edit;
  Status applied;
  while (applied.ok() && reader->Next(&edit)) {
    // Made with the first edit, so that a file without any is not taken for an empty database.
    if (!state->has_value()) state->emplace();
    if (on_edit) on_edit(edit);
    applied = (*state)->Apply(edit);
  }
  // Also after damage: what was applied before it is shown in order.
  if (state->has_value()) (*state)->Finish();
  if (!applied.ok()) return Status::CopyAppendMessage(applied, ", in ", path);
  RETURN_IF_ERROR(reader->status());
  if (!state->has_value()) {
    return Status::Corruption(StrCat(path, ": no version edit; not a MANIFEST?"));
  }
  return Status::OK();
}

Result<ManifestState> ReadManifestState(FileSystem* fs, const std::string& path,
                                        const std::function<void(const VersionEdit&)>& on_edit) {
  std::optional<ManifestState> state;
  RETURN_IF_ERROR(ReadManifestUpToDamage(fs, path, on_edit, &state));
  return *std::move(state);
}

namespace {

// Its name without the directory; empty if there is none.
std::string NewestManifestIn(FileSystem* fs, const std::string& db) {
  assert(fs != nullptr);
  std::vector<std::string> names;
  if (!fs->GetChildren(db, IOOptions(), &names, /*dbg=*/nullptr).ok()) return "";
  std::string newest;
  FileNumber newest_number = 0;
  for (const std::string& name : names) {
    FileNumber number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(name, &number, &type) || type != kDescriptorFile) continue;
    // Not by name, because MANIFEST-1000000 sorts before MANIFEST-999999.
    if (!newest.empty() && number < newest_number) continue;
    newest = name;
    newest_number = number;
  }
  return newest;
}

}  // namespace

// If CURRENT cannot be read, the error names the newest MANIFEST, which the user can pass by hand.
Result<std::string> LiveManifestPath(FileSystem* fs, const std::string& db) {
  Result<std::string> name = ReadCurrent(fs, db);
  if (name.ok()) return StrCat(db, "/", *name);
  const std::string newest = NewestManifestIn(fs, db);
  return Status::CopyAppendMessage(
      name.status(), "; ",
      newest.empty() ? "there is no MANIFEST either: not the directory of a database?"
                     : StrCat("manifest_dump --path=", db, "/", newest, " shows what was there"));
}

// For commands that only print: if CURRENT names no existing file, the newest MANIFEST is taken.
Result<std::string> FindManifest(FileSystem* fs, const std::string& db) {
  assert(fs != nullptr);
  Result<std::string> name = ReadCurrent(fs, db);
  const std::string live = name.ok() ? StrCat(db, "/", *name) : "";
  const std::string newest = NewestManifestIn(fs, db);
  if (newest.empty() || (name.ok() && fs->FileExists(live, IOOptions(), nullptr).ok())) {
    return LiveManifestPath(fs, db);
  }
  const std::string why = name.ok() ? StrCat("CURRENT names ", live, ", which does not exist")
                                    : name.status().ToString();
  std::fprintf(stderr, "ldb: %s; reading %s\n", why.c_str(), newest.c_str());
  return StrCat(db, "/", newest);
}

// With persist_user_defined_timestamps = false the boundary keys have no timestamps either.
const Comparator* OrderOfBoundaries(const FamilyState& family) {
  for (const auto& files : family.levels) {
    for (const FileMetadata& file : files) {
      if (!file.timestamps_persisted) return nullptr;
    }
  }
  return FindComparator(family.comparator);
}

}  // namespace ashlar
