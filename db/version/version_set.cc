// SPDX-License-Identifier: Apache-2.0
//
// How a change gets into the MANIFEST:
//
//   Prepare     (mutex held)  new versions from the current ones, records encoded
//   Write       (mutex free)  append and sync; or a whole new MANIFEST, synced, then CURRENT
//   Install     (mutex held)  versions become current, log numbers and counters move
//
// A failed append or sync proves nothing about the bytes on disk: the file is never touched again.
// The change may have reached it, so the caller keeps the files it names until a later change
// succeeds, which puts a new MANIFEST in place.
#include "db/version/version_set.h"

#include <algorithm>
#include <utility>

#include "db/version/version_builder.h"
#include "db/wal/log_writer.h"
#include "db/wal/wal_set.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

// The entries of the MANIFEST and of the files it names must be durable before CURRENT leads there:
// a crash may keep the rename alone.
Status SetCurrentFile(FileSystem* fs, const std::string& dir, uint64_t manifest_number) {
  RETURN_IF_ERROR(SyncDirectory(fs, dir));
  const std::string contents = BaseNameOf(DescriptorFileName(dir, manifest_number)) + "\n";
  return WriteFileAtomically(fs, dir, BaseNameOf(TempFileName(dir, manifest_number)),
                             BaseNameOf(CurrentFileName(dir)), contents);
}

}  // namespace

struct VersionSet::Pending {
  struct FamilyChange {
    FamilyVersions* family;
    std::unique_ptr<Version> version;  // null if its files do not change
  };
  std::vector<std::string> records;
  std::vector<FamilyChange> changes;
  std::unique_ptr<FamilyVersions> added;
  // Only when a new MANIFEST is started.
  std::vector<std::string> snapshot;
  uint64_t new_manifest_number = 0;
  uint64_t old_manifest_number = 0;
  uint64_t manifest_bytes = 0;  // with this change
};

VersionSet::VersionSet(const VersionSetOptions& options) : options_(options) {}

VersionSet::~VersionSet() {
  for (auto& [id, family] : families_) family->tables->KeepBlocksOnClose();
  for (auto& [id, family] : families_) {
    if (family->current != nullptr && family->current->Unref()) Release(family->current);
    family->current = nullptr;
  }
  for (TableFile* file : TakeObsolete()) delete file;
}

FamilyVersions* VersionSet::Family(uint32_t id) const {
  const auto it = families_.find(id);
  return it == families_.end() || it->second->is_dropped ? nullptr : it->second.get();
}

FamilyVersions* VersionSet::Family(const std::string& name) const {
  for (const auto& [id, family] : families_) {
    if (!family->is_dropped && family->name == name) return family.get();
  }
  return nullptr;
}

std::vector<FamilyVersions*> VersionSet::LiveFamilies() const {
  std::vector<FamilyVersions*> live;
  for (const auto& [id, family] : families_) {
    if (!family->is_dropped) live.push_back(family.get());
  }
  return live;
}

void VersionSet::Release(Version* version) {
  const std::vector<TableFile*> unreachable = version->TakeUnreachable();
  delete version;
  live_versions_.fetch_sub(1, std::memory_order_relaxed);
  MutexLock lock(&obsolete_mutex_);
  obsolete_.insert(obsolete_.end(), unreachable.begin(), unreachable.end());
}

std::vector<TableFile*> VersionSet::TakeObsolete() {
  MutexLock lock(&obsolete_mutex_);
  return std::exchange(obsolete_, {});
}

bool VersionSet::HasObsolete() {
  MutexLock lock(&obsolete_mutex_);
  return !obsolete_.empty();
}

void VersionSet::MarkFileNumberUsed(uint64_t number) {
  uint64_t next = next_file_number_.load(std::memory_order_relaxed);
  while (next <= number &&
         !next_file_number_.compare_exchange_weak(next, number + 1, std::memory_order_relaxed)) {
  }
}

uint64_t VersionSet::LowestLogNumber() const {
  uint64_t lowest = UINT64_MAX;
  for (const FamilyVersions* family : LiveFamilies()) {
    lowest = std::min(lowest, family->log_number);
  }
  return lowest;
}

void VersionSet::ForEachLiveFile(
    const std::function<void(const FamilyVersions&, int, TableFile*)>& f) const {
  for (const auto& [id, family] : families_) {
    if (family->current == nullptr) continue;
    for (int level = 0; level < family->current->num_levels(); level++) {
      for (TableFile* file : family->current->files(level)) f(*family, level, file);
    }
  }
}

