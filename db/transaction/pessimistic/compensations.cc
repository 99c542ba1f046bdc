// SPDX-License-Identifier: Apache-2.0
//
// A plain read does not see what is not decided, so it finds the values from before.
#include "db/transaction/pessimistic/compensations.h"

#include <cassert>

#include "ashlar/wide_columns.h"
#include "db/db_impl.h"
#include "db/read/latest_seqno.h"
#include "db/read/merge_resolution.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"

namespace ashlar {

// A section has each update of the transaction, in their order; the compensation of a key is made
// at its first update and covers the later ones.
Status Compensations::UndoAll(const PreparedSection& section) {
  WriteBatchReader reader(WriteBatchInternal::Contents(*section.batch()));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    if (record.type == kTypeMerge && !setting_.undoes_merges) continue;
    RETURN_IF_ERROR(Undo(section, record.family, record.key));
  }
  return reader.status();
}

Status Compensations::Undo(const PreparedSection& section, uint32_t family, const Slice& key) {
  // The value from before covers all updates of the key at once.
  if (!done_.emplace(family, key.ToString()).second) return Status::OK();
  DBImpl* const db = state_->db;
  const auto [known, is_new] = handles_.try_emplace(family);
  // The log knows families by their numbers only; the handle is kept for the other keys of the
  // family.
  if (is_new) known->second = db->HandleOf(family);
  ColumnFamilyHandle* const handle = known->second.get();
  // The family was dropped, so there is nothing to restore in it.
  if (handle == nullptr) return Status::OK();
  if (setting_.spares_newer) {
    SeqnoQuery query{.key = key, .above = section.entry()->last};
    // A newer version was written after the transaction had given the lock back. It must not be
    // replaced by an older value.
    RETURN_IF_ERROR(db->FindLatestSeqnos(ReadOptions(), family, {&query, 1}));
    if (query.latest != 0) return Status::OK();
  }
  return Restore(handle, key);
}

// RocksDB compensates a key by one record, and so does this wherever a value can be read.
Status Compensations::Restore(ColumnFamilyHandle* family, const Slice& key) {
  assert(family != nullptr);
  PinnableWideColumns before;
  const Status found = reads_.GetEntity(ReadOptions(), family, key, &before);
  if (found.IsNotFound()) return RestoreAbsence(family, key);
  // A merge operator that fails must keep nobody from rolling back, least of all an opening.
  if (!found.ok()) return RestoreUnmerged(family, key);
  const WideColumns& columns = before.columns();
  // A plain value is read as an entity with one column that has the default name.
  if (columns.size() == 1 && columns.front().name() == kDefaultWideColumnName) {
    return WriteBatchInternal::Put(batch_, family->GetID(), key, columns.front().value());
  }
  std::string entity;
  RETURN_IF_ERROR(AppendEncodedColumns(columns, &entity));
  return WriteBatchInternal::PutEntity(batch_, family->GetID(), key, entity);
}

// The data is hidden by a deletion. The program may know that the key is always removed by
// SingleDelete(), which must not be mixed with Delete().
Status Compensations::RestoreAbsence(ColumnFamilyHandle* family, const Slice& key) {
  const auto& wants_single = state_->options.rollback_deletion_type_callback;
  const bool is_single = wants_single && wants_single(state_->facade, family, key);
  return is_single ? WriteBatchInternal::SingleDelete(batch_, family->GetID(), key)
                   : WriteBatchInternal::Delete(batch_, family->GetID(), key);
}

// What is below the operands comes first and hides the data that is undone. The records of the key
// get numbers of their own, as the log divides them into sub-batches.
Status Compensations::RestoreUnmerged(ColumnFamilyHandle* family, const Slice& key) {
  UnmergedValue before;
  RETURN_IF_ERROR(state_->db->GetUnmerged(setting_.own, family, key, &before));
  const uint32_t id = family->GetID();
  if (!before.has_base) {
    RETURN_IF_ERROR(RestoreAbsence(family, key));
  } else if (before.is_entity) {
    RETURN_IF_ERROR(WriteBatchInternal::PutEntity(batch_, id, key, before.base));
  } else {
    RETURN_IF_ERROR(WriteBatchInternal::Put(batch_, id, key, before.base));
  }
  for (const std::string& operand : before.operands) {
    RETURN_IF_ERROR(WriteBatchInternal::Merge(batch_, id, key, operand));
  }
  return Status::OK();
}

}  // namespace ashlar
