// SPDX-License-Identifier: Apache-2.0
//
// A segment begins with its own description, so a piece's address, rounded down, leads to it:
//
//     | Segment | slab 0, a little shorter |     slab 1     | ... |     slab 15     |
//
// Whoever has room is found through lists, those that are nearly full in front: so what is nearly
// empty becomes empty, and can serve another size or go back.
#include "util/slab_heap.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <new>
#include <utility>

#include "util/mutex.h"
#include "util/thread_number.h"

namespace ashlar {
namespace {

constexpr size_t kMinPieceBytes = 256;
constexpr size_t kStepsPerDoubling = 16;
constexpr size_t kSlabsPerSegment = SlabHeap::kSegmentBytes / SlabHeap::kSlabBytes;
// Pages of a slab come so many at a time: each on its own costs several times as much.
constexpr uint32_t kTouchedBytes = 64 << 10;
constexpr uint32_t kAllSlabs = (uint32_t{1} << kSlabsPerSegment) - 1;

// Sizes are numbered from kMinPieceBytes on, kStepsPerDoubling of them for each doubling.
size_t ClassOf(size_t piece_bytes) {
  const auto doublings = static_cast<size_t>(std::bit_width(piece_bytes / kMinPieceBytes)) - 1;
  const size_t step = (kMinPieceBytes << doublings) / kStepsPerDoubling;
  return kStepsPerDoubling * doublings + piece_bytes / step - kStepsPerDoubling;
}

constexpr size_t kClassCount = 7 * kStepsPerDoubling;  // up to 32 KB

}  // namespace

// A list through the elements' own pointers.
template <typename T>
class SlabHeap::List {
 public:
  T* front() const { return front_; }
  void PushFront(T* element) {
    assert(element->previous == nullptr && element->next == nullptr);
    element->next = front_;
    if (front_ != nullptr) front_->previous = element;
    front_ = element;
  }
  void Remove(T* element) {
    if (element->next != nullptr) element->next->previous = element->previous;
    (element->previous != nullptr ? element->previous->next : front_) = element->next;
    element->previous = element->next = nullptr;
  }

 private:
  T* front_ = nullptr;
};

// Pieces [0, carved) were handed out at some time; those of them that came back are in free_pieces,
// linked through their first word.
struct SlabHeap::Slab {
  Slab* previous = nullptr;  // in its size's list, if it has room
  Slab* next = nullptr;
  char* begin = nullptr;
  void* free_pieces = nullptr;
  uint32_t piece_bytes = 0;
  uint32_t capacity = 0;  // pieces
  uint32_t carved = 0;
  uint32_t used = 0;
  uint32_t touched = 0;  // bytes from begin on whose pages were asked for: stays when it is empty

  void* Take() {
    assert(used < capacity);
    ++used;
    return free_pieces == nullptr ? Carve()
                                  : std::exchange(free_pieces, *static_cast<void**>(free_pieces));
  }
  void* Carve() {
    const uint32_t offset = piece_bytes * carved++;
    if (offset + piece_bytes > touched) {
      const uint32_t ahead = std::min(kTouchedBytes, piece_bytes * capacity - touched);
      PageBuffer::TouchAhead(begin + touched, ahead);
      touched += ahead;
    }
    return begin + offset;
  }
  void PutBack(void* piece) {
    assert(used > 0);
    --used;
    *static_cast<void**>(piece) = std::exchange(free_pieces, piece);
  }
};

struct SlabHeap::Segment {
  Segment* previous = nullptr;  // among those with free slabs
  Segment* next = nullptr;
  Shard* shard = nullptr;  // changes while it is empty
  PageBuffer memory;       // this segment itself
  uint32_t free_slabs = kAllSlabs;
  Slab slabs[kSlabsPerSegment];

  explicit Segment(PageBuffer pages) : memory(std::move(pages)) {}
  static Segment* Create();
  static void Destroy(Segment* segment) {
    const PageBuffer last = std::move(segment->memory);
    segment->~Segment();
  }
  static Segment* Of(void* piece) {
    return reinterpret_cast<Segment*>(reinterpret_cast<uintptr_t>(piece) & ~(kSegmentBytes - 1));
  }
  Slab* SlabOf(void* piece) {
    return &slabs[(reinterpret_cast<uintptr_t>(piece) & (kSegmentBytes - 1)) / kSlabBytes];
  }
  bool IsEmpty() const { return free_slabs == kAllSlabs; }

  Slab* TakeSlab(size_t piece_bytes);
  void PutBackSlab(Slab* slab);
};

SlabHeap::Segment* SlabHeap::Segment::Create() {
  PageBuffer pages(kSegmentBytes, PageBuffer::Pages::kSmall);
  char* const memory = pages.data();
  assert(reinterpret_cast<uintptr_t>(memory) % kSegmentBytes == 0);
  return new (memory) Segment(std::move(pages));
}

SlabHeap::Slab* SlabHeap::Segment::TakeSlab(size_t piece_bytes) {
  assert(free_slabs != 0);
  constexpr size_t kOwnBytes = (sizeof(Segment) + kAlignment - 1) / kAlignment * kAlignment;
  const auto i = static_cast<size_t>(std::countr_zero(free_slabs));
  free_slabs &= free_slabs - 1;
  char* const end = reinterpret_cast<char*>(this) + (i + 1) * kSlabBytes;
  Slab* const slab = &slabs[i];
  assert(slab->used == 0 && slab->next == nullptr);
  slab->begin = end - kSlabBytes + (i == 0 ? kOwnBytes : 0);
  slab->free_pieces = nullptr;
  slab->carved = 0;
  slab->piece_bytes = static_cast<uint32_t>(piece_bytes);
  slab->capacity = static_cast<uint32_t>(static_cast<size_t>(end - slab->begin) / piece_bytes);
  assert(slab->capacity > 1);
  return slab;
}

void SlabHeap::Segment::PutBackSlab(Slab* slab) {
  assert(slab->used == 0);
  const auto bit = uint32_t{1} << (slab - slabs);
  assert((free_slabs & bit) == 0);
  free_slabs |= bit;
}

// The empty segments of all shards. Without a lock: whoever takes one out of its place owns it.
class SlabHeap::Spares {
 public:
  Spares() = default;
  ~Spares() {
    for (auto& place : places_) {
      Segment* const segment = place.load(std::memory_order_relaxed);
      if (segment == nullptr) continue;
      Segment::Destroy(segment);
      mapped_bytes_.fetch_sub(kSegmentBytes, std::memory_order_relaxed);
    }
    assert(mapped_bytes() == 0);  // no piece is left
  }

