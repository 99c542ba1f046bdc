// SPDX-License-Identifier: Apache-2.0
//
// Each update costs one search of its key. The reference of a key changes at most once, from its
// record to its chain; from then on the chain knows the newest update.
#include "db/transaction/indexed_batch/update_index.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

using Families = std::vector<std::unique_ptr<UpdateIndex::Family>>;

Families::const_iterator FamilyAtOrAfter(const Families& families, uint32_t id) {
  return std::lower_bound(families.begin(), families.end(), id,
                          [](const auto& family, uint32_t other) { return family->id() < other; });
}

}  // namespace

UpdateIndex::Family::Family(uint32_t id, const Comparator* comparator, const BatchKeys* keys)
    : id_(id),
      comparator_(comparator),
      is_hashed_(!comparator->CanKeysWithDifferentByteContentsBeEqual()),
      sorted_(&comparator_, keys),
      is_sorted_(!is_hashed_) {}

void UpdateIndex::Family::OrderBy(const Comparator* comparator) {
  assert(comparator != nullptr);
  assert(update_count_ == 0);
  comparator_ = InternalKeyComparator(comparator);
  is_hashed_ = !comparator->CanKeysWithDifferentByteContentsBeEqual();
  is_sorted_.store(!is_hashed_, std::memory_order_relaxed);
}

UpdateIndex::Family* UpdateIndex::Find(uint32_t id) const {
  const auto found = FamilyAtOrAfter(families_, id);
  return found != families_.end() && (*found)->id() == id ? found->get() : nullptr;
}

UpdateIndex::Family* UpdateIndex::Make(uint32_t id, const Comparator* comparator) {
  const auto place = FamilyAtOrAfter(families_, id);
  assert(place == families_.end() || (*place)->id() != id);
  return families_.insert(place, std::make_unique<Family>(id, comparator, &keys_))->get();
}

bool UpdateIndex::FindEntry(const Family& family, const Slice& key, KeyTable::Slot* slot,
                            KeyRef* ref) const {
  if (family.is_hashed_) {
    *slot = family.table_.Find(key, KeyTable::HashOf(key), keys_);
    if (!*slot) return false;
    *ref = slot->ref();
    return true;
  }
  SortedKeys::Place place;
  if (!family.sorted_.Find(key, &place)) return false;
  *ref = family.sorted_.At(place);
  return true;
}

// A key that is new costs one insertion; a known key gets a chain.
void UpdateIndex::Add(Family* family, const WriteBatchRecord& record, uint64_t offset) {
  KeyTable::Slot slot;
  KeyRef ref = KeyRef::ToRecord(offset);
  if (FindEntry(*family, record.key, &slot, &ref)) {
    return AddAgain(family, record, offset, slot, ref);
  }
  if (family->is_hashed_) family->table_.Insert(KeyTable::HashOf(record.key), ref, keys_);
  if (family->is_sorted()) family->sorted_.Insert(record.key, ref);
  ++family->update_count_;
}

// A key that comes again inside a sub-batch begins a new sub-batch.
void UpdateIndex::AddAgain(Family* family, const WriteBatchRecord& record, uint64_t offset,
                           KeyTable::Slot slot, KeyRef ref) {
  const Shown newest = Newest(ref);
  assert(newest.offset < offset);
  if (newest.offset >= (sub_batches_.empty() ? 0 : sub_batches_.back())) {
    sub_batches_.push_back(offset);
  }
  const bool had_replaced = ReplacedSingleDelete(newest);
  UpdateChains::Addition addition{.offset = offset};
  addition.replaces = overwrites_ && record.type != kTypeMerge;
  if (addition.replaces) {
    addition.replaced_single_delete =
        had_replaced || keys_.RecordAt(newest.offset).type == kTypeSingleDeletion;
    if (addition.replaced_single_delete && !had_replaced) ++family->replaced_single_delete_count_;
  } else {
    ++family->update_count_;
  }
  if (ref.is_chain()) return chains_.Add(ref.chain(), addition);
  SetRef(family, record.key, slot, KeyRef::ToChain(chains_.Start(ref.offset(), addition)));
}

// Replaces the reference of a key. The key is found in order by the record that its old reference
// names.
void UpdateIndex::SetRef(Family* family, const Slice& key, KeyTable::Slot slot, KeyRef ref) {
  assert(family != nullptr);
  if (family->is_hashed_) family->table_.Replace(slot, ref);
  if (family->is_sorted()) family->sorted_.Replace(key, ref);
}

