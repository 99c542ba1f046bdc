// SPDX-License-Identifier: Apache-2.0
//
// The steps of LogAndApply():
//
//   Complete       (mutex held)  counters, facts about logs and places in a group go into the edits
//   Begin          (mutex held)  what the next steps need is taken out of the guarded state
//   BuildVersions  (mutex free)  new versions from the current ones
//   Write          (mutex free)  append and sync; or a whole new MANIFEST, synced, then CURRENT
//   Install        (mutex held)  versions become current, log numbers and counters move
//
// While the mutex is released, the current versions do not change, because only Install replaces
// them and only one change is written at a time.
//
// After a failed append or sync the file is never written again. The change may be on disk, so the
// caller keeps all files that it names until a later change succeeds, in a new MANIFEST.
#include "db/version/version_set.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "db/manifest/manifest_reader.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_builder.h"
#include "db/wal/wal_set.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

std::string Encoded(const VersionEdit& edit) {
  std::string record;
  edit.EncodeTo(&record);
  return record;
}

}  // namespace

struct VersionSet::FamilySnapshot {
  VersionEdit identity;
  VersionEdit contents;  // all fields except the lists of files
  const Version* version;
};

// The parts of a change between the steps of LogAndApply(). Used by one thread, with or without the
// mutex.
struct VersionSet::Pending {
  struct FamilyChange {
    FamilyVersions* family;
    std::unique_ptr<VersionBuilder> builder;
    BuiltVersion built;
  };
  std::shared_ptr<FamilyVersions> added;     // outlives its builder and its version
  std::map<uint32_t, FamilyChange> changes;  // families whose files change, by id
  // The number of the new MANIFEST; 0 if the change is appended to the existing one.
  FileNumber new_manifest_number = 0;
  bool is_begun = false;  // the MANIFEST may have got a part of it
  bool was_in_doubt = false;
  VersionEdit head;
  std::vector<FamilySnapshot> families;
  std::vector<VersionEdit> log_edits;  // written after the edits of the change
};

VersionSet::VersionSet(const VersionSetOptions& options) : options_(options), manifest_(options) {}

// Allocates nothing, because a destructor cannot report that memory ran out.
VersionSet::~VersionSet() {
  assert(!is_writing_);
  const auto end = [this](FamilyVersions* family) REQUIRES(db_mutex) {
    family->tables->KeepBlocksOnClose();
    assert(!family->is_dropped);  // dropped families are in dropped_
    if (family->current != nullptr) CloseCurrent(family);
  };
  for (auto& [id, family] : families_) end(family.get());
  for (auto& family : dropped_) family->tables->KeepBlocksOnClose();
  for (ObsoleteTable& table : TakeObsolete()) table.Close();
}

// Closes the tables of the current version. They are not obsolete, so they must not be put on the
// obsolete list, unlike tables that only older versions hold.
void VersionSet::CloseCurrent(FamilyVersions* family) {
  Version* const last = std::exchange(family->current, nullptr);
  assert(last != nullptr && last->family() == family);
  for (const auto& level : last->levels()) {
    for (TableFile* file : level->files) {
      family->tables->Close(file);
      delete file;
    }
  }
  if (!last->Unref()) return;
  delete last;
  live_versions_.fetch_sub(1, std::memory_order_relaxed);
}

FamilyVersions* VersionSet::Family(uint32_t id) const {
  const auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second.get();
}

FamilyVersions* VersionSet::Family(const std::string& name) const {
  for (const auto& [id, family] : families_) {
    if (family->name == name) return family.get();
  }
  return nullptr;
}

std::vector<FamilyVersions*> VersionSet::LiveFamilies() const {
  std::vector<FamilyVersions*> live;
  live.reserve(families_.size());
  for (const auto& [id, family] : families_) live.push_back(family.get());
  return live;
}

