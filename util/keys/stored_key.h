// SPDX-License-Identifier: Apache-2.0
//
// StoredKey is the stored form of a key that a program passes to a call as a bound: in a stamped
// family with the greatest timestamp, so that it lies in front of all versions of the key.
#pragma once

#include <string>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class StoredKey {
 public:
  // `key` may be null (no bound), and outlives this object.
  StoredKey(const InternalKeyComparator& comparator, const Slice* key) : key_(key) {
    if (key == nullptr || comparator.stamp_bytes() == 0) return;
    stored_ = comparator.FirstStored(*key);
    slice_ = stored_;
    key_ = &slice_;
  }
  StoredKey(const StoredKey&) = delete;
  StoredKey& operator=(const StoredKey&) = delete;

  const Slice* get() const { return key_; }
  const Slice& operator*() const { return *key_; }

 private:
  const Slice* key_;
  std::string stored_;
  Slice slice_;  // of stored_
};

}  // namespace ashlar
