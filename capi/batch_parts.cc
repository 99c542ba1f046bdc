// SPDX-License-Identifier: Apache-2.0
//
// What the functions of batches share.
#include "capi/batch_parts.h"

#include <cassert>

namespace ashlar::capi {

Pieces::Pieces(int count, const char* const* data, const size_t* sizes) {
  assert(count <= 0 || (data != nullptr && sizes != nullptr));
  for (int i = 0; i < count; ++i) slices_.push_back(Text(data[i], sizes[i]));
}

// A function for all families goes before one for the default family, whose number is 0.
Status EntryCallbacks::PutCF(uint32_t family, const Slice& key, const Slice& value) {
  if (put_cf != nullptr) {
    put_cf(state, family, key.data(), key.size(), value.data(), value.size());
  } else if (put != nullptr && family == 0) {
    put(state, key.data(), key.size(), value.data(), value.size());
  }
  return Status::OK();
}

Status EntryCallbacks::DeleteCF(uint32_t family, const Slice& key) {
  if (deleted_cf != nullptr) {
    deleted_cf(state, family, key.data(), key.size());
  } else if (deleted != nullptr && family == 0) {
    deleted(state, key.data(), key.size());
  }
  return Status::OK();
}

Status EntryCallbacks::MergeCF(uint32_t family, const Slice& key, const Slice& value) {
  if (merge_cf != nullptr) {
    merge_cf(state, family, key.data(), key.size(), value.data(), value.size());
  }
  return Status::OK();
}

void EntryCallbacks::LogData(const Slice& blob) {
  if (log_data != nullptr) log_data(state, blob.data(), blob.size());
}

}  // namespace ashlar::capi