  // One that waits, or a new one. Throws std::bad_alloc.
  Segment* Take() {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      Segment* const segment = place.exchange(nullptr, std::memory_order_acquire);
      if (segment != nullptr) return segment;
    }
    Segment* const segment = Segment::Create();
    mapped_bytes_.fetch_add(kSegmentBytes, std::memory_order_relaxed);
    return segment;
  }
  void Put(Segment* segment) {
    assert(segment->IsEmpty());
    for (auto& place : places_) {
      Segment* none = nullptr;
      if (place.compare_exchange_strong(none, segment, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
    Segment::Destroy(segment);
    mapped_bytes_.fetch_sub(kSegmentBytes, std::memory_order_relaxed);
  }
  size_t mapped_bytes() const { return mapped_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Segment*> places_[kMaxSpareSegments] = {};
  std::atomic<size_t> mapped_bytes_{0};  // of segments in use too
};

class SlabHeap::Shard {
 public:
  // `spares` outlives the shard.
  void Init(Spares* spares) { spares_ = spares; }

  void* Allocate(size_t piece_bytes);
  void Free(Segment* segment, void* piece);

 private:
  Slab* NewSlab(size_t piece_bytes) REQUIRES(mutex_);
  // The segment if it is empty now, else null.
  Segment* Retire(Segment* segment, Slab* slab) REQUIRES(mutex_);

  Mutex mutex_{LockRank::kLeaf};
  List<Slab> with_room_[kClassCount] GUARDED_BY(mutex_);  // slabs of each size
  List<Segment> segments_ GUARDED_BY(mutex_);             // in use, with free slabs
  Spares* spares_ = nullptr;
};

void* SlabHeap::Shard::Allocate(size_t piece_bytes) {
  const MutexLock lock(&mutex_);
  List<Slab>& with_room = with_room_[ClassOf(piece_bytes)];
  Slab* slab = with_room.front();
  if (slab == nullptr) {
    slab = NewSlab(piece_bytes);
    with_room.PushFront(slab);
  }
  assert(slab->piece_bytes == piece_bytes);
  void* const piece = slab->Take();
  if (slab->used == slab->capacity) with_room.Remove(slab);
  return piece;
}

SlabHeap::Slab* SlabHeap::Shard::NewSlab(size_t piece_bytes) {
  if (segments_.front() == nullptr) {
    Segment* const empty = spares_->Take();
    empty->shard = this;
    segments_.PushFront(empty);
  }
  Segment* const segment = segments_.front();
  Slab* const slab = segment->TakeSlab(piece_bytes);
  if (segment->free_slabs == 0) segments_.Remove(segment);
  return slab;
}

void SlabHeap::Shard::Free(Segment* segment, void* piece) {
  Segment* empty = nullptr;
  {
    const MutexLock lock(&mutex_);
    Slab* const slab = segment->SlabOf(piece);
    if (slab->used == slab->capacity) with_room_[ClassOf(slab->piece_bytes)].PushFront(slab);
    slab->PutBack(piece);
    if (slab->used == 0) empty = Retire(segment, slab);
  }
  if (empty != nullptr) spares_->Put(empty);
}

SlabHeap::Segment* SlabHeap::Shard::Retire(Segment* segment, Slab* slab) {
  with_room_[ClassOf(slab->piece_bytes)].Remove(slab);
  if (segment->free_slabs == 0) segments_.PushFront(segment);
  segment->PutBackSlab(slab);
  if (!segment->IsEmpty()) return nullptr;
  segments_.Remove(segment);
  return segment;
}

size_t SlabHeap::RoundUp(size_t bytes) {
  assert(bytes <= kMaxPieceBytes);
  const size_t wanted = std::max(bytes, kMinPieceBytes);
  const size_t step = std::bit_floor(wanted) / kStepsPerDoubling;
  const size_t rounded = (wanted + step - 1) / step * step;
  return (rounded + kAlignment - 1) / kAlignment * kAlignment;
}

SlabHeap::SlabHeap() : spares_(new Spares), shards_(new Shard[kShardCount]) {
  for (size_t i = 0; i < kShardCount; ++i) shards_[i].Init(spares_.get());
}
SlabHeap::~SlabHeap() = default;

void* SlabHeap::Allocate(size_t bytes) {
  assert(bytes > 0 && bytes <= kMaxPieceBytes);
  return shards_[ThreadNumber() % kShardCount].Allocate(RoundUp(bytes));
}

void SlabHeap::Free(void* piece) {
  assert(piece != nullptr);
  Segment* const segment = Segment::Of(piece);
  segment->shard->Free(segment, piece);
}

size_t SlabHeap::MappedBytes() const { return spares_->mapped_bytes(); }

}  // namespace ashlar
