// SPDX-License-Identifier: Apache-2.0
//
// ColumnFamilyData is one open column family: its memtables, its versions, its options, and the
// super version that readers see.
//
// Reference counted: the family set holds one reference; each handle, iterator and background job
// holds another.
// Threads: readers use super_version() and AcquireView(); writers use mem() while a commit is in
// flight. Functions marked REQUIRES(db_mutex) need the DB mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "db/column_family/family_work.h"
#include "db/read/read_view.h"
#include "db/read/super_version.h"
#include "db/version/version_set.h"
#include "memtable/memtable.h"
#include "table/plain/bare_table_writer.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class EmptyRanges;
class SystemClock;

// The functions of the database that a family needs.
class FamilyHost : public VisibleSeqnoSource {
 public:
  // The super version of the family that the snapshot holds; null if it holds none.
  virtual SuperVersion* HeldBy(const Snapshot* snapshot, const ReadViewSource& family) = 0;
  // A reader has released a super version, so files may have become obsolete. Any thread, without
  // locks.
  virtual void OnViewReleased(Purge purge) = 0;
  // A reader has released the last reference of a dropped family.
  virtual void OnFamilyGone(Purge purge) = 0;
  // The manager to which memtables report their memory; null: the memory is neither limited nor
  // charged.
  virtual std::shared_ptr<WriteBufferManager> MemoryManager() = 0;
  // Where freed memtables leave memory blocks for new ones; null: nowhere.
  virtual const std::shared_ptr<SpareBlocks>& SpareMemory() = 0;
  // The clock with which memtables note the time of their oldest entry. Outlives the family; null:
  // they do not note it.
  virtual SystemClock* Clock() = 0;
};

// A memtable that receives no more writes.
struct ImmutableMemTable {
  MemTable* mem = nullptr;          // the family holds one reference
  FileNumber first_log_number = 0;  // the first log that may hold writes of this memtable
  FileNumber next_log_number = 0;   // logs below it are not needed once this one is flushed
  bool is_flushing = false;         // a job has taken it
  // To be flushed together with memtables of other families.
  bool awaits_others = false;
  FlushReason reason = FlushReason::kOthers;  // why it became immutable
};

// Which of the immutable memtables a flush takes. All scopes begin with the oldest memtable.
enum class FlushScope : uint8_t {
  kAlone,     // those before the first one that awaits others
  kTogether,  // those up to the last one that awaits others
  kAll,
};

class ColumnFamilyData final : public ReadViewSource {
 public:
  // The database's reference on the new family is adopted by a FamilyRef. `versions` and `host`
  // outlive the family.
  ColumnFamilyData(FamilyVersions* family, std::shared_ptr<const ColumnFamilyOptions> options,
                   VersionSet* versions, FamilyHost* host);

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const InternalKeyComparator& comparator() const { return comparator_; }
  // Null: the family has none. Does not change while the family is open.
  const MergeOperator* merge_operator() const { return merge_operator_.get(); }
  // False: only ingested files add data, and a replay of logs that are older than the option.
  bool takes_writes() const { return takes_writes_; }
  // What the tables of the family can hold; without its prefix extractor. Does not change while the
  // family is open.
  const BareTableFormat& bare_format() const { return bare_format_; }
  // True unless keys have timestamps or bare_format() excludes entries. Hot: read by every write.
  bool is_plain() const { return is_plain_; }

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // Releases a reference; the last one deletes the family and returns true. Any thread, without the
  // DB mutex.
  bool Unref();

  // ReadViewSource, for readers; super_version() is in the base class.
  ReadView AcquireViewFor(const Snapshot* snapshot) override;
  void OnViewReleased(Purge purge) override { host_->OnViewReleased(purge); }
  void PinSource() override { Ref(); }
  void UnpinSource(Purge purge) override {
    FamilyHost* const host = host_;
    if (Unref()) host->OnFamilyGone(purge);
  }

