// SPDX-License-Identifier: Apache-2.0
//
// Addresses of values are sorted, and the values are copied in their order.
#include "util/rare_sort.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

namespace ashlar {

void SortBytes(void* values, size_t count, size_t value_bytes,
               bool (*comes_before)(const void* context, const void* a, const void* b),
               const void* context) {
  assert(value_bytes > 0);
  if (count < 2) return;
  char* const begin = static_cast<char*>(values);
  std::vector<const char*> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = begin + i * value_bytes;
  std::stable_sort(places.begin(), places.end(),
                   [=](const char* a, const char* b) { return comes_before(context, a, b); });
  std::string sorted;
  sorted.reserve(count * value_bytes);
  for (const char* place : places) sorted.append(place, value_bytes);
  std::memcpy(begin, sorted.data(), sorted.size());
}

}  // namespace ashlar
