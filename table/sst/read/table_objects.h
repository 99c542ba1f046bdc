// SPDX-License-Identifier: Apache-2.0
//
// What a table reader keeps in the block cache: data blocks, flat indexes, filters, dictionaries,
// and ObjectRef, which remembers whether a reference has to be given back.
//
// A data block or filter lies in one allocation, its bytes behind the object, so that the first
// touch brings in what a search needs first. All are immutable once shared.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "ashlar/slice.h"
#include "cache/block_cache.h"
#include "cache/cached_object.h"
#include "table/block/block.h"
#include "table/block/decoded_block.h"
#include "table/filter/filter_view.h"
#include "table/format/compression.h"
#include "table/index/flat_index.h"
#include "table/iterator/value_pin.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// The kind is checked on every hit in the cache: a damaged file may claim that one place holds two
// kinds of blocks.
enum class TableObjectKind : uint8_t { kData, kIndex, kFilter, kDictionary };

struct TableObject : CachedObject {
  TableObject(void (*destroy_function)(CachedObject*), TableObjectKind object_kind)
      : CachedObject(destroy_function), kind(object_kind) {}
  const TableObjectKind kind;
};

struct DataBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kData;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kDataBlock;

  // With one reference; the bytes are to be written before it is shared.
  static DataBlock* Allocate(size_t bytes);
  // A decoded one of the same entries; null if that is not worth its memory, or the block damaged.
  static DataBlock* Decode(const Block& block, KeyOrder order);
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  size_t MemoryBytes() const;
  // Of the heap that all of them are from.
  static BlockHeapUse HeapUse();
  // Before it is shared: each entry gets a checksum of so many bytes, which readers verify. 0:
  // none.
  void Protect(size_t checksum_bytes);

  // Starts loading what a search reads of the object itself.
  void Prefetch() const {
    __builtin_prefetch(&refs);
    __builtin_prefetch(reinterpret_cast<const char*>(&allocated_bytes));
  }

  // The same and of the first entries, as far as the processor does not go on by itself.
  void PrefetchStart() const {
    Prefetch();
    const char* const begin = reinterpret_cast<const char*>(this + 1);
    for (size_t line = 0; line < 4; ++line) __builtin_prefetch(begin + 64 * line);
  }

  // Counts a hit on a block that is not decoded. True for one caller only: when the block has been
  // used often enough that decoding it will pay.
  bool IsHotNow() {
    const uint8_t before = hits.load(std::memory_order_relaxed);
    if (before >= kHitsBeforeDecoding) return false;
    if (before + 1 < kHitsBeforeDecoding) {
      hits.store(before + 1, std::memory_order_relaxed);  // a lost hit does not matter
      return false;
    }
    return hits.exchange(kHitsBeforeDecoding, std::memory_order_relaxed) < kHitsBeforeDecoding;
  }

  // The same for those who cannot decode now: true if one more hit makes the block hot, which is
  // then left to the caller.
  bool IsAlmostHot() {
    const uint8_t before = hits.load(std::memory_order_relaxed);
    if (before + 1 == kHitsBeforeDecoding) return true;
    if (before < kHitsBeforeDecoding) hits.store(before + 1, std::memory_order_relaxed);
    return false;
  }

  bool is_decoded = false;
  std::atomic<uint8_t> hits{0};  // only of blocks that are not decoded, so hot lines stay clean
  union {                        // as is_decoded says
    Block block;
    DecodedBlock decoded;
  };
  const size_t allocated_bytes;

 private:
  // The first use after loading is not counted: a scan that passes once never decodes.
  static constexpr uint8_t kHitsBeforeDecoding = 2;

  explicit DataBlock(size_t bytes)
      : TableObject(&Destroy, kKind), block(), allocated_bytes(bytes) {}
  const EntryChecksums* checksums() const { return is_decoded ? nullptr : block.checksums(); }
  static void Destroy(CachedObject* object);
};

// For values that lie in the block, which somebody holds while they are offered.
inline ValuePin PinOfBlock(DataBlock* block) {
  return {.acquire = [](void* owner) { static_cast<DataBlock*>(owner)->Ref(); },
          .release = [](void* owner, void* /*unused*/) { static_cast<DataBlock*>(owner)->Unref(); },
          .owner = block};
}

struct IndexBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kIndex;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kIndexBlock;

  // `with_slots` gives each block that the index names a pointer slot.
  IndexBlock(std::unique_ptr<FlatIndex> flat_index, bool with_slots);
  ~IndexBlock();
  size_t MemoryBytes() const;

  const std::unique_ptr<FlatIndex> index;
  SlotTable* const slots;  // one for each entry of the index, or null

  // Of a partition but the first: the user key of the separator in front of it. Set when it is
  // read.
  bool has_lower_bound = false;
  std::string lower_bound;
};

struct FilterBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kFilter;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kFilterBlock;

  static FilterBlock* Allocate(size_t bytes);
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  size_t MemoryBytes() const { return sizeof(*this) + allocated_bytes; }

  FilterView view;
  const size_t allocated_bytes;

 private:
  explicit FilterBlock(size_t bytes) : TableObject(&Destroy, kKind), allocated_bytes(bytes) {}
  static void Destroy(CachedObject* object);
};

// The dictionary of a table's data blocks with its digest: one object, as large as both.
struct DictionaryBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kDictionary;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kOtherBlock;

  explicit DictionaryBlock(const Slice& contents);
  size_t MemoryBytes() const {
    return sizeof(*this) - sizeof(dictionary) + dictionary.MemoryUsage();
  }

  const UncompressionDict dictionary;
};

// ObjectRef points to a cached object. Borrowed: valid until the caller's EpochGuard ends. Owned:
// holds a reference, which it gives back.
template <typename T>
class ObjectRef {
 public:
  ObjectRef() = default;
  static ObjectRef Borrow(T* object) { return ObjectRef(object, false); }
  // Takes over the caller's reference.
  static ObjectRef Own(T* object) { return ObjectRef(object, true); }
  ~ObjectRef() { Reset(); }
  // An owned reference to an object of a subclass.
  template <typename U>
  static ObjectRef OwnThatOf(ObjectRef<U> other) {
    assert(other.is_owned());
    return ObjectRef(other.Leave(), true);
  }
  ObjectRef(ObjectRef&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), is_owned_(other.is_owned_) {}
  ObjectRef& operator=(ObjectRef&& other) noexcept {
    if (this != &other) {
      Reset();
      object_ = std::exchange(other.object_, nullptr);
      is_owned_ = other.is_owned_;
    }
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const {
    assert(object_ != nullptr);
    return object_;
  }
  T& operator*() const {
    assert(object_ != nullptr);
    return *object_;
  }
  explicit operator bool() const { return object_ != nullptr; }
  bool is_owned() const { return is_owned_; }

  // Makes a borrowed reference an owned one, inside the guard. False: the object is on its way out.
  bool Pin() {
    if (!is_owned_ && object_ != nullptr) is_owned_ = object_->TryRef();
    return is_owned_;
  }
  // Without giving back the reference, which is the caller's now.
  T* Leave() { return std::exchange(object_, nullptr); }
  void Reset() {
    if (object_ != nullptr && is_owned_) object_->Unref();
    object_ = nullptr;
  }

 private:
  ObjectRef(T* object, bool is_owned) : object_(object), is_owned_(is_owned) {}

  T* object_ = nullptr;
  bool is_owned_ = false;  // else only good until the caller's EpochGuard ends
};

}  // namespace ashlar