  // Changes only under the DB mutex while the commit pipeline is paused. So it is stable for a
  // thread that holds the mutex, and for a commit in flight.
  MemTable* mem() const { return mem_.load(std::memory_order_acquire); }
  // Whether a memtable that uses `bytes` is full. Any thread; hot: called after every insertion.
  bool IsFull(const MemTable& memtable, uint64_t bytes) const {
    if (bytes >= write_buffer_bytes()) return true;
    const uint32_t max_deletes = max_range_deletes_.load(std::memory_order_relaxed);
    return max_deletes != 0 && memtable.num_range_deletes() >= max_deletes;
  }
  bool HasFullMemTable() const { return IsFull(*mem(), mem()->ApproximateMemoryUsage()); }
  // Whether all write buffers but one are immutable. The last one is then not switched before a
  // flush has freed another one.
  bool HasNoFreeBuffer() const REQUIRES(db_mutex) {
    return !immutables_.empty() &&
           static_cast<int>(immutables_.size()) + 1 >= options_->max_write_buffer_number;
  }
  // The size at which a memtable is full. Any thread.
  uint64_t write_buffer_bytes() const {
    return write_buffer_bytes_.load(std::memory_order_relaxed);
  }
  // The size at which the writers of the active memtable must request attention:
  // write_buffer_bytes(), or less while they are slowed down to the pace of a flush. Any thread.
  uint64_t paced_bytes() const { return paced_bytes_.load(std::memory_order_relaxed); }

  // The option of that name. Any thread.
  size_t max_successive_merges() const {
    return max_successive_merges_.load(std::memory_order_relaxed);
  }

  FamilyVersions* versions() const { return family_.get(); }
  Version* current() const REQUIRES(db_mutex) { return family_->current; }
  // Like current(); for a dropped family, the version that its readers still see.
  const Version& last_version() const REQUIRES(db_mutex) {
    return is_dropped() ? *super_version()->version() : *current();
  }
  const ColumnFamilyOptions& options() const REQUIRES(db_mutex) { return *options_; }
  const std::shared_ptr<const ColumnFamilyOptions>& shared_options() const REQUIRES(db_mutex) {
    return options_;
  }
  void SetOptions(std::shared_ptr<const ColumnFamilyOptions> options) REQUIRES(db_mutex);
  bool is_dropped() const REQUIRES(db_mutex) { return family_->is_dropped; }

