// SPDX-License-Identifier: Apache-2.0
//
// A list is never changed: a merge makes a new one, and the replaced set of lists is retired.
// Iterators keep the list that they got.
#include "memtable/memtable_tombstones.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/memory/arena.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Copies a key into the arena.
Slice CopyInto(Allocator* arena, const Slice& key) {
  if (key.empty()) return Slice("", 0);
  char* const memory = arena->Allocate(key.size());
  std::memcpy(memory, key.data(), key.size());
  return Slice(memory, key.size());
}

}  // namespace

// Readers keep the memtable alive, so there are none now.
MemTableTombstones::~MemTableTombstones() { delete lists_.load(std::memory_order_relaxed); }

// The lists grow like those of an LSM tree: a new list is merged with older ones that are less than
// kGrowth times as long. So there are few lists, and each tombstone is merged a logarithmic number
// of times. Readers use the published lists without the mutex; the replaced ones are freed when no
// reader can see them.
void MemTableTombstones::Add(const RangeTombstone& tombstone) {
  assert(comparator_.OrderWithoutTimestamp(tombstone.begin, tombstone.end) < 0);
  const RangeTombstone own{CopyInto(arena_, tombstone.begin), CopyInto(arena_, tombstone.end),
                           tombstone.seqno};
  const auto single = std::make_shared<const Run>(comparator_, std::vector<RangeTombstone>{own});
  Lists* replaced = nullptr;
  {
    MutexLock lock(&mutex_);
    const Lists* const now = lists_.load(std::memory_order_relaxed);
    std::vector<List> lists = now == nullptr ? std::vector<List>() : now->all;
    std::vector<List> merged{single};
    size_t count = 1;
    while (!lists.empty() && lists.back()->added.size() < kGrowth * count) {
      count += lists.back()->added.size();
      merged.push_back(std::move(lists.back()));
      lists.pop_back();
    }
    lists.push_back(merged.size() == 1 ? single : Merge(merged));
    replaced = PublishLocked(std::move(lists));
  }
  if (replaced != nullptr) EpochRetireDelete(replaced);
}

MemTableTombstones::List MemTableTombstones::Merge(const std::vector<List>& lists) const {
  assert(lists.size() > 1);
  const auto comes_first = [this](const RangeTombstone& a, const RangeTombstone& b) {
    const int order = comparator_.OrderWithoutTimestamp(a.begin, b.begin);
    return order != 0 ? order < 0 : a.seqno > b.seqno;
  };
  std::vector<RangeTombstone> all, longer;
  for (const List& list : lists) {
    longer.resize(all.size() + list->added.size());
    std::merge(all.begin(), all.end(), list->added.begin(), list->added.end(), longer.begin(),
               comes_first);
    all.swap(longer);
  }
  return std::make_shared<const Run>(comparator_, std::move(all));
}

MemTableTombstones::Lists* MemTableTombstones::PublishLocked(std::vector<List> lists) const {
  assert(!lists.empty());
  size_t bytes = 0;
  for (const List& list : lists) {
    bytes += list->fragments.MemoryUsage() + list->added.size() * sizeof(RangeTombstone);
  }
  Lists* const next = new Lists;
  next->all = std::move(lists);
  memory_bytes_.store(bytes, std::memory_order_relaxed);
  return lists_.exchange(next, std::memory_order_acq_rel);
}

SequenceNumber MemTableTombstones::MaxCoveringSeqno(const Slice& user_key,
                                                    SequenceNumber upper_seqno) const {
  const EpochGuard guard;
  const Lists* const lists = lists_.load(std::memory_order_acquire);
  SequenceNumber seqno = 0;
  if (lists == nullptr) return seqno;
  for (const List& list : lists->all) {
    const FragmentedTombstones& fragments = list->fragments;
    if (fragments.smallest_seqno() > upper_seqno || fragments.largest_seqno() <= seqno) continue;
    seqno = std::max(seqno, fragments.MaxCoveringSeqno(user_key, upper_seqno));
  }
  return seqno;
}

std::shared_ptr<const FragmentedTombstones> MemTableTombstones::All() const {
  if (empty()) return nullptr;
  Lists* replaced = nullptr;
  List whole;
  {
    MutexLock lock(&mutex_);
    const Lists* const now = lists_.load(std::memory_order_relaxed);
    assert(now != nullptr);
    assert(!now->all.empty());  // lists are replaced, but never removed
    whole = now->all.front();
    if (now->all.size() > 1) {
      whole = Merge({now->all.rbegin(), now->all.rend()});
      replaced = PublishLocked({whole});
    }
  }
  if (replaced != nullptr) EpochRetireDelete(replaced);
  return {whole, &whole->fragments};
}

[[gnu::cold]] std::string MemTableTombstones::DebugString() const {
  const EpochGuard guard;
  const Lists* const lists = lists_.load(std::memory_order_acquire);
  std::string out = "range tombstones";
  if (lists == nullptr) return out + " none";
  for (const List& list : lists->all) StrAppend(&out, " ", list->added.size());
  return out;
}

}  // namespace ashlar
