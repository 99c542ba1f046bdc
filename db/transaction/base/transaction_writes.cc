// SPDX-License-Identifier: Apache-2.0
//
// Writes: the key is tracked, then the update goes to the batch.
//
// All writes end in AddUpdate(). The many public forms differ in how the key is named (family or
// default, one slice or parts), and in whether the key is validated; each form of an update has one
// private function `...As()` that they share.
#include <cassert>
#include <string>

#include "db/db_impl.h"
#include "db/transaction/base/transaction_base.h"
#include "db/write/write_batch_reader.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The bytes of all parts one after the other. Locks and the index need the key in one piece.
std::string Joined(const SliceParts& parts) {
  std::string text;
  assert(parts.num_parts >= 0);
  for (int i = 0; i < parts.num_parts; ++i)
    text.append(parts.parts[i].data(), parts.parts[i].size());
  return text;
}

}  // namespace

template <typename Update>
Status TransactionBase::AddUpdate(ColumnFamilyHandle* family, const Slice& key,
                                  const Access& access, uint64_t Counts::*count,
                                  const Update& update) {
  assert(count != nullptr);
  ColumnFamilyHandle* const handle = OrDefault(family);
  // In this order: first room in the batch, which may write a part of it; then the lock; then the
  // update. A step that fails leaves those after it undone.
  RETURN_IF_ERROR(MakeRoom());
  RETURN_IF_ERROR(TrackKey(handle, key, access));
  assert(handle != nullptr);
  RETURN_IF_ERROR(update(Target(), handle));
  // Counted only when the update is in the batch, so the counters agree with it.
  counts_.*count += 1;
  return Status::OK();
}

Status TransactionBase::PutAs(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                              const Access& access) {
  return AddUpdate(family, key, access, &Counts::puts,
                   [&](WriteBatchBase* batch, ColumnFamilyHandle* handle) {
                     return batch->Put(handle, key, value);
                   });
}
Status TransactionBase::PutEntityAs(ColumnFamilyHandle* family, const Slice& key,
                                    const WideColumns& columns, const Access& access) {
  if (family == nullptr) {
    return Status::InvalidArgument("Transaction::PutEntity needs the handle of a family");
  }
  return AddUpdate(family, key, access, &Counts::put_entities,
                   [&](WriteBatchBase* batch, ColumnFamilyHandle* handle) {
                     return batch->PutEntity(handle, key, columns);
                   });
}
Status TransactionBase::MergeAs(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                                const Access& access) {
  return AddUpdate(family, key, access, &Counts::merges,
                   [&](WriteBatchBase* batch, ColumnFamilyHandle* handle) {
                     return batch->Merge(handle, key, value);
                   });
}
Status TransactionBase::DeleteAs(ColumnFamilyHandle* family, const Slice& key,
                                 const Access& access) {
  return AddUpdate(family, key, access, &Counts::deletes,
                   [&](WriteBatchBase* batch, ColumnFamilyHandle* handle) {
                     return batch->Delete(handle, key);
                   });
}
Status TransactionBase::SingleDeleteAs(ColumnFamilyHandle* family, const Slice& key,
                                       const Access& access) {
  return AddUpdate(family, key, access, &Counts::deletes,
                   [&](WriteBatchBase* batch, ColumnFamilyHandle* handle) {
                     return batch->SingleDelete(handle, key);
                   });
}

