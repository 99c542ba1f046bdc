// SPDX-License-Identifier: Apache-2.0
//
// KeyState: what db_stress knows of one key of one family, in one word of 8 bytes, so that it can
// be changed by one atomic store that a kill either lets happen or does not.
//
// Every event of a key has a number: a put or a delete begins a new generation, a merge adds an
// operand to the one that there is. The value in the database bears the same numbers
// (stress_value.h), so a reader can tell from which event a value comes, and whether that event
// lies between the state before its read and the one after it.
//
// Pending: a writer says what it is about to do before the call and takes it back behind it. What a
// kill leaves pending may have happened or not; every other state must be found exactly.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

namespace ashlar::stress {

enum class Event : uint8_t { kNone, kPut, kRemove, kMerge };

struct KeyState {
  static constexpr uint32_t kMaxOperands = 40;  // a put must follow then

  uint32_t generation = 0;  // 28 bits: of the last put or removal
  uint32_t operands = 0;    // 6 bits: merged since
  uint32_t removals = 0;    // 20 bits, around and around
  bool has_base = false;    // the generation began with a put
  Event pending = Event::kNone;

  bool IsPresent() const { return has_base || operands > 0; }
  bool operator==(const KeyState&) const = default;

  // What an event that was carried out makes of this; nothing is pending then.
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

// Whether a read that began when the key was `before` and ended when it was `after` may have found
// this; nothing: that there is no such key.
bool MayBeFound(const KeyState& before, const KeyState& after,
                const std::optional<FoundEvent>& found);

// Whether it is just what a state, pending or not, that nobody changes says.
bool IsExactly(const KeyState& state, const std::optional<FoundEvent>& found);

}  // namespace ashlar::stress
