// SPDX-License-Identifier: Apache-2.0
//
// One pass collects for each family the steps by which its files changed. If all files after the
// last step exist, that is the state. Otherwise the steps are replayed once more, and each one that
// leaves a complete state is recorded.
#include "db/opening/best_efforts.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "ashlar/db.h"
#include "db/manifest/manifest_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether the error means that the content is lost, and not only that it cannot be read at present.
bool SaysItIsGone(const Status& status) { return status.IsCorruption() || IsMissing(status); }

// The effect of one change on the files of a family.
struct Step {
  uint64_t change = 0;  // from 0
  std::vector<VersionEdit::DeletedFile> deleted;
  std::vector<VersionEdit::NewFile> added;
  std::vector<BlobFileAddition> blobs;
  std::vector<BlobFileGarbage> garbage;
};

// Checks the existence of files, each only once.
class FileLook {
 public:
  FileLook(FileSystem* fs, const TableCache* tables) : fs_(fs), tables_(tables) {
    assert(fs_ != nullptr && tables_ != nullptr);
  }

  // OK: the table exists and can be opened.
  const Status& Table(const FileMetadata& meta) {
    const auto known = tables_seen_.find(meta.number);
    if (known != tables_seen_.end()) return known->second;
    return tables_seen_[meta.number] = Note(tables_->TryOpen(meta), tables_->PathOf(meta));
  }
  // OK: the blob file exists and has the expected size.
  const Status& Blob(const BlobFileAddition& meta) {
    const auto known = blobs_seen_.find(meta.number);
    if (known != blobs_seen_.end()) return known->second;
    const std::string path = tables_->blobs()->PathOf(meta.number);
    return blobs_seen_[meta.number] = Note(LookAtBlob(meta, path), path);
  }
  // The error because of which it is unknown whether a file exists.
  const Status& error() const { return error_; }

 private:
  // Blob files are not opened: their size shows whether they are complete.
  Status LookAtBlob(const BlobFileAddition& meta, const std::string& path) const {
    ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs_, path));
    if (bytes == meta.file_bytes()) return Status::OK();
    return Status::Corruption(
        StrCat(path, ": ", bytes, " bytes, but the MANIFEST says ", meta.file_bytes()));
  }
  // Keeps the first error that does not mean loss.
  Status Note(const Status& status, const std::string& path) {
    if (status.ok()) return status;
    if (!SaysItIsGone(status)) {
      if (error_.ok()) error_ = status;
      return status;
    }
    if (status.IsCorruption()) return status;
    return Status::Corruption(
        StrCat(path, ": the MANIFEST names this file, but it does not exist"));
  }

  FileSystem* const fs_;
  const TableCache* const tables_;
  std::map<FileNumber, Status> tables_seen_, blobs_seen_;
  Status error_;
};

// The files of a family after a number of steps.
class LiveFiles {
 public:
  // `step` must outlive this object, which points to its metadata.
  void Apply(const Step& step) {
    for (const auto& [level, number] : step.deleted) tables_.erase(number);
    for (const auto& [level, meta] : step.added) tables_[meta.number] = &meta;
    for (const BlobFileAddition& blob : step.blobs) blobs_[blob.number] = {&blob, 0};
    for (const BlobFileGarbage& lost : step.garbage) {
      const auto blob = blobs_.find(lost.number);
      if (blob != blobs_.end()) blob->second.garbage_count += lost.garbage_count;
    }
  }

  // Returns the error of the first file that does not exist; OK: all exist.
  Status Check(FileLook* look) const {
    for (const auto& [number, meta] : tables_) RETURN_IF_ERROR(look->Table(*meta));
    return CheckBlobs(look);
  }
  // Blob files that are older than any table refers to, and those that are only garbage, are never
  // read, so they may be missing.
  Status CheckBlobs(FileLook* look) const {
    if (blobs_.empty()) return Status::OK();
    FileNumber oldest = kMaxFileNumber;
    for (const auto& [number, meta] : tables_) {
      if (meta->oldest_blob_file_number != 0) {
        oldest = std::min(oldest, meta->oldest_blob_file_number);
      }
    }
    for (auto it = blobs_.lower_bound(oldest); it != blobs_.end(); ++it) {
      const auto& [meta, garbage_count] = it->second;
      if (garbage_count < meta->blob_count) RETURN_IF_ERROR(look->Blob(*meta));
    }
    return Status::OK();
  }
  bool Has(FileNumber table) const { return tables_.contains(table); }