Status TransactionBase::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                            bool assume_tracked) {
  return PutAs(family, key, value, WriteAccess(assume_tracked));
}
Status TransactionBase::Put(const Slice& key, const Slice& value) {
  return PutAs(nullptr, key, value, WriteAccess());
}
Status TransactionBase::Put(ColumnFamilyHandle* family, const SliceParts& key,
                            const SliceParts& value, bool assume_tracked) {
  return PutAs(family, Joined(key), Joined(value), WriteAccess(assume_tracked));
}
Status TransactionBase::Put(const SliceParts& key, const SliceParts& value) {
  return PutAs(nullptr, Joined(key), Joined(value), WriteAccess());
}
Status TransactionBase::PutEntity(ColumnFamilyHandle* family, const Slice& key,
                                  const WideColumns& columns, bool assume_tracked) {
  return PutEntityAs(family, key, columns, WriteAccess(assume_tracked));
}
Status TransactionBase::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                              bool assume_tracked) {
  return MergeAs(family, key, value, WriteAccess(assume_tracked));
}
Status TransactionBase::Merge(const Slice& key, const Slice& value) {
  return MergeAs(nullptr, key, value, WriteAccess());
}
Status TransactionBase::Delete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) {
  return DeleteAs(family, key, WriteAccess(assume_tracked));
}
Status TransactionBase::Delete(const Slice& key) { return DeleteAs(nullptr, key, WriteAccess()); }
Status TransactionBase::Delete(ColumnFamilyHandle* family, const SliceParts& key,
                               bool assume_tracked) {
  return DeleteAs(family, Joined(key), WriteAccess(assume_tracked));
}
Status TransactionBase::Delete(const SliceParts& key) {
  return DeleteAs(nullptr, Joined(key), WriteAccess());
}
Status TransactionBase::SingleDelete(ColumnFamilyHandle* family, const Slice& key,
                                     bool assume_tracked) {
  return SingleDeleteAs(family, key, WriteAccess(assume_tracked));
}
Status TransactionBase::SingleDelete(const Slice& key) {
  return SingleDeleteAs(nullptr, key, WriteAccess());
}
Status TransactionBase::SingleDelete(ColumnFamilyHandle* family, const SliceParts& key,
                                     bool assume_tracked) {
  return SingleDeleteAs(family, Joined(key), WriteAccess(assume_tracked));
}
Status TransactionBase::SingleDelete(const SliceParts& key) {
  return SingleDeleteAs(nullptr, Joined(key), WriteAccess());
}

Status TransactionBase::PutUntracked(ColumnFamilyHandle* family, const Slice& key,
                                     const Slice& value) {
  return PutAs(family, key, value, UntrackedAccess());
}
Status TransactionBase::PutUntracked(const Slice& key, const Slice& value) {
  return PutAs(nullptr, key, value, UntrackedAccess());
}
Status TransactionBase::PutUntracked(ColumnFamilyHandle* family, const SliceParts& key,
                                     const SliceParts& value) {
  return PutAs(family, Joined(key), Joined(value), UntrackedAccess());
}
Status TransactionBase::PutUntracked(const SliceParts& key, const SliceParts& value) {
  return PutAs(nullptr, Joined(key), Joined(value), UntrackedAccess());
}
Status TransactionBase::PutEntityUntracked(ColumnFamilyHandle* family, const Slice& key,
                                           const WideColumns& columns) {
  return PutEntityAs(family, key, columns, UntrackedAccess());
}
Status TransactionBase::MergeUntracked(ColumnFamilyHandle* family, const Slice& key,
                                       const Slice& value) {
  return MergeAs(family, key, value, UntrackedAccess());
}
Status TransactionBase::MergeUntracked(const Slice& key, const Slice& value) {
  return MergeAs(nullptr, key, value, UntrackedAccess());
}
Status TransactionBase::DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) {
  return DeleteAs(family, key, UntrackedAccess());
}
Status TransactionBase::DeleteUntracked(const Slice& key) {
  return DeleteAs(nullptr, key, UntrackedAccess());
}
Status TransactionBase::DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) {
  return DeleteAs(family, Joined(key), UntrackedAccess());
}
Status TransactionBase::DeleteUntracked(const SliceParts& key) {
  return DeleteAs(nullptr, Joined(key), UntrackedAccess());
}
Status TransactionBase::SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) {
  return SingleDeleteAs(family, key, UntrackedAccess());
}
Status TransactionBase::SingleDeleteUntracked(const Slice& key) {
  return SingleDeleteAs(nullptr, key, UntrackedAccess());
}

void TransactionBase::PutLogData(const Slice& blob) {
  IgnoreError(batch_.PutLogData(blob), "the call returns nothing; a full batch refuses the next");
}

namespace {

// A family as a batch needs it.
class NumberedFamily final : public ColumnFamilyHandle {
 public:
  NumberedFamily(uint32_t id, const Comparator* comparator) : id_(id), comparator_(comparator) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor*) override {
    return Status::NotSupported("only the number of the column family is known");
  }
  const Comparator* GetComparator() const override { return comparator_; }

 private:
  const std::string name_;
  const uint32_t id_;
  const Comparator* const comparator_;
};

}  // namespace

