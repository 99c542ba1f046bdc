// SPDX-License-Identifier: Apache-2.0
//
// The reading calls of WriteBatchWithIndex: from the batch alone, and from the batch over a
// database. Results from the batch are copies, because the batch may change or be destroyed.
#include "db/transaction/indexed_batch/batch_reads.h"

#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "db/state/family_handle.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Older updates than the first one that is not an operand do not count.
OwnState OwnStateFrom(const UpdateIndex& index, UpdateIndex::Shown newest) {
  OwnState state;
  do {
    const WriteBatchRecord record = index.keys().RecordAt(newest.offset);
    if (record.type == kTypeMerge) {
      state.operands.push_back(record.value);
      continue;
    }
    state.base = record.type == kTypeValue              ? OwnState::Base::kValue
                 : record.type == kTypeWideColumnEntity ? OwnState::Base::kEntity
                                                        : OwnState::Base::kDeleted;
    state.value = record.value;
    break;
  } while (index.ToOlder(&newest));
  return state;
}

OwnState OwnStateOf(IndexedBatch* batch, uint32_t family_id, const Slice& key) {
  assert(batch != nullptr);
  const UpdateIndex& index = batch->Indexed();
  const UpdateIndex::Family* const family = index.Find(family_id);
  UpdateIndex::Shown newest;
  if (family == nullptr || !index.FindNewest(*family, key, &newest)) return {};
  return OwnStateFrom(index, newest);
}

// Names are compared, because the classes of DBWithTTL are above this room.
const MergeOperator* OperatorWithoutTimes(const MergeOperator* merge_operator) {
  if (merge_operator == nullptr || std::strcmp(merge_operator->Name(), "TtlMergeOperator") != 0) {
    return merge_operator;
  }
  const Customizable* const inner = merge_operator->Inner();
  return inner == nullptr ? merge_operator : static_cast<const MergeOperator*>(inner);
}

bool StoresTimes(ColumnFamilyHandle* family) {
  if (family == nullptr) return false;
  const MergeOperator* const stored = MergeToolsOf(family).merge_operator;
  return OperatorWithoutTimes(stored) != stored;
}

[[gnu::cold]] Status RefuseTimes() {
  return Status::NotSupported(
      "WriteBatchWithIndex: a merge over values with times; read over the DBWithTTL");
}

// The operands of the batch are newer than everything in the database.
Status FoldOwnState(ColumnFamilyHandle* family, const Slice& key, const OwnState& state,
                    const MergeBase* database_base, Merged* result) {
  assert(!state.operands.empty());
  if (family == nullptr) {
    return Status::InvalidArgument(
        "WriteBatchWithIndex: merge operands need the handle of their column family");
  }
  const MergeBase own{.value = state.value, .is_entity = state.base == OwnState::Base::kEntity};
  const MergeBase* base = state.NeedsDatabase() ? database_base : &own;
  if (state.base == OwnState::Base::kDeleted) base = nullptr;
  MergeTools tools = MergeToolsOf(family);
  tools.merge_operator = OperatorWithoutTimes(tools.merge_operator);
  return MergeFully(tools, key, base, {state.operands.rbegin(), state.operands.rend()}, result);
}

// A plain value is shown as one column with the default name.
Status BaseOfColumns(const WideColumns& columns, std::string* space, MergeBase* base) {
  assert(space != nullptr);
  if (columns.size() == 1 && columns.front().name() == kDefaultWideColumnName) {
    *base = {.value = columns.front().value(), .is_entity = false};
    return Status::OK();
  }
  space->clear();
  RETURN_IF_ERROR(AppendEncodedColumns(columns, space));
  *base = {.value = *space, .is_entity = true};
  return Status::OK();
}

namespace {

uint32_t NumberOf(ColumnFamilyHandle* family) { return family == nullptr ? 0 : family->GetID(); }

// Where a read puts its result as a value; for an entity, the default column.
class ValueTarget {
 public:
  explicit ValueTarget(PinnableSlice* value) : value_(value) {}

