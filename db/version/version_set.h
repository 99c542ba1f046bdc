// SPDX-License-Identifier: Apache-2.0
//
// VersionSet owns the MANIFEST: it recovers the families and their versions from it, and makes
// every change of them durable before it is visible.
//
// Threads: functions and members say when they need the DB mutex. One change is written at a time;
// the others wait their turn inside LogAndApply(), which lets go of the mutex while it works out
// and writes what is new.
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
#include "db/version/compaction_claims.h"
#include "db/version/kept_for_snapshots.h"
#include "db/version/live_versions.h"
#include "db/version/listed_logs.h"
#include "db/version/manifest_file.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"
#include "util/file_number.h"
#include "util/internal_key.h"
#include "util/level.h"
#include "util/mutex.h"
#include "util/result.h"

namespace ashlar {

class WalSet;
struct BuiltVersion;
struct RecoveryPoint;

// One column family as the MANIFEST knows it. A dropped one lives until nobody refers to its
// comparator and its table cache: no version, no table that waits for its deletion, no holder of a
// pointer (VersionSet::TakeUnusedFamilies).
struct FamilyVersions : std::enable_shared_from_this<FamilyVersions> {
  // Fixed once the set has it.
  uint32_t id = 0;
  std::string name;
  InternalKeyComparator comparator;
  int num_levels = 7;
  std::unique_ptr<TableCache> tables;                   // any thread
  LiveVersions live;                                    // the set's mutex of obsolete tables
  std::optional<bool> persist_user_defined_timestamps;  // as recorded
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;

  // Holds a reference; null once the family is dropped.
  Version* current GUARDED_BY(db_mutex) = nullptr;
  // Logs below it hold nothing of this family.
  FileNumber log_number GUARDED_BY(db_mutex) = 0;
  // For the next file that enters level 0.
  uint64_t next_epoch GUARDED_BY(db_mutex) = 1;
  uint64_t next_version GUARDED_BY(db_mutex) = 1;
  bool is_dropped GUARDED_BY(db_mutex) = false;
  CompactionClaims claims GUARDED_BY(db_mutex);
  KeptForSnapshots kept_for_snapshots GUARDED_BY(db_mutex);
  // By level; kept for round-robin compaction.
  std::map<Level, std::string> compact_cursors GUARDED_BY(db_mutex);
  std::optional<std::string> full_history_ts_low GUARDED_BY(db_mutex);

  explicit FamilyVersions(const InternalKeyComparator& c) : comparator(c) {}
  ~FamilyVersions();
};

// A table that no version holds any more. The file on disk is the owner's to delete.
struct ObsoleteTable {
  std::shared_ptr<FamilyVersions> family;
  std::unique_ptr<TableFile> file;

  ObsoleteTable(std::shared_ptr<FamilyVersions> f, std::unique_ptr<TableFile> table)
      : family(std::move(f)), file(std::move(table)) {}
  ObsoleteTable(ObsoleteTable&&) noexcept = default;
  ObsoleteTable& operator=(ObsoleteTable&&) = delete;
  ~ObsoleteTable() { Close(); }

  // Closes the reader and forgets its cached blocks: do so without the DB mutex.
  void Close();
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

// Where and how the MANIFEST is written, and what is said in it.
struct VersionSetOptions : ManifestFileOptions {
  bool write_db_id = true;
  bool lists_logs = false;  // in RocksDB's records, too: see ListedLogs
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

  // Reads the live MANIFEST, or as much of another one as `point` says. Writes nothing. Requested
  // families that do not exist are returned in `missing`; existing ones that were not requested
  // fail the call unless `allow_subset`.
  Status Recover(std::vector<FamilyRequest> requests, bool allow_subset,
                 std::vector<FamilyRequest>* missing, const RecoveryPoint* point = nullptr)
      REQUIRES(db_mutex);

  // From now on every change also records the logs that have come since the one before, and what
  // became known of others. `wals` outlives the set.
  void TrackLogs(const WalSet* wals) REQUIRES(db_mutex) { wals_ = wals; }

  // For the MANIFESTs that are begun from now on. Any thread.
  void SetManifestLimits(const ManifestLimits& limits) { manifest_.SetLimits(limits); }

