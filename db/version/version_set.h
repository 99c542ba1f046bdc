// SPDX-License-Identifier: Apache-2.0
//
// VersionSet owns the MANIFEST: it recovers the column families and their versions from the
// MANIFEST, and makes every change of them durable before the change is visible.
//
// Threads: annotations say which functions and members need the DB mutex. One change is written at
// a time; other changes wait inside LogAndApply(). LogAndApply() releases the mutex while it builds
// the new versions and writes the records. Crash: a change is in the MANIFEST and synced before its
// versions are visible and before any file that it makes obsolete is deleted. CURRENT is switched
// only after the new MANIFEST is complete and synced.
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

class FollowedChange;
class ManifestReader;
class WalSet;
struct BuiltVersion;
struct RecoveryPoint;

// Where and how the MANIFEST is written, and which optional records it contains.
struct VersionSetOptions : ManifestFileOptions {
  bool write_db_id = true;
  bool lists_logs = false;  // also writes RocksDB's own records about WALs: see ListedLogs
  // Another process writes the MANIFEST: Recover() keeps its reader for TakeReader().
  bool is_followed = false;
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

  // Reads the MANIFEST that CURRENT names, or the part of a MANIFEST that `point` selects. Writes
  // nothing. Requested families that do not exist are returned in `missing`; existing ones that
  // were not requested fail the call unless `allow_subset`.
  Status Recover(std::vector<FamilyRequest> requests, bool allow_subset,
                 std::vector<FamilyRequest>* missing, const RecoveryPoint* point = nullptr)
      REQUIRES(db_mutex);

  // With is_followed, after Recover(): the reader that continues behind the records which were
  // recovered. Once.
  std::unique_ptr<ManifestReader> TakeReader() REQUIRES(db_mutex);
  // See FollowedChange. Instead of LogAndApply(), with is_followed.
  FollowedChange BeginFollowed() const REQUIRES(db_mutex);
  void InstallFollowed(FollowedChange* change) REQUIRES(db_mutex);

  // After this call every change also records the WALs that were created since the previous change,
  // and new facts about older WALs. `wals` outlives the set.
  void TrackLogs(const WalSet* wals) REQUIRES(db_mutex) { wals_ = wals; }

  // Sets the limits of all MANIFESTs that are started after this call. Any thread.
  void SetManifestLimits(const ManifestLimits& limits) { manifest_.SetLimits(limits); }

  // A change has one edit per column family. LogAndApply() fills in the last sequence number and
  // the file number counters.
  struct Change {
    std::vector<VersionEdit> edits;
    // Not below any sequence number in the new files of the edits.
    SequenceNumber last_sequence = 0;
    bool is_atomic_group = false;
    // Set if an edit has added_family. A later edit of the same group may add files to this family,
    // so that it is never there without them.
    std::unique_ptr<FamilyRequest> added_family;
  };
  // Appends the change to the MANIFEST, syncs it and installs the new versions. Releases the mutex
  // while writing. After an error nothing is installed, this MANIFEST is never written again, and
  // the next call starts a new one. ColumnFamilyDropped if the families of all edits are dropped.
  Status LogAndApply(Change change, DbMutex* mutex) REQUIRES(db_mutex);
  // After LogAndApply() has failed, as long as the mutex is held: whether the MANIFEST on disk may
  // have that change nevertheless.
  bool may_hold_failed_change() const REQUIRES(db_mutex) { return may_hold_failed_change_; }
  // How many changes since the opening have failed so that a MANIFEST may have them.
  uint64_t failed_changes() const REQUIRES(db_mutex) { return failed_changes_; }
  // Whether it may have any change that failed. Until a later change has begun a new MANIFEST; from
  // then on the files of the failed changes are certain to be named by none.
  bool is_in_doubt() const REQUIRES(db_mutex) { return is_in_doubt_; }
  // Reads back the MANIFEST that was written. Corruption if the next opening could not recover from
  // it; then this MANIFEST is not written any more, and the next call of LogAndApply() starts a new
  // one. Releases the mutex while reading.
  Status CheckManifest(DbMutex* mutex) REQUIRES(db_mutex);