  Status TakeValue(const Slice& value) {
    value_->Reset();
    value_->PinSelf(value);
    return Status::OK();
  }
  Status TakeEntity(const Slice& entity) {
    Slice column;
    RETURN_IF_ERROR(DecodeDefaultColumn(entity, &column));
    return TakeValue(column);
  }

 private:
  PinnableSlice* const value_;
};

// Where a read puts its result as columns.
class ColumnsTarget {
 public:
  explicit ColumnsTarget(PinnableWideColumns* columns) : columns_(columns) {}

  Status TakeValue(const Slice& value) {
    columns_->SetPlainValue(value);
    return Status::OK();
  }
  Status TakeEntity(const Slice& entity) { return columns_->SetWideColumnValue(entity); }

 private:
  PinnableWideColumns* const columns_;
};

template <typename Target>
Status TakeMergedInto(const Merged& merged, Target target) {
  return merged.is_entity ? target.TakeEntity(merged.AsSlice())
                          : target.TakeValue(merged.AsSlice());
}

// Answers from a state that does not need the database.
template <typename Target>
Status AnswerFromBatch(ColumnFamilyHandle* family, const Slice& key, const OwnState& state,
                       Target target) {
  assert(!state.NeedsDatabase());
  if (!state.operands.empty()) {
    Merged merged;
    RETURN_IF_ERROR(FoldOwnState(family, key, state, nullptr, &merged));
    return TakeMergedInto(merged, target);
  }
  switch (state.base) {
    case OwnState::Base::kValue: return target.TakeValue(state.value);
    case OwnState::Base::kEntity: return target.TakeEntity(state.value);
    default: return Status::NotFound();
  }
}

// Answers by folding operands onto the answer of the database.
template <typename Target>
Status AnswerOverDatabase(ColumnFamilyHandle* family, const Slice& key, const OwnState& state,
                          const Status& found, const WideColumns& columns, Target target) {
  assert(state.NeedsDatabase());
  if (!found.ok() && !found.IsNotFound()) return found;
  std::string space;
  MergeBase base;
  if (found.ok()) RETURN_IF_ERROR(BaseOfColumns(columns, &space, &base));
  Merged merged;
  RETURN_IF_ERROR(FoldOwnState(family, key, state, found.ok() ? &base : nullptr, &merged));
  return TakeMergedInto(merged, target);
}

template <typename Target>
Status ReadFromBatch(IndexedBatch* batch, ColumnFamilyHandle* family, const Slice& key,
                     Target target) {
  const OwnState state = OwnStateOf(batch, NumberOf(family), key);
  if (state.IsNothing()) return Status::NotFound();
  if (state.NeedsDatabase()) return Status::MergeInProgress();
  return AnswerFromBatch(family, key, state, target);
}

// Whether operands of the batch can be folded into what reads of `db` return.
Status CheckMergesOver(DB* db, ColumnFamilyHandle* family) {
  uint64_t ttl = 0;
  const bool fits = !StoresTimes(family) || db->GetIntProperty(family, "ashlar.ttl", &ttl);
  return fits ? Status::OK() : RefuseTimes();
}

// Reads from the batch over the database. `read()` returns the answer of the database alone, and is
// called if the batch has no update of the key.
template <typename Target, typename Read>
Status ReadOverDatabase(IndexedBatch* batch, DB* db, const ReadOptions& options,
                        ColumnFamilyHandle* family, const Slice& key, Target target,
                        const Read& read) {
  const OwnState state = OwnStateOf(batch, NumberOf(family), key);
  if (state.IsNothing()) return read();
  if (!state.NeedsDatabase()) return AnswerFromBatch(family, key, state, target);
  RETURN_IF_ERROR(CheckMergesOver(db, family));
  PinnableWideColumns columns;
  ReadOptions whole = options;
  whole.io_activity = Env::IOActivity::kGetEntity;
  const Status found = db->GetEntity(whole, family, key, &columns);
  return AnswerOverDatabase(family, key, state, found, columns.columns(), target);
}

// The activity in the options must be unknown, or that of the call, which a layer above may have
// set.
Status CheckActivity(const ReadOptions& options, Env::IOActivity own, const char* call) {
  if (options.io_activity == Env::IOActivity::kUnknown || options.io_activity == own) {
    return Status::OK();
  }
  return Status::InvalidArgument(
      StrCat(call, ": ReadOptions::io_activity must be unknown or that of the call"));
}

Status MissingArgument(const char* call, const char* what) {
  return Status::InvalidArgument(StrCat(call, ": ", what, " is a null pointer"));
}

// A batched read over the database. The keys without an update in the batch are read together. The
// keys with merge operands only are read together too, with all their columns.
template <typename Result, typename MakeTarget, typename ReadRest>
void ReadManyOverDatabase(IndexedBatch* batch, DB* db, const ReadOptions& options,
                          ColumnFamilyHandle* family, size_t count, const Slice* keys,
                          Result* results, Status* statuses, bool is_sorted,
                          const MakeTarget& make_target, const ReadRest& read_rest) {
  const uint32_t number = NumberOf(family);
  std::vector<size_t> rest;
  std::vector<size_t> merged;
  std::vector<OwnState> states;  // parallel to `merged`
  for (size_t i = 0; i < count; ++i) {
    OwnState state = OwnStateOf(batch, number, keys[i]);
    if (!state.NeedsDatabase()) {
      statuses[i] = AnswerFromBatch(family, keys[i], state, make_target(&results[i]));
    } else if (state.IsNothing()) {
      rest.push_back(i);
    } else {
      merged.push_back(i);
      states.push_back(std::move(state));
    }
  }
  const auto keys_of = [&](const std::vector<size_t>& indexes) {
    std::vector<Slice> chosen;
    chosen.reserve(indexes.size());
    for (const size_t i : indexes) chosen.push_back(keys[i]);
    return chosen;
  };
  // The batch knows none of the keys: the results of the database go straight to the caller.
  if (rest.size() == count) return read_rest(count, keys, results, statuses);
  if (!rest.empty()) {
    std::vector<Result> found(rest.size());
    std::vector<Status> outcomes(rest.size());
    read_rest(rest.size(), keys_of(rest).data(), found.data(), outcomes.data());
    for (size_t i = 0; i < rest.size(); ++i) {
      results[rest[i]] = std::move(found[i]);
      statuses[rest[i]] = outcomes[i];
    }
  }
  if (merged.empty()) return;
  // Asked once for all keys, as the answer depends on the family only.
  const Status fits = CheckMergesOver(db, family);
  for (const size_t at : merged) statuses[at] = fits;
  if (!fits.ok()) return;
  std::vector<PinnableWideColumns> found(merged.size());
  std::vector<Status> outcomes(merged.size());
  ReadOptions whole = options;
  whole.io_activity = Env::IOActivity::kMultiGetEntity;
  db->MultiGetEntity(whole, family, merged.size(), keys_of(merged).data(), found.data(),
                     outcomes.data(), is_sorted);
  for (size_t i = 0; i < merged.size(); ++i) {
    const size_t at = merged[i];
    statuses[at] = AnswerOverDatabase(family, keys[at], states[i], outcomes[i], found[i].columns(),
                                      make_target(&results[at]));
  }
}

}  // namespace

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions&,
                                         const Slice& key, std::string* value) {
  PinnableSlice found(value);
  return ReadFromBatch(&IndexedBatch::Of(this), column_family, key, ValueTarget(&found));
}

