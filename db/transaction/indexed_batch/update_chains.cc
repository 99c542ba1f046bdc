// SPDX-License-Identifier: Apache-2.0
//
// An update that replaces another one takes over its neighbour:
//
//   before   newest -> P2 -> M1            (P3 is added and replaces P2)
//   after    newest -> P3 -> M1,   P3.replaced = P2, P2.older = M1 as before
#include "db/transaction/indexed_batch/update_chains.h"

#include <cassert>

namespace ashlar {

// An update that replaces another takes the place of it in the chain. The replaced one is
// remembered, so that a rollback can put it back.
void UpdateChains::Add(uint32_t chain, const Addition& addition) {
  const uint32_t before = NewestIndex(chain);
  const Update& last = updates_[before];
  assert(addition.offset > last.offset);
  Update update{.offset = addition.offset};
  update.ordinal = last.ordinal + 1u;
  update.replaced_single_delete = addition.replaced_single_delete ? 1 : 0;
  update.older = addition.replaces ? last.older : before;
  if (addition.replaces) update.replaced = before;
  updates_.push_back(update);
  newest_[chain] = LastUpdate();
  if (update.older != kNone) updates_[update.older].newer = LastUpdate();
}

// The chain is resolved by its second update; the first update is removed with it.
UpdateChains::Left UpdateChains::TakeBack(uint32_t chain) {
  assert(NewestIndex(chain) == LastUpdate());
  const Update gone = updates_.back();
  updates_.pop_back();
  const bool has_replaced = gone.replaced != kNone;
  const uint32_t newest = has_replaced ? gone.replaced : gone.older;
  newest_[chain] = newest;
  if (!has_replaced) {
    updates_[newest].newer = kNone;
  } else if (gone.older != kNone) {
    updates_[gone.older].newer = newest;
  }
  if (gone.ordinal != 2) return Left::kChain;
  assert(newest == LastUpdate() && chain == LastChain());
  updates_.pop_back();
  newest_.pop_back();
  return Left::kRecord;
}

}  // namespace ashlar
