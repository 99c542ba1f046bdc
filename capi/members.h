// SPDX-License-Identifier: Apache-2.0
//
// Conversion between the members of option structs and C types, for the functions that
// tools/make_c_options.py makes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace ashlar::capi {

// Numbers, flags, enumerations, and times in microseconds. An enumeration takes any number, as a
// cast in C++ does.
template <typename Member, typename Value>
void Set(Member& member, Value value) {
  if constexpr (std::is_same_v<Member, bool>) {
    member = value != 0;
  } else if constexpr (std::is_same_v<Member, std::chrono::microseconds>) {
    // A longer time would become negative.
    constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
    member = Member(static_cast<int64_t>(std::min<uint64_t>(value, kLongest)));
  } else {
    member = static_cast<Member>(value);
  }
}

// A null text is the empty one.
inline void Set(std::string& member, const char* value) { member = value == nullptr ? "" : value; }

template <typename Value, typename Member>
Value Get(const Member& member) {
  if constexpr (std::is_same_v<Member, std::chrono::microseconds>) {
    return static_cast<Value>(member.count());
  } else {
    return static_cast<Value>(member);
  }
}

// The member's own text, which ends with a zero byte and is valid until the member changes.
inline const char* Get(const std::string& member, size_t* size) {
  if (size != nullptr) *size = member.size();
  return member.c_str();
}

}  // namespace ashlar::capi