Status WriteBatchWithIndex::GetFromBatch(const DBOptions& options, const Slice& key,
                                         std::string* value) {
  return GetFromBatch(nullptr, options, key, value);
}

Status WriteBatchWithIndex::GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                                               PinnableWideColumns* columns) {
  constexpr const char* kCall = "WriteBatchWithIndex::GetEntityFromBatch";
  if (column_family == nullptr) return MissingArgument(kCall, "the column family");
  if (columns == nullptr) return MissingArgument(kCall, "the place for the columns");
  columns->Reset();
  return ReadFromBatch(&IndexedBatch::Of(this), column_family, key, ColumnsTarget(columns));
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, std::string* value) {
  assert(db != nullptr);
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, PinnableSlice* value) {
  assert(db != nullptr);
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              std::string* value) {
  PinnableSlice found(value);
  const Status status = GetFromBatchAndDB(db, read_options, column_family, key, &found);
  if (status.ok() && found.IsPinned()) value->assign(found.data(), found.size());
  return status;
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              PinnableSlice* value) {
  assert(value != nullptr);
  RETURN_IF_ERROR(
      CheckActivity(read_options, Env::IOActivity::kGet, "WriteBatchWithIndex::GetFromBatchAndDB"));
  ColumnFamilyHandle* const family =
      column_family == nullptr ? db->DefaultColumnFamily() : column_family;
  value->Reset();
  return ReadOverDatabase(&IndexedBatch::Of(this), db, read_options, family, key,
                          ValueTarget(value),
                          [&] { return db->Get(read_options, family, key, value); });
}

