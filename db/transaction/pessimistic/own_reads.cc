// SPDX-License-Identifier: Apache-2.0
//
// Families of transactions have no timestamps.
#include "db/transaction/pessimistic/own_reads.h"

#include <cassert>
#include <memory>
#include <vector>

#include "ashlar/wide_columns.h"
#include "db/db_impl.h"
#include "db/read/entity_columns.h"
#include "db/read/multi_get.h"

namespace ashlar {

OwnReads::OwnReads(DBImpl* db, const DecidedVersions::Own* own)
    : StackableDB(db), engine_(db), own_(own) {}

OwnReads::~OwnReads() { db_ = nullptr; }  // it belongs to others

Status OwnReads::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     // Without undecided updates of its own the transaction reads like everybody
                     // else.
                     PinnableSlice* value, std::string* timestamp) {
  if (own_->empty()) return db_->Get(options, family, key, value, timestamp);
  if (timestamp != nullptr) timestamp->clear();
  return engine_->GetWithOwn(*own_, options, family, key, value);
}

Status OwnReads::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                           PinnableWideColumns* columns) {
  if (own_->empty() || columns == nullptr) return db_->GetEntity(options, family, key, columns);
  columns->Reset();
  PinnableSlice value;
  bool is_entity = false;
  const Status status = engine_->GetWithOwn(*own_, options, family, key, &value, &is_entity);
  if (!status.ok()) return status;
  const Status decoded = MoveToColumns(&value, is_entity, key, columns);
  return decoded.ok() ? status : decoded;  // `status` may report that there were many operands
}

void OwnReads::MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                        const Slice* keys, PinnableSlice* values, std::string* timestamps,
                        Status* statuses, bool sorted_input) {
  if (own_->empty()) {
    return db_->MultiGet(options, num_keys, families, keys, values, timestamps, statuses,
                         sorted_input);
  }
  for (size_t i = 0; timestamps != nullptr && i < num_keys; i++) timestamps[i].clear();
  MultiGetRequest request;
  assert(num_keys == 0 || (keys != nullptr && values != nullptr && statuses != nullptr));
  request.is_sorted = sorted_input;
  request.keys = {keys, num_keys};
  request.values = values;
  request.statuses = statuses;
  engine_->MultiGetWithOwn(*own_, options, request, families);
}

void OwnReads::MultiGetEntity(const ReadOptions& options, size_t num_keys,
                              ColumnFamilyHandle** families, const Slice* keys,
                              PinnableWideColumns* results, Status* statuses, bool sorted_input) {
  if (own_->empty()) {
    return db_->MultiGetEntity(options, num_keys, families, keys, results, statuses, sorted_input);
  }
  std::vector<PinnableSlice> values(num_keys);
  const auto are_entities = std::make_unique<bool[]>(num_keys);
  MultiGetRequest request;
  request.is_sorted = sorted_input;
  request.keys = {keys, num_keys};
  request.values = values.data();
  request.statuses = statuses;
  request.are_entities = are_entities.get();
  engine_->MultiGetWithOwn(*own_, options, request, families);
  MoveToColumns({keys, num_keys}, values.data(), are_entities.get(), results, statuses);
}

}  // namespace ashlar
