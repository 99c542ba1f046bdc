// SPDX-License-Identifier: Apache-2.0
//
// A few names, compared one after the other.
#include "db/read/iterator_properties.h"

#include <cstdint>

#include "db/read/read_view.h"
#include "util/keys/coding.h"

namespace ashlar {

[[gnu::cold]] Status GetPropertyOverView(const ReadView& view, bool is_valid,
                                         const std::string& name, std::string* value) {
  if (value == nullptr) return Status::InvalidArgument("prop is nullptr");
  if (name == "rocksdb.iterator.super-version-number") {
    *value = std::to_string(view.super_version()->number());
    return Status::OK();
  }
  if (name == "rocksdb.iterator.is-key-pinned" || name == "rocksdb.iterator.is-value-pinned") {
    *value = "0";
    return Status::OK();
  }
  if (name == "rocksdb.iterator.write-time") {
    if (!is_valid) return Status::InvalidArgument("iterator is not valid");
    // Unknown: iterators keep no sequence number of what they show, and tables know the times of
    // ranges of numbers only.
    value->clear();
    PutFixed64(value, UINT64_MAX);
    return Status::OK();
  }
  return Status::InvalidArgument("unknown iterator property", name);
}

}  // namespace ashlar
