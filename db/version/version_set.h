// SPDX-License-Identifier: Apache-2.0
//
// VersionSet owns the MANIFEST: it recovers the families and their versions from it, and makes
// every change of them durable before it is visible.
//
// Threads: functions say when they need the DB mutex. One change is written at a time; the others
// wait their turn inside LogAndApply(), which lets go of the mutex while it writes.
// Crash: a change is in the MANIFEST, synced, before anybody sees it and before any file it makes
// obsolete is deleted. CURRENT is switched after the new MANIFEST is whole and synced.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"
#include "util/internal_key.h"
#include "util/mutex.h"
#include "util/result.h"

namespace ashlar {

class LogWriter;
class WalSet;

// One column family as the MANIFEST knows it. All members are guarded by the DB mutex. Lives until
// the database is closed, also when dropped: versions refer to its comparator and table cache.
struct FamilyVersions {
  uint32_t id = 0;
  std::string name;
  InternalKeyComparator comparator;
  int num_levels = 7;
  std::unique_ptr<TableCache> tables;
  Version* current = nullptr;  // holds a reference; null once the family is dropped
  uint64_t log_number = 0;     // logs below it hold nothing of this family
  uint64_t next_epoch = 1;     // for the next file that enters level 0
  bool is_dropped = false;
  std::map<int, std::string> compact_cursors;  // by level; kept for round-robin compaction
  std::optional<std::string> full_history_ts_low;
  std::optional<bool> persist_user_defined_timestamps;  // as recorded
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;

  explicit FamilyVersions(const InternalKeyComparator& c) : comparator(c) {}
};

// What the opener says about a family.
struct FamilyRequest {
  FamilyRequest(std::string n, const InternalKeyComparator& c)
      : name(std::move(n)), comparator(c) {}

  std::string name;
  InternalKeyComparator comparator;
  int num_levels = 7;
  std::unique_ptr<TableCache> tables;
};

struct VersionSetOptions {
  FileSystem* fs = nullptr;  // outlives the set
  FileOptions file_options;
  std::string dir;
  bool use_fsync = false;
  uint64_t max_manifest_bytes = uint64_t{1} << 30;
  size_t manifest_preallocate_bytes = 4 << 20;
  bool write_db_id = true;
  Logger* info_log = nullptr;
};

class VersionSet {
 public:
  explicit VersionSet(const VersionSetOptions& options);
  ~VersionSet();
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // Writes the MANIFEST of an empty database and names it in CURRENT.
  static Status CreateNew(const VersionSetOptions& options, const std::string& db_id);

  // Names of the families in the live MANIFEST.
  static Result<std::vector<std::string>> ListFamilies(FileSystem* fs, const std::string& dir);

  // Reads the live MANIFEST. Writes nothing. Requested families that do not exist are returned in
  // `missing`; existing ones that were not requested fail the call unless `allow_subset`.
  Status Recover(std::vector<FamilyRequest> requests, bool allow_subset,
                 std::vector<FamilyRequest>* missing);

  // From now on every change also records the logs that have come since the one before, and what
  // became known of others. `wals` outlives the set.
  void TrackLogs(const WalSet* wals) { wals_ = wals; }

  // A change: one edit a family. The last sequence number and file number counters are filled in.
  struct Change {
    std::vector<VersionEdit> edits;
    SequenceNumber last_sequence = 0;  // at least every number in a file of the edits
    bool is_atomic_group = false;
    std::unique_ptr<FamilyRequest> added_family;  // for an edit with added_family
  };
  // Appends the change to the MANIFEST, syncs it and installs the new versions. Lets go of
  // `db_mutex` while writing. After an error nothing is installed, the MANIFEST is never written
  // again, and the next call starts a new one. ColumnFamilyDropped if every edit is for a family
  // that is gone.
  Status LogAndApply(Change change, Mutex* db_mutex) REQUIRES(db_mutex);

