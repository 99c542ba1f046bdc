// SPDX-License-Identifier: Apache-2.0
//
// Tables of properties: a name and what computes the answer.
#pragma once

#include <cstddef>
#include <string_view>

#include "ashlar/slice.h"

namespace ashlar {

template <typename Function>
struct PropertyRow {
  std::string_view name;
  Function compute;
};

// Null for a name that the table does not have.
template <typename Function, size_t kCount>
Function FindPropertyRow(const PropertyRow<Function> (&rows)[kCount], const Slice& name) {
  for (const PropertyRow<Function>& row : rows) {
    if (name == Slice(row.name)) return row.compute;
  }
  return nullptr;
}

}  // namespace ashlar
