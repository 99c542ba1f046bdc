// SPDX-License-Identifier: Apache-2.0
//
// Reads: the batch on top of the database; for update behind TrackKey().
//
// A read looks into the batch first, and asks the database only for keys about which the batch does
// not decide: those without an update, or with merge operands alone. A plain read takes no lock, so
// another transaction may change the key afterwards. The calls ...ForUpdate() track the key first.
#include <cassert>
#include <utility>

#include "db/api/family_iterators.h"
#include "db/db_impl.h"
#include "db/read/pinned_iterator.h"
#include "db/transaction/base/transaction_base.h"
#include "util/result.h"

namespace ashlar {

Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, std::string* value) {
  return batch_.GetFromBatchAndDB(reads_, options, OrDefault(family), key, value);
}
Status TransactionBase::Get(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, PinnableSlice* value) {
  return batch_.GetFromBatchAndDB(reads_, options, OrDefault(family), key, value);
}
Status TransactionBase::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return Get(options, nullptr, key, value);
}
Status TransactionBase::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return Get(options, nullptr, key, value);
}

Status TransactionBase::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                  const Slice& key, PinnableWideColumns* columns) {
  return batch_.GetEntityFromBatchAndDB(reads_, options, family, key, columns);
}

std::vector<Status> TransactionBase::MultiGet(const ReadOptions& options,
                                              const std::vector<ColumnFamilyHandle*>& families,
                                              const std::vector<Slice>& keys,
                                              std::vector<std::string>* values) {
  assert(values != nullptr);
  assert(families.size() == keys.size());
  // Each key is read by a Get(), which would refuse options that announce a MultiGet().
  ReadOptions single = options;
  if (single.io_activity == Env::IOActivity::kMultiGet) {
    single.io_activity = Env::IOActivity::kUnknown;
  }
  values->resize(keys.size());
  assert(values->size() == keys.size());
  std::vector<Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    statuses[i] = Get(single, families[i], keys[i], &(*values)[i]);
  }
  return statuses;
}

std::vector<Status> TransactionBase::MultiGet(const ReadOptions& options,
                                              const std::vector<Slice>& keys,
                                              std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), OrDefault(nullptr)), keys,
                  values);
}

void TransactionBase::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family,
                               size_t num_keys, const Slice* keys, PinnableSlice* values,
                               Status* statuses, bool sorted_input) {
  assert(num_keys == 0 || (keys != nullptr && values != nullptr && statuses != nullptr));
  batch_.MultiGetFromBatchAndDB(reads_, options, OrDefault(family), num_keys, keys, values,
                                statuses, sorted_input);
}

void TransactionBase::MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                     size_t num_keys, const Slice* keys,
                                     PinnableWideColumns* results, Status* statuses,
                                     bool sorted_input) {
  assert(num_keys == 0 || (keys != nullptr && results != nullptr && statuses != nullptr));
  batch_.MultiGetEntityFromBatchAndDB(reads_, options, family, num_keys, keys, results, statuses,
                                      sorted_input);
}

Status TransactionBase::TrackForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key, bool exclusive, bool do_validate) {
  // Without validation the newest value is wanted, and with a snapshot an old one: the two exclude
  // each other.
  if (!do_validate && options.snapshot != nullptr) {
    return Status::InvalidArgument(
        "Transaction::GetForUpdate: with ReadOptions::snapshot the key must be validated");
  }
  return TrackKey(
      OrDefault(family), key,
      {.use = TrackedKeys::Use::kRead, .is_exclusive = exclusive, .is_validated = do_validate});
}

Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, std::string* value, bool exclusive,
                                     bool do_validate) {
  // The key is tracked before the read, so that no write between the two goes unnoticed.
  RETURN_IF_ERROR(TrackForUpdate(options, family, key, exclusive, do_validate));
  return value == nullptr ? Status::OK() : Get(options, family, key, value);
}
Status TransactionBase::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                     const Slice& key, PinnableSlice* value, bool exclusive,
                                     bool do_validate) {
  RETURN_IF_ERROR(TrackForUpdate(options, family, key, exclusive, do_validate));
  return value == nullptr ? Status::OK() : Get(options, family, key, value);
}
Status TransactionBase::GetForUpdate(const ReadOptions& options, const Slice& key,
                                     std::string* value, bool exclusive, bool do_validate) {
  return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
}
Status TransactionBase::GetForUpdate(const ReadOptions& options, const Slice& key,
                                     PinnableSlice* value, bool exclusive, bool do_validate) {
  return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
}

