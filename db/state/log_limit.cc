// SPDX-License-Identifier: Apache-2.0
//
// A busy family's log is as long as its memtables are large: a limit below that would flush early.
#include "db/state/log_limit.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr uint64_t kLogBytesOfBudget = 4;
constexpr uint64_t kMostForManyFamilies = uint64_t{1} << 30;

}  // namespace

uint64_t LogLimit(uint64_t asked_for, const std::vector<uint64_t>& budgets) {
  if (asked_for > 0) return asked_for;
  uint64_t sum = 0, largest = 0;
  for (const uint64_t budget : budgets) {
    sum += budget;
    largest = std::max(largest, budget);
  }
  return std::min(kLogBytesOfBudget * sum,
                  std::max(kMostForManyFamilies, kLogBytesOfBudget * largest));
}

}  // namespace ashlar
