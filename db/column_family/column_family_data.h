// SPDX-License-Identifier: Apache-2.0
//
// ColumnFamilyData is one open column family: its memtables, its versions, its options, and the
// super version that readers see.
//
// Counted: the family set holds one reference, every handle, iterator and background job another.
// Threads: readers use super_version() and AcquireView(); writers use mem() while a commit is in
// flight; what says REQUIRES(db_mutex) needs the DB mutex.
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
#include "db/column_family/memtable_history.h"
#include "db/read/read_view.h"
#include "db/read/super_version.h"
#include "db/version/version_set.h"
#include "memtable/memtable.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class EmptyRanges;
class SystemClock;

// What a family needs of its database.
class FamilyHost : public VisibleSeqnoSource {
 public:
  // A reader let go of a super version: files may be obsolete. Any thread, no locks held.
  virtual void OnViewReleased(Purge purge) = 0;
  // With a reader a dropped family went.
  virtual void OnFamilyGone(Purge purge) = 0;
  // Told of the memory of memtables; null where nobody limits or charges it.
  virtual std::shared_ptr<WriteBufferManager> MemoryManager() = 0;
  // Where memtables leave memory to one another; null: they do not.
  virtual const std::shared_ptr<SpareBlocks>& SpareMemory() = 0;
  // Tells memtables how old they are. Outlives the family; null: they do not know.
  virtual SystemClock* Clock() = 0;
};

// A memtable that takes no more writes.
struct SealedMemTable {
  MemTable* mem = nullptr;          // one reference
  FileNumber first_log_number = 0;  // the first log that may hold writes of it
  FileNumber next_log_number = 0;   // logs below it are not needed once this one is flushed
  bool is_flushing = false;
  // Flushed together with memtables of other families.
  bool awaits_others = false;
  FlushReason reason = FlushReason::kOthers;  // why it was sealed
};

// Which of the sealed memtables a flush takes.
enum class FlushScope : uint8_t {
  kAlone,     // those in front of the first that awaits others
  kTogether,  // those up to the last that does
  kAll,
};

class ColumnFamilyData final : public ReadViewSource {
 public:
  ColumnFamilyData(FamilyVersions* family, std::shared_ptr<const ColumnFamilyOptions> options,
                   VersionSet* versions, FamilyHost* host);

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const InternalKeyComparator& comparator() const { return comparator_; }
  // Null: none. It stays the same as long as the family is open.
  const MergeOperator* merge_operator() const { return merge_operator_.get(); }

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // Deletes the family with the last reference: true. Any thread, without the DB mutex.
  bool Unref();

  // Readers; and super_version() of the base.
  ReadView AcquireView() override;
  void OnViewReleased(Purge purge) override { host_->OnViewReleased(purge); }
  void PinSource() override { Ref(); }
  void UnpinSource(Purge purge) override {
    FamilyHost* const host = host_;
    if (Unref()) host->OnFamilyGone(purge);
  }

  // Changes only under the DB mutex while the commit pipeline is paused: stable for whoever holds
  // the mutex, and for a commit in flight.
  MemTable* mem() const { return mem_.load(std::memory_order_acquire); }
  // Whether a memtable has all it may hold. Any thread; hot: called after every insertion.
  bool IsFull(const MemTable& memtable, uint64_t bytes) const {
    if (bytes >= write_buffer_bytes()) return true;
    const uint32_t max_deletes = max_range_deletes_.load(std::memory_order_relaxed);
    return max_deletes != 0 && memtable.num_range_deletes() >= max_deletes;
  }
  bool HasFullMemTable() const { return IsFull(*mem(), mem()->ApproximateMemoryUsage()); }
  // All write buffers but one are sealed: the last one is not, before a flush frees another.
  bool HasNoFreeBuffer() const REQUIRES(db_mutex) {
    return !sealed_.empty() &&
           static_cast<int>(sealed_.size()) + 1 >= options_->max_write_buffer_number;
  }
  // The size at which a memtable is full. Any thread.
  uint64_t write_buffer_bytes() const {
    return write_buffer_bytes_.load(std::memory_order_relaxed);
  }
  // The size at which the writers of the active memtable must look up: that, or less while they
  // are held to the pace of a flush. Any thread.
  uint64_t paced_bytes() const { return paced_bytes_.load(std::memory_order_relaxed); }

