// SPDX-License-Identifier: Apache-2.0
//
// The hash table. Each chain has the newest object first. A lookup walks a chain with acquire loads
// and compares keys, so an object that it finds is always the right one. It can miss an object
// wrongly only if the table is replaced at the same time, and an object on its way moves to another
// chain. `version_` is odd during a replacement, and different afterwards. A lookup that has missed
// and sees such a version searches again under the lock. An unlinked object keeps its bucket_next,
// so lookups that are at this object can continue.
//
// Eviction. New objects enter the probation queue. An object that was used there moves to the main
// queue, any other is evicted. Objects are taken from probation as long as it has more than a tenth
// of the capacity. In the main queue each use since an object came gives it another round, three at
// most (CLOCK with a counter, as in S3-FIFO, SOSP 2023). An object that returns soon after it was
// evicted from probation goes directly to the main queue. So a scan of any length takes a tenth of
// the cache, and leaves the rest alone.
//
// Admission. A full shard does not admit a block that is cheap to read again when it first comes,
// but admits it to probation when it returns. If reads hardly ever need the same block again, an
// insertion, and the eviction that it causes, would cost as much as the read itself. The
// fingerprints of such blocks are stored in the same places as those of evicted objects.
//
//     insert -> [ probation ] -- used --> [ main ] <- used: once more round
//        |           |                        |
//     passed by    unused -> ghost          unused -> gone
//
// Eviction takes the reference of the shard with a compare-and-swap from 1 to 0. The swap fails if
// there is another reference. After it, TryRef() fails.
#include "cache/clock_shard.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "cache/handle_entry.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr unsigned kInitialBucketBits = 6;
constexpr size_t kProbationShare = 10;  // a tenth
// Objects that are referenced but not in the table may exceed the capacity by this share (1/16),
// until an insertion makes room.
constexpr size_t kPassedByShare = 16;
// If the capacity is not strict, an insertion gives up after it has skipped this many referenced
// objects. Skipped objects are moved, so the next insertion examines others.
constexpr size_t kMaxPinnedSteps = 512;

// Hash values are compared first, because they nearly always differ for different keys.
bool Matches(const CachedObject* object, const CacheKeyView& key) {
  assert(object != nullptr);
  if (object->hash != key.hash) return false;
  const bool is_long = (object->kind & CachedObject::kHasLongKey) != 0;
  if (is_long != key.is_long) return false;
  if (!is_long) [[likely]]
    return object->key == key.block;
  return static_cast<const HandleEntry*>(object)->long_key() == key.bytes;
}

CacheKeyView KeyOf(const CachedObject* object) {
  assert(object != nullptr);
  CacheKeyView key{.hash = object->hash, .block = object->key, .bytes = Slice(), .is_long = false};
  if (object->kind & CachedObject::kHasLongKey) {
    key.is_long = true;
    key.bytes = static_cast<const HandleEntry*>(object)->long_key();
  }
  return key;
}

}  // namespace

// One allocation holds the object, the heads of the chains and the fingerprints.
HashBuckets* HashBuckets::Create(unsigned bits) {
  assert(bits > 0);  // IndexOf() shifts by 64 - bits
  assert(bits < 64);
  const size_t size = size_t{1} << bits;
  using Head = std::atomic<CachedObject*>;
  using Print = std::atomic<uint32_t>;
  void* const memory = ::operator new(sizeof(HashBuckets) + size * (sizeof(Head) + sizeof(Print)));
  HashBuckets* const buckets = new (memory) HashBuckets(bits);
  Head* const heads = buckets->heads();
  for (size_t i = 0; i < size; ++i) new (heads + i) Head(nullptr);
  Print* const ghosts = reinterpret_cast<Print*>(heads + size);
  for (size_t i = 0; i < size; ++i) new (ghosts + i) Print(0);
  return buckets;
}

void HashBuckets::Free(EpochRetired* buckets) {
  static_cast<HashBuckets*>(buckets)->~HashBuckets();
  ::operator delete(buckets);
}

void ClockShard::Queue::PushFront(CachedObject* object) {
  assert(object != nullptr);
  assert((front == nullptr) == (back == nullptr));
  object->queue_prev = nullptr;
  object->queue_next = front;
  (front != nullptr ? front->queue_prev : back) = object;
  front = object;
  ++count;
  bytes += object->charge;
  assert(front == object);
  assert(back != nullptr);
}

