// SPDX-License-Identifier: Apache-2.0
//
// The bits of the word from the lowest: generation 28, operands 6, removals 20, base 1, pending 2.
#include "tools/db_stress/key_state.h"

#include <cassert>
#include <tuple>

namespace ashlar::stress {
namespace {

constexpr uint32_t kGenerationMask = (1u << 28) - 1;
constexpr uint32_t kOperandMask = (1u << 6) - 1;
constexpr uint32_t kRemovalMask = (1u << 20) - 1;
static_assert(KeyState::kMaxOperands <= kOperandMask);

using Position = std::tuple<uint32_t, uint32_t>;  // of an event in the order of one key's events
Position PositionOf(const KeyState& state) { return {state.generation, state.operands}; }

}  // namespace

// The numbers wrap around at the sizes of their fields, which a key does not reach in practice; the
// number of removals is compared for a difference only.
KeyState KeyState::After(Event event) const {
  KeyState result = Settled();
  switch (event) {
    case Event::kNone: break;
    case Event::kPut:
    case Event::kRemove:
      assert(generation < kGenerationMask);
      result.generation = generation + 1;
      result.operands = 0;
      result.has_base = event == Event::kPut;
      if (event == Event::kRemove) result.removals = (removals + 1) & kRemovalMask;
      break;
    case Event::kMerge:
      assert(operands < kMaxOperands);
      result.operands = operands + 1;
      break;
  }
  return result;
}

uint64_t KeyState::ToWord() const {
  assert(generation <= kGenerationMask && operands <= kOperandMask && removals <= kRemovalMask);
  return uint64_t{generation} | uint64_t{operands} << 28 | uint64_t{removals} << 34 |
         uint64_t{has_base} << 54 | uint64_t{static_cast<uint8_t>(pending)} << 55;
}

// The parts of a word from the lowest bit up: generation, operands, removals, whether there is a
// base, and the pending event.
KeyState KeyState::FromWord(uint64_t word) {
  KeyState state;
  state.generation = static_cast<uint32_t>(word) & kGenerationMask;
  state.operands = static_cast<uint32_t>(word >> 28) & kOperandMask;
  state.removals = static_cast<uint32_t>(word >> 34) & kRemovalMask;
  state.has_base = (word >> 54 & 1) != 0;
  state.pending = static_cast<Event>(word >> 55 & 3);
  return state;
}

// Whether a read may have found this while the state of the key changed from `before` to `after`.
bool MayBeFound(const KeyState& before, const KeyState& after,
                const std::optional<FoundEvent>& found) {
  // The greatest state that the database may have reached: a pending event counts as having
  // happened.
  const KeyState last = after.After(after.pending);
  assert(PositionOf(before) <= PositionOf(last));
  // A removal happened, or may have, if the number of removals, pending ones included, has changed.
  if (!found) return !before.IsPresent() || before.removals != last.removals;
  const Position position{found->generation, found->operands};
  if (position < PositionOf(before) || position > PositionOf(last)) return false;
  if (found->generation == before.generation) return found->has_base == before.has_base;
  if (found->generation == after.generation) return found->has_base == after.has_base;
  if (found->generation == last.generation) return found->has_base == last.has_base;
  return true;
}

bool IsExactly(const KeyState& state, const std::optional<FoundEvent>& found) {
  if (!found) return !state.IsPresent();
  return state.IsPresent() && found->generation == state.generation &&
         found->operands == state.operands && found->has_base == state.has_base;
}

}  // namespace ashlar::stress