void VersionSet::Release(Version* version) {
  assert(version->family() != nullptr);  // installed
  try {
    MutexLock lock(&obsolete_mutex_);
    FamilyVersions* const family = version->family();
    obsolete_.reserve(obsolete_.size() + family->live.CountNoted(version->number()));
    for (TableFile* file : family->live.Remove(version->number())) {
      obsolete_.emplace_back(family->shared_from_this(), std::unique_ptr<TableFile>(file));
    }
  } catch (const std::bad_alloc&) {
    // Memory ran out, and the callers are destructors. The tables of this version count as held
    // until the family is destroyed; the next opening of the database deletes their files.
  }
  delete version;
  [[maybe_unused]] const int before = live_versions_.fetch_sub(1, std::memory_order_relaxed);
  assert(before > 0);
}

std::vector<ObsoleteTable> VersionSet::TakeObsolete() {
  MutexLock lock(&obsolete_mutex_);
  return std::exchange(obsolete_, {});
}

std::vector<std::shared_ptr<FamilyVersions>> VersionSet::TakeUnusedFamilies() {
  std::vector<std::shared_ptr<FamilyVersions>> unused;
  MutexLock lock(&obsolete_mutex_);
  std::erase_if(dropped_, [&unused](std::shared_ptr<FamilyVersions>& family) {
    // The use count cannot rise again: the family is not in families_, so no new user can find it.
    if (family.use_count() > 1 || !family->live.empty()) return false;
    unused.push_back(std::move(family));
    return true;
  });
  return unused;
}

bool VersionSet::HasObsolete() {
  if (!obsolete_blobs_.empty()) return true;
  MutexLock lock(&obsolete_mutex_);
  return !obsolete_.empty();
}

void VersionSet::MarkFileNumberUsed(FileNumber number) {
  assert(number <= kMaxFileNumber.Next());  // otherwise the next number would wrap around
  uint64_t next = next_file_number_.load(std::memory_order_relaxed);
  while (next <= number.value() && !next_file_number_.compare_exchange_weak(
                                       next, number.Next().value(), std::memory_order_relaxed)) {
  }
}

Status VersionSet::CreateNew(const VersionSetOptions& options, const std::string& db_id) {
  VersionEdit edit;
  if (options.write_db_id) edit.db_id = db_id;
  edit.log_number = FileNumber{};
  edit.next_file_number = FileNumber{2};
  edit.last_sequence = 0;
  ManifestFileOptions file_options = options;
  // The first change after opening starts a new MANIFEST, so this one stays small.
  file_options.preallocate_bytes = 0;
  ManifestFile file(file_options);
  RETURN_IF_ERROR(file.Start(1, {Encoded(edit)}));
  return file.Close();
}

Status VersionSet::Recover(std::vector<FamilyRequest> requests, bool allow_subset,
                           std::vector<FamilyRequest>* missing, const RecoveryPoint* point) {
  assert(families_.empty());  // Recover() is called at most once
  std::string manifest;
  if (point != nullptr) {
    manifest = point->manifest;
  } else {
    ASSIGN_OR_RETURN(manifest, ReadCurrent(options_.fs, options_.dir));
  }
  FileType type;
  ParseFileName(manifest, &manifest_number_, &type);
  const std::string path = options_.dir + "/" + manifest;
  using End = ManifestReader::End;
  const End end = options_.is_followed ? End::kForNow : End::kForGood;
  ASSIGN_OR_RETURN(auto reader, ManifestReader::Open(options_.fs, path, end));
  ManifestReplay replay(std::move(requests), point);
  VersionEdit edit;
  while (!replay.IsAtPoint() && reader->Next(&edit)) {
    const Status applied = replay.Apply(edit);
    if (!applied.ok()) return Status::CopyAppendMessage(applied, " in ", manifest);
  }
  if (point == nullptr) RETURN_IF_ERROR(reader->status());
  torn_manifest_bytes_ = reader->torn_tail_bytes();
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(options_.fs, path));
  manifest_bytes_ = bytes - std::min(bytes, torn_manifest_bytes_);
  auto families = replay.Finish(allow_subset);
  if (!families.ok()) {
    const Status status = families.status();
    if (!status.IsCorruption()) return status;
    return Status::CopyAppendMessage(status, " in ",
                                     StrCat(manifest, ", which ends at offset ", manifest_bytes_));
  }
  counters_ = replay.counters();
  MarkFileNumberUsed(FileNumber{counters_.next_file_number.value() - 1});
  for (ReplayedFamily& family : families.value()) {
    Adopt(family.versions.get(), std::move(family.built));
    families_[family.versions->id] = std::move(family.versions);
  }
  for (FamilyRequest& request : replay.TakeMissing()) missing->push_back(std::move(request));
  if (options_.is_followed) reader_ = std::move(reader);
  return Status::OK();
}