void ClockShard::Queue::Remove(CachedObject* object) {
  assert(object != nullptr);
  assert(count != 0);
  assert(bytes >= object->charge);  // a charge is fixed while its object is in a queue
  CachedObject* const next = object->queue_next;
  CachedObject* const prev = object->queue_prev;
  (prev != nullptr ? prev->queue_next : front) = next;
  (next != nullptr ? next->queue_prev : back) = prev;
  --count;
  bytes -= object->charge;
  assert((count == 0) == (front == nullptr));
  assert((count == 0) == (back == nullptr));
}

ClockShard::ClockShard() : buckets_(HashBuckets::Create(kInitialBucketBits)) {}

// Lookups of other threads may still walk the chains.
ClockShard::~ClockShard() {
  HashBuckets* const buckets = buckets_.load(std::memory_order_relaxed);
  EpochRetireMemory(buckets, &HashBuckets::Free, buckets->memory_bytes());
}

// Reads the chain without a lock. The version tells whether the table was replaced during the
// search; a miss is then looked up again under the lock.
CachedObject* ClockShard::Find(const CacheKeyView& key) {
  assert(InEpoch());
  const uint32_t version = version_.load(std::memory_order_acquire);
  CachedObject* object =
      buckets_.load(std::memory_order_acquire)->HeadFor(key.hash).load(std::memory_order_acquire);
  for (; object != nullptr; object = object->bucket_next.load(std::memory_order_acquire)) {
    if (Matches(object, key)) return object;
  }
  // If a step above followed a link that a replacement had changed, the acquire load of that link
  // makes this load see the odd version or a later one.
  const bool is_stable = (version & 1) == 0 && version_.load(std::memory_order_acquire) == version;
  if (is_stable) [[likely]]
    return nullptr;
  MutexLock lock(&lock_);
  return FindLocked(key);
}

CachedObject* ClockShard::FindLocked(const CacheKeyView& key) {
  CachedObject* object =
      buckets_.load(std::memory_order_relaxed)->HeadFor(key.hash).load(std::memory_order_relaxed);
  while (object != nullptr && !Matches(object, key)) {
    object = object->bucket_next.load(std::memory_order_relaxed);
  }
  return object;
}

// Adds an object. An object with the same key is replaced, even if it is still referenced.
ClockShard::Result ClockShard::Insert(const Admission& admission, Departed* departed) {
  CachedObject* const object = admission.object;
  assert(object->refs.load(std::memory_order_relaxed) != 0);  // one of them becomes the shard's
  assert((object->state & CachedObject::kInTable) == 0);
  assert(object->shard == nullptr);
  MutexLock lock(&lock_);
  CachedObject* const old = FindLocked(KeyOf(object));
  if (old != nullptr) Detach(old, departed);
  // No other thread knows the object yet, so further references belong to the inserter.
  const bool is_wanted = object->refs.load(std::memory_order_relaxed) > 1;
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  const bool may_exceed = is_wanted && !is_strict_;
  // An object larger than the shard is only admitted for the sake of its reader.
  if (object->charge > capacity && !may_exceed) return Result::kNoRoom;
  if (admission.stays_out && may_exceed) {
    usage_.fetch_add(object->charge, std::memory_order_relaxed);
    object->shard = this;
    return Result::kCharged;
  }
  MakeRoom(object->charge, departed);
  if (usage() + object->charge > capacity && !may_exceed) return Result::kNoRoom;
  GrowIfNeeded(departed);
  Link(admission);
  assert(FindLocked(KeyOf(object)) == object);
  NoteChange();
  return Result::kInserted;
}

// Charges an object without adding it to the table. Returns false if it should be added instead.
bool ClockShard::PassBy(CachedObject* object) {
  assert(object != nullptr);
  assert(InEpoch());
  assert(object->shard == nullptr);
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  const size_t wanted = usage() + object->charge;
  if (wanted <= capacity || wanted > capacity + capacity / kPassedByShare) return false;
  HashBuckets* const buckets = buckets_.load(std::memory_order_acquire);
  const uint64_t hash = object->hash;
  if (buckets->Remembers(hash, HashBuckets::Ghost::kEvicted)) return false;
  if (buckets->Remembers(hash, HashBuckets::Ghost::kPassedBy)) return false;
  buckets->Remember(hash, HashBuckets::Ghost::kPassedBy);
  usage_.fetch_add(object->charge, std::memory_order_relaxed);
  object->shard = this;
  return true;
}

bool ClockShard::ChargeStandalone(CachedObject* object, Departed* departed) {
  assert(object != nullptr);
  assert(departed != nullptr);
  assert(object->shard == nullptr);
  assert((object->state & CachedObject::kInTable) == 0);
  MutexLock lock(&lock_);
  MakeRoom(object->charge, departed);
  const bool fits = usage() + object->charge <= capacity_.load(std::memory_order_relaxed);
  if (!fits && is_strict_) return false;
  usage_.fetch_add(object->charge, std::memory_order_relaxed);
  object->shard = this;
  return true;
}

