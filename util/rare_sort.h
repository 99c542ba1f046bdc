// SPDX-License-Identifier: Apache-2.0
//
// SortRarely(&values, comes_before) sorts what is sorted once for a job, a listing or an opening:
// pointers, numbers and other values that can be copied as bytes. std::sort is compiled again for
// each type and order, more than a kilobyte each; here that is only the order. It costs an indirect
// call per comparison and memory for three pointers per value. The sort is stable. Threads: a pure
// function.
#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

namespace ashlar {

// Sorts `count` values of `value_bytes` each. `context` is for `comes_before`.
void SortBytes(void* values, size_t count, size_t value_bytes,
               bool (*comes_before)(const void* context, const void* a, const void* b),
               const void* context);

template <typename T, typename Order = std::less<>>
void SortRarely(std::vector<T>* values, const Order& order = Order()) {
  static_assert(std::is_trivially_copyable_v<T>, "the values are moved as bytes");
  assert(values != nullptr);
  SortBytes(
      values->data(), values->size(), sizeof(T),
      [](const void* context, const void* a, const void* b) -> bool {
        return (*static_cast<const Order*>(context))(*static_cast<const T*>(a),
                                                     *static_cast<const T*>(b));
      },
      &order);
}

}  // namespace ashlar