std::unique_ptr<ManifestReader> VersionSet::TakeReader() { return std::move(reader_); }

Status VersionSet::LogAndApply(Change change, DbMutex* mutex) {
  mutex->AssertHeld();
  assert(!change.edits.empty());
  if (turn_ == nullptr) turn_ = std::make_unique<CondVar>(mutex);
  while (is_writing_) turn_->Wait();
  may_hold_failed_change_ = false;
  RETURN_IF_ERROR(CheckFamilies(&change.edits));
  assert(!change.edits.empty());
  is_writing_ = true;
  const ScopeExit end_turn([this]() REQUIRES(db_mutex) {
    is_writing_ = false;
    turn_->SignalAll();
  });
  Pending pending;
  Complete(&change, &pending);
  Begin(&change, &pending);
  // Until the outcome is known; and for longer, if memory runs out.
  pending.was_in_doubt = std::exchange(is_in_doubt_, true);
  may_hold_failed_change_ = true;
  Status status;
  {
    MutexUnlock unlock(mutex);
    // If memory runs out during the write, the contents of the MANIFEST are unknown, so it is not
    // written again.
    ScopeExit abandon([this] { manifest_.Abandon(); });
    status = BuildVersions(change, &pending);
    if (status.ok()) status = Write(change, &pending);
    if (!status.ok()) {
      Error(options_.info_log, "MANIFEST not written: %s", status.ToString().c_str());
    }
    abandon.Cancel();
  }
  if (status.ok()) {
    Install(&change, &pending);
  } else {
    NoteFailure(pending);
  }
  return status;
}

// Notes what may be on disk after an error. Nothing is, if CURRENT cannot name the new MANIFEST.
void VersionSet::NoteFailure(const Pending& pending) {
  assert(is_writing_);
  const bool is_new = pending.new_manifest_number != 0;
  may_hold_failed_change_ = pending.is_begun && (!is_new || manifest_.may_be_current());
  if (may_hold_failed_change_) failed_changes_++;
  is_in_doubt_ = may_hold_failed_change_ || pending.was_in_doubt;
  if (may_hold_failed_change_ && is_new) doubtful_manifests_.push_back(pending.new_manifest_number);
}

// Called when no other change is being written, so of two changes that create or drop the same
// family the second one fails. Edits for a family that has been dropped are removed from the
// change.
Status VersionSet::CheckFamilies(std::vector<VersionEdit>* edits) const {
  std::optional<uint32_t> added;
  for (const VersionEdit& edit : *edits) {
    if (edit.added_family) added = edit.column_family;
  }
  const auto is_gone = [this, added](const VersionEdit& edit) REQUIRES(db_mutex) {
    return edit.column_family != added && Family(edit.column_family) == nullptr;
  };
  for (const VersionEdit& edit : *edits) {
    if (edit.added_family && Family(*edit.added_family) != nullptr) {
      return Status::InvalidArgument("Column family already exists", *edit.added_family);
    }
    if (edit.is_family_drop && is_gone(edit)) {
      return Status::ColumnFamilyDropped("the column family is dropped already");
    }
  }
  edits->erase(std::remove_if(edits->begin(), edits->end(), is_gone), edits->end());
  if (edits->empty()) return Status::ColumnFamilyDropped("the column family was dropped meanwhile");
  return Status::OK();
}

