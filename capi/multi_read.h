// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a batched read: those that the engine wants, made of those of a C program, and the
// results in turn.
#pragma once

#include <string>
#include <vector>

#include "capi/handles.h"

namespace ashlar::capi {

struct MultiRead {
  // `column_families` may be null, and so may its elements: the default family.
  MultiRead(DB* db, const ashlar_column_family_handle_t* const* column_families, size_t count,
            const char* const* key_data, const size_t* key_sizes);
  MultiRead(size_t count, const ashlar_slice_t* slices);

  // Copies the values of the keys whose status is OK; `read` has an element for each of them.
  void TakeValues(const std::vector<std::string>& read);

  // Writes values and errors, an element for each key, to the arrays of the program; everything is
  // its to free.
  void CopyResults(char** texts, size_t* sizes, char** errors) const;
  // Like the function above, but the values are not copied: each handle refers to the memory in
  // which the engine has its value.
  void MoveResults(ashlar_pinnableslice_t** slices, char** errors);

  // Parallel lists, with an element for each key. `families` is empty if all keys are of one
  // family.
  std::vector<ColumnFamilyHandle*> families;
  std::vector<Slice> keys;
  std::vector<PinnableSlice> values;
  std::vector<Status> statuses;
};

}  // namespace ashlar::capi
