// SPDX-License-Identifier: Apache-2.0
//
// A heap of pieces of similar sizes. A segment begins with its own description, so the description
// is found by rounding down the address of any of its pieces:
//
//     | Segment | slab 0, a little shorter |     slab 1     | ... |     slab 15     |
//
// Slabs and segments with room are kept in lists, the nearly full ones in front. So pieces are
// taken from nearly full slabs, and those that are nearly empty become empty; then they can serve
// another size or be returned. If no slab of a size has room, a piece of one of the next larger
// sizes is used before a new slab is begun. The reason is that the sizes in a cache change slowly.
// A slab of a size that is no longer used would keep its last few pieces, and the unused room
// between them, as long as the cache keeps these pieces.
#include "util/memory/slab_heap.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <new>
#include <utility>

#include "util/threads/mutex.h"
#include "util/threads/thread_number.h"

namespace ashlar {
namespace {

constexpr size_t kMinPieceBytes = 256;
constexpr size_t kStepsPerDoubling = 16;
constexpr size_t kSlabsPerSegment = SlabHeap::kSegmentBytes / SlabHeap::kSlabBytes;
// The pages of a slab are allocated in groups of this size. Allocating them one by one would cost
// several times as much.
constexpr uint32_t kTouchedBytes = 64 << 10;
// How many of the next larger sizes may be used for a piece, which is then up to a fifth larger.
constexpr size_t kMaxStepsUp = 3;
constexpr uint32_t kAllSlabs = (uint32_t{1} << kSlabsPerSegment) - 1;

// The number of a size. Sizes begin at kMinPieceBytes, with kStepsPerDoubling sizes per doubling.
size_t ClassOf(size_t piece_bytes) {
  const auto doublings = static_cast<size_t>(std::bit_width(piece_bytes / kMinPieceBytes)) - 1;
  const size_t step = (kMinPieceBytes << doublings) / kStepsPerDoubling;
  return kStepsPerDoubling * doublings + piece_bytes / step - kStepsPerDoubling;
}

constexpr size_t kClassCount = 7 * kStepsPerDoubling;  // up to 32 KB
}  // namespace

// A list whose pointers are members of its elements, so it needs no memory of its own.
template <typename T>
class SlabHeap::List {
 public:
  T* front() const { return front_; }
  void PushFront(T* element) {
    assert(element != nullptr);
    assert(element->previous == nullptr);
    assert(element->next == nullptr);
    element->next = front_;
    if (front_ != nullptr) front_->previous = element;
    front_ = element;
  }
  void Remove(T* element) {
    assert(element != nullptr);
    if (element->next != nullptr) element->next->previous = element->previous;
    (element->previous != nullptr ? element->previous->next : front_) = element->next;
    element->previous = element->next = nullptr;
  }

 private:
  T* front_ = nullptr;
};

// Pieces [0, carved) were allocated at some time. Those of them that are free form the list
// `free_pieces`, which is linked through the first word of each piece.
struct SlabHeap::Slab {
  Slab* previous = nullptr;  // in the list of its size, if it has room
  Slab* next = nullptr;
  char* begin = nullptr;
  void* free_pieces = nullptr;
  uint32_t piece_bytes = 0;
  uint32_t capacity = 0;  // pieces
  uint32_t carved = 0;
  uint32_t used = 0;
  uint32_t touched = 0;  // bytes from `begin` on whose pages exist; kept if the slab becomes empty

