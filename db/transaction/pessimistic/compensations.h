// SPDX-License-Identifier: Apache-2.0
//
// Compensations undo the data of a transaction that was written before it was decided: each key
// gets an older value again, as one more version. The data itself stays below.
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
#include "db/state/prepared_logs.h"
#include "db/transaction/pessimistic/own_reads.h"
#include "db/transaction/pessimistic/pessimistic_state.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

// Adds the compensations of one transaction to a batch. The transaction holds the locks of the
// keys, so that nobody changes their values meanwhile. Threads: one at a time.
class Compensations {
 public:
  struct Setting {
    // Data that is not decided but counts as older than what is undone: that of the transaction
    // before a savepoint.
    DecidedVersions::Own own = {};
    // Merge operands of keys without another update stay if not.
    bool undoes_merges = true;
    // Keys that somebody has written behind the sections are left alone. For a write-unprepared
    // transaction that was found in the log: it had given the locks of such keys back, and had
    // compensated them, when it rolled back to a savepoint.
    bool spares_newer = false;
  };
  Compensations(PessimisticState* state, WriteBatch* batch, const Setting& setting)
      : state_(state), batch_(batch), setting_(setting), reads_(state->db, &setting_.own) {}

  // Undoes all records of a section. Several sections: the newest one first. Updates of families
  // that are gone are left out.
  Status UndoAll(const PreparedSection& section);

 private:
  // Undoes all updates of one key. Does nothing at the second call for a key.
  Status Undo(const PreparedSection& section, uint32_t family, const Slice& key);
  Status Restore(ColumnFamilyHandle* family, const Slice& key);
  // Deletes the key: there was no value.
  Status RestoreAbsence(ColumnFamilyHandle* family, const Slice& key);
  // The same for a value that cannot be read as one, as its operands cannot be merged: they come
  // back one by one.
  Status RestoreUnmerged(ColumnFamilyHandle* family, const Slice& key);

  // Both outlive the object.
  PessimisticState* const state_;
  WriteBatch* const batch_;
  const Setting setting_;
  OwnReads reads_;  // shows the values that come back
  // The keys that have a compensation already, by family.
  std::set<std::pair<uint32_t, std::string>> done_;
  std::map<uint32_t, std::unique_ptr<ColumnFamilyHandle>> handles_;  // null: the family is gone
};

}  // namespace ashlar