 private:
  struct Blob {
    const BlobFileAddition* meta;
    uint64_t garbage_count;
  };
  std::map<FileNumber, const FileMetadata*> tables_;
  std::map<FileNumber, Blob> blobs_;
};

// What one MANIFEST says about a family.
struct FamilyHistory {
  std::string name;
  std::vector<Step> steps;
  const TableCache* tables = nullptr;  // null: the family is not opened
  // The numbers of the changes that leave a complete state, ascending. The first is 0, the state
  // without any file.
  std::vector<uint64_t> whole_after{0};
  Status missing;  // the error of the first file that is missing in the last state

  uint64_t best() const {
    assert(!whole_after.empty());
    return whole_after.back();
  }
};

// A counter detects the steps after which a table is missing, because there are many steps.
void WalkThrough(FamilyHistory* family, FileLook* look) {
  assert(family != nullptr);
  assert(family->whole_after.size() == 1);
  LiveFiles files;
  size_t missing_count = 0;
  const auto is_missing = [&](const FileMetadata& meta) { return !look->Table(meta).ok(); };
  std::map<FileNumber, bool> is_missing_by_number;
  for (const Step& step : family->steps) {
    for (const auto& [level, number] : step.deleted) {
      if (files.Has(number) && is_missing_by_number[number]) missing_count--;
    }
    files.Apply(step);
    for (const auto& [level, meta] : step.added) {
      is_missing_by_number[meta.number] = is_missing(meta);
      if (is_missing_by_number[meta.number]) missing_count++;
    }
    if (missing_count == 0 && files.CheckBlobs(look).ok()) {
      family->whole_after.push_back(step.change + 1);
    }
  }
}

// Reads one MANIFEST and finds the states in it.
class StateFinder {
 public:
  StateFinder(FileSystem* fs, const std::vector<FamilyRequest>& requests)
      : fs_(fs), requests_(requests) {
    Add(0, kDefaultColumnFamilyName);
  }

  // Reads the edits up to the end of the file or to the first damage. Damage is no error here: it
  // is only noted, see damage(). Errors of reading the file are returned.
  Status Read(ManifestReader* reader) {
    assert(reader != nullptr);
    VersionEdit edit;
    while (reader->Next(&edit)) Take(&edit);
    damage_ = reader->status();
    return damage_.ok() || SaysItIsGone(damage_) ? Status::OK() : damage_;
  }
  const Status& damage() const { return damage_; }
  // False if a record is missing without which the edits do not describe a complete database.
  bool IsUsable() const {
    return has_log_number_ && has_next_file_ && has_last_sequence_ && edits_ >= initial_edits_;
  }

  Status FindPoints();
  // Whether a family that had files has none in the state that was found.
  bool HasEmptied() const {
    return std::any_of(families_.begin(), families_.end(), [](const auto& entry) {
      return !entry.second.steps.empty() && entry.second.best() == 0 && !entry.second.missing.ok();
    });
  }
  BestState TakeState(const std::string& manifest);

 private:
  // A family that is created again under the same id begins without files.
  void Add(uint32_t id, const std::string& name) {
    FamilyHistory& family = families_[id] = FamilyHistory();
    family.name = name;
    for (const FamilyRequest& request : requests_) {
      if (request.name == name) family.tables = request.tables.get();
    }
  }
  void Take(VersionEdit* edit);
  void TakeFiles(VersionEdit* edit);
  void KeepGroupsWhole();

