// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of db_stress. A value says which event of which key it comes from, and its bytes
// follow from that, so that any wrong value is recognised: one of another key, family or moment,
// and one with a single bit that is not as it was written.
//
//   value   := record of the put? record of a merge operand*      (the operands of one generation)
//   record  := kind 'P'|'M', family 1 byte, key 8, generation 4, operand 1, payload length 2,
//   payload
//
// The merge operator joins records. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/merge_operator.h"
#include "ashlar/slice.h"
#include "tools/db_stress/key_state.h"
#include "util/result.h"

namespace ashlar::stress {

// A key of one family, as all of db_stress names it.
struct KeyId {
  int family = 0;
  uint64_t number = 0;
};

// Big endian, so in the order of the numbers; what follows the 8 bytes makes keys of several
// lengths.
std::string KeyText(uint64_t number);
// Corruption if it is no key of ours.
Result<uint64_t> NumberOfKey(const Slice& key);

// What the put, or the last merge operand, of this state writes. The payload has `bytes` at most,
// once in a while eight times as many.
std::string RecordText(const KeyId& key, const KeyState& state, size_t bytes);

// The event that a value comes from. Corruption says what is wrong with it.
Result<FoundEvent> ReadValue(const KeyId& key, const Slice& value);

// Joins records. Of two operands one is made, or with `keeps_apart` never.
std::shared_ptr<MergeOperator> NewJoinRecords(bool keeps_apart);

}  // namespace ashlar::stress