  // A change: one edit a family. The last sequence number and file number counters are filled in.
  struct Change {
    std::vector<VersionEdit> edits;
    SequenceNumber last_sequence = 0;  // at least every number in a file of the edits
    bool is_atomic_group = false;
    std::unique_ptr<FamilyRequest> added_family;  // for an edit with added_family
  };
  // Appends the change to the MANIFEST, syncs it and installs the new versions. Lets go of
  // the mutex while writing. After an error nothing is installed, the MANIFEST is never written
  // again, and the next call starts a new one. ColumnFamilyDropped if every edit is for a family
  // that is gone.
  Status LogAndApply(Change change, DbMutex* mutex) REQUIRES(db_mutex);
  // Reads the MANIFEST that was written. Corruption: it is not what the next opening needs, and is
  // not written any more; the next call of LogAndApply() starts a new one. Lets go of the mutex.
  Status CheckManifest(DbMutex* mutex) REQUIRES(db_mutex);

  // Those that are not dropped; null if there is none.
  FamilyVersions* Family(uint32_t id) const REQUIRES(db_mutex);
  FamilyVersions* Family(const std::string& name) const REQUIRES(db_mutex);
  std::vector<FamilyVersions*> LiveFamilies() const REQUIRES(db_mutex);
  // Blob files that no version has any more. Closing them is I/O.
  std::vector<std::unique_ptr<BlobFile>> TakeObsoleteBlobs() { return obsolete_blobs_.Take(); }
  // Of those that some version of the family has.
  uint64_t HeldBlobBytesOf(const FamilyVersions& family) const {
    return obsolete_blobs_.HeldBytes(family.id);
  }
  // Any thread. Files that no version holds any more go to the list that TakeObsolete() empties.
  void Release(Version* version);
  std::vector<ObsoleteTable> TakeObsolete();
  bool HasObsolete();
  // Of tables that are on that list.
  uint64_t ObsoleteTableBytes() const;
  // Of tables that only versions hold which are not the newest of a live family.
  uint64_t RetiredBytes() const REQUIRES(db_mutex);
  // The same, of one live family.
  uint64_t RetiredBytesOf(const FamilyVersions& family) const;
  // Dropped families that nobody uses any more. They may wait for readers when they are destroyed,
  // so the caller holds no lock and is in no epoch then.
  std::vector<std::shared_ptr<FamilyVersions>> TakeUnusedFamilies();
  // Numbers of MANIFESTs that CURRENT does not name any more.
  std::vector<FileNumber> TakeReplacedManifests() REQUIRES(db_mutex) {
    return std::exchange(replaced_manifests_, {});
  }
  // Installed and not yet released: of one family, of all.
  size_t LiveVersionsOf(const FamilyVersions& family) const;
  int live_version_count() const { return live_versions_.load(std::memory_order_relaxed); }

  FileNumber NewFileNumber() {
    return FileNumber{next_file_number_.fetch_add(1, std::memory_order_relaxed)};
  }
  FileNumber next_file_number() const {
    return FileNumber{next_file_number_.load(std::memory_order_relaxed)};
  }
  // Never hand out `number` or anything below it.
  void MarkFileNumberUsed(FileNumber number);

  SequenceNumber recovered_last_sequence() const REQUIRES(db_mutex) { return last_sequence_; }
  FileNumber min_log_number_to_keep() const REQUIRES(db_mutex) { return min_log_number_to_keep_; }
  // The lowest log that any family still needs.
  FileNumber LowestLogNumber() const REQUIRES(db_mutex);
  FileNumber manifest_number() const REQUIRES(db_mutex) { return manifest_number_; }
  uint64_t manifest_bytes() const REQUIRES(db_mutex) { return manifest_bytes_; }
  uint32_t max_column_family() const REQUIRES(db_mutex) { return max_column_family_; }
  // An id that no family has or had.
  uint32_t ReserveFamilyId() REQUIRES(db_mutex) { return ++max_column_family_; }
  // Of a family that was refused before anything of it was written. Lost if a greater one was given
  // out meanwhile.
  void ReturnFamilyId(uint32_t id) REQUIRES(db_mutex) {
    if (id == max_column_family_) --max_column_family_;
  }
  uint64_t torn_manifest_bytes() const REQUIRES(db_mutex) { return torn_manifest_bytes_; }
  const std::string& db_id() const REQUIRES(db_mutex) { return db_id_; }
  void set_db_id(std::string db_id) REQUIRES(db_mutex) { db_id_ = std::move(db_id); }
  // Logs that exist for as long as they are needed, by number.
  const std::map<FileNumber, LogFacts>& tracked_logs() const REQUIRES(db_mutex) {
    return tracked_logs_;
  }

