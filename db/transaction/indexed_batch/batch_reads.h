// SPDX-License-Identifier: Apache-2.0
//
// The updates that an indexed batch has for one key, alone or on top of the value in a database.
//
// The slices of a state are valid until the batch changes. Threads: as readers of the batch.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/wide_columns.h"
#include "db/read/merge_resolution.h"
#include "db/transaction/indexed_batch/indexed_batch.h"

namespace ashlar {

// The updates of a key that determine its value: the merge operands down to the newest update that
// is not an operand, and this update.
struct OwnState {
  enum class Base : uint8_t {
    kUnknown,  // there is no such update, so the value in the database counts
    kDeleted,
    kValue,
    kEntity,
  };

  // Whether the result depends on the value in the database.
  bool NeedsDatabase() const { return base == Base::kUnknown; }
  // Whether the batch has no update of the key.
  bool IsNothing() const { return base == Base::kUnknown && operands.empty(); }

  Base base = Base::kUnknown;
  Slice value;                  // of kValue; of kEntity the stored form
  std::vector<Slice> operands;  // newest first
};

// The state of a key in the batch.
OwnState OwnStateOf(IndexedBatch* batch, uint32_t family, const Slice& key);
// Like OwnState(), for a caller that has found the newest update of the key already.
OwnState OwnStateFrom(const UpdateIndex& index, UpdateIndex::Shown newest);

// A DBWithTTL stores each value and operand with the time of its write, and its merge operator
// expects these times. The updates of a batch have no times before they are written, nor have the
// values that a DBWithTTL shows. So they are folded with the user's operator, which the operator of
// a DBWithTTL wraps. Returns this operator, and every other operator (also null) unchanged.
const MergeOperator* OperatorWithoutTimes(const MergeOperator* merge_operator);
// Whether the family is one of a DBWithTTL. False for a null handle.
bool StoresTimes(ColumnFamilyHandle* family);
// The status of a fold into a value that has a time.
Status RefuseTimes();

// Folds the operands of a state (at least one) into its own base or, if it has none, into the base
// from the database (null: the database has none), which must not have a time. InvalidArgument for
// a null handle or a family without an operator; other errors as MergeFully().
Status FoldOwnState(ColumnFamilyHandle* family, const Slice& key, const OwnState& state,
                    const MergeBase* database_base, Merged* result);

// Converts the columns of a value in the database to a base. `space` gets the stored form of
// several columns, and outlives the base. Returns errors of the encoding.
Status BaseOfColumns(const WideColumns& columns, std::string* space, MergeBase* base);

}  // namespace ashlar