  // The option. Any thread.
  size_t max_successive_merges() const {
    return max_successive_merges_.load(std::memory_order_relaxed);
  }

  FamilyVersions* versions() const { return family_.get(); }
  Version* current() const REQUIRES(db_mutex) { return family_->current; }
  // The same, but of a dropped family what its readers still see.
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
  // paused. Logs from `new_log_number` on hold what comes after. `reason` is what listeners are
  // told; a memtable full of range tombstones alone is told apart here.
  void SealMemTable(FileNumber new_log_number, FlushReason reason = FlushReason::kOthers)
      REQUIRES(db_mutex);
  // Oldest first.
  const std::vector<SealedMemTable>& sealed() const REQUIRES(db_mutex) { return sealed_; }
  // Whether sealed memtables that no job has taken are to be flushed now: there are enough of them
  // (min_write_buffer_number_to_merge), or something else wants it.
  bool is_flush_due() const REQUIRES(db_mutex) { return is_flush_due_; }
  // Those that are sealed now do not wait for more.
  void RequireFlush() REQUIRES(db_mutex);
  // The same, and they are flushed together with those of other families.
  void RequireFlushTogether() REQUIRES(db_mutex);
  // Whether a flush together with other families is due that no job has begun.
  bool AwaitsOthers() const REQUIRES(db_mutex);
  // The oldest log that holds writes for whose flush nobody has asked; none.
  FileNumber OldestLogNotDue() const REQUIRES(db_mutex);
  // Sealed memtables that no job is flushing yet and that follow no such one; marks them.
  std::vector<MemTable*> TakeForFlush(FlushScope scope = FlushScope::kAll) REQUIRES(db_mutex);
  // How much of what was taken has been written, 0 to 1.
  void NoteFlushProgress(double progress) REQUIRES(db_mutex);
  // They could not be flushed and may be taken again.
  void ReturnFromFlush(const std::vector<MemTable*>& memtables) REQUIRES(db_mutex);
  // Their contents are in an installed table. Publishes a super version. Some may be kept for
  // checks of conflicts (max_write_buffer_size_to_maintain).
  void RemoveFlushed(const std::vector<MemTable*>& memtables) REQUIRES(db_mutex);
  const MemTableHistory& history() const REQUIRES(db_mutex) { return history_; }
  // Their memory is wanted.
  void DropHistory() REQUIRES(db_mutex) { history_.Clear(); }
  // The log number to record when exactly these memtables are flushed.
  FileNumber LogNumberAfter(const std::vector<MemTable*>& memtables) const REQUIRES(db_mutex);
  // The oldest log that may hold unflushed writes; a family without any needs `current_log` only.
  FileNumber OldestLogNeeded(FileNumber current_log) const REQUIRES(db_mutex);
  // What listeners hear when the active memtable is sealed. The pipeline is paused.
  MemTableInfo ActiveMemTableInfo() const REQUIRES(db_mutex);
  // The first log that may hold writes of the active memtable.
  FileNumber active_log() const REQUIRES(db_mutex) { return active_log_; }
  // The active memtable is empty, and the pipeline paused, with this log the current one.
  void SetActiveLog(FileNumber log_number) REQUIRES(db_mutex) { active_log_ = log_number; }
  // What compaction must still rewrite. Worked out once for each version and options.
  uint64_t PendingCompactionBytes() REQUIRES(db_mutex);
  uint64_t MemTableBytes() const REQUIRES(db_mutex);
  // The smallest sequence number of an entry that no table has yet; above all if there is none. One
  // that is not counted yet is above those of all tables.
  SequenceNumber OldestUnflushed() const REQUIRES(db_mutex);

  // Makes the current memtables, version and options visible to readers.
  void PublishSuperVersion() REQUIRES(db_mutex);
  uint64_t super_version_number() const REQUIRES(db_mutex) { return super_version_number_; }

  // Corruption naming what is wrong: memtables out of order, or readers that see something else.
  Status CheckInvariants() const REQUIRES(db_mutex);
  // Memtables and tables, a line each.
  std::string DebugString() const REQUIRES(db_mutex);