// Fills in the fields of the edits that the caller leaves open.
void VersionSet::Complete(Change* change, Pending* pending) {
  assert(is_writing_ && !change->edits.empty());
  std::vector<VersionEdit>& edits = change->edits;
  if (manifest_.WantsNewFile()) pending->new_manifest_number = NewFileNumber();
  counters_.last_sequence = std::max(counters_.last_sequence, change->last_sequence);
  if (!edits.front().forgotten_logs_end) edits.front().logs = NewLogSummaries();
  if (counters_.max_column_family > 0)
    edits.front().max_column_family = counters_.max_column_family;
  uint32_t remaining = static_cast<uint32_t>(edits.size());
  for (VersionEdit& edit : edits) {
    remaining--;
    if (change->is_atomic_group) edit.atomic_group_remaining = remaining;
    if (!edit.is_family_change()) edit.prev_log_number = FileNumber{};
    edit.next_file_number = next_file_number();
    edit.last_sequence = counters_.last_sequence;
    // Ids are reserved earlier than they are written, so a greater one may have been written
    // before.
    if (edit.added_family) edit.max_column_family = counters_.max_column_family;
    const bool is_later_record = pending->new_manifest_number == 0 && &edit != &edits.front();
    if (is_later_record) edit.change_begin = manifest_bytes_;
  }
  if (!options_.lists_logs || wals_ == nullptr) return;
  std::optional<uint64_t> change_begin = manifest_bytes_;
  if (pending->new_manifest_number != 0) change_begin.reset();
  pending->log_edits = listed_logs_.News(wals_->DurableSummaries(), edits,
                                         counters_.min_log_number_to_keep, change_begin);
}

// Moves the request of the added family into `pending`. `pending` refers to the edits in `change`,
// so they must not move until the change is written. An added family always gets a version, also
// if nothing is added to it.
void VersionSet::Begin(Change* change, Pending* pending) const {
  assert(is_writing_ && pending->changes.empty());
  for (const VersionEdit& edit : change->edits) {
    FamilyVersions* family = nullptr;
    if (edit.added_family) {
      BeginFamily(edit, change->added_family.get(), pending);
      family = pending->added.get();
    } else if (edit.changes_files()) {
      assert(!edit.is_family_drop);
      const bool is_added = pending->added != nullptr && pending->added->id == edit.column_family;
      family = is_added ? pending->added.get() : Family(edit.column_family);
      assert(family != nullptr && (is_added || family->current != nullptr));  // CheckFamilies()
    }
    if (family == nullptr) continue;
    Pending::FamilyChange& family_change = pending->changes[family->id];
    if (family_change.builder != nullptr) continue;
    family_change.family = family;
    family_change.builder = std::make_unique<VersionBuilder>(
        family->comparator, family->tables.get(), family->current, family->num_levels);
  }
  if (pending->new_manifest_number != 0) {
    pending->head = HeadOfManifest();
    for (const FamilyVersions* family : LiveFamilies()) {
      pending->families.push_back(SnapshotOf(*family));
    }
  }
}

// Makes the family that the edit adds. No other thread knows it before it is installed.
void VersionSet::BeginFamily(const VersionEdit& edit, FamilyRequest* request, Pending* pending) {
  assert(request != nullptr && pending->added == nullptr);  // one in each change
  pending->added = std::make_shared<FamilyVersions>(request->comparator);
  FamilyVersions& family = *pending->added;
  family.id = edit.column_family;
  family.name = request->name;
  family.num_levels = request->num_levels;
  family.tables = std::move(request->tables);
  family.log_number = edit.log_number.value_or(FileNumber{});
}

Status VersionSet::BuildVersions(const Change& change, Pending* pending) {
  assert(pending->changes.size() <= change.edits.size());
  for (const VersionEdit& edit : change.edits) {
    const auto changed = pending->changes.find(edit.column_family);
    if (changed != pending->changes.end()) {
      RETURN_IF_ERROR(changed->second.builder->Apply(edit));
    }
  }
  for (auto& [id, changed] : pending->changes) {
    RETURN_IF_ERROR(changed.builder->Build(&changed.built));
  }
  return Status::OK();
}

