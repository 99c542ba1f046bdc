// SPDX-License-Identifier: Apache-2.0
//
// Tables of uint64_t members with their names. Thread-local contexts are reset, merged and printed
// with them.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace ashlar {

// One counter: its name in printed text, and the member.
template <typename Struct>
struct CounterRow {
  const char* name;
  uint64_t Struct::*member;
};

// Sets all counters of the rows to 0.
template <typename Struct>
void ResetCounters(std::span<const CounterRow<Struct>> rows, Struct* counters) {
  for (const auto& row : rows) counters->*row.member = 0;
}

// Adds the counters of `from`. Not synchronized: both structs belong to the calling thread.
template <typename Struct>
void MergeCounters(std::span<const CounterRow<Struct>> rows, const Struct& from, Struct* into) {
  for (const auto& row : rows) into->*row.member += from.*row.member;
}

// Appends "name = value, " for each counter.
template <typename Struct>
void PrintCounters(std::span<const CounterRow<Struct>> rows, const Struct& counters,
                   bool exclude_zeros, std::string* text) {
  // The longest value has 20 digits.
  char value[24];
  for (const auto& row : rows) {
    if (exclude_zeros && counters.*row.member == 0) continue;
    snprintf(value, sizeof(value), "%" PRIu64, counters.*row.member);
    text->append(row.name).append(" = ").append(value).append(", ");
  }
}

}  // namespace ashlar
