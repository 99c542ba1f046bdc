// SPDX-License-Identifier: Apache-2.0
//
// Reads of a DBWithTTL. A value that was read is shortened where it lies, without a copy.
#include <cassert>
#include <utility>

#include "db/api/family_iterators.h"
#include "db/utilities/ttl/db_with_ttl.h"
#include "db/utilities/ttl/ttl_iterator.h"
#include "util/result.h"

namespace ashlar {

int64_t DBWithTTLImpl::TimeOfRead() const {
  // Without hiding, no read needs the clock.
  return ttl_options_.hide_expired ? PresentSeconds(clock_.get()) : 0;
}

bool DBWithTTLImpl::IsHidden(ColumnFamilyHandle* family, int64_t write_time, int64_t now) const {
  // Cheap for databases that do not hide: no lock is taken.
  if (!ttl_options_.hide_expired) return false;
  const std::shared_ptr<TtlSetting> ttl = FindTtl(family);
  return ttl != nullptr && IsExpired(write_time, ttl->seconds.load(std::memory_order_relaxed), now);
}

// Removes the time from the value. NotFound if the value is expired and is to be hidden.
Status DBWithTTLImpl::Strip(ColumnFamilyHandle* family, int64_t now, PinnableSlice* value) const {
  assert(value != nullptr);
  Status status = CheckWriteTime(*value);
  if (status.ok() && IsHidden(family, WriteTimeOf(*value), now)) status = Status::NotFound();
  if (status.ok()) {
    assert(value->size() >= kWriteTimeBytes);
    value->remove_suffix(kWriteTimeBytes);
  } else {
    // The caller must not see a value that the status says is absent.
    value->Reset();
  }
  return status;
}

// The columns refer to their own copy of the value, which is replaced by a shorter one.
Status DBWithTTLImpl::StripColumns(ColumnFamilyHandle* family, int64_t now,
                                   PinnableWideColumns* columns) const {
  assert(columns != nullptr);
  if (!IsPlainValue(columns->columns())) return Status::OK();
  PinnableSlice value;
  value.PinSelf(columns->columns().front().value());
  columns->Reset();
  RETURN_IF_ERROR(Strip(family, now, &value));
  columns->SetPlainValue(std::move(value));
  return Status::OK();
}

Status DBWithTTLImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* value, std::string* timestamp) {
  RETURN_IF_ERROR(db_->Get(options, family, key, value, timestamp));
  return Strip(family, TimeOfRead(), value);
}

Status DBWithTTLImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, PinnableWideColumns* columns) {
  RETURN_IF_ERROR(db_->GetEntity(options, family, key, columns));
  return StripColumns(family, TimeOfRead(), columns);
}

// Operands do not expire by themselves, so none is hidden.
Status DBWithTTLImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family,
                                       const Slice& key, PinnableSlice* merge_operands,
                                       GetMergeOperandsOptions* operand_options,
                                       int* number_of_operands) {
  // The callback of the program gets operands without times; so it is replaced for the call below.
  GetMergeOperandsOptions below;
  if (operand_options != nullptr) {
    below = *operand_options;
    if (below.continue_cb) {
      below.continue_cb = [&](Slice stored) {
        // Damage is not reported here: the check of all operands follows when they are read.
        const bool has_time = stored.size() >= kWriteTimeBytes;
        return operand_options->continue_cb(has_time ? WithoutWriteTime(stored) : stored);
      };
    }
  }
  RETURN_IF_ERROR(db_->GetMergeOperands(options, family, key, merge_operands,
                                        operand_options == nullptr ? nullptr : &below,
                                        number_of_operands));
  assert(merge_operands != nullptr && number_of_operands != nullptr);
  for (int i = 0; i < *number_of_operands; ++i) {
    RETURN_IF_ERROR(CheckWriteTime(merge_operands[i]));
    merge_operands[i].remove_suffix(kWriteTimeBytes);
  }
  return Status::OK();
}

