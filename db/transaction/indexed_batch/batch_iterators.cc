// SPDX-License-Identifier: Apache-2.0
//
// The iterator over the updates alone, and the choice of the iterator over a database.
#include "db/transaction/indexed_batch/batch_iterators.h"

#include <cassert>
#include <utility>

#include "ashlar/utilities/write_batch_with_index.h"
#include "db/read/db_iterator.h"
#include "db/read/super_version.h"
#include "db/state/family_handle.h"
#include "db/transaction/indexed_batch/batch_reads.h"
#include "db/transaction/indexed_batch/overlay_iterator.h"
#include "db/transaction/indexed_batch/two_way_iterator.h"
#include "db/transaction/indexed_batch/update_cursor.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

WriteType KindOf(const WriteBatchRecord& record) {
  switch (record.type) {
    case kTypeValue: return kPutRecord;
    case kTypeMerge: return kMergeRecord;
    case kTypeDeletion: return kDeleteRecord;
    case kTypeSingleDeletion: return kSingleDeleteRecord;
    case kTypeWideColumnEntity: return kPutEntityRecord;
    default: assert(false); return kUnknownRecord;
  }
}

// Shows the updates alone.
class UpdateIterator final : public WBWIIterator {
 public:
  UpdateIterator(IndexedBatch* batch, uint32_t family) : batch_(batch), cursor_(batch, family) {}

  bool Valid() const override { return cursor_.Valid(); }
  void SeekToFirst() override { cursor_.SeekToFirst(); }
  void SeekToLast() override { cursor_.SeekToLast(); }
  void Seek(const Slice& target) override { cursor_.Seek(target); }
  void SeekForPrev(const Slice& target) override { cursor_.SeekForPrev(target); }
  void Next() override {
    if (cursor_.Valid()) cursor_.Next();
  }
  void Prev() override {
    if (cursor_.Valid()) cursor_.Prev();
  }
  Status status() const override { return cursor_.status(); }
  WriteEntry Entry() const override {
    const WriteBatchRecord& record = cursor_.record();
    return {.type = KindOf(record), .key = record.key, .value = record.value};
  }
  bool HasOverWrittenSingleDel() const override {
    return batch_->Indexed().ReplacedSingleDelete(cursor_.shown());
  }
  uint32_t GetUpdateCount() const override { return batch_->Indexed().OrdinalOf(cursor_.shown()); }

 private:
  IndexedBatch* const batch_;
  UpdateCursor cursor_;
};

// Whether one merge can show both. This requires that batch and base have the same order and the
// same bounds, that the base neither ends nor skips entries for a reason that does not concern
// those of the batch, and that it does not fold the operands of the batch with an operator that
// expects times. A base that ends with a prefix fits: in one merge the rows of the batch end with
// it too. One that does not end with a prefix fits only if the batch need not either.
bool FitsInto(const DBIterator& base, const Comparator* comparator, const ReadOptions& own) {
  const ReadOptions& options = base.options();
  return base.user_comparator() == comparator &&
         options.iterate_lower_bound == own.iterate_lower_bound &&
         options.iterate_upper_bound == own.iterate_upper_bound &&
         (options.prefix_same_as_start || !own.prefix_same_as_start) &&
         options.max_skippable_internal_keys == 0 &&
         OperatorWithoutTimes(base.merge_operator()) == base.merge_operator();
}

// The prefixes with which an iteration that does not fit into `base` must end; null: with none.
// Without a handle, only an iterator of our own database (`base`, else null) knows them.
std::shared_ptr<const SliceTransform> PrefixesToEndWith(const DBIterator* base,
                                                        ColumnFamilyHandle* family,
                                                        const ReadOptions& own) {
  const bool base_ends = base != nullptr && base->options().prefix_same_as_start;
  if (!base_ends && !own.prefix_same_as_start) return nullptr;
  if (base != nullptr) return base->family_prefixes();
  if (family == nullptr) return nullptr;
  const EpochGuard guard;
  return FamilyOf(family)->super_version()->options().prefix_extractor;
}

}  // namespace

// An iterator of our own database merges the batch as one more sorted run, which is the fast way.
// All others are merged from outside, key by key.
std::unique_ptr<Iterator> NewBatchIterator(IndexedBatch* batch, ColumnFamilyHandle* family,
                                           std::unique_ptr<Iterator> base,
                                           const ReadOptions* bounds) {
  if (base == nullptr) {
    return std::unique_ptr<Iterator>(NewErrorIterator(
        Status::InvalidArgument("WriteBatchWithIndex::NewIteratorWithBase: no base iterator")));
  }
  const uint32_t number = family == nullptr ? 0 : family->GetID();
  const Comparator* const comparator = batch->ComparatorOf(number, family);
  const ReadOptions no_bounds;
  const ReadOptions& limits = bounds == nullptr ? no_bounds : *bounds;
  DBIterator* const own = DBIterator::From(base.get());
  if (own != nullptr && FitsInto(*own, comparator, limits)) {
    // From() has returned the same object with its own type, so the ownership moves with the
    // pointer.
    base.release();
    return std::make_unique<OverlayIterator>(batch, number, std::unique_ptr<DBIterator>(own));
  }
  return std::make_unique<TwoWayIterator>(
      TwoWayIterator::Setting{.batch = batch,
                              .family = number,
                              .handle = family,
                              .comparator = comparator,
                              .lower_bound = limits.iterate_lower_bound,
                              .upper_bound = limits.iterate_upper_bound,
                              .prefixes = PrefixesToEndWith(own, family, limits)},
      std::move(base));
}

Status RefuseStep(const char* step) {
  return Status::NotSupported(StrCat("iterator over a batch: ", step, "() where it is not valid"));
}

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* column_family) {
  const uint32_t number = column_family == nullptr ? 0 : column_family->GetID();
  return new UpdateIterator(&IndexedBatch::Of(this), number);
}
WBWIIterator* WriteBatchWithIndex::NewIterator() { return NewIterator(nullptr); }

Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* column_family,
                                                   Iterator* base_iterator,
                                                   const ReadOptions* opts) {
  return NewBatchIterator(&IndexedBatch::Of(this), column_family,
                          std::unique_ptr<Iterator>(base_iterator), opts)
      .release();
}
Iterator* WriteBatchWithIndex::NewIteratorWithBase(Iterator* base_iterator,
                                                   const ReadOptions* opts) {
  return NewIteratorWithBase(nullptr, base_iterator, opts);
}

}  // namespace ashlar
