// SPDX-License-Identifier: Apache-2.0
//
// What a built-in FilterPolicy asks for. Policies are public objects without behaviour of their
// own; their identity string carries the settings.
#pragma once

#include <cstdint>

#include "util/result.h"

namespace ashlar {

class FilterPolicy;

struct FilterConfig {
  uint32_t millibits_per_key = 0;  // 0: write no filter
};

// Settings of "bloomfilter:<bits>..." and of the reading-only "rocksdb.BuiltinBloomFilter".
// NotSupported for every other policy. Null gives a config without filter.
Result<FilterConfig> ConfigOfFilterPolicy(const FilterPolicy* policy);

}  // namespace ashlar