Status WriteBatchWithIndex::GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                    ColumnFamilyHandle* column_family,
                                                    const Slice& key,
                                                    PinnableWideColumns* columns) {
  constexpr const char* kCall = "WriteBatchWithIndex::GetEntityFromBatchAndDB";
  if (db == nullptr) return MissingArgument(kCall, "the database");
  if (column_family == nullptr) return MissingArgument(kCall, "the column family");
  if (columns == nullptr) return MissingArgument(kCall, "the place for the columns");
  RETURN_IF_ERROR(CheckActivity(read_options, Env::IOActivity::kGetEntity, kCall));
  columns->Reset();
  return ReadOverDatabase(&IndexedBatch::Of(this), db, read_options, column_family, key,
                          ColumnsTarget(columns),
                          [&] { return db->GetEntity(read_options, column_family, key, columns); });
}

namespace {

// Sets the status of all keys of a batched read.
void FailAll(const Status& status, size_t count, Status* statuses) {
  for (size_t i = 0; i < count; ++i) statuses[i] = status;
}

}  // namespace

void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                 ColumnFamilyHandle* column_family,
                                                 const size_t num_keys, const Slice* keys,
                                                 PinnableSlice* values, Status* statuses,
                                                 bool sorted_input) {
  const Status checked = CheckActivity(read_options, Env::IOActivity::kMultiGet,
                                       "WriteBatchWithIndex::MultiGetFromBatchAndDB");
  if (!checked.ok()) return FailAll(checked, num_keys, statuses);
  ColumnFamilyHandle* const family =
      column_family == nullptr ? db->DefaultColumnFamily() : column_family;
  ReadManyOverDatabase(
      &IndexedBatch::Of(this), db, read_options, family, num_keys, keys, values, statuses,
      sorted_input, [](PinnableSlice* value) { return ValueTarget(value); },
      [&](size_t count, const Slice* chosen, PinnableSlice* found, Status* outcomes) {
        db->MultiGet(read_options, family, count, chosen, found, outcomes, sorted_input);
      });
}

void WriteBatchWithIndex::MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                       ColumnFamilyHandle* column_family,
                                                       size_t num_keys, const Slice* keys,
                                                       PinnableWideColumns* results,
                                                       Status* statuses, bool sorted_input) {
  constexpr const char* kCall = "WriteBatchWithIndex::MultiGetEntityFromBatchAndDB";
  if (statuses == nullptr) return;
  Status checked = CheckActivity(read_options, Env::IOActivity::kMultiGetEntity, kCall);
  if (db == nullptr) checked = MissingArgument(kCall, "the database");
  if (column_family == nullptr) checked = MissingArgument(kCall, "the column family");
  if (keys == nullptr) checked = MissingArgument(kCall, "the list of keys");
  if (results == nullptr) checked = MissingArgument(kCall, "the place for the columns");
  if (!checked.ok()) return FailAll(checked, num_keys, statuses);
  ReadManyOverDatabase(
      &IndexedBatch::Of(this), db, read_options, column_family, num_keys, keys, results, statuses,
      sorted_input, [](PinnableWideColumns* columns) { return ColumnsTarget(columns); },
      [&](size_t count, const Slice* chosen, PinnableWideColumns* found, Status* outcomes) {
        db->MultiGetEntity(read_options, column_family, count, chosen, found, outcomes,
                           sorted_input);
      });
}

}  // namespace ashlar