  // Replaces the active memtable by an empty one and publishes a super version. The pipeline is
  // paused. Logs from `new_log_number` on hold all later writes. `reason` is reported to listeners;
  // if the memtable is full only because of its range tombstones, the reason is adjusted here.
  void SwitchMemTable(FileNumber new_log_number, FlushReason reason = FlushReason::kOthers)
      REQUIRES(db_mutex);
  // Oldest first.
  const std::vector<ImmutableMemTable>& immutables() const REQUIRES(db_mutex) {
    return immutables_;
  }
  // Whether the immutable memtables that no job has taken should be flushed now: there are enough
  // of them (min_write_buffer_number_to_merge), or something has requested the flush.
  bool is_flush_due() const REQUIRES(db_mutex) { return is_flush_due_; }
  // Makes a flush of the present immutable memtables due, however few they are.
  void RequireFlush() REQUIRES(db_mutex);
  // Reports that no flush will free the immutable memtables, because the family is dropped, the
  // database is closed, or flushes wait for DB::Resume(). No writer of any database waits for their
  // memory then.
  void KeepImmutables() REQUIRES(db_mutex);
  // Like RequireFlush(), but they are flushed together with memtables of other families.
  void RequireFlushTogether() REQUIRES(db_mutex);
  // Whether a flush together with other families is due and no job has begun it.
  bool AwaitsOthers() const REQUIRES(db_mutex);
  // The oldest log with writes for which no flush has been requested. FileNumber::None() if there
  // is none.
  FileNumber OldestLogNotDue() const REQUIRES(db_mutex);
  // Returns the immutable memtables of the scope and marks them as being flushed. Returns nothing
  // while another job flushes older ones.
  std::vector<MemTable*> TakeForFlush(FlushScope scope = FlushScope::kAll) REQUIRES(db_mutex);
  // Which part of the taken memtables has been written, from 0 to 1.
  void NoteFlushProgress(double progress) REQUIRES(db_mutex);
  // The flush of these memtables has failed; another job may take them.
  void ReturnFromFlush(const std::vector<MemTable*>& memtables) REQUIRES(db_mutex);
  // Called when a flush of these memtables has ended and the MANIFEST names its table. Publishes a
  // super version without the memtables.
  void RemoveFlushed(const std::vector<MemTable*>& memtables) REQUIRES(db_mutex);
  // The log number for the MANIFEST when exactly these memtables have been flushed.
  FileNumber LogNumberAfter(const std::vector<MemTable*>& memtables) const REQUIRES(db_mutex);
  // The oldest log that may hold unflushed writes of the family. Without unflushed writes the
  // family needs only `current_log`.
  FileNumber OldestLogNeeded(FileNumber current_log) const REQUIRES(db_mutex);
  // The oldest log with a prepare section whose committed updates are in a memtable of the family
  // that is not one of `flushed`; FileNumber::None() without one.
  FileNumber OldestPreparedLog(const std::vector<MemTable*>& flushed = {}) const REQUIRES(db_mutex);
  // The event for listeners when the active memtable is about to become immutable. The pipeline is
  // paused.
  MemTableInfo ActiveMemTableInfo() const REQUIRES(db_mutex);
  // Called for a new family before it can be written: all its entries will have larger numbers.
  void BeginBehind(SequenceNumber seqno) REQUIRES(db_mutex) { before_active_ = seqno; }
  // The first log that may hold writes of the active memtable.
  FileNumber active_log() const REQUIRES(db_mutex) { return active_log_; }
  // Called while the active memtable is empty and the pipeline is paused; `log_number` is the
  // current log.
  void SetActiveLog(FileNumber log_number) REQUIRES(db_mutex) { active_log_ = log_number; }
  // An estimate of the bytes that compactions must still rewrite. Computed once for each version
  // and options.
  uint64_t PendingCompactionBytes() REQUIRES(db_mutex);
  // The memory of the active and the immutable memtables.
  uint64_t MemTableBytes() const REQUIRES(db_mutex);
  // The smallest sequence number of an entry that is in no table yet; a larger number than any if
  // there is none. An entry that is not counted yet has a number above those of all tables.
  SequenceNumber OldestUnflushed() const REQUIRES(db_mutex);

  // ---- For a process that follows a database which another process writes. Nothing is visible
  // before PublishSuperVersion(), and no memtable is ever flushed.

  // Replaces the active memtable by an empty one for the entries of this log. Each of the memtables
  // that are kept has the entries of one log.
  void StartMemTable(FileNumber log_number) REQUIRES(db_mutex);
  // Drops the memtables with the entries of logs below this one, which tables have now.
  void DropMemTablesBelow(FileNumber log_number) REQUIRES(db_mutex);
  // Later super versions show no entry with a higher number.
  void SetNewestSeqno(SequenceNumber seqno) REQUIRES(db_mutex) { newest_seqno_ = seqno; }

  // Makes the current memtables, version and options visible to readers.
  void PublishSuperVersion() REQUIRES(db_mutex);
  uint64_t super_version_number() const REQUIRES(db_mutex) { return super_version_number_; }

  // Returns a Corruption that names the broken invariant: the order of memtables, or what readers
  // see.
  Status CheckInvariants() const REQUIRES(db_mutex);
  // Memtables and tables, one line each.
  std::string DebugString() const REQUIRES(db_mutex);