Status VersionSet::CreateNew(const VersionSetOptions& options, const std::string& db_id) {
  VersionEdit edit;
  if (options.write_db_id) edit.db_id = db_id;
  edit.log_number = 0;
  edit.next_file_number = 2;
  edit.last_sequence = 0;
  std::string record;
  edit.EncodeTo(&record);
  ASSIGN_OR_RETURN(auto file,
                   FileWriter::Create(options.fs, DescriptorFileName(options.dir, 1),
                                      options.file_options, {.use_fsync = options.use_fsync}));
  LogWriter log(std::move(file));
  RETURN_IF_ERROR(log.AddRecord(record));
  RETURN_IF_ERROR(log.Sync());
  RETURN_IF_ERROR(log.Close());
  return SetCurrentFile(options.fs, options.dir, 1);
}

// Lets the next change in, also when memory ran out on the way: what is in the MANIFEST is not
// known then, so it is not used again.
struct VersionSet::WritingTurn {
  explicit WritingTurn(VersionSet* s) : set(s) { set->is_writing_ = true; }
  ~WritingTurn() {
    if (!is_complete) set->manifest_.reset();
    set->is_writing_ = false;
    set->turn_->SignalAll();
  }
  WritingTurn(const WritingTurn&) = delete;
  WritingTurn& operator=(const WritingTurn&) = delete;

  VersionSet* const set;
  bool is_complete = false;
};

Status VersionSet::LogAndApply(Change change, DbMutex* mutex) {
  if (turn_ == nullptr) turn_ = std::make_unique<CondVar>(mutex);
  while (is_writing_) turn_->Wait();
  Pending pending;
  Status status = Prepare(&change, &pending);
  if (!status.ok()) return status;
  WritingTurn turn(this);
  {
    MutexUnlock unlock(mutex);
    status = WriteManifest(&pending);
  }
  if (status.ok()) {
    Install(&change, &pending);
    manifest_bytes_ = pending.manifest_bytes;
    if (pending.new_manifest_number != 0) {
      manifest_number_ = pending.new_manifest_number;
      replaced_manifests_.push_back(pending.old_manifest_number);
    }
  } else {
    Error(options_.info_log, "MANIFEST not written: %s", status.ToString().c_str());
  }
  turn.is_complete = true;
  return status;
}

// Decided when no other change is on its way: of two that create or drop the same family one is
// refused. What else was meant for a dropped family is left out.
Status VersionSet::CheckFamilies(std::vector<VersionEdit>* edits) const {
  const auto is_gone = [this](const VersionEdit& edit) REQUIRES(db_mutex) {
    return !edit.added_family && Family(edit.column_family) == nullptr;
  };
  for (const VersionEdit& edit : *edits) {
    if (edit.added_family && Family(*edit.added_family) != nullptr) {
      return Status::InvalidArgument("Column family already exists: ", *edit.added_family);
    }
    if (edit.is_family_drop && is_gone(edit)) {
      return Status::ColumnFamilyDropped("the column family is dropped already");
    }
  }
  edits->erase(std::remove_if(edits->begin(), edits->end(), is_gone), edits->end());
  if (edits->empty()) return Status::ColumnFamilyDropped("the column family was dropped meanwhile");
  return Status::OK();
}

