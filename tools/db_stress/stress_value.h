// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of db_stress. A value contains the key and the event that it comes from, and all
// its bytes follow from those. So every wrong value is recognised: the value of another key, family
// or time, and a value with a single wrong bit.
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

// A key of one family, by numbers.
struct KeyId {
  int family = 0;
  uint64_t number = 0;
};

// The number in 8 bytes, big endian, so that keys have the order of their numbers; then a suffix,
// so that keys have several lengths.
std::string KeyText(uint64_t number);
// Corruption if KeyText() does not make this key.
Result<uint64_t> NumberOfKey(const Slice& key);

// The value of the put, or the last merge operand, that leads to this state. The payload has at
// most `bytes`, in one of 32 records eight times as many.
std::string RecordText(const KeyId& key, const KeyState& state, size_t bytes);

// The event that a value comes from. Corruption if it is not a value of this key.
Result<FoundEvent> ReadValue(const KeyId& key, const Slice& value);

// A merge operator that appends records. With `no_partial_merges` it never merges operands without
// the value.
std::shared_ptr<MergeOperator> NewJoinRecords(bool no_partial_merges);

}  // namespace ashlar::stress