  // What options() are sanitized from and FamilyChanges::SetOptions() changes: those the program
  // gave, settled (options_check.h). At first options() themselves; whoever made the family sets
  // it.
  std::shared_ptr<const ColumnFamilyOptions> settled_options GUARDED_BY(db_mutex);
  // What was done in the family.
  FamilyWork work GUARDED_BY(db_mutex);
  // How it holds writes up; the write control's to change.
  StallDecision stall GUARDED_BY(db_mutex);
  // External files are being put into the family: nothing may come into its memtables.
  bool is_ingesting GUARDED_BY(db_mutex) = false;
  // The number of the newest version that was made by that, or by dropping files, under which older
  // entries may come to light: a scan of an older one knows nothing of what is there. 0: none was.
  uint64_t last_external_change GUARDED_BY(db_mutex) = 0;
  // Around what may come into the family, or back, by other ways than its memtables. At the end the
  // super version that shows it was published, and last_external_change is right.
  void BeginExternalChange() REQUIRES(db_mutex);
  void EndExternalChange() REQUIRES(db_mutex);
  // Whether all that came into the family since, or will, came through memtables.
  bool HasNoExternalChangeSince(const SuperVersion& super_version) const REQUIRES(db_mutex);
  // Sampled reads ask whether what they wasted pays for a compaction; until it is looked into.
  bool is_read_compaction_wanted GUARDED_BY(db_mutex) = false;

 private:
  ~ColumnFamilyData() override;
  MemTable* NewMemTable(const MemTable* previous) REQUIRES(db_mutex);
  void UpdatePace() REQUIRES(db_mutex);
  size_t MemTablesToMerge() const REQUIRES(db_mutex);
  size_t UntakenMemTables() const REQUIRES(db_mutex);
  size_t CountIn(FlushScope scope) const REQUIRES(db_mutex);
  void TrimHistory() REQUIRES(db_mutex);

  const uint32_t id_;
  const std::string name_;
  const InternalKeyComparator comparator_;
  const std::shared_ptr<MergeOperator> merge_operator_;
  std::unique_ptr<EmptyRanges> known_empty_;  // that of the base; null where keys have timestamps
  const std::shared_ptr<FamilyVersions> family_;
  VersionSet* const versions_;
  FamilyHost* const host_;
  std::atomic<int> refs_{1};
  // Replaced, never changed in place.
  std::shared_ptr<const ColumnFamilyOptions> options_ GUARDED_BY(db_mutex);

  // Written under the DB mutex, read by every writer after its insertion: see write_buffer_bytes()
  // and paced_bytes().
  std::atomic<uint64_t> write_buffer_bytes_;
  std::atomic<uint32_t> max_range_deletes_;  // of one memtable; 0: any number
  std::atomic<uint64_t> paced_bytes_;
  // Written under the DB mutex, read by writers of merge operands.
  std::atomic<size_t> max_successive_merges_;

  // One reference. Written under the DB mutex with the pipeline paused (release), read by commits
  // in flight (acquire) and under the mutex. Never null.
  std::atomic<MemTable*> mem_;
  FileNumber active_log_ GUARDED_BY(db_mutex);
  SequenceNumber before_active_ GUARDED_BY(db_mutex) = 0;  // mem_ holds nothing up to this one
  // Oldest first; each one's id is above that of the one before, mem_'s above all.
  std::vector<SealedMemTable> sealed_ GUARDED_BY(db_mutex);
  // Never without a sealed memtable that no job has taken.
  bool is_flush_due_ GUARDED_BY(db_mutex) = false;
  MemTableHistory history_ GUARDED_BY(db_mutex);  // all older than those in sealed_
  // The version that pending_compaction_bytes_ was worked out for; 0: none.
  uint64_t assessed_version_ GUARDED_BY(db_mutex) = 0;
  uint64_t pending_compaction_bytes_ GUARDED_BY(db_mutex) = 0;
  // Of the flush that runs, 0 to 1; none before it has begun to write.
  std::optional<double> flush_progress_ GUARDED_BY(db_mutex);
  uint64_t next_memtable_id_ GUARDED_BY(db_mutex) = 1;
  uint64_t super_version_number_ GUARDED_BY(db_mutex) = 0;
};

// The memtable settings that column family options ask for.
MemTableOptions MemTableOptionsFrom(const ColumnFamilyOptions& options, const MemTable* previous);

}  // namespace ashlar
