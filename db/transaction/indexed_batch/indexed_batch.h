// SPDX-License-Identifier: Apache-2.0
//
// IndexedBatch is a write batch with an index of its updates: the base of WriteBatchWithIndex and
// of transactions.
//
// A write only appends to the batch and remembers the family's comparator. The first reader after
// it brings the index up to date, with all missing records at once, so a batch without readers
// costs no more than a plain one. Readers poll end() and cuts() to notice that updates were written
// or taken back.
//
// While a reader is registered (Reader), the bytes of the batch are never moved or freed: an entry
// that a reader shows stays valid when the batch outgrows its memory, and when its owner is
// destroyed.
//
// Threads: one writer, with no reader at the same time; several readers at the same time.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/status.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "db/transaction/indexed_batch/update_index.h"
#include "util/threads/mutex.h"

namespace ashlar {

class IndexedBatch {
 public:
  struct Settings {
    const Comparator* backup_comparator;  // for families that are written without a handle
    size_t reserved_bytes = 0;
    bool overwrites = false;  // a plain update replaces the newest one of its key in the index
    size_t max_bytes = 0;
    size_t protection_bytes_per_key = 0;
  };
  explicit IndexedBatch(const Settings& settings);
  IndexedBatch(const IndexedBatch&) = delete;
  IndexedBatch& operator=(const IndexedBatch&) = delete;
  static IndexedBatch& Of(WriteBatchWithIndex* batch);
  // Called by the owner when it does not need the batch any more. The batch is deleted when it has
  // no reader.
  void Release();

  // The inner batch. Updates that are written to it directly are not indexed.
  WriteBatch* batch() { return &batch_; }
  const WriteBatch& batch() const { return batch_; }

  // Calls write(id of the family), which must append one update to the batch. A null handle stands
  // for the default family. NotSupported for families with timestamps.
  template <typename Write>
  Status Add(ColumnFamilyHandle* family, const Write& write) {
    const uint32_t id = family == nullptr ? 0 : family->GetID();
    if (id != noted_family_ || (family != nullptr && !noted_handle_)) [[unlikely]] {
      Status noted = NoteFamily(id, family);
      if (!noted.ok()) return noted;
    }
    const size_t before = batch_.GetDataSize();
    if (before > KeyRef::kMaxOffset) [[unlikely]]
      return RefuseSize();
    Status status = write(id);
    if (status.ok()) NoteWritten(before);
    return status;
  }
  Status PutLogData(const Slice& blob);
  void Clear();
  void SetSavePoint();
  Status RollbackToSavePoint();
  Status PopSavePoint();

  // The offset behind the last update that was written through this object. It grows with each
  // update, so a reader that remembers it notices new ones.
  size_t end() const { return end_; }
  // The number of times that updates were taken back, by a rollback or by Clear().
  uint64_t cuts() const { return cuts_; }

  // The index of all updates.
  const UpdateIndex& Indexed() {
    if (indexed_end_.load(std::memory_order_acquire) != end_) [[unlikely]]
      CatchUp();
    return index_;
  }
  // The family in that index; null if the batch has no update of it.
  const UpdateIndex::Family* IndexedFamily(uint32_t id) { return Indexed().Find(id); }
  // Finds the family as above, and also brings its keys into order.
  const UpdateIndex::Family* SortedFamily(uint32_t id);

  bool overwrites() const { return index_.overwrites(); }
  // The comparator for the keys of a family; `family` is its handle, or null.
  const Comparator* ComparatorOf(uint32_t id, ColumnFamilyHandle* family) const;
  // The number of updates, including the ones that are not indexed yet and the ones that were
  // replaced.
  size_t update_count() const { return update_count_; }
  // Counts by family id, as of this call; the result is valid until the next call.
  const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& Stats();

  // Keeps the batch, and all bytes that it has shown, as long as this object lives.
  class Reader {
   public:
    explicit Reader(IndexedBatch* batch) : batch_(batch) { batch_->AddReader(); }
    ~Reader() { batch_->DropReader(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    IndexedBatch* const batch_;
  };

 private:
  // The state that a savepoint restores.
  struct Point {
    size_t end;
    size_t gap_count;
    size_t update_count;
  };
  // A range of the batch that is not indexed.
  struct Gap {
    size_t begin;
    size_t end;
  };

  static constexpr uint32_t kNoFamily = UINT32_MAX;

  ~IndexedBatch() = default;
  Status NoteFamily(uint32_t id, ColumnFamilyHandle* family);
  static Status RefuseSize();
  // Notes an update that was appended at the offset `before`. Bytes before it that were not noted
  // are a gap.
  void NoteWritten(size_t before) {
    assert(batch_.GetDataSize() > before);
    if (before != end_) [[unlikely]]
      gaps_.push_back({end_, before});
    end_ = batch_.GetDataSize();
    ++update_count_;
  }
  // Indexes the missing updates, unless another reader does.
  void CatchUp();
  void IndexFrom(size_t offset) REQUIRES(mutex_);
  void Unindex(size_t offset);
  void AddReader();
  void DropReader();

  const Comparator* const backup_comparator_;
  WriteBatch batch_;
  size_t end_;               // see end()
  size_t update_count_ = 0;  // see update_count()
  uint64_t cuts_ = 0;        // see cuts()
  std::vector<Gap> gaps_;    // ascending, before end_
  // One for each savepoint that was set through this object, the latest last.
  std::vector<Point> save_points_;
  uint32_t noted_family_ = kNoFamily;  // the family of the last write
  bool noted_handle_ = false;          // whether a handle was given for it

  Mutex mutex_{LockRank::kLeaf};
  // Changed by the writer, and under the mutex by readers that bring it up to date. A reader that
  // has loaded indexed_end_ (acquire), or has found a family sorted, sees the index up to there.
  UpdateIndex index_;
  std::atomic<size_t> indexed_end_;  // the end of the indexed records
  size_t indexed_count_ = 0;         // the number of updates before indexed_end_
  std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat> stats_;
  // The object deletes itself when it has neither readers nor an owner.
  size_t reader_count_ GUARDED_BY(mutex_) = 0;
  bool has_owner_ GUARDED_BY(mutex_) = true;
};

}  // namespace ashlar
