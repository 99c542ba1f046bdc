// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a batched read.
#include "capi/multi_read.h"

#include <cassert>

namespace ashlar::capi {
namespace {

char* ErrorOf(const Status& s) { return s.ok() || s.IsNotFound() ? nullptr : Copy(s.ToString()); }

}  // namespace

// Nothing is copied: the keys are the memory of the program.
MultiRead::MultiRead(DB* db, const ashlar_column_family_handle_t* const* column_families,
                     size_t count, const char* const* key_data, const size_t* key_sizes)
    : values(count), statuses(count) {
  assert(count == 0 || (key_data != nullptr && key_sizes != nullptr));
  // Without a list of families all keys are those of the default family.
  for (size_t i = 0; i < count; ++i) {
    families.push_back(FamilyOf(db, column_families == nullptr ? nullptr : column_families[i]));
    keys.push_back(Text(key_data[i], key_sizes[i]));
  }
}

MultiRead::MultiRead(size_t count, const ashlar_slice_t* slices) : values(count), statuses(count) {
  assert(count == 0 || slices != nullptr);
  // The slices point to memory of the program, which must stay until the call ends.
  for (size_t i = 0; i < count; ++i) keys.push_back(Text(slices[i].data, slices[i].size));
}

void MultiRead::TakeValues(const std::vector<std::string>& read) {
  assert(read.size() == keys.size() && values.size() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    // Copied into the pinned value, because the strings die with the call that has read them.
    if (statuses[i].ok()) values[i].PinSelf(read[i]);
  }
}

void MultiRead::CopyResults(char** texts, size_t* sizes, char** errors) const {
  // Without keys the lists may be null.
  assert(keys.empty() || (texts != nullptr && sizes != nullptr && errors != nullptr));
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool found = statuses[i].ok();
    texts[i] = found ? Copy(values[i]) : nullptr;
    sizes[i] = found ? values[i].size() : 0;
    errors[i] = ErrorOf(statuses[i]);
  }
}

void MultiRead::MoveResults(ashlar_pinnableslice_t** slices, char** errors) {
  assert(keys.empty() || (slices != nullptr && errors != nullptr));
  for (size_t i = 0; i < keys.size(); ++i) {
    // The values move into handles of their own, so each can be destroyed separately.
    slices[i] = statuses[i].ok() ? new ashlar_pinnableslice_t{std::move(values[i])} : nullptr;
    errors[i] = ErrorOf(statuses[i]);
  }
}

}  // namespace ashlar::capi
