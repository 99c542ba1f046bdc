// SPDX-License-Identifier: Apache-2.0
//
// The forms of Transaction that are made of others, and what not every kind of transaction can do.
#include "ashlar/utilities/transaction.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

namespace {

Status NotPossible(const char* call) {
  assert(call != nullptr);
  return Status::NotSupported(StrCat(call, ": not supported by this kind of transaction"));
}

}  // namespace

Status Transaction::CommitAndTryCreateSnapshot(std::shared_ptr<TransactionNotifier> notifier,
                                               TxnTimestamp ts,
                                               std::shared_ptr<const Snapshot>* snapshot) {
  // The result is cleared first, so that it is null after every error.
  if (snapshot != nullptr) snapshot->reset();
  const TxnTimestamp set = GetCommitTimestamp();
  if (ts == kMaxTxnTimestamp && set == kMaxTxnTimestamp) {
    return Status::InvalidArgument(
        "Transaction::CommitAndTryCreateSnapshot: needs a commit timestamp");
  }
  if (ts != kMaxTxnTimestamp && set != kMaxTxnTimestamp && ts != set) {
    return Status::InvalidArgument(
        "Transaction::CommitAndTryCreateSnapshot: another commit timestamp was set before");
  }
  // A timestamp that was set before counts if the call gives none.
  if (set == kMaxTxnTimestamp) {
    const Status status = SetCommitTimestamp(ts);
    if (!status.ok()) return status;
  }
  // The snapshot becomes due at the commit, so that it shows exactly the state that the commit has
  // made.
  SetSnapshotOnNextOperation(notifier);
  const Status status = Commit();
  if (status.ok() && snapshot != nullptr) *snapshot = GetTimestampedSnapshot();
  return status;
}

Status Transaction::Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, PinnableSlice* pinnable_val) {
  assert(pinnable_val != nullptr);
  pinnable_val->Reset();
  // The other form reads into a string, and the slice then refers to the string that it contains.
  Status status = Get(options, column_family, key, pinnable_val->GetSelf());
  pinnable_val->PinSelf();
  return status;
}
Status Transaction::Get(const ReadOptions& options, const Slice& key, PinnableSlice* pinnable_val) {
  assert(pinnable_val != nullptr);
  pinnable_val->Reset();
  Status status = Get(options, key, pinnable_val->GetSelf());
  pinnable_val->PinSelf();
  return status;
}
void Transaction::MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const size_t num_keys, const Slice* keys, PinnableSlice* values,
                           Status* statuses, const bool /*sorted_input*/) {
  // One by one, because a class of the program may have no faster way; the kinds of this library
  // replace this.
  assert(num_keys == 0 || (keys != nullptr && values != nullptr && statuses != nullptr));
  for (size_t i = 0; i < num_keys; ++i) {
    statuses[i] = Get(options, column_family, keys[i], &values[i]);
  }
}

Status Transaction::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                 const Slice& key, PinnableSlice* pinnable_val, bool exclusive,
                                 const bool do_validate) {
  if (pinnable_val == nullptr) {
    // A null pointer means that the key is only locked; the typed variable chooses the overload.
    std::string* no_value = nullptr;
    return GetForUpdate(options, column_family, key, no_value, exclusive, do_validate);
  }
  pinnable_val->Reset();
  Status status =
      GetForUpdate(options, column_family, key, pinnable_val->GetSelf(), exclusive, do_validate);
  pinnable_val->PinSelf();
  return status;
}
Status Transaction::GetForUpdate(const ReadOptions& options, const Slice& key,
                                 PinnableSlice* pinnable_val, bool exclusive,
                                 const bool do_validate) {
  if (pinnable_val == nullptr) {
    std::string* no_value = nullptr;
    return GetForUpdate(options, key, no_value, exclusive, do_validate);
  }
  pinnable_val->Reset();
  Status status = GetForUpdate(options, key, pinnable_val->GetSelf(), exclusive, do_validate);
  pinnable_val->PinSelf();
  return status;
}

Status Transaction::GetImpl(const ReadOptions& options, ColumnFamilyHandle* column_family,
                            const Slice& key, std::string* value) {
  return Get(options, column_family, key, value);
}
Status Transaction::GetImpl(const ReadOptions& options, ColumnFamilyHandle* column_family,
                            const Slice& key, PinnableSlice* pinnable_val) {
  return Get(options, column_family, key, pinnable_val);
}

Status Transaction::GetRangeLock(ColumnFamilyHandle*, const Endpoint&, const Endpoint&) {
  return NotPossible("Transaction::GetRangeLock");
}
Status Transaction::CollapseKey(const ReadOptions&, const Slice&, ColumnFamilyHandle*) {
  return NotPossible("Transaction::CollapseKey");
}
Status Transaction::SetReadTimestampForValidation(TxnTimestamp) {
  return NotPossible("Transaction::SetReadTimestampForValidation");
}
Status Transaction::SetCommitTimestamp(TxnTimestamp) {
  return NotPossible("Transaction::SetCommitTimestamp");
}
// A transaction that does not wait for locks waits for nobody.
std::vector<TransactionID> Transaction::GetWaitingTxns(uint32_t*, std::string*) const { return {}; }

}  // namespace ashlar
