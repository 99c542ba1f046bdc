// SPDX-License-Identifier: Apache-2.0
//
// Growth of the table. A slot does not contain enough of the hash for a larger table, so the keys
// are hashed again. Their records may lie anywhere in the batch, so they are prefetched some slots
// ahead.
#include "db/transaction/indexed_batch/key_table.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

constexpr size_t kMinSlots = 16;
constexpr size_t kSlotsAhead = 16;

size_t LimitOf(size_t slot_count) { return slot_count / 4 * 3; }

// The number of slots for so many keys.
size_t SlotsFor(size_t count) { return std::max(kMinSlots, (count + 2) / 3 * 4); }

}  // namespace

void KeyTable::Allocate(size_t slot_count) {
  slots_ = std::make_unique<uint64_t[]>(slot_count);
  slot_count_ = slot_count;
  limit_ = LimitOf(slot_count);
  taken_ = 0;
}

// Builds the table anew, for `count` keys and at least twice the present ones. Erased slots are
// dropped.
void KeyTable::Rebuild(size_t count, const BatchKeys& keys) {
  const std::unique_ptr<uint64_t[]> old = std::move(slots_);
  const size_t old_count = slot_count_;
  Allocate(SlotsFor(std::max(count, 2 * count_)));
  const auto fetch = [&](size_t i) {
    if (i < old_count && IsInUse(old[i])) keys.Prefetch(KeyRef::FromBits(old[i] & kRefMask));
  };
  for (size_t i = 0; i < kSlotsAhead; ++i) fetch(i);
  for (size_t i = 0; i < old_count; ++i) {
    fetch(i + kSlotsAhead);
    if (!IsInUse(old[i])) continue;
    const KeyRef ref = KeyRef::FromBits(old[i] & kRefMask);
    Place(HashOf(keys.KeyOf(ref)), ref);
  }
}

// A batch that is used again tends to have as many keys as before, so the table is kept. A table
// that was far too large for its keys is made smaller, because each Clear() would write all of it.
void KeyTable::Clear() {
  if (slots_ == nullptr) return;
  const bool is_too_large = slot_count_ > 4 * SlotsFor(count_);
  const bool is_untouched = taken_ == 0;
  count_ = 0;
  taken_ = 0;
  if (is_too_large) return Allocate(slot_count_ / 4);
  if (!is_untouched) std::fill_n(slots_.get(), slot_count_, kFree);
}

}  // namespace ashlar
