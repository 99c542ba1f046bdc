// SPDX-License-Identifier: Apache-2.0
//
// How much log there may be before the families that hold the oldest of it are flushed. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace ashlar {

// `asked_for`: max_total_wal_size. If that is 0: four times what the families' memtables may hold
// (`budgets`, of each) but, however many families there are, no more than a gigabyte, or than the
// largest of them needs by itself. So a family that is written to now and then cannot make
// gigabytes of log be kept, and be replayed, for the sake of a few entries.
uint64_t LogLimit(uint64_t asked_for, const std::vector<uint64_t>& budgets);

}  // namespace ashlar