  // The options of the program after SettleColumnFamilyOptions() (options_check.h). options() are
  // derived from them, and FamilyChanges::SetOptions() changes them. At first the same as
  // options(); the code that creates the family sets them.
  std::shared_ptr<const ColumnFamilyOptions> settled_options GUARDED_BY(db_mutex);
  // Counters of the flushes, compactions and stalls of the family.
  FamilyWork work GUARDED_BY(db_mutex);
  // How the family stalls writes. Set by the write control.
  StallDecision stall GUARDED_BY(db_mutex);
  // External files are being added to the family, so nothing may be inserted into its memtables.
  bool is_ingesting GUARDED_BY(db_mutex) = false;
  // The number of the newest version that was made by adding or dropping files, so that older
  // entries may have become visible. A scan of an older version does not know them. 0: none was.
  uint64_t last_external_change GUARDED_BY(db_mutex) = 0;
  // Enclose a change by which entries may enter the family, or become visible again, in other ways
  // than through its memtables. At EndExternalChange() the super version with the change has been
  // published and last_external_change is up to date.
  void BeginExternalChange() REQUIRES(db_mutex);
  void EndExternalChange() REQUIRES(db_mutex);
  // Whether every entry that has entered the family since then, or is about to, came through
  // memtables.
  bool HasNoExternalChangeSince(const SuperVersion& super_version) const REQUIRES(db_mutex);
  // Set by sampled reads that wasted work on too many tables, until the next pick has considered
  // it.
  bool is_read_compaction_wanted GUARDED_BY(db_mutex) = false;

 private:
  ~ColumnFamilyData() override;
  MemTable* NewMemTable(const MemTable* previous) REQUIRES(db_mutex);
  void UpdatePace() REQUIRES(db_mutex);
  size_t MemTablesToMerge() const REQUIRES(db_mutex);
  size_t UntakenMemTables() const REQUIRES(db_mutex);
  size_t CountIn(FlushScope scope) const REQUIRES(db_mutex);

  const uint32_t id_;
  const std::string name_;
  const InternalKeyComparator comparator_;
  const std::shared_ptr<MergeOperator> merge_operator_;
  const bool takes_writes_;
  const BareTableFormat bare_format_;
  const bool is_plain_;
  std::unique_ptr<EmptyRanges> known_empty_;  // null if keys have timestamps
  const std::shared_ptr<FamilyVersions> family_;
  VersionSet* const versions_;
  FamilyHost* const host_;
  std::atomic<int> refs_{1};
  // Replaced by a new object with each change, never modified in place.
  std::shared_ptr<const ColumnFamilyOptions> options_ GUARDED_BY(db_mutex);

  // Written under the DB mutex, read by every writer after its insertion: see write_buffer_bytes()
  // and paced_bytes().
  std::atomic<uint64_t> write_buffer_bytes_;
  std::atomic<uint32_t> max_range_deletes_;  // of one memtable; 0: any number
  std::atomic<uint64_t> paced_bytes_;
  // Written under the DB mutex, read by writers of merge operands.
  std::atomic<size_t> max_successive_merges_;

  // Holds one reference. Written under the DB mutex with the pipeline paused (release), read by
  // commits in flight (acquire) and under the mutex. Never null.
  std::atomic<MemTable*> mem_;
  FileNumber active_log_ GUARDED_BY(db_mutex);
  SequenceNumber newest_seqno_ GUARDED_BY(db_mutex) = kMaxSequenceNumber;
  // All entries of mem_ have larger numbers.
  SequenceNumber before_active_ GUARDED_BY(db_mutex) = 0;
  // Oldest first. Ids ascend; the id of mem_ is above all of them.
  std::vector<ImmutableMemTable> immutables_ GUARDED_BY(db_mutex);
  // False if there is no immutable memtable that no job has taken.
  bool is_flush_due_ GUARDED_BY(db_mutex) = false;
  // The version for which pending_compaction_bytes_ was computed; 0: none.
  uint64_t assessed_version_ GUARDED_BY(db_mutex) = 0;
  uint64_t pending_compaction_bytes_ GUARDED_BY(db_mutex) = 0;
  // The progress of the running flush, from 0 to 1; none before it has begun to write.
  std::optional<double> flush_progress_ GUARDED_BY(db_mutex);
  uint64_t next_memtable_id_ GUARDED_BY(db_mutex) = 1;
  uint64_t super_version_number_ GUARDED_BY(db_mutex) = 0;
};

// The memtable settings that follow from the options. `previous`: the memtable before, or null.
MemTableOptions MemTableOptionsFrom(const ColumnFamilyOptions& options, const MemTable* previous);

}  // namespace ashlar