  // `held_bytes` counts the bytes whose pages exist.
  void* Take(std::atomic<size_t>* held_bytes) {
    assert(used < capacity);
    ++used;
    return free_pieces == nullptr ? Carve(held_bytes)
                                  : std::exchange(free_pieces, *static_cast<void**>(free_pieces));
  }
  // Allocates a piece that was never used. Pages are touched ahead, in groups.
  void* Carve(std::atomic<size_t>* held_bytes) {
    assert(carved < capacity);
    const uint32_t offset = piece_bytes * carved++;
    if (offset + piece_bytes > touched) {
      const uint32_t ahead = std::min(kTouchedBytes, piece_bytes * capacity - touched);
      PageBuffer::TouchAhead(begin + touched, ahead);
      touched += ahead;
      held_bytes->fetch_add(ahead, std::memory_order_relaxed);
    }
    return begin + offset;
  }
  // Frees the pages of an empty slab.
  void Cool(std::atomic<size_t>* held_bytes) {
    assert(held_bytes != nullptr);
    assert(used == 0);
    PageBuffer::Drop(begin, touched);
    held_bytes->fetch_sub(std::exchange(touched, 0), std::memory_order_relaxed);
  }
  void PutBack(void* piece) {
    assert(used > 0);
    --used;
    *static_cast<void**>(piece) = std::exchange(free_pieces, piece);
  }
};

struct SlabHeap::Segment {
  Segment* previous = nullptr;  // in the list of segments with free slabs
  Segment* next = nullptr;
  Shard* shard = nullptr;  // may change while the segment is empty
  PageBuffer memory;       // the memory that contains this segment
  uint32_t free_slabs = kAllSlabs;
  Slab slabs[kSlabsPerSegment];

  explicit Segment(PageBuffer pages) : memory(std::move(pages)) {}
  static Segment* Create();
  static void Destroy(Segment* segment) {
    assert(segment != nullptr);
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
  // The number of free slabs that have pages.
  size_t WarmSlabs() const {
    size_t count = 0;
    for (size_t i = 0; i < kSlabsPerSegment; ++i) {
      if ((free_slabs >> i & 1) != 0 && slabs[i].touched != 0) ++count;
    }
    return count;
  }
  size_t TouchedBytes() const {
    size_t bytes = 0;
    for (const Slab& slab : slabs) bytes += slab.touched;
    return bytes;
  }

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
  // A slab that has pages already is preferred to one whose pages would have to be made.
  auto i = static_cast<size_t>(std::countr_zero(free_slabs));
  for (size_t warm = i; warm < kSlabsPerSegment; ++warm) {
    if ((free_slabs >> warm & 1) == 0 || slabs[warm].touched == 0) continue;
    i = warm;
    break;
  }
  free_slabs &= ~(uint32_t{1} << i);
  char* const end = reinterpret_cast<char*>(this) + (i + 1) * kSlabBytes;
  Slab* const slab = &slabs[i];
  assert(slab->used == 0);
  assert(slab->next == nullptr);
  // Slab 0 is shorter, because the segment's description is in front of it.
  slab->begin = end - kSlabBytes + (i == 0 ? kOwnBytes : 0);
  slab->free_pieces = nullptr;
  slab->carved = 0;
  slab->piece_bytes = static_cast<uint32_t>(piece_bytes);
  slab->capacity = static_cast<uint32_t>(static_cast<size_t>(end - slab->begin) / piece_bytes);
  assert(slab->capacity > 1);
  return slab;
}

void SlabHeap::Segment::PutBackSlab(Slab* slab) {
  assert(slab != nullptr);
  assert(slab->used == 0);
  const auto bit = uint32_t{1} << (slab - slabs);
  assert((free_slabs & bit) == 0);
  free_slabs |= bit;
}

// The empty segments of all shards. There is no lock: a thread owns a segment as soon as it has
// taken the pointer out of its place.
class SlabHeap::Spares {
 public:
  Spares() = default;
  ~Spares() {
    for (auto& place : places_) {
      Segment* const segment = place.load(std::memory_order_relaxed);
      if (segment != nullptr) Destroy(segment);
    }
    assert(held_bytes_ == 0);  // no piece may be left
  }

