// SPDX-License-Identifier: Apache-2.0
//
// KeyState: the expected state of one key of one family, in one word of 8 bytes, so that it is
// changed by a single atomic store: after a kill the word is either old or new.
//
// The events of a key are numbered: a put or a delete begins a new generation, a merge adds an
// operand to the current generation. The value in the database contains the same numbers
// (stress_value.h), so a reader can tell which event a value comes from, and whether that event
// lies between the states before and after its read.
//
// A writer stores a pending event before its call and clears it afterwards. An event that is
// pending after a kill may have happened or not; without one, exactly this state must be found.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

namespace ashlar::stress {

enum class Event : uint8_t { kNone, kPut, kRemove, kMerge };

struct KeyState {
  static constexpr uint32_t kMaxOperands = 40;  // then a put must follow

  uint32_t generation = 0;  // 28 bits: of the last put or removal
  uint32_t operands = 0;    // 6 bits: merges since then
  uint32_t removals = 0;    // 20 bits: number of removals, modulo 2^20
  bool has_base = false;    // the generation began with a put
  Event pending = Event::kNone;

  bool IsPresent() const { return has_base || operands > 0; }
  bool operator==(const KeyState&) const = default;

  // The state after an event, without a pending event.
  KeyState After(Event event) const;
  KeyState With(Event event) const {
    KeyState result = *this;
    result.pending = event;
    return result;
  }
  KeyState Settled() const { return With(Event::kNone); }

  uint64_t ToWord() const;
  static KeyState FromWord(uint64_t word);
};

// The event that a value in the database comes from.
struct FoundEvent {
  uint32_t generation = 0;
  uint32_t operands = 0;
  bool has_base = false;
};

// Whether a read may return `found` (nullopt: no such key) if the key's state was `before` when the
// read began and `after` when it ended.
bool MayBeFound(const KeyState& before, const KeyState& after,
                const std::optional<FoundEvent>& found);

// Whether `found` is the value of this state, its pending event ignored.
bool IsExactly(const KeyState& state, const std::optional<FoundEvent>& found);

}  // namespace ashlar::stress