// A new MANIFEST begins with the complete state before the change.
Status VersionSet::Write(const Change& change, Pending* pending) {
  assert(!change.edits.empty());
  std::vector<std::string> records;
  const bool is_new = pending->new_manifest_number != 0;
  assert(is_new || pending->families.empty());
  if (is_new) {
    pending->head.initial_records =
        1 + 2 * pending->families.size() + change.edits.size() + pending->log_edits.size();
    records.push_back(Encoded(pending->head));
  }
  for (FamilySnapshot& family : pending->families) {
    family.version->DescribeFiles(&family.contents);
    records.push_back(Encoded(family.identity));
    records.push_back(Encoded(family.contents));
  }
  for (const VersionEdit& edit : change.edits) records.push_back(Encoded(edit));
  for (const VersionEdit& edit : pending->log_edits) records.push_back(Encoded(edit));
  assert(!is_new || records.size() == *pending->head.initial_records);
  pending->is_begun = true;
  return is_new ? manifest_.Start(pending->new_manifest_number, records)
                : manifest_.Append(records);
}

// These summaries protect against a lost end of the MANIFEST: the remaining records still name the
// WALs whose entries were flushed by the lost records.
std::vector<LogSummary> VersionSet::NewLogSummaries() const {
  assert(is_writing_);
  std::vector<LogSummary> news;
  if (wals_ == nullptr) return news;
  for (const LogSummary& log : wals_->DurableSummaries()) {
    // The log is not needed any more, and its file will be deleted.
    if (log.number < counters_.min_log_number_to_keep) continue;
    const auto old = counters_.tracked_logs.find(log.number);
    const bool is_news = old == counters_.tracked_logs.end() ||
                         log.synced_bytes > old->second.synced_bytes ||
                         log.end_bytes > old->second.end_bytes;
    if (is_news) news.push_back(log);
  }
  return news;
}

// The first record of a new MANIFEST: the state of the whole database, apart from families.
VersionEdit VersionSet::HeadOfManifest() const {
  VersionEdit head;
  assert(counters_.tracked_logs.empty() ||
         counters_.tracked_logs.begin()->first >= counters_.min_log_number_to_keep);
  if (options_.write_db_id && !counters_.db_id.empty()) head.db_id = counters_.db_id;
  for (const auto& [number, log] : counters_.tracked_logs) head.logs.push_back(log);
  return head;
}

// The records of one family in a new MANIFEST, except for the lists of files, which are added
// without the mutex.
VersionSet::FamilySnapshot VersionSet::SnapshotOf(const FamilyVersions& family) const {
  assert(family.current != nullptr && !family.is_dropped);
  FamilySnapshot snapshot{.version = family.current};
  VersionEdit& identity = snapshot.identity;
  identity.comparator = family.comparator.user_comparator()->Name();
  identity.persist_user_defined_timestamps = family.persist_user_defined_timestamps;
  identity.column_family = family.id;
  if (family.id != 0) identity.added_family = family.name;

  VersionEdit& contents = snapshot.contents;
  contents.column_family = family.id;
  for (const auto& [level, key] : family.compact_cursors) {
    contents.compact_cursors.push_back({level, key});
  }
  contents.log_number = family.log_number;
  contents.last_sequence = counters_.last_sequence;
  contents.full_history_ts_low = family.full_history_ts_low;
  contents.unknown_fields = family.unknown_fields;
  if (family.id == 0 && counters_.min_log_number_to_keep > 0) {
    contents.min_log_number_to_keep = counters_.min_log_number_to_keep;
  }
  return snapshot;
}

void VersionSet::ApplyCounters(const VersionEdit& edit) {
  counters_.Apply(edit);
  MarkFileNumberUsed(FileNumber{counters_.next_file_number.value() - 1});
}

// Makes a built version the current one. Must not fail, because the change is already in the
// MANIFEST.
void VersionSet::Adopt(FamilyVersions* family, BuiltVersion built) {
  assert(built.version != nullptr);
  Version* const version = built.version.release();
  version->SetInstalled(family, family->next_version++);
  version->Ref();
  if (version->blobs() != nullptr) version->blobs()->SetInstalled(&obsolete_blobs_);
  live_versions_.fetch_add(1, std::memory_order_relaxed);
  {
    MutexLock lock(&obsolete_mutex_);
    family->live.Retire(std::move(built.removed));
    family->live.Add(version->number(), std::move(built.place), built.added);
    for (auto& file : built.added) static_cast<void>(file.release());
  }
  Version* old = std::exchange(family->current, version);
  assert(old == nullptr || old->number() < version->number());
  if (old != nullptr && old->Unref()) Release(old);
}