  // Returns a spare segment, or a new one. Throws std::bad_alloc.
  Segment* Take() {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      Segment* const segment = place.exchange(nullptr, std::memory_order_acquire);
      if (segment != nullptr) return segment;
    }
    return Segment::Create();
  }
  // Keeps the segment for later, or destroys it if all places are taken.
  void Put(Segment* segment) {
    assert(segment != nullptr);
    assert(segment->IsEmpty());
    for (auto& place : places_) {
      Segment* none = nullptr;
      if (place.compare_exchange_strong(none, segment, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
    Destroy(segment);
  }
  std::atomic<size_t>* held_bytes() { return &held_bytes_; }

 private:
  void Destroy(Segment* segment) {
    assert(segment != nullptr);
    held_bytes_.fetch_sub(segment->TouchedBytes(), std::memory_order_relaxed);
    Segment::Destroy(segment);
  }

  std::atomic<Segment*> places_[kMaxSpareSegments] = {};
  std::atomic<size_t> held_bytes_{0};  // bytes whose pages exist, including segments in use
};

class SlabHeap::Shard {
 public:
  // `spares` outlives the shard.
  void Init(Spares* spares) { spares_ = spares; }

  // Allocates from a slab that has room; returns null if there is none.
  Piece TakeFromRoom(size_t piece_bytes);
  Piece Allocate(size_t piece_bytes);
  void Free(Segment* segment, void* piece);
  size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  void SetUsed(size_t bytes) REQUIRES(mutex_) {
    used_bytes_.store(bytes, std::memory_order_relaxed);
  }
  // Returns a slab with room for this size or a slightly larger one, which is at the front of its
  // list. Null: there is none.
  Slab* RoomFor(size_t piece_bytes) REQUIRES(mutex_);
  Slab* NewSlab(size_t piece_bytes) REQUIRES(mutex_);
  Piece TakeFrom(Slab* slab, size_t piece_bytes) REQUIRES(mutex_);
  // Frees a piece. Returns its slab if that is empty now; the caller must then put the slab back.
  // Else null.
  Slab* PutBack(Segment* segment, void* piece) REQUIRES(mutex_);
  // Returns the segment if it is empty now, else null.
  Segment* PutBackSlab(Segment* segment, Slab* slab) REQUIRES(mutex_);

  Mutex mutex_{LockRank::kLeaf};
  List<Slab> with_room_[kClassCount] GUARDED_BY(mutex_);  // slabs with room, by size
  List<Segment> segments_ GUARDED_BY(mutex_);             // segments in use that have free slabs
  size_t warm_slabs_ GUARDED_BY(mutex_) = 0;  // number of free slabs with pages in `segments_`
  std::atomic<size_t> used_bytes_{0};         // in pieces; written under the lock
  Spares* spares_ = nullptr;
};

SlabHeap::Piece SlabHeap::Shard::TakeFromRoom(size_t piece_bytes) {
  const MutexLock lock(&mutex_);
  Slab* const slab = RoomFor(piece_bytes);
  return slab == nullptr ? Piece{.data = nullptr, .bytes = 0} : TakeFrom(slab, piece_bytes);
}

SlabHeap::Piece SlabHeap::Shard::Allocate(size_t piece_bytes) {
  const MutexLock lock(&mutex_);
  Slab* slab = RoomFor(piece_bytes);
  if (slab == nullptr) {
    slab = NewSlab(piece_bytes);
    with_room_[ClassOf(piece_bytes)].PushFront(slab);
  }
  return TakeFrom(slab, piece_bytes);
}

SlabHeap::Piece SlabHeap::Shard::TakeFrom(Slab* slab, [[maybe_unused]] size_t piece_bytes) {
  assert(slab != nullptr);
  assert(slab->piece_bytes >= piece_bytes);
  void* const piece = slab->Take(spares_->held_bytes());
  if (slab->used == slab->capacity) with_room_[ClassOf(slab->piece_bytes)].Remove(slab);
  SetUsed(used_bytes() + slab->piece_bytes);
  return {.data = piece, .bytes = slab->piece_bytes};
}

SlabHeap::Slab* SlabHeap::Shard::RoomFor(size_t piece_bytes) {
  const size_t first = ClassOf(piece_bytes);
  assert(first + kMaxStepsUp < kClassCount);
  for (size_t i = first; i <= first + kMaxStepsUp; ++i) {
    if (with_room_[i].front() != nullptr) return with_room_[i].front();
  }
  return nullptr;
}

// The list has only segments with a free slab, so its front always serves. A segment leaves the
// list with its last free slab.
SlabHeap::Slab* SlabHeap::Shard::NewSlab(size_t piece_bytes) {
  if (segments_.front() == nullptr) {
    Segment* const empty = spares_->Take();
    empty->shard = this;
    warm_slabs_ += empty->WarmSlabs();
    segments_.PushFront(empty);
  }
  Segment* const segment = segments_.front();
  Slab* const slab = segment->TakeSlab(piece_bytes);
  if (slab->touched != 0) --warm_slabs_;
  if (segment->free_slabs == 0) segments_.Remove(segment);
  return slab;
}

void SlabHeap::Shard::Free(Segment* segment, void* piece) {
  Slab* slab = nullptr;
  bool stays_warm = false;
  {
    const MutexLock lock(&mutex_);
    slab = PutBack(segment, piece);
    if (slab == nullptr) return;
    stays_warm = warm_slabs_ < kMaxWarmSlabs;
  }
  // Freeing pages costs as much as allocating many pieces, so it is done without the lock. No other
  // thread can use the slab at this time.
  if (!stays_warm) slab->Cool(spares_->held_bytes());
  Segment* empty = nullptr;
  {
    const MutexLock lock(&mutex_);
    empty = PutBackSlab(segment, slab);
  }
  if (empty != nullptr) spares_->Put(empty);
}

SlabHeap::Slab* SlabHeap::Shard::PutBack(Segment* segment, void* piece) {
  assert(segment != nullptr);
  Slab* const slab = segment->SlabOf(piece);
  List<Slab>& with_room = with_room_[ClassOf(slab->piece_bytes)];
  // A full slab is in no list. Now it has room again.
  if (slab->used == slab->capacity) with_room.PushFront(slab);
  slab->PutBack(piece);
  assert(used_bytes() >= slab->piece_bytes);
  SetUsed(used_bytes() - slab->piece_bytes);
  if (slab->used != 0) return nullptr;
  with_room.Remove(slab);
  return slab;
}

SlabHeap::Segment* SlabHeap::Shard::PutBackSlab(Segment* segment, Slab* slab) {
  assert(segment != nullptr);
  assert(slab != nullptr);
  if (segment->free_slabs == 0) segments_.PushFront(segment);
  segment->PutBackSlab(slab);
  if (slab->touched != 0) ++warm_slabs_;
  if (!segment->IsEmpty()) return nullptr;
  segments_.Remove(segment);
  warm_slabs_ -= segment->WarmSlabs();
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

SlabHeap::Piece SlabHeap::Allocate(size_t bytes) {
  assert(bytes > 0);
  assert(bytes <= kMaxPieceBytes);
  const size_t piece_bytes = RoundUp(bytes), own = ThreadNumber() % kShardCount;
  // The room in the shards of other threads is used before a new slab is begun. This matters if
  // blocks are freed by other threads than those that allocate them.
  for (size_t i = 0; i < kShardCount; ++i) {
    const Piece piece = shards_[(own + i) % kShardCount].TakeFromRoom(piece_bytes);
    if (piece.data != nullptr) return piece;
  }
  return shards_[own].Allocate(piece_bytes);
}

void SlabHeap::Free(void* piece) {
  assert(piece != nullptr);
  Segment* const segment = Segment::Of(piece);
  segment->shard->Free(segment, piece);
}

size_t SlabHeap::HeldBytes() const {
  return spares_->held_bytes()->load(std::memory_order_relaxed);
}

size_t SlabHeap::UsedBytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < kShardCount; ++i) bytes += shards_[i].used_bytes();
  return bytes;
}

}  // namespace ashlar
