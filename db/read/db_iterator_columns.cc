// SPDX-License-Identifier: Apache-2.0
//
// Keys whose value is a wide-column entity. The value that the iterator shows is the default
// column. The columns are decoded as soon as the iterator reaches the key, so a malformed entity
// ends the iteration and status() reports it.
#include <cassert>

#include "db/read/db_iterator.h"
#include "util/keys/wide_column_encoding.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The merging iterator stays at the entity, because the columns point into its memory.
void DBIterator::ShowEntityForward(const Slice& user_key) {
  assert(direction_ == Direction::kForward);
  user_key_ = user_key;
  saved_key_.assign(user_key.data(), user_key.size());
  direction_ = Direction::kDerived;
  valid_ = ShowEntity(merged_->value());
}

// Shows an entity as the value of saved_key_. The caller keeps the bytes of the entity in place
// while they are shown. Returns false if the entity is malformed.
bool DBIterator::ShowEntity(const Slice& entity) {
  assert(direction_ != Direction::kForward);
  Status status = DecodeColumns(entity, &entity_columns_);
  if (!status.ok()) {
    Fail(Status::CopyAppendMessage(status, "; of key ", KeyInError(saved_key_)));
    return false;
  }
  shown_value_ = DefaultColumnOf(entity_columns_);
  shows_entity_ = true;
  is_unprepared_ = false;
  return true;
}

const WideColumns& DBIterator::columns() const {
  assert(valid_);
  const bool is_entity = direction_ != Direction::kForward && shows_entity_;
  return is_entity ? entity_columns_ : plain_column_.Of(value());
}

}  // namespace ashlar
