// SPDX-License-Identifier: Apache-2.0
//
// FilterSurvey: how full the filter of a table is, and how often it says yes to keys that are not
// there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/lib/table_inspector.h"
#include "util/result.h"

namespace ashlar {

struct FilterSurvey {
  size_t block_count = 0;  // 0: the table has no filter
  uint64_t bytes = 0;
  std::string kind;          // "Bloom, 7 probes"; "" without a filter
  uint64_t set_bits = 0;     // of all its bits
  bool is_of_lines = false;  // a Bloom filter, whose keys lie in a line of 64 bytes each
  // Lines by how full they are, in steps of 1/kSteps; a full one counts in the last.
  static constexpr size_t kSteps = 50;
  std::array<uint64_t, kSteps> lines{};

  // Of random hashes, as those of absent keys are.
  uint64_t asked = 0, answered_yes = 0;
};

// Reads and verifies all blocks of the filter.
Result<FilterSurvey> SurveyFilter(TableInspector* table);

}  // namespace ashlar