  // These three functions find only families that are not dropped. Null if there is no such family.
  FamilyVersions* Family(uint32_t id) const REQUIRES(db_mutex);
  FamilyVersions* Family(const std::string& name) const REQUIRES(db_mutex);
  std::vector<FamilyVersions*> LiveFamilies() const REQUIRES(db_mutex);
  // Returns the blob files that no version contains any more and forgets them. Their destructors do
  // I/O.
  std::vector<std::unique_ptr<BlobFile>> TakeObsoleteBlobs() { return obsolete_blobs_.Take(); }
  // Bytes of the blob files that at least one version of the family contains.
  uint64_t HeldBlobBytesOf(const FamilyVersions& family) const {
    return obsolete_blobs_.HeldBytes(family.id);
  }
  // Destroys a version whose last reference was dropped. Tables that no version holds any more are
  // moved to the list that TakeObsolete() empties. Any thread.
  void Release(Version* version);
  std::vector<ObsoleteTable> TakeObsolete();
  bool HasObsolete();
  // Total size of the tables on that list.
  uint64_t ObsoleteTableBytes() const;
  // Total size of the tables that are in no current version, but in an older version or a version
  // of a dropped family.
  uint64_t RetiredBytes() const REQUIRES(db_mutex);
  // Like RetiredBytes(), for one live family.
  uint64_t RetiredBytesOf(const FamilyVersions& family) const;
  // The paths of the tables that RetiredBytes() counts, and of the blob files of all versions.
  std::vector<std::string> HeldPaths() const REQUIRES(db_mutex);
  // Returns the dropped families that have no user any more. Their destructors may wait for
  // readers, so the caller destroys them without a lock and outside an EpochGuard.
  std::vector<std::shared_ptr<FamilyVersions>> TakeUnusedFamilies();
  // Numbers of MANIFESTs that CURRENT does not name any more.
  std::vector<FileNumber> TakeReplacedManifests() REQUIRES(db_mutex) {
    return std::exchange(replaced_manifests_, {});
  }
  // Number of versions that are installed and not yet released: of one family, and of all families.
  size_t LiveVersionsOf(const FamilyVersions& family) const;
  int live_version_count() const { return live_versions_.load(std::memory_order_relaxed); }

  FileNumber NewFileNumber() {
    return FileNumber{next_file_number_.fetch_add(1, std::memory_order_relaxed)};
  }
  FileNumber next_file_number() const {
    return FileNumber{next_file_number_.load(std::memory_order_relaxed)};
  }
  // After this call NewFileNumber() returns only numbers above `number`.
  void MarkFileNumberUsed(FileNumber number);

  SequenceNumber recovered_last_sequence() const REQUIRES(db_mutex) {
    return counters_.last_sequence;
  }
  FileNumber min_log_number_to_keep() const REQUIRES(db_mutex) {
    return counters_.min_log_number_to_keep;
  }
  // Number of the lowest WAL that any family still needs.
  FileNumber LowestLogNumber() const REQUIRES(db_mutex);
  FileNumber manifest_number() const REQUIRES(db_mutex) { return manifest_number_; }
  uint64_t manifest_bytes() const REQUIRES(db_mutex) { return manifest_bytes_; }
  uint32_t max_column_family() const REQUIRES(db_mutex) { return counters_.max_column_family; }
  // Returns an id that no family has or had.
  uint32_t ReserveFamilyId() REQUIRES(db_mutex) { return ++counters_.max_column_family; }
  // Gives back the id of a family whose creation failed before any record of it was written. The id
  // stays unused if a greater one was reserved in the meantime.
  void ReturnFamilyId(uint32_t id) REQUIRES(db_mutex) {
    if (id == counters_.max_column_family) --counters_.max_column_family;
  }
  uint64_t torn_manifest_bytes() const REQUIRES(db_mutex) { return torn_manifest_bytes_; }
  const std::string& db_id() const REQUIRES(db_mutex) { return counters_.db_id; }
  void set_db_id(std::string db_id) REQUIRES(db_mutex) { counters_.db_id = std::move(db_id); }
  // The WALs that the MANIFEST knows, by number. A tracked WAL exists as a file as long as it is
  // needed.
  const std::map<FileNumber, LogSummary>& tracked_logs() const REQUIRES(db_mutex) {
    return counters_.tracked_logs;
  }

  // The counters and the tracked WALs, then one line for each family.
  std::string DebugString() const REQUIRES(db_mutex);

  // Calls `f` for every table of every current version, with its level.
  void ForEachLiveFile(const std::function<void(const FamilyVersions&, Level, TableFile*)>& f) const
      REQUIRES(db_mutex);