Status VersionSet::Prepare(Change* change, Pending* pending) {
  auto& edits = change->edits;
  RETURN_IF_ERROR(CheckFamilies(&edits));
  std::map<uint32_t, std::unique_ptr<VersionBuilder>> builders;
  for (VersionEdit& edit : edits) {
    if (edit.is_family_change()) continue;
    if (edit.new_files.empty() && edit.deleted_files.empty()) continue;
    FamilyVersions* family = Family(edit.column_family);
    auto& builder = builders[family->id];
    if (builder == nullptr) {
      builder = std::make_unique<VersionBuilder>(family->comparator, family->tables.get(),
                                                 family->current, family->num_levels);
    }
    RETURN_IF_ERROR(builder->Apply(edit));
  }
  for (auto& [id, builder] : builders) {
    std::unique_ptr<Version> version;
    RETURN_IF_ERROR(builder->Build(&version));
    pending->changes.push_back({Family(id), std::move(version)});
  }

  if (manifest_ == nullptr || manifest_bytes_ >= options_.max_manifest_bytes) {
    pending->new_manifest_number = NewFileNumber();
    pending->old_manifest_number = manifest_number_;
  }
  last_sequence_ = std::max(last_sequence_, change->last_sequence);
  if (change->is_atomic_group) {
    uint32_t remaining = static_cast<uint32_t>(edits.size());
    for (VersionEdit& edit : edits) edit.atomic_group_remaining = --remaining;
  }
  if (!edits.front().forgotten_logs_end) edits.front().logs = NewLogFacts();
  for (VersionEdit& edit : edits) {
    if (!edit.is_family_change()) edit.prev_log_number = 0;
    edit.next_file_number = next_file_number();
    edit.last_sequence = last_sequence_;
    if (edit.added_family) edit.max_column_family = edit.column_family;
  }
  if (!edits.front().max_column_family && max_column_family_ > 0) {
    edits.front().max_column_family = max_column_family_;
  }
  if (pending->new_manifest_number == 0) {
    for (size_t i = 1; i < edits.size(); i++) edits[i].change_begin = manifest_bytes_;
  }
  for (const VersionEdit& edit : edits) edit.EncodeTo(&pending->records.emplace_back());
  if (pending->new_manifest_number != 0) {
    pending->snapshot = EncodeSnapshot();
    VersionEdit head;
    if (options_.write_db_id && !db_id_.empty()) head.db_id = db_id_;
    for (const auto& [number, log] : tracked_logs_) head.logs.push_back(log);
    head.initial_records = 1 + pending->snapshot.size() + pending->records.size();
    std::string record;
    head.EncodeTo(&record);
    pending->snapshot.insert(pending->snapshot.begin(), std::move(record));
  }
  if (change->added_family != nullptr) {
    FamilyRequest& request = *change->added_family;
    pending->added = std::make_unique<FamilyVersions>(request.comparator);
    pending->added->name = request.name;
    pending->added->num_levels = request.num_levels;
    pending->added->tables = std::move(request.tables);
  }
  return Status::OK();
}

Status VersionSet::WriteManifest(Pending* pending) {
  if (pending->new_manifest_number != 0) {
    Status status = StartManifest(pending);
    if (!status.ok()) {
      manifest_.reset();
      // CURRENT may name the new file already; it is left alone unless it surely does not.
      return status;
    }
    return Status::OK();
  }
  Status status;
  for (const std::string& record : pending->records) {
    status = manifest_->AddRecord(record);
    if (!status.ok()) break;
  }
  if (status.ok()) status = manifest_->Sync();
  pending->manifest_bytes = manifest_->size();
  if (!status.ok()) manifest_.reset();
  return status;
}

Status VersionSet::StartManifest(Pending* pending) {
  manifest_.reset();
  const std::string path = DescriptorFileName(options_.dir, pending->new_manifest_number);
  ASSIGN_OR_RETURN(auto file,
                   FileWriter::Create(options_.fs, path, options_.file_options,
                                      {.use_fsync = options_.use_fsync,
                                       .preallocate_bytes = options_.manifest_preallocate_bytes}));
  auto log = std::make_unique<LogWriter>(std::move(file));
  for (const std::string& record : pending->snapshot) RETURN_IF_ERROR(log->AddRecord(record));
  for (const std::string& record : pending->records) RETURN_IF_ERROR(log->AddRecord(record));
  RETURN_IF_ERROR(log->Sync());
  RETURN_IF_ERROR(SetCurrentFile(options_.fs, options_.dir, pending->new_manifest_number));
  manifest_ = std::move(log);
  pending->manifest_bytes = manifest_->size();
  return Status::OK();
}

// If the end of the MANIFEST is ever lost, what is left still names the logs that held what the
// lost records brought.
std::vector<LogFacts> VersionSet::NewLogFacts() const {
  std::vector<LogFacts> news;
  if (wals_ == nullptr) return news;
  for (const LogFacts& log : wals_->DurableFacts()) {
    if (log.number < min_log_number_to_keep_) continue;  // its file is about to go
    const auto old = tracked_logs_.find(log.number);
    const bool is_news = old == tracked_logs_.end() ||
                         log.synced_bytes > old->second.synced_bytes ||
                         log.end_bytes > old->second.end_bytes;
    if (is_news) news.push_back(log);
  }
  return news;
}

std::vector<std::string> VersionSet::EncodeSnapshot() const {
  std::vector<std::string> records;
  for (const FamilyVersions* family : LiveFamilies()) EncodeFamily(*family, &records);
  return records;
}