  FileSystem* const fs_;
  const std::vector<FamilyRequest>& requests_;
  std::map<uint32_t, FamilyHistory> families_;
  std::map<uint64_t, std::set<uint32_t>> groups_;  // families by the change that touches several
  std::set<uint32_t> in_change_;                   // families that the current change touches
  uint64_t changes_ = 0;                           // complete ones
  uint64_t edits_ = 0, initial_edits_ = 0;
  bool has_log_number_ = false, has_next_file_ = false, has_last_sequence_ = false;
  Status damage_;
};

// Records belong to a change until the last record of its group.
void StateFinder::Take(VersionEdit* edit) {
  assert(edit != nullptr);
  edits_++;
  initial_edits_ = edit->initial_records.value_or(initial_edits_);
  has_log_number_ |= edit->log_number.has_value();
  has_next_file_ |= edit->next_file_number.has_value();
  has_last_sequence_ |= edit->last_sequence.has_value();
  if (edit->added_family) Add(edit->column_family, *edit->added_family);
  if (edit->is_family_drop) families_.erase(edit->column_family);
  if (edit->changes_files()) TakeFiles(edit);
  if (edit->atomic_group_remaining.value_or(0) > 0) return;
  if (in_change_.size() > 1) groups_[changes_] = in_change_;
  in_change_.clear();
  changes_++;
}

// Moves the lists of files out of the edit.
void StateFinder::TakeFiles(VersionEdit* edit) {
  assert(edit != nullptr);
  const auto family = families_.find(edit->column_family);
  if (family == families_.end()) return;  // the recovery itself will report what is wrong
  in_change_.insert(edit->column_family);
  family->second.steps.push_back({.change = changes_,
                                  .deleted = std::move(edit->deleted_files),
                                  .added = std::move(edit->new_files),
                                  .blobs = std::move(edit->blob_additions),
                                  .garbage = std::move(edit->blob_garbage)});
}

// Checks the last state first: usually it is complete.
Status StateFinder::FindPoints() {
  for (auto& [id, family] : families_) {
    if (family.tables == nullptr || family.steps.empty()) continue;
    FileLook look(fs_, family.tables);
    LiveFiles last;
    for (const Step& step : family.steps) last.Apply(step);
    family.missing = last.Check(&look);
    if (family.missing.ok()) {
      family.whole_after.push_back(changes_);
    } else {
      WalkThrough(&family, &look);
    }
    RETURN_IF_ERROR(look.error());
  }
  KeepGroupsWhole();
  return Status::OK();
}

// If one family goes back, other families of the same group must go back, and then others again.
void StateFinder::KeepGroupsWhole() {
  bool has_changed = true;
  const auto has_group = [this](uint32_t id, uint64_t change) {
    const FamilyHistory& family = families_.at(id);
    return family.tables == nullptr || family.best() > change;
  };
  while (std::exchange(has_changed, false)) {
    for (auto& group : groups_) {
      const uint64_t change = group.first;  // lambdas cannot capture a structured binding
      std::set<uint32_t>& members = group.second;
      std::erase_if(members, [this](uint32_t id) { return !families_.contains(id); });
      const bool is_lost = std::any_of(members.begin(), members.end(),
                                       [&](uint32_t id) { return !has_group(id, change); });
      if (!is_lost) continue;
      for (const uint32_t id : members) {
        FamilyHistory& family = families_.at(id);
        if (family.tables == nullptr || family.best() <= change) continue;
        if (family.missing.ok()) {
          // Its last state was complete, so the earlier ones have not been checked yet.
          FileLook look(fs_, family.tables);
          family.whole_after = {0};
          WalkThrough(&family, &look);
          family.missing = Status::Corruption(
              StrCat("change ", change, " of several families is incomplete in another one"));
        }
        while (family.best() > change) family.whole_after.pop_back();
        has_changed = true;
      }
    }
  }
}

