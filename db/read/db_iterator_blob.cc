// SPDX-License-Identifier: Apache-2.0
//
// Keys whose value is in a blob file. The value is read when the iterator reaches the key or, with
// ReadOptions::allow_unprepared_value, when the program calls PrepareValue().
#include <cassert>

#include "db/blob/blob_store.h"
#include "db/read/db_iterator.h"
#include "db/read/super_version.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"

namespace ashlar {

// The merging iterator stays at the entry with the blob index, and the next move begins there.
void DBIterator::ShowBlobForward(const Slice& user_key) {
  assert(direction_ == Direction::kForward);
  user_key_ = user_key;
  SaveKey(user_key);
  blob_key_.assign(user_key.data(), user_key.size());
  direction_ = Direction::kDerived;
  const Slice index = merged_->value();
  if (options_.allow_unprepared_value) saved_value_.assign(index.data(), index.size());
  valid_ = ShowBlob(index);
}

// Shows the value of blob_key_ as that of saved_key_. If the read may be delayed, saved_value_
// holds the index already. Returns false if the value cannot be read.
bool DBIterator::ShowBlob(const Slice& index) {
  assert(direction_ != Direction::kForward);
  shows_entity_ = false;
  is_unprepared_ = options_.allow_unprepared_value;
  if (is_unprepared_) {
    shown_value_ = Slice();
    return true;
  }
  if (!LoadBlob(index)) return false;
  shown_value_ = blob_value_;
  return true;
}

// Reads the value of blob_key_ into blob_value_.
bool DBIterator::LoadBlob(const Slice& index) {
  const Version& version = *view_.super_version()->version();
  BlobRead read{.user_key = blob_key_, .index = index, .value = &blob_value_, .status = {}};
  const Status status = version.tables()->blobs()->Read(version.blobs(), options_, &read);
  if (!status.ok()) Fail(status);
  return status.ok();
}

// The program asks for the value of the current entry, which may still be unread.
bool DBIterator::PrepareValue() {
  assert(valid_);
  const bool is_due = is_unprepared_ && direction_ != Direction::kForward;
  if (!is_due) return true;
  is_unprepared_ = false;
  if (!LoadBlob(saved_value_)) return false;
  shown_value_ = blob_value_;
  return true;
}

}  // namespace ashlar