// All keys are compared with the same time of day.
void DBWithTTLImpl::MultiGet(const ReadOptions& options, const size_t num_keys,
                             ColumnFamilyHandle** families, const Slice* keys,
                             PinnableSlice* values, std::string* timestamps, Status* statuses,
                             const bool sorted_input) {
  db_->MultiGet(options, num_keys, families, keys, values, timestamps, statuses, sorted_input);
  const int64_t now = TimeOfRead();
  for (size_t i = 0; i < num_keys; ++i) {
    // Keys that were not found or failed keep their status.
    if (statuses[i].ok()) statuses[i] = Strip(families[i], now, &values[i]);
  }
}

void DBWithTTLImpl::MultiGetEntity(const ReadOptions& options, size_t num_keys,
                                   ColumnFamilyHandle** families, const Slice* keys,
                                   PinnableWideColumns* results, Status* statuses,
                                   bool sorted_input) {
  db_->MultiGetEntity(options, num_keys, families, keys, results, statuses, sorted_input);
  const int64_t now = TimeOfRead();
  for (size_t i = 0; i < num_keys; ++i) {
    if (statuses[i].ok()) statuses[i] = StripColumns(families[i], now, &results[i]);
  }
}

// "Maybe, the value is not known" is the answer for a value without a valid time: a read then says
// what is wrong.
bool DBWithTTLImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, std::string* value, std::string* timestamp,
                                bool* value_found) {
  std::string stored;
  bool is_found = false;
  const bool asks_for_value = value != nullptr && value_found != nullptr;
  // The value has the time, so it is asked for also if only existence is wanted.
  const bool needs_value = asks_for_value || ttl_options_.hide_expired;
  const bool may_exist = db_->KeyMayExist(options, family, key, needs_value ? &stored : nullptr,
                                          timestamp, needs_value ? &is_found : value_found);
  if (!may_exist || !needs_value) return may_exist;
  // Set to false first, so that every return below but the last says that the value is not known.
  if (value_found != nullptr) *value_found = false;
  if (!is_found || !HasWriteTime(stored)) return true;
  if (IsHidden(family, WriteTimeOf(stored), TimeOfRead())) return false;
  if (value_found != nullptr) *value_found = true;
  if (value != nullptr) *value = WithoutWriteTime(stored).ToString();
  return true;
}

ReadOptions DBWithTTLImpl::OptionsBelow(const ReadOptions& options) const {
  ReadOptions below = options;
  // Whether an entry is shown depends on the time in its value, so values must be read.
  if (ttl_options_.hide_expired) below.allow_unprepared_value = false;
  return below;
}

Iterator* DBWithTTLImpl::Wrap(ColumnFamilyHandle* family, const ReadOptions& options, int64_t now,
                              Iterator* below) const {
  const bool hides = ttl_options_.hide_expired;
  assert(below != nullptr);
  return new TtlIterator(std::unique_ptr<Iterator>(below), options.allow_unprepared_value && !hides,
                         hides ? FindTtl(family) : nullptr, clock_, now);
}

Iterator* DBWithTTLImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  // Read before the iterator is made: an entry that expires in between is then still shown.
  const int64_t now = TimeOfRead();
  return Wrap(family, options, now, db_->NewIterator(OptionsBelow(options), family));
}

Status DBWithTTLImpl::NewIterators(const ReadOptions& options,
                                   const std::vector<ColumnFamilyHandle*>& families,
                                   std::vector<Iterator*>* iterators) {
  assert(iterators != nullptr);
  RETURN_IF_ERROR(db_->NewIterators(OptionsBelow(options), families, iterators));
  const int64_t now = TimeOfRead();
  assert(iterators->size() == families.size());
  for (size_t i = 0; i < families.size(); ++i) {
    (*iterators)[i] = Wrap(families[i], options, now, (*iterators)[i]);
  }
  return Status::OK();
}

std::unique_ptr<Iterator> DBWithTTLImpl::NewCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, families, &cursors);
  if (!status.ok()) return std::unique_ptr<Iterator>(NewErrorIterator(status));
  return std::make_unique<CoalescingIterator>(std::move(cursors));
}

std::unique_ptr<AttributeGroupIterator> DBWithTTLImpl::NewAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, families, &cursors);
  if (!status.ok()) return NewAttributeGroupErrorIterator(status);
  return std::make_unique<GroupingIterator>(std::move(cursors));
}

}  // namespace ashlar