// Restores the state before the record was added: the key is removed, or its chain loses its newest
// update.
void UpdateIndex::TakeBack(Family* family, const WriteBatchRecord& record, uint64_t offset) {
  KeyTable::Slot slot;
  KeyRef ref = KeyRef::ToRecord(offset);
  [[maybe_unused]] const bool is_there = FindEntry(*family, record.key, &slot, &ref);
  assert(is_there);
  if (!sub_batches_.empty() && sub_batches_.back() == offset) sub_batches_.pop_back();
  if (!ref.is_chain()) {
    assert(ref.offset() == offset);
    if (family->is_sorted()) family->sorted_.Erase(record.key);
    if (family->is_hashed_) family->table_.Erase(slot);
    --family->update_count_;
    return;
  }
  const Shown newest = Newest(ref);
  assert(newest.offset == offset);
  const UpdateChains::Update gone = chains_.At(newest.update);
  if (gone.replaced == UpdateChains::kNone) {
    --family->update_count_;
  } else if (gone.replaced_single_delete != 0 &&
             chains_.At(gone.replaced).replaced_single_delete == 0) {
    --family->replaced_single_delete_count_;
  }
  const uint64_t before =
      chains_.At(gone.replaced == UpdateChains::kNone ? gone.older : gone.replaced).offset;
  const bool is_last = gone.ordinal == 2;
  // The key must be found before the chain is removed, so its reference is replaced first.
  if (is_last) SetRef(family, record.key, slot, KeyRef::ToRecord(before));
  [[maybe_unused]] const UpdateChains::Left left = chains_.TakeBack(ref.chain());
  assert((left == UpdateChains::Left::kRecord) == is_last);
}

void UpdateIndex::Sort(Family* family) {
  assert(family != nullptr);
  assert(!family->is_sorted());
  family->sorted_.Build(family->table_);
  family->is_sorted_.store(true, std::memory_order_release);
}

// The families stay, with the memory of their tables, for the next use of the batch.
void UpdateIndex::Clear() {
  for (const std::unique_ptr<Family>& family : families_) {
    family->table_.Clear();
    family->sorted_.Clear();
    family->is_sorted_.store(!family->is_hashed_, std::memory_order_relaxed);
    family->update_count_ = 0;
    family->replaced_single_delete_count_ = 0;
  }
  chains_.Clear();
  sub_batches_.clear();
}

bool UpdateIndex::FindNewest(const Family& family, const Slice& key, Shown* shown) const {
  KeyTable::Slot slot;
  if (!FindEntry(family, key, &slot, &shown->ref)) return false;
  *shown = Newest(shown->ref);
  return true;
}

UpdateIndex::Shown UpdateIndex::Newest(KeyRef ref) const {
  if (!ref.is_chain()) return {.ref = ref, .offset = ref.offset()};
  const uint32_t update = chains_.NewestIndex(ref.chain());
  return {.ref = ref, .update = update, .offset = chains_.At(update).offset};
}

UpdateIndex::Shown UpdateIndex::Oldest(KeyRef ref) const {
  Shown shown = Newest(ref);
  while (ToOlder(&shown)) {
  }
  return shown;
}

bool UpdateIndex::ToOlder(Shown* shown) const {
  assert(shown != nullptr);
  if (shown->update == UpdateChains::kNone) return false;
  const uint32_t older = chains_.At(shown->update).older;
  if (older == UpdateChains::kNone) return false;
  *shown = {.ref = shown->ref, .update = older, .offset = chains_.At(older).offset};
  return true;
}

bool UpdateIndex::ToNewer(Shown* shown) const {
  assert(shown != nullptr);
  if (shown->update == UpdateChains::kNone) return false;
  const uint32_t newer = chains_.At(shown->update).newer;
  if (newer == UpdateChains::kNone) return false;
  *shown = {.ref = shown->ref, .update = newer, .offset = chains_.At(newer).offset};
  return true;
}

uint32_t UpdateIndex::OrdinalOf(const Shown& shown) const {
  return shown.update == UpdateChains::kNone ? 1 : chains_.At(shown.update).ordinal;
}

bool UpdateIndex::ReplacedSingleDelete(const Shown& shown) const {
  return shown.update != UpdateChains::kNone &&
         chains_.At(shown.update).replaced_single_delete != 0;
}

}  // namespace ashlar