Status TransactionBase::GetEntityForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                                           const Slice& key, PinnableWideColumns* columns,
                                           bool exclusive, bool do_validate) {
  if (family == nullptr) {
    return Status::InvalidArgument("Transaction::GetEntityForUpdate needs the handle of a family");
  }
  RETURN_IF_ERROR(TrackForUpdate(options, family, key, exclusive, do_validate));
  return columns == nullptr ? Status::OK() : GetEntity(options, family, key, columns);
}

// All keys are locked before the first one is read. If one lock cannot be had, nothing is read and
// every key gets that error; the locks taken so far are kept, as after single calls.
std::vector<Status> TransactionBase::MultiGetForUpdate(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  assert(values != nullptr);
  assert(families.size() == keys.size());
  values->assign(keys.size(), std::string());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Status status =
        TrackKey(OrDefault(families[i]), keys[i], {.use = TrackedKeys::Use::kRead});
    if (!status.ok()) return std::vector<Status>(keys.size(), status);
  }
  return MultiGet(options, families, keys, values);
}

std::vector<Status> TransactionBase::MultiGetForUpdate(const ReadOptions& options,
                                                       const std::vector<Slice>& keys,
                                                       std::vector<std::string>* values) {
  return MultiGetForUpdate(
      options, std::vector<ColumnFamilyHandle*>(keys.size(), OrDefault(nullptr)), keys, values);
}

// Releases the key only if this was its last use. A key that was also written, or was read before
// the latest savepoint, stays locked.
void TransactionBase::UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) {
  TrackedKeys::Key* const tracked_key = tracked_->Find(OrDefault(family)->GetID(), key);
  // Nothing to do if the key is unknown, or if another use of it remains.
  if (tracked_key == nullptr || !tracked_->UndoRead(tracked_key)) return;
  Untrack(tracked_key);
  tracked_->Remove(tracked_key);
}

Iterator* TransactionBase::GetIterator(const ReadOptions& options) {
  return GetIterator(options, nullptr);
}

// Entries are pinned last, because those of the batch need it too. The call is virtual: the source
// may be one of another policy.
Iterator* TransactionBase::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  if (options.pin_data) [[unlikely]] {
    return new PinnedIterator(
        std::unique_ptr<Iterator>(GetIterator(PinnedIterator::SourceOptions(options), family)));
  }
  // The new iterator owns the iterator of the database.
  ColumnFamilyHandle* const handle = OrDefault(family);
  assert(handle != nullptr);
  return batch_.NewIteratorWithBase(handle, db_->NewIterator(options, handle), &options);
}

// NewIterators() opens the iterators of all families at one sequence number, so they show one state
// of the database. Each is then owned by an iterator that adds the updates of the batch.
Status TransactionBase::OpenIterators(const ReadOptions& options,
                                      const std::vector<ColumnFamilyHandle*>& families,
                                      std::vector<std::unique_ptr<Iterator>>* iterators) {
  assert(iterators != nullptr);
  std::vector<Iterator*> bases;
  RETURN_IF_ERROR(db_->NewIterators(options, families, &bases));
  assert(bases.size() == families.size());
  for (size_t i = 0; i < families.size(); ++i) {
    iterators->emplace_back(batch_.NewIteratorWithBase(families[i], bases[i], &options));
  }
  return Status::OK();
}

Status TransactionBase::OpenCursors(const ReadOptions& options,
                                    const std::vector<ColumnFamilyHandle*>& families,
                                    FamilyCursors* cursors) {
  const auto open = [&](std::vector<std::unique_ptr<Iterator>>* iterators) -> Status {
    if (!options.pin_data) [[likely]]
      return OpenIterators(options, families, iterators);
    RETURN_IF_ERROR(OpenIterators(PinnedIterator::SourceOptions(options), families, iterators));
    for (std::unique_ptr<Iterator>& iterator : *iterators) {
      iterator = std::make_unique<PinnedIterator>(std::move(iterator));
    }
    return Status::OK();
  };
  return OpenFamilyCursors(options, families, open, cursors);
}

std::unique_ptr<Iterator> TransactionBase::GetCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  FamilyCursors cursors;
  const Status status = OpenCursors(options, families, &cursors);
  if (!status.ok()) return std::unique_ptr<Iterator>(NewErrorIterator(status));
  return std::make_unique<CoalescingIterator>(std::move(cursors));
}

std::unique_ptr<AttributeGroupIterator> TransactionBase::GetAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  FamilyCursors cursors;
  const Status status = OpenCursors(options, families, &cursors);
  if (!status.ok()) return NewAttributeGroupErrorIterator(status);
  return std::make_unique<GroupingIterator>(std::move(cursors));
}

}  // namespace ashlar