  // Counters and what the MANIFEST knows, then a line for each family.
  std::string DebugString() const REQUIRES(db_mutex);

  // Every live table with its level.
  void ForEachLiveFile(const std::function<void(const FamilyVersions&, Level, TableFile*)>& f) const
      REQUIRES(db_mutex);

 private:
  friend class ManifestRecovery;

  struct Pending;         // a change on its way into the MANIFEST
  struct FamilySnapshot;  // what a new MANIFEST says of a family
  Status CheckFamilies(std::vector<VersionEdit>* edits) const REQUIRES(db_mutex);
  void Complete(Change* change, Pending* pending) REQUIRES(db_mutex);
  void Begin(Change* change, Pending* pending) const REQUIRES(db_mutex);
  static Status BuildVersions(const Change& change, Pending* pending);
  Status Write(const Change& change, Pending* pending);
  void Install(Change* change, Pending* pending) REQUIRES(db_mutex);
  void InstallFamily(const VersionEdit& edit, std::shared_ptr<FamilyVersions> family)
      REQUIRES(db_mutex);
  void DropFamily(uint32_t id) REQUIRES(db_mutex);
  static void ApplyToFamily(const VersionEdit& edit, FamilyVersions* family) REQUIRES(db_mutex);
  std::vector<LogFacts> NewLogFacts() const REQUIRES(db_mutex);
  VersionEdit HeadOfManifest() const REQUIRES(db_mutex);
  FamilySnapshot SnapshotOf(const FamilyVersions& family) const REQUIRES(db_mutex);
  void ApplyCounters(const VersionEdit& edit) REQUIRES(db_mutex);
  void Adopt(FamilyVersions* family, BuiltVersion built) REQUIRES(db_mutex);
  void RetireCurrent(FamilyVersions* family) REQUIRES(db_mutex);
  void CloseCurrent(FamilyVersions* family) REQUIRES(db_mutex);

  const VersionSetOptions options_;
  // Those that are not dropped.
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families_ GUARDED_BY(db_mutex);
  std::string db_id_ GUARDED_BY(db_mutex);
  std::atomic<uint64_t> next_file_number_{2};  // any thread takes from it
  // The highest one written to the MANIFEST.
  SequenceNumber last_sequence_ GUARDED_BY(db_mutex) = 0;
  FileNumber min_log_number_to_keep_ GUARDED_BY(db_mutex) = 0;
  // The greatest id that a family has or had.
  uint32_t max_column_family_ GUARDED_BY(db_mutex) = 0;
  // As the MANIFEST has them.
  std::map<FileNumber, LogFacts> tracked_logs_ GUARDED_BY(db_mutex);
  const WalSet* wals_ GUARDED_BY(db_mutex) = nullptr;
  ListedLogs listed_logs_ GUARDED_BY(db_mutex);
  // Dropped from the end of the MANIFEST when it was recovered.
  uint64_t torn_manifest_bytes_ GUARDED_BY(db_mutex) = 0;

  // A change is being written.
  bool is_writing_ GUARDED_BY(db_mutex) = false;
  // Made with the first DB mutex that comes along.
  std::unique_ptr<CondVar> turn_ GUARDED_BY(db_mutex);
  ManifestFile manifest_;  // touched only by the thread that set is_writing_, but for its limits
  // Of the installed changes, for copies of the database.
  FileNumber manifest_number_ GUARDED_BY(db_mutex) = 0;
  uint64_t manifest_bytes_ GUARDED_BY(db_mutex) = 0;
  std::vector<FileNumber> replaced_manifests_ GUARDED_BY(db_mutex);

  ObsoleteBlobFiles obsolete_blobs_;   // outlives all versions
  std::atomic<int> live_versions_{0};  // installed and not yet released, of all families
  // Also of what `live` of each family says. Readers that give a version back need no DB mutex.
  mutable Mutex obsolete_mutex_{LockRank::kLeaf};
  std::vector<ObsoleteTable> obsolete_ GUARDED_BY(obsolete_mutex_);
  // Families that left families_ and may still be in use.
  std::vector<std::shared_ptr<FamilyVersions>> dropped_ GUARDED_BY(obsolete_mutex_);
};

}  // namespace ashlar
