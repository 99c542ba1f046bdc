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
#include "db/manifest/listed_logs.h"
#include "db/manifest/manifest_counters.h"
#include "db/manifest/manifest_file.h"
#include "db/manifest/version_edit.h"
#include "db/version/family_versions.h"
#include "db/version/version.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

class WalSet;
struct BuiltVersion;
struct RecoveryPoint;

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

  SequenceNumber recovered_last_sequence() const REQUIRES(db_mutex) {
    return counters_.last_sequence;
  }
  FileNumber min_log_number_to_keep() const REQUIRES(db_mutex) {
    return counters_.min_log_number_to_keep;
  }
  // The lowest log that any family still needs.
  FileNumber LowestLogNumber() const REQUIRES(db_mutex);
  FileNumber manifest_number() const REQUIRES(db_mutex) { return manifest_number_; }
  uint64_t manifest_bytes() const REQUIRES(db_mutex) { return manifest_bytes_; }
  uint32_t max_column_family() const REQUIRES(db_mutex) { return counters_.max_column_family; }
  // An id that no family has or had.
  uint32_t ReserveFamilyId() REQUIRES(db_mutex) { return ++counters_.max_column_family; }
  // Of a family that was refused before anything of it was written. Lost if a greater one was given
  // out meanwhile.
  void ReturnFamilyId(uint32_t id) REQUIRES(db_mutex) {
    if (id == counters_.max_column_family) --counters_.max_column_family;
  }
  uint64_t torn_manifest_bytes() const REQUIRES(db_mutex) { return torn_manifest_bytes_; }
  const std::string& db_id() const REQUIRES(db_mutex) { return counters_.db_id; }
  void set_db_id(std::string db_id) REQUIRES(db_mutex) { counters_.db_id = std::move(db_id); }
  // Logs that exist for as long as they are needed, by number.
  const std::map<FileNumber, LogFacts>& tracked_logs() const REQUIRES(db_mutex) {
    return counters_.tracked_logs;
  }

  // Counters and what the MANIFEST knows, then a line for each family.
  std::string DebugString() const REQUIRES(db_mutex);

  // Every live table with its level.
  void ForEachLiveFile(const std::function<void(const FamilyVersions&, Level, TableFile*)>& f) const
      REQUIRES(db_mutex);

 private:
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
  // As the MANIFEST has them, but for the next file number, which any thread takes.
  ManifestCounters counters_ GUARDED_BY(db_mutex);
  std::atomic<uint64_t> next_file_number_{2};
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
