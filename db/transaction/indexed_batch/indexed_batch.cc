// SPDX-License-Identifier: Apache-2.0
//
// The records of a batch, and how far they are indexed:
//
//   | header | P P P P | unindexed | P P P P P | L | P P |
//                      '--- gap ---'     ^     gap       ^
//                                   indexed_end_         end_
//
// A gap is log data, or records that were written to the inner batch directly.
#include "db/transaction/indexed_batch/indexed_batch.h"

#include <algorithm>
#include <cassert>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "db/write/write_batch_internal.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Walks the records of a batch that are or will be indexed, without the gaps. `bytes` ends behind
// one of them.
template <typename Gaps>
class IndexedRecords {
 public:
  IndexedRecords(const Slice& bytes, size_t offset, const Gaps& gaps)
      : bytes_(bytes), reader_(bytes, offset), gap_(gaps.begin()), last_gap_(gaps.end()) {
    while (gap_ != last_gap_ && gap_->begin < offset) ++gap_;
  }
  bool Next(WriteBatchRecord* record, uint64_t* offset) {
    const size_t next = reader_.next_offset();
    if (gap_ != last_gap_ && next == gap_->begin && next != bytes_.size()) [[unlikely]] {
      reader_ = WriteBatchReader(bytes_, gap_->end);
      ++gap_;
    }
    if (!reader_.Next(record)) return false;
    *offset = reader_.record_offset();
    return true;
  }

 private:
  const Slice bytes_;
  WriteBatchReader reader_;
  typename Gaps::const_iterator gap_;
  const typename Gaps::const_iterator last_gap_;
};

// The number of records whose slots in the hash table are prefetched together.
constexpr size_t kRecordsTogether = 16;

struct PendingUpdate {
  WriteBatchRecord record;
  uint64_t offset;
  UpdateIndex::Family* family;
};

}  // namespace

IndexedBatch::IndexedBatch(const Settings& settings)
    : backup_comparator_(settings.backup_comparator),
      batch_(settings.reserved_bytes, settings.max_bytes, settings.protection_bytes_per_key,
             /*default_cf_ts_sz=*/0),
      end_(batch_.GetDataSize()),
      index_(&batch_, settings.overwrites),
      indexed_end_(end_) {
  assert(backup_comparator_ != nullptr);
}

// The last of owner and readers deletes the object. The deletion comes after the mutex is released,
// because the mutex is a part of the object.
void IndexedBatch::Release() {
  bool is_last;
  {
    MutexLock lock(&mutex_);
    assert(has_owner_);
    has_owner_ = false;
    is_last = reader_count_ == 0;
  }
  if (is_last) delete this;
}

void IndexedBatch::AddReader() {
  MutexLock lock(&mutex_);
  if (reader_count_++ == 0) WriteBatchInternal::KeepOldBytes(&batch_, true);
}

// Without readers the batch need not keep the memory that it has outgrown.
void IndexedBatch::DropReader() {
  bool is_last;
  {
    MutexLock lock(&mutex_);
    assert(reader_count_ > 0);
    if (--reader_count_ != 0) return;
    WriteBatchInternal::KeepOldBytes(&batch_, false);
    is_last = !has_owner_;
  }
  if (is_last) delete this;
}

[[gnu::cold]] Status IndexedBatch::RefuseSize() {
  return Status::MemoryLimit(
      StrCat("WriteBatchWithIndex: more than ", KeyRef::kMaxOffset, " bytes cannot be indexed"));
}

// Notes the comparator of a family. The comparator of a handle counts from the first write with the
// handle on, also for updates that were written without it. In this case all updates are indexed
// again, and the positions of iterators are lost.
Status IndexedBatch::NoteFamily(uint32_t id, ColumnFamilyHandle* handle) {
  const Comparator* const given = handle == nullptr ? nullptr : handle->GetComparator();
  const Comparator* const comparator = given == nullptr ? backup_comparator_ : given;
  if (comparator->timestamp_size() != 0) {
    return Status::NotSupported("WriteBatchWithIndex: families with timestamps are not built yet");
  }
  UpdateIndex::Family* const family = index_.Find(id);
  if (family == nullptr) {
    index_.Make(id, comparator);
  } else if (handle != nullptr && family->comparator().user_comparator() != comparator) {
    index_.Clear();
    index_.OrderBy(family, comparator);
    ++cuts_;
    indexed_count_ = 0;
    indexed_end_.store(kWriteBatchHeaderBytes, std::memory_order_relaxed);
  }
  noted_family_ = id;
  noted_handle_ = handle != nullptr;
  return Status::OK();
}

const Comparator* IndexedBatch::ComparatorOf(uint32_t id, ColumnFamilyHandle* handle) const {
  const UpdateIndex::Family* const family = index_.Find(id);
  if (family != nullptr && update_count_ != 0) {
    return family->comparator().user_comparator();
  }
  const Comparator* const given = handle == nullptr ? nullptr : handle->GetComparator();
  return given == nullptr ? backup_comparator_ : given;
}