// Repeats the updates of a batch as calls of this transaction, which locks or tracks their keys.
// After an error the updates before it stay in the transaction.
Status TransactionBase::RebuildFromWriteBatch(WriteBatch* source) {
  assert(source != nullptr);
  WriteBatchReader reader{Slice(source->Data())};
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.type == kTypeLogData || record.type == kTypeNoop) continue;
    // Markers would make the replayed batch a prepared section, which only Prepare() may write.
    if (!record.IsCounted()) {
      return Status::InvalidArgument(
          "Transaction::RebuildFromWriteBatch: the batch has markers of two-phase commit");
    }
    const Comparator* const comparator = db_->ComparatorOf(record.family);
    if (comparator == nullptr) {
      return Status::InvalidArgument(
          StrCat("Transaction::RebuildFromWriteBatch: there is no column family ", record.family));
    }
    NumberedFamily family(record.family, comparator);
    // The handle lives until the update is in the batch, which keeps the number alone.
    RETURN_IF_ERROR(Replay(record, &family));
  }
  return reader.status();
}

namespace {

// Calls use(record, family) for each update of a section whose family still exists, until an error.
template <typename Use>
Status ForEachUpdate(DBImpl* db, const WriteBatch& section, const Use& use) {
  assert(db != nullptr);
  WriteBatchReader reader{Slice(section.Data())};
  for (WriteBatchRecord record; reader.Next(&record);) {
    // Markers of the section are no updates.
    if (!record.IsCounted()) continue;
    const Comparator* const comparator = db->ComparatorOf(record.family);
    // The family was dropped after the section was written, so its updates have no effect.
    if (comparator == nullptr) continue;
    record.DropWriteTime();
    NumberedFamily family(record.family, comparator);
    RETURN_IF_ERROR(use(record, &family));
  }
  return reader.status();
}

}  // namespace

// A range deletion was added past the transaction, which can neither lock nor index it. It stays in
// the section, which the commit inserts.
Status TransactionBase::AddUpdatesOf(const WriteBatch& section) {
  return ForEachUpdate(db_, section,
                       [this](const WriteBatchRecord& record, ColumnFamilyHandle* family) {
                         if (record.type == kTypeRangeDeletion) return Status::OK();
                         return Replay(record, family);
                       });
}

// Range deletions are refused, because their keys can be neither locked nor tracked.
Status TransactionBase::TrackUpdatesOf(const WriteBatch& section) {
  return ForEachUpdate(db_, section,
                       [this](const WriteBatchRecord& record, ColumnFamilyHandle* family) {
                         return TrackKey(family, record.key, WriteAccess());
                       });
}

bool TransactionBase::AddRecord(const WriteBatchRecord& record) {
  NumberedFamily family(record.family, db_->ComparatorOf(record.family));
  switch (record.type) {
    case kTypeLogData: return batch_.PutLogData(record.value).ok();
    case kTypeValue: return batch_.Put(&family, record.key, record.value).ok();
    case kTypeMerge: return batch_.Merge(&family, record.key, record.value).ok();
    case kTypeDeletion: return batch_.Delete(&family, record.key).ok();
    case kTypeSingleDeletion: return batch_.SingleDelete(&family, record.key).ok();
    case kTypeWideColumnEntity: {
      WideColumns columns;
      // The entity is decoded, because the batch takes columns and encodes them itself.
      return DecodeColumns(record.value, &columns).ok() &&
             batch_.PutEntity(&family, record.key, columns).ok();
    }
    default: return false;
  }
}

Status TransactionBase::Replay(const WriteBatchRecord& record, ColumnFamilyHandle* family) {
  assert(family != nullptr);
  assert(record.IsCounted());
  switch (record.type) {
    case kTypeValue: return PutAs(family, record.key, record.value, WriteAccess());
    case kTypeMerge: return MergeAs(family, record.key, record.value, WriteAccess());
    case kTypeDeletion: return DeleteAs(family, record.key, WriteAccess());
    case kTypeSingleDeletion: return SingleDeleteAs(family, record.key, WriteAccess());
    case kTypeWideColumnEntity: {
      WideColumns columns;
      RETURN_IF_ERROR(DecodeColumns(record.value, &columns));
      return PutEntityAs(family, record.key, columns, WriteAccess());
    }
    default:
      return Status::InvalidArgument(StrCat("Transaction::RebuildFromWriteBatch: records of kind ",
                                            int{record.type}, " are not supported"));
  }
}

}  // namespace ashlar