 private:
  struct Pending;         // a change that is being written
  struct FamilySnapshot;  // the records of one family in a new MANIFEST
  // The steps of LogAndApply(); see version_set.cc.
  Status CheckFamilies(std::vector<VersionEdit>* edits) const REQUIRES(db_mutex);
  void Complete(Change* change, Pending* pending) REQUIRES(db_mutex);
  void Begin(Change* change, Pending* pending) const REQUIRES(db_mutex);
  static void BeginFamily(const VersionEdit& edit, FamilyRequest* request, Pending* pending)
      REQUIRES(db_mutex);
  static Status BuildVersions(const Change& change, Pending* pending);
  Status Write(const Change& change, Pending* pending);
  void Install(Change* change, Pending* pending) REQUIRES(db_mutex);
  void NoteFailure(const Pending& pending) REQUIRES(db_mutex);
  void InstallFamily(std::shared_ptr<FamilyVersions> family) REQUIRES(db_mutex);
  void DropFamily(uint32_t id) REQUIRES(db_mutex);
  static void ApplyToFamily(const VersionEdit& edit, FamilyVersions* family) REQUIRES(db_mutex);
  std::vector<LogSummary> NewLogSummaries() const REQUIRES(db_mutex);
  VersionEdit HeadOfManifest() const REQUIRES(db_mutex);
  FamilySnapshot SnapshotOf(const FamilyVersions& family) const REQUIRES(db_mutex);
  void ApplyCounters(const VersionEdit& edit) REQUIRES(db_mutex);
  void Adopt(FamilyVersions* family, BuiltVersion built) REQUIRES(db_mutex);
  void RetireCurrent(FamilyVersions* family) REQUIRES(db_mutex);
  void CloseCurrent(FamilyVersions* family) REQUIRES(db_mutex);

  const VersionSetOptions options_;
  // The families that are not dropped, by id.
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families_ GUARDED_BY(db_mutex);
  // The values in the MANIFEST, except next_file_number: the counter in use is next_file_number_,
  // which any thread increments.
  ManifestCounters counters_ GUARDED_BY(db_mutex);
  std::atomic<uint64_t> next_file_number_{2};
  const WalSet* wals_ GUARDED_BY(db_mutex) = nullptr;
  std::unique_ptr<ManifestReader> reader_ GUARDED_BY(db_mutex);  // with is_followed
  ListedLogs listed_logs_ GUARDED_BY(db_mutex);
  // Bytes of an incomplete record or group at the end of the MANIFEST that recovery ignored.
  uint64_t torn_manifest_bytes_ GUARDED_BY(db_mutex) = 0;

  // True while a thread writes a change or checks the MANIFEST.
  bool is_writing_ GUARDED_BY(db_mutex) = false;
  // Signalled when is_writing_ becomes false. Created by the first call that passes a DB mutex.
  std::unique_ptr<CondVar> turn_ GUARDED_BY(db_mutex);
  // Used only by the thread that set is_writing_; SetLimits() from any thread.
  ManifestFile manifest_;
  // Number and length of the MANIFEST up to the last installed change, for copies of the database.
  FileNumber manifest_number_ GUARDED_BY(db_mutex) = 0;
  uint64_t manifest_bytes_ GUARDED_BY(db_mutex) = 0;
  std::vector<FileNumber> replaced_manifests_ GUARDED_BY(db_mutex);
  // After errors; see is_in_doubt(). The MANIFESTs are newer than manifest_number_, and CURRENT may
  // name one of them.
  bool may_hold_failed_change_ GUARDED_BY(db_mutex) = false;
  uint64_t failed_changes_ GUARDED_BY(db_mutex) = 0;
  bool is_in_doubt_ GUARDED_BY(db_mutex) = false;
  std::vector<FileNumber> doubtful_manifests_ GUARDED_BY(db_mutex);

  ObsoleteBlobFiles obsolete_blobs_;   // declared here so that it outlives all versions
  std::atomic<int> live_versions_{0};  // installed and not yet released, of all families
  // Also guards FamilyVersions::live of each family. A reader that releases a version needs only
  // this mutex, not the DB mutex.
  mutable Mutex obsolete_mutex_{LockRank::kLeaf};
  std::vector<ObsoleteTable> obsolete_ GUARDED_BY(obsolete_mutex_);
  // Dropped families, which are not in families_ any more and may still be in use.
  std::vector<std::shared_ptr<FamilyVersions>> dropped_ GUARDED_BY(obsolete_mutex_);
};

}  // namespace ashlar