Status IndexedBatch::PutLogData(const Slice& blob) { return batch_.PutLogData(blob); }

void IndexedBatch::Clear() {
  batch_.Clear();
  index_.Clear();
  gaps_.clear();
  save_points_.clear();
  end_ = batch_.GetDataSize();
  indexed_end_.store(end_, std::memory_order_relaxed);
  update_count_ = indexed_count_ = 0;
  noted_family_ = kNoFamily;  // the next updates may be for another database
  ++cuts_;
}

void IndexedBatch::SetSavePoint() {
  batch_.SetSavePoint();
  save_points_.push_back({.end = end_, .gap_count = gaps_.size(), .update_count = update_count_});
}

// The updates leave the index before they leave the batch: removing them from the index reads their
// keys in the batch.
Status IndexedBatch::RollbackToSavePoint() {
  if (save_points_.empty()) return batch_.RollbackToSavePoint();
  const Point point = save_points_.back();
  save_points_.pop_back();
  assert(point.end <= end_ && point.update_count <= update_count_);
  if (end_ != point.end) {
    Unindex(point.end);
    end_ = point.end;
    update_count_ = point.update_count;
    gaps_.resize(point.gap_count);
    ++cuts_;
  }
  return batch_.RollbackToSavePoint();
}

Status IndexedBatch::PopSavePoint() {
  if (!save_points_.empty()) save_points_.pop_back();
  return batch_.PopSavePoint();
}

void IndexedBatch::CatchUp() {
  MutexLock lock(&mutex_);
  const size_t indexed_end = indexed_end_.load(std::memory_order_relaxed);
  if (indexed_end == end_) return;  // another reader has indexed the updates
  IndexFrom(indexed_end);
  indexed_count_ = update_count_;
  indexed_end_.store(end_, std::memory_order_release);
}

// Indexes the records from `offset` to end_.
void IndexedBatch::IndexFrom(size_t offset) {
  assert(offset <= end_ && indexed_count_ <= update_count_);
  assert(end_ <= batch_.GetDataSize());
  const size_t missing = update_count_ - indexed_count_;
  if (missing > kRecordsTogether && index_.families().size() == 1) {
    index_.Reserve(index_.families().front().get(), missing);
  }
  IndexedRecords records(Slice(batch_.Data().data(), end_), offset, gaps_);
  UpdateIndex::Family* family = nullptr;
  PendingUpdate pending[kRecordsTogether];
  // In two steps for each group of records: first the memory that all of them need is asked for,
  // then they are entered. So the misses of the cache overlap instead of following each other.
  for (size_t count = kRecordsTogether; count == kRecordsTogether;) {
    for (count = 0; count < kRecordsTogether; ++count) {
      PendingUpdate& next = pending[count];
      if (!records.Next(&next.record, &next.offset)) break;
      if (family == nullptr || family->id() != next.record.family) {
        family = index_.Find(next.record.family);
        assert(family != nullptr);
      }
      next.family = family;
      if (missing > 1) index_.Prefetch(*family, next.record.key);
    }
    for (size_t i = 0; i < count; ++i) {
      index_.Add(pending[i].family, pending[i].record, pending[i].offset);
    }
  }
}

// Removes the records from `offset` on from the index, the last one first.
void IndexedBatch::Unindex(size_t offset) {
  const size_t indexed_end = indexed_end_.load(std::memory_order_relaxed);
  if (indexed_end <= offset) return;
  std::vector<uint64_t> offsets;
  WriteBatchRecord record;
  IndexedRecords records(Slice(batch_.Data().data(), indexed_end), offset, gaps_);
  for (uint64_t at; records.Next(&record, &at);) offsets.push_back(at);
  for (size_t i = offsets.size(); i-- > 0;) {
    record = index_.keys().RecordAt(offsets[i]);
    index_.TakeBack(index_.Find(record.family), record, offsets[i]);
  }
  assert(indexed_count_ >= offsets.size());
  indexed_count_ -= offsets.size();
  indexed_end_.store(offset, std::memory_order_relaxed);
}

// Sorts under the mutex, because several readers may ask at the same time.
const UpdateIndex::Family* IndexedBatch::SortedFamily(uint32_t id) {
  UpdateIndex::Family* const family = Indexed().Find(id);
  if (family == nullptr || family->is_sorted()) return family;
  MutexLock lock(&mutex_);
  if (!family->is_sorted()) index_.Sort(family);
  return family;
}

const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& IndexedBatch::Stats() {
  Indexed();
  MutexLock lock(&mutex_);
  stats_.clear();
  for (const auto& family : index_.families()) {
    if (family->update_count() == 0) continue;
    stats_[family->id()] = {.entry_count = family->update_count(),
                            .overwritten_sd_count = family->replaced_single_delete_count()};
  }
  return stats_;
}

}  // namespace ashlar