  FamilyVersions* Family(uint32_t id) const;
  FamilyVersions* Family(const std::string& name) const;
  std::vector<FamilyVersions*> LiveFamilies() const;
  // Any thread. Files that no version holds any more go to the list that TakeObsolete() empties.
  void Release(Version* version);
  std::vector<TableFile*> TakeObsolete();
  bool HasObsolete();
  // Numbers of MANIFESTs that CURRENT does not name any more. Needs the DB mutex.
  std::vector<uint64_t> TakeReplacedManifests() { return std::exchange(replaced_manifests_, {}); }
  int live_version_count() const { return live_versions_.load(std::memory_order_relaxed); }

  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  // Never hand out `number` or anything below it.
  void MarkFileNumberUsed(uint64_t number);

  SequenceNumber recovered_last_sequence() const { return last_sequence_; }
  uint64_t min_log_number_to_keep() const { return min_log_number_to_keep_; }
  // The lowest log that any family still needs. Needs the DB mutex.
  uint64_t LowestLogNumber() const;
  uint64_t manifest_number() const { return manifest_number_; }
  uint64_t manifest_bytes() const { return manifest_bytes_; }
  uint32_t max_column_family() const { return max_column_family_; }
  // An id that no family has or had. Needs the DB mutex.
  uint32_t ReserveFamilyId() { return ++max_column_family_; }
  uint64_t torn_manifest_bytes() const { return torn_manifest_bytes_; }
  const std::string& db_id() const { return db_id_; }
  void set_db_id(std::string db_id) { db_id_ = std::move(db_id); }
  // Logs that exist for as long as they are needed, by number.
  const std::map<uint64_t, LogFacts>& tracked_logs() const { return tracked_logs_; }

  // Every live table with its level. Needs the DB mutex.
  void ForEachLiveFile(const std::function<void(const FamilyVersions&, int, TableFile*)>& f) const;

 private:
  friend class ManifestRecovery;

  struct Pending;  // a change on its way into the MANIFEST
  struct WritingTurn;
  Status CheckFamilies(std::vector<VersionEdit>* edits) const;
  Status Prepare(Change* change, Pending* pending);
  void Install(Change* change, Pending* pending);
  Status WriteManifest(Pending* pending);
  Status StartManifest(Pending* pending);
  std::vector<LogFacts> NewLogFacts() const;
  std::vector<std::string> EncodeSnapshot() const;
  void EncodeFamily(const FamilyVersions& family, std::vector<std::string>* records) const;
  void ApplyCounters(const VersionEdit& edit);
  void TrackLog(const LogFacts& news);
  void Adopt(FamilyVersions* family, Version* version);

  const VersionSetOptions options_;
  std::map<uint32_t, std::unique_ptr<FamilyVersions>> families_;
  std::string db_id_;
  std::atomic<uint64_t> next_file_number_{2};
  SequenceNumber last_sequence_ = 0;  // highest one written to the MANIFEST
  uint64_t min_log_number_to_keep_ = 0;
  uint32_t max_column_family_ = 0;
  std::map<uint64_t, LogFacts> tracked_logs_;  // as the MANIFEST has them
  const WalSet* wals_ = nullptr;
  uint64_t torn_manifest_bytes_ = 0;

  bool is_writing_ = false;        // a change is being written; guarded by the DB mutex
  std::unique_ptr<CondVar> turn_;  // made with the first DB mutex that comes along
  // Touched only by the thread that set is_writing_. Null: the next change starts a new MANIFEST.
  std::unique_ptr<LogWriter> manifest_;
  // Of the installed changes, for copies of the database. Guarded by the DB mutex.
  uint64_t manifest_number_ = 0;
  uint64_t manifest_bytes_ = 0;
  std::vector<uint64_t> replaced_manifests_;

  std::atomic<int> live_versions_{0};
  Mutex obsolete_mutex_{LockRank::kLeaf};
  std::vector<TableFile*> obsolete_ GUARDED_BY(obsolete_mutex_);
};

}  // namespace ashlar