// Evicts objects until `charge` more bytes fit, or until nothing more can be evicted.
void ClockShard::MakeRoom(size_t charge, Departed* departed) {
  const size_t count = probation_.count + main_.count;
  size_t pinned_steps = is_strict_ ? 2 * count : std::min(2 * count, kMaxPinnedSteps);
  // Each object gets another round for each recorded use, and is then evicted.
  for (size_t steps = (CachedObject::kMostRounds + 1) * count; steps > 0; --steps) {
    if (usage() + charge <= capacity_.load(std::memory_order_relaxed)) return;
    if (probation_.count + main_.count == 0) return;
    if (!StepClock(departed) && --pinned_steps == 0) return;
  }
}

// Evicts one object, or moves it to the front of the main queue. Returns false if it was not used
// and was only kept because it is referenced.
bool ClockShard::StepClock(Departed* departed) {
  const bool probation_is_due =
      probation_.bytes > capacity_.load(std::memory_order_relaxed) / kProbationShare;
  const bool from_probation = probation_.count != 0 && (probation_is_due || main_.count == 0);
  CachedObject* const object = from_probation ? probation_.back : main_.back;
  assert(object != nullptr);  // MakeRoom() calls this only while a queue is not empty
  assert(object->state & CachedObject::kInTable);
  const uint8_t uses = object->touched.load(std::memory_order_relaxed);
  const bool was_used = uses != 0;
  if (!was_used && EvictLocked(object, departed)) {
    object->state |= CachedObject::kEvicted;
    if (!from_probation) return true;
    has_evicted_ = true;
    buckets_.load(std::memory_order_relaxed)->Remember(object->hash, HashBuckets::Ghost::kEvicted);
    return true;
  }
  // The time on probation does not count as a round. An object that was used there must be used
  // again in the main queue.
  object->touched.store(from_probation || !was_used ? 0 : uses - 1, std::memory_order_relaxed);
  QueueOf(object).Remove(object);
  object->state |= CachedObject::kInMainQueue;
  main_.PushFront(object);
  return was_used;
}

