// SPDX-License-Identifier: Apache-2.0
//
// Compensations undo the data of a transaction that was written before it was decided: each key
// gets the value again that it has for readers, as one more version. The data itself stays below.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/write_batch.h"
#include "db/transaction/pessimistic/pessimistic_state.h"

namespace ashlar {

// Adds the compensations of one transaction to a batch. The transaction holds the locks of the
// keys, so that what readers see is what was there before. Threads: one at a time.
class Compensations {
 public:
  Compensations(PessimisticState* state, WriteBatch* batch) : state_(state), batch_(batch) {}

  // Undoes all records of a prepare section. Merge operands of keys without another update stay
  // unless TransactionDBOptions::rollback_merge_operands is set, as in RocksDB. Updates of families
  // that are gone are left out.
  Status UndoAll(const WriteBatch& section);
  // Undoes all updates of one key. Does nothing at the second call for a key.
  Status Undo(uint32_t family, const Slice& key);

 private:
  // Both outlive the object.
  PessimisticState* const state_;
  WriteBatch* const batch_;
  // The keys that have a compensation already, by family.
  std::set<std::pair<uint32_t, std::string>> done_;
  std::map<uint32_t, std::unique_ptr<ColumnFamilyHandle>> handles_;  // null: the family is gone
};

}  // namespace ashlar