// Families that go back are named in the notes.
BestState StateFinder::TakeState(const std::string& manifest) {
  BestState state;
  state.point = {.manifest = manifest, .changes = changes_, .family_changes = {}};
  state.is_whole = damage_.ok();
  if (!damage_.ok()) {
    state.notes.push_back(
        StrCat(manifest, ": read up to change ", changes_, ": ", damage_.ToString()));
  }
  for (const auto& [id, family] : families_) {
    if (family.tables == nullptr || family.missing.ok()) continue;
    state.is_whole = false;
    state.point.family_changes[id] = family.best();
    state.notes.push_back(StrCat("family ", family.name, ": as of change ", family.best(), " of ",
                                 changes_, " in ", manifest, ": ", family.missing.ToString()));
  }
  return state;
}

// The result of reading one MANIFEST.
struct Candidate {
  std::string unusable;  // the reason why it cannot be used; empty: it can
  BestState state;       // is_whole: the state has everything that this MANIFEST contains
  bool has_emptied = false;
};

// An error is returned only if the file could not be read; a damaged MANIFEST is an unusable
// candidate.
Result<Candidate> LookAt(FileSystem* fs, const std::string& dir, const std::string& name,
                         const std::vector<FamilyRequest>& families) {
  Candidate candidate;
  auto reader = ManifestReader::Open(fs, StrCat(dir, "/", name));
  if (!reader.ok() && !SaysItIsGone(reader.status())) return reader.status();
  StateFinder finder(fs, families);
  if (reader.ok()) RETURN_IF_ERROR(finder.Read(reader->get()));
  if (!reader.ok() || !finder.IsUsable()) {
    const Status& why = reader.ok() ? finder.damage() : reader.status();
    candidate.unusable =
        StrCat(name, ": not a complete MANIFEST: ",
               why.ok() ? "records that every database needs are missing" : why.ToString());
    return candidate;
  }
  RETURN_IF_ERROR(finder.FindPoints());
  candidate.state = finder.TakeState(name);
  candidate.has_emptied = finder.HasEmptied();
  return candidate;
}

}  // namespace

// A directory that does not exist has no MANIFEST.
Result<bool> HasManifest(FileSystem* fs, const std::string& dir) {
  auto manifests = ListManifests(fs, dir);
  if (IsMissing(manifests.status())) return false;
  if (!manifests.ok()) return manifests.status();
  return !manifests->empty();
}

// If nothing of the state that CURRENT names is missing, it is the state of the database: a newer
// MANIFEST was left by a crash while it was written, and the logs continue the named one.
Result<BestState> FindBestState(FileSystem* fs, const std::string& dir,
                                const std::vector<FamilyRequest>& families) {
  ASSIGN_OR_RETURN(const std::vector<FileNumber> manifests, ListManifests(fs, dir));
  const Result<std::string> current = ReadCurrent(fs, dir);
  if (current.ok()) {
    ASSIGN_OR_RETURN(Candidate named, LookAt(fs, dir, current.value(), families));
    if (named.unusable.empty() && named.state.is_whole) return std::move(named.state);
  }
  std::vector<std::string> notes;
  std::optional<BestState> fallback;
  for (const FileNumber number : manifests) {
    const std::string name = BaseNameOf(DescriptorFileName(dir, number));
    ASSIGN_OR_RETURN(Candidate candidate, LookAt(fs, dir, name, families));
    if (!candidate.unusable.empty()) {
      notes.push_back(std::move(candidate.unusable));
      continue;
    }
    BestState& state = candidate.state;
    // Another MANIFEST may have had changes that are lost.
    const bool is_last = !current.ok() && number == manifests.front();
    state.is_whole &= is_last;
    state.notes.insert(state.notes.begin(), notes.begin(), notes.end());
    if (state.notes.empty() && !is_last) {
      state.notes.push_back(StrCat(name, ": taken, which is not what CURRENT names"));
    }
    if (!candidate.has_emptied) return std::move(state);
    if (!fallback.has_value()) fallback = std::move(state);
    notes.push_back(StrCat(name, ": has no state in which all files are there"));
  }
  if (fallback.has_value()) return *std::move(fallback);
  std::string text;
  for (const std::string& note : notes) StrAppend(&text, "; ", note);
  return Status::Corruption(StrCat(dir, ": no MANIFEST here can be recovered from", text));
}

}  // namespace ashlar