// Retires the last version of a dropped family. Running readers keep it alive through their super
// version.
void VersionSet::RetireCurrent(FamilyVersions* family) {
  assert(family->current != nullptr);
  std::vector<TableFile*> files;
  files.reserve(family->current->file_count());
  for (const auto& level : family->current->levels()) {
    files.insert(files.end(), level->files.begin(), level->files.end());
  }
  Version* last = std::exchange(family->current, nullptr);
  {
    MutexLock lock(&obsolete_mutex_);
    family->live.Retire(std::move(files));
  }
  if (last->Unref()) Release(last);
}

void VersionSet::Install(Change* change, Pending* pending) {
  assert(is_writing_);
  assert(pending->new_manifest_number > manifest_number_ || pending->new_manifest_number == 0);
  assert(manifest_.bytes() > 0);  // an installed change has been written
  manifest_bytes_ = manifest_.bytes();
  if (pending->new_manifest_number != 0) {
    replaced_manifests_.push_back(std::exchange(manifest_number_, pending->new_manifest_number));
    // CURRENT durably names the new file, which has no change that failed.
    for (const FileNumber number : std::exchange(doubtful_manifests_, {})) {
      replaced_manifests_.push_back(number);
    }
  }
  // The change after a failure begins a new MANIFEST.
  assert(!pending->was_in_doubt || pending->new_manifest_number != 0);
  is_in_doubt_ = false;
  for (auto& [id, changed] : pending->changes) Adopt(changed.family, std::move(changed.built));
  for (const VersionEdit& edit : change->edits) {
    ApplyCounters(edit);
    if (edit.added_family) {
      InstallFamily(std::move(pending->added));
    } else if (edit.is_family_drop) {
      DropFamily(edit.column_family);
    } else {
      ApplyToFamily(edit, Family(edit.column_family));
    }
  }
  assert(pending->added == nullptr);  // the edit with added_family has consumed it
}

// The version of the family is installed already, with what a later edit of the change adds.
void VersionSet::InstallFamily(std::shared_ptr<FamilyVersions> family) {
  assert(family != nullptr && family->current != nullptr);
  const uint32_t id = family->id;
  assert(!families_.contains(id));
  families_[id] = std::move(family);
}

void VersionSet::DropFamily(uint32_t id) {
  const auto it = families_.find(id);
  assert(it != families_.end() && id != 0);
  const std::shared_ptr<FamilyVersions> family = it->second;
  {
    MutexLock lock(&obsolete_mutex_);
    dropped_.push_back(family);
  }
  families_.erase(it);
  family->is_dropped = true;
  RetireCurrent(family.get());
}

void VersionSet::ApplyToFamily(const VersionEdit& edit, FamilyVersions* family) {
  assert(family != nullptr);
  if (edit.log_number) family->log_number = std::max(family->log_number, *edit.log_number);
  for (const auto& [level, meta] : edit.new_files) {
    family->next_epoch = std::max(family->next_epoch, meta.epoch_number + 1);
  }
  for (const auto& cursor : edit.compact_cursors) {
    family->compact_cursors[cursor.level] = cursor.key;
  }
  if (edit.full_history_ts_low) family->full_history_ts_low = edit.full_history_ts_low;
}

Status VersionSet::CheckManifest(DbMutex* mutex) {
  mutex->AssertHeld();
  if (turn_ == nullptr) turn_ = std::make_unique<CondVar>(mutex);
  while (is_writing_) turn_->Wait();
  assert(manifest_number_ > 0);
  is_writing_ = true;
  const ScopeExit end_turn([this]() REQUIRES(db_mutex) {
    is_writing_ = false;
    turn_->SignalAll();
  });
  const std::string path = DescriptorFileName(options_.dir, manifest_number_);
  const uint64_t written_bytes = manifest_bytes_;
  MutexUnlock unlock(mutex);
  const Status status = CheckManifestFile(options_.fs, path, written_bytes);
  if (status.IsCorruption()) manifest_.Abandon();
  return status;
}

}  // namespace ashlar