void VersionSet::EncodeFamily(const FamilyVersions& family,
                              std::vector<std::string>* records) const {
  VersionEdit identity;
  identity.comparator = family.comparator.user_comparator()->Name();
  identity.persist_user_defined_timestamps = family.persist_user_defined_timestamps;
  identity.column_family = family.id;
  if (family.id != 0) identity.added_family = family.name;
  identity.EncodeTo(&records->emplace_back());

  VersionEdit contents;
  contents.column_family = family.id;
  for (int level = 0; level < family.current->num_levels(); level++) {
    for (const TableFile* file : family.current->files(level)) contents.AddFile(level, file->meta);
  }
  for (const auto& [level, key] : family.compact_cursors) {
    contents.compact_cursors.push_back({level, key});
  }
  contents.log_number = family.log_number;
  contents.last_sequence = last_sequence_;
  contents.full_history_ts_low = family.full_history_ts_low;
  contents.unknown_fields = family.unknown_fields;
  if (family.id == 0 && min_log_number_to_keep_ > 0) {
    contents.min_log_number_to_keep = min_log_number_to_keep_;
  }
  contents.EncodeTo(&records->emplace_back());
}

void VersionSet::ApplyCounters(const VersionEdit& edit) {
  if (edit.db_id) db_id_ = *edit.db_id;
  if (edit.next_file_number) MarkFileNumberUsed(*edit.next_file_number - 1);
  if (edit.last_sequence) last_sequence_ = std::max(last_sequence_, *edit.last_sequence);
  if (edit.min_log_number_to_keep) {
    min_log_number_to_keep_ = std::max(min_log_number_to_keep_, *edit.min_log_number_to_keep);
  }
  if (edit.max_column_family) {
    max_column_family_ = std::max(max_column_family_, *edit.max_column_family);
  }
  for (const WalAddition& wal : edit.wal_additions) {
    if (wal.synced_bytes) TrackLog({.number = wal.log_number, .synced_bytes = *wal.synced_bytes});
  }
  for (const LogFacts& log : edit.logs) TrackLog(log);
  const uint64_t obsolete_end = std::max({min_log_number_to_keep_, edit.wal_deletion.value_or(0),
                                          edit.forgotten_logs_end.value_or(0)});
  tracked_logs_.erase(tracked_logs_.begin(), tracked_logs_.lower_bound(obsolete_end));
}

void VersionSet::TrackLog(const LogFacts& news) {
  LogFacts& log = tracked_logs_[news.number];
  log.number = news.number;
  if (news.first_seqno != 0) log.first_seqno = news.first_seqno;
  log.synced_bytes = std::max(log.synced_bytes, news.synced_bytes);
  log.end_bytes = std::max(log.end_bytes, news.end_bytes);
}

void VersionSet::Adopt(FamilyVersions* family, Version* version) {
  version->Ref();
  live_versions_.fetch_add(1, std::memory_order_relaxed);
  Version* old = std::exchange(family->current, version);
  if (old != nullptr && old->Unref()) Release(old);
}

void VersionSet::Install(Change* change, Pending* pending) {
  for (auto& [family, version] : pending->changes) Adopt(family, version.release());
  for (const VersionEdit& edit : change->edits) {
    ApplyCounters(edit);
    if (edit.added_family) {
      FamilyVersions* family = pending->added.get();
      family->id = edit.column_family;
      family->log_number = edit.log_number.value_or(0);
      max_column_family_ = std::max(max_column_family_, family->id);
      Adopt(family, new Version(family->comparator, family->tables.get(),
                                std::vector<std::vector<TableFile*>>(
                                    static_cast<size_t>(family->num_levels))));
      families_[family->id] = std::move(pending->added);
      continue;
    }
    FamilyVersions* family = families_[edit.column_family].get();
    if (edit.is_family_drop) {
      // Readers that are left hold its last version through their super versions.
      family->is_dropped = true;
      Version* last = std::exchange(family->current, nullptr);
      if (last->Unref()) Release(last);
    }
    if (edit.log_number) family->log_number = std::max(family->log_number, *edit.log_number);
    for (const auto& cursor : edit.compact_cursors) {
      family->compact_cursors[cursor.level] = cursor.key;
    }
    if (edit.full_history_ts_low) family->full_history_ts_low = edit.full_history_ts_low;
  }
}

}  // namespace ashlar