// Evicts the object, unless there is a reference beside that of the shard.
bool ClockShard::EvictLocked(CachedObject* object, Departed* departed) {
  assert(object != nullptr);
  assert(object->shard == this);
  uint32_t expected = 1;
  if (!object->refs.compare_exchange_strong(expected, 0, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
    return false;
  }
  Unlink(object);
  GiveBack(object->charge);
  object->shard = nullptr;
  departed->Add(object);
  return true;
}

// Removes the object from the table, whether or not it is referenced. A referenced object stays
// charged until its last reference is released.
void ClockShard::Detach(CachedObject* object, Departed* departed) {
  assert(object != nullptr);
  assert(departed != nullptr);
  assert(object->shard == this);
  assert(object->refs.load(std::memory_order_relaxed) != 0);  // at least the reference of the shard
  Unlink(object);
  if (object->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  GiveBack(object->charge);
  object->shard = nullptr;
  departed->Add(object);
}

// Adds an object to the table, to a queue and, if it has one, to its slot.
void ClockShard::Link(const Admission& admission) {
  CachedObject* const object = admission.object;
  assert(object->slot_link == nullptr);
  assert(admission.table == nullptr || admission.slot_index < admission.table->size());
  const bool is_proved =
      admission.is_important || (!admission.is_doubtful && WasEvictedLately(object->hash));
  object->state |= CachedObject::kInTable;
  if (is_proved) object->state |= CachedObject::kInMainQueue;
  if (admission.is_important) object->touched.store(1, std::memory_order_relaxed);
  object->shard = this;
  usage_.fetch_add(object->charge, std::memory_order_relaxed);
  QueueOf(object).PushFront(object);
  if (admission.table != nullptr) {
    object->slot_link = admission.table->link();
    object->slot_link->Ref();
    object->slot_index = admission.slot_index;
  }
  auto& head = buckets_.load(std::memory_order_relaxed)->HeadFor(object->hash);
  object->bucket_next.store(head.load(std::memory_order_relaxed), std::memory_order_relaxed);
  head.store(object, std::memory_order_release);
  if (admission.table != nullptr) {
    (*admission.table)[admission.slot_index].store(object, std::memory_order_release);
  }
}

void ClockShard::Unlink(CachedObject* object) {
  assert(object != nullptr);
  assert(object->state & CachedObject::kInTable);
  std::atomic<CachedObject*>* link =
      &buckets_.load(std::memory_order_relaxed)->HeadFor(object->hash);
  for (;;) {
    CachedObject* const linked = link->load(std::memory_order_relaxed);
    assert(linked != nullptr);  // an object of the table is in the chain of its hash
    if (linked == object) break;
    link = &linked->bucket_next;
  }
  link->store(object->bucket_next.load(std::memory_order_relaxed), std::memory_order_release);
  ClearSlot(object);
  QueueOf(object).Remove(object);
  object->state &= static_cast<uint8_t>(~CachedObject::kInTable);
}

// Clears the slot that refers to the object. The slot may refer to another object by now, for
// instance after a replacement.
void ClockShard::ClearSlot(CachedObject* object) {
  assert(object != nullptr);
  if (object->slot_link == nullptr) return;
  EpochGuard guard;
  SlotTable* const table = object->slot_link->table();
  if (table == nullptr) return;
  assert(object->slot_index < table->size());
  CachedObject* expected = object;
  (*table)[object->slot_index].compare_exchange_strong(expected, nullptr, std::memory_order_release,
                                                       std::memory_order_relaxed);
}

// An object has at most one slot. The old slot is cleared before the new one is set.
void ClockShard::PublishSlot(CachedObject* object, SlotTable* table, uint32_t slot_index) {
  assert(table != nullptr);
  assert(slot_index < table->size());
  SlotLink* left = nullptr;
  {
    MutexLock lock(&lock_);
    if ((object->state & CachedObject::kInTable) == 0) return;
    if (object->slot_link != table->link() || object->slot_index != slot_index) {
      ClearSlot(object);
      left = object->slot_link;
      object->slot_link = table->link();
      object->slot_link->Ref();
      object->slot_index = slot_index;
    }
    (*table)[slot_index].store(object, std::memory_order_release);
  }
  if (left != nullptr) left->Unref();
}

// Doubles the table when there is an object for each chain. The old table is freed by the caller,
// after the lookups in it have ended. Without memory for a larger one the table stays as it is, and
// its chains become longer: an exception would lose the objects that were just evicted.
void ClockShard::GrowIfNeeded(Departed* departed) {
  HashBuckets* const old = buckets_.load(std::memory_order_relaxed);
  if (probation_.count + main_.count < old->size() || departed->buckets != nullptr) return;
  HashBuckets* larger = nullptr;
  try {
    larger = HashBuckets::Create(old->bits + 1);
  } catch (const std::bad_alloc&) {
    return;  // the next insertion tries again
  }
  version_.fetch_add(1, std::memory_order_acq_rel);
  RelinkInto(old, larger);
  buckets_.store(larger, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
  departed->buckets = old;
  has_evicted_ = false;
  assert((version_.load(std::memory_order_relaxed) & 1) == 0);
}

void ClockShard::RelinkInto(HashBuckets* from, HashBuckets* to) {
  assert(to != nullptr);
  assert(from != nullptr);
  assert(to->size() > from->size());
  // Lookups that miss look again under the lock.
  assert((version_.load(std::memory_order_relaxed) & 1) != 0);
  for (size_t i = 0; i < from->size(); ++i) {
    CachedObject* object = from->Head(i).load(std::memory_order_relaxed);
    while (object != nullptr) {
      CachedObject* const next = object->bucket_next.load(std::memory_order_relaxed);
      auto& head = to->HeadFor(object->hash);
      object->bucket_next.store(head.load(std::memory_order_relaxed), std::memory_order_release);
      head.store(object, std::memory_order_release);
      object = next;
    }
  }
}

// Whether the object was evicted from probation a short time ago. An object that returns so soon is
// worth keeping.
bool ClockShard::WasEvictedLately(uint64_t hash) {
  if (!has_evicted_) return false;  // saves a cache miss while the cache is filling up
  HashBuckets* const buckets = buckets_.load(std::memory_order_relaxed);
  if (!buckets->Remembers(hash, HashBuckets::Ghost::kEvicted)) return false;
  buckets->Forget(hash);
  return true;
}

void ClockShard::Erase(const CacheKeyView& key, Departed* departed) {
  MutexLock lock(&lock_);
  CachedObject* const object = FindLocked(key);
  if (object != nullptr) Detach(object, departed);
  assert(FindLocked(key) == nullptr);
  NoteChange();
}

bool ClockShard::EraseIfUnreferenced(CachedObject* object, Departed* departed) {
  assert(object != nullptr);
  MutexLock lock(&lock_);
  return (object->state & CachedObject::kInTable) != 0 && EvictLocked(object, departed);
}

void ClockShard::EraseUnreferenced(Departed* departed) {
  MutexLock lock(&lock_);
  for (Queue* queue : {&probation_, &main_}) {
    for (CachedObject *object = queue->front, *next; object != nullptr; object = next) {
      next = object->queue_next;
      EvictLocked(object, departed);
    }
  }
  NoteChange();
}

void ClockShard::EraseAll(Departed* departed) {
  MutexLock lock(&lock_);
  for (Queue* queue : {&probation_, &main_}) {
    while (queue->front != nullptr) Detach(queue->front, departed);
    assert(queue->count == 0);
    assert(queue->bytes == 0);
  }
}

void ClockShard::SetCapacity(size_t capacity, Departed* departed) {
  MutexLock lock(&lock_);
  capacity_.store(capacity, std::memory_order_relaxed);
  MakeRoom(0, departed);
  NoteChange();
}

void ClockShard::SetStrict(bool is_strict) {
  MutexLock lock(&lock_);
  is_strict_ = is_strict;
}

// The charges of objects that have a reference beside that of the shard.
size_t ClockShard::PinnedUsage() {
  MutexLock lock(&lock_);
  size_t unpinned = 0;
  for (const Queue* queue : {&probation_, &main_}) {
    for (const CachedObject* o = queue->front; o != nullptr; o = o->queue_next) {
      if (o->refs.load(std::memory_order_relaxed) <= 1) unpinned += o->charge;
    }
  }
  assert(unpinned <= usage());
  return usage() - unpinned;
}

size_t ClockShard::count() {
  MutexLock lock(&lock_);
  return probation_.count + main_.count;
}

size_t ClockShard::bucket_count() {
  MutexLock lock(&lock_);
  return buckets_.load(std::memory_order_relaxed)->size();
}

// Visits whole chains, at least `limit` objects if there are so many. The position is a hash value,
// so it stays meaningful if the table grows between two calls.
bool ClockShard::Walk(uint64_t* position, size_t limit,
                      const std::function<void(CachedObject*)>& callback) {
  assert(position != nullptr);
  assert(limit != 0);  // otherwise the position would not move
  MutexLock lock(&lock_);
  HashBuckets* const buckets = buckets_.load(std::memory_order_relaxed);
  size_t seen = 0, index = buckets->IndexOf(*position);
  for (; index < buckets->size() && seen < limit; ++index) {
    const CachedObject* object = buckets->Head(index).load(std::memory_order_relaxed);
    for (; object != nullptr; object = object->bucket_next.load(std::memory_order_relaxed)) {
      callback(const_cast<CachedObject*>(object));
      ++seen;
    }
  }
  *position = uint64_t{index} << (64 - buckets->bits);
  return index < buckets->size();
}

[[gnu::cold]] std::string ClockShard::DebugString() {
  MutexLock lock(&lock_);
  return StrCat("usage ", usage(), " of ", capacity_.load(std::memory_order_relaxed),
                is_strict_ ? " (strict)" : "", "; probation ", probation_.count, " entries, ",
                probation_.bytes, " bytes; main ", main_.count, " entries, ", main_.bytes,
                " bytes; buckets ", buckets_.load(std::memory_order_relaxed)->size());
}

void ClockShard::NoteChange() {
#ifdef ASHLAR_INVARIANTS
  if (++unchecked_changes_ < probation_.count + main_.count) return;
  unchecked_changes_ = 0;
  CheckInvariantsLocked();
#endif
}

[[gnu::cold]] void ClockShard::CheckInvariants() {
  MutexLock lock(&lock_);
  CheckInvariantsLocked();
}

// Linear in the number of entries, so it is compiled only into builds that check invariants.
void ClockShard::CheckInvariantsLocked() {
  size_t count = 0, bytes = 0;
  for (const Queue* queue : {&probation_, &main_}) {
    size_t queue_bytes = 0, queue_count = 0;
    for (const CachedObject* o = queue->front; o != nullptr; o = o->queue_next) {
      queue_bytes += o->charge;
      ++queue_count;
      const bool is_sound = (o->state & CachedObject::kInTable) != 0 && o->shard == this &&
                            o->refs.load(std::memory_order_relaxed) != 0 &&
                            FindLocked(KeyOf(o)) == o && &QueueOf(o) == queue;
      if (!is_sound) std::abort();
    }
    if (queue_bytes != queue->bytes || queue_count != queue->count) std::abort();
    count += queue_count;
    bytes += queue_bytes;
  }
  // A charge that is not in the table belongs to an object that is referenced from outside.
  if (bytes > usage()) {
    std::fprintf(stderr, "ashlar: a cache shard of %zu objects, %zu bytes is charged %zu\n", count,
                 bytes, usage());
    std::abort();
  }
}

}  // namespace ashlar
