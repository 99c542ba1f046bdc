// SPDX-License-Identifier: Apache-2.0
//
// The objects of a table reader in the block cache: data blocks, flat indexes, filters,
// dictionaries. And ObjectRef, a pointer that knows whether it owns a reference.
//
// A data block or a filter is one allocation, with its bytes behind the object, so the first access
// loads what a search needs first. All objects are immutable after they were shared, except for
// counters.
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

// The kind is checked on every hit in the cache, because the index of a damaged file may claim that
// one place holds two kinds of blocks.
enum class TableObjectKind : uint8_t { kData, kIndex, kFilter, kDictionary };

// The base of all of them.
struct TableObject : CachedObject {
  TableObject(void (*destroy_function)(CachedObject*), TableObjectKind object_kind)
      : CachedObject(destroy_function), kind(object_kind) {}
  const TableObjectKind kind;
};

// A data block, in the form of the file or decoded.
struct DataBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kData;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kDataBlock;

  // A new block with one reference. The caller writes the bytes before the block is shared.
  static DataBlock* Allocate(size_t bytes);
  // A decoded block with the same entries; null if decoding is not worth its memory, or the block
  // is damaged.
  static DataBlock* Decode(const Block& block, KeyOrder order);
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  // Bytes of memory, checksums included; the charge in the cache.
  size_t MemoryBytes() const;
  // The use of the heap from which all data blocks are allocated.
  static BlockHeapUse HeapUse();
  // Gives each entry a checksum of this many bytes, which readers verify. Called before the block
  // is shared. 0: no checksums.
  void Protect(size_t checksum_bytes);

  // Starts loading the fields of the object that a search reads.
  void Prefetch() const {
    __builtin_prefetch(&refs);
    __builtin_prefetch(reinterpret_cast<const char*>(&allocated_bytes));
  }

  // The same, and the first entries as far as the hardware prefetcher would not load them by
  // itself.
  void PrefetchStart() const {
    Prefetch();
    const char* const begin = reinterpret_cast<const char*>(this + 1);
    for (size_t line = 0; line < 4; ++line) __builtin_prefetch(begin + 64 * line);
  }

  // Counts a hit on a block that is not decoded. True for exactly one caller: when the block has
  // been used so often that decoding it will pay.
  bool IsHotNow() {
    const uint8_t before = hits.load(std::memory_order_relaxed);
    if (before >= kHitsBeforeDecoding) return false;
    if (before + 1 < kHitsBeforeDecoding) {
      hits.store(before + 1, std::memory_order_relaxed);  // a lost hit does not matter
      return false;
    }
    return hits.exchange(kHitsBeforeDecoding, std::memory_order_relaxed) < kHitsBeforeDecoding;
  }

  // The same for callers that cannot decode now. True if one more hit makes the block hot; this hit
  // is then not counted, so that the caller can make it with IsHotNow().
  bool IsAlmostHot() {
    const uint8_t before = hits.load(std::memory_order_relaxed);
    if (before + 1 == kHitsBeforeDecoding) return true;
    if (before < kHitsBeforeDecoding) hits.store(before + 1, std::memory_order_relaxed);
    return false;
  }

  bool is_decoded = false;
  // Only for blocks that are not decoded, so the cache lines of decoded ones stay clean.
  std::atomic<uint8_t> hits{0};
  union {  // is_decoded says which
    Block block;
    DecodedBlock decoded;
  };
  const size_t allocated_bytes;

 private:
  // The first use after loading is not counted, so a scan that passes once does not decode.
  static constexpr uint8_t kHitsBeforeDecoding = 2;

  explicit DataBlock(size_t bytes)
      : TableObject(&Destroy, kKind), block(), allocated_bytes(bytes) {}
  const EntryChecksums* checksums() const { return is_decoded ? nullptr : block.checksums(); }
  static void Destroy(CachedObject* object);
};

// A pin for a value inside the block. The caller holds the block while the value is offered.
inline ValuePin PinOfBlock(DataBlock* block) {
  return {.acquire = [](void* owner) { static_cast<DataBlock*>(owner)->Ref(); },
          .release = [](void* owner, void* /*unused*/) { static_cast<DataBlock*>(owner)->Unref(); },
          .owner = block};
}

// A parsed index, or a partition of one, with the slots of the blocks that it names.
struct IndexBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kIndex;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kIndexBlock;

  // `flat_index` must not be null. `with_slots`: each block that the index names gets a pointer
  // slot.
  IndexBlock(std::unique_ptr<FlatIndex> flat_index, bool with_slots);
  ~IndexBlock();
  size_t MemoryBytes() const;

  const std::unique_ptr<FlatIndex> index;
  SlotTable* const slots;  // one slot for each entry of the index; null: no slots

  // For every partition but the first: the user key of the separator before the partition. Set when
  // the partition is read.
  bool has_lower_bound = false;
  std::string lower_bound;
};

// A full filter or a filter partition.
struct FilterBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kFilter;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kFilterBlock;

  // A new filter with one reference and memory for `bytes` bytes, which the caller fills before it
  // is shared.
  static FilterBlock* Allocate(size_t bytes);
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  size_t MemoryBytes() const { return sizeof(*this) + allocated_bytes; }

  FilterView view;
  const size_t allocated_bytes;

 private:
  explicit FilterBlock(size_t bytes) : TableObject(&Destroy, kKind), allocated_bytes(bytes) {}
  static void Destroy(CachedObject* object);
};

// The compression dictionary of a table and its digest. The charge contains both.
struct DictionaryBlock final : TableObject {
  static constexpr TableObjectKind kKind = TableObjectKind::kDictionary;
  static constexpr CacheEntryRole kRole = CacheEntryRole::kOtherBlock;

  explicit DictionaryBlock(const Slice& contents);
  size_t MemoryBytes() const {
    return sizeof(*this) - sizeof(dictionary) + dictionary.MemoryUsage();
  }

  const UncompressionDict dictionary;
};

// ObjectRef points to a cached object. A borrowed reference is valid until the caller's EpochGuard
// ends. An owned one holds a counted reference and gives it back.
template <typename T>
class ObjectRef {
 public:
  ObjectRef() = default;
  // A borrowed reference.
  static ObjectRef Borrow(T* object) { return ObjectRef(object, false); }
  // An owned reference: takes over a counted reference of the caller.
  static ObjectRef Own(T* object) { return ObjectRef(object, true); }
  ~ObjectRef() { Reset(); }
  // Converts an owned reference to one to the base class.
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

  // Makes a borrowed reference an owned one, inside the guard. False: the object is being
  // destroyed, or is null.
  bool Pin() {
    if (!is_owned_ && object_ != nullptr) is_owned_ = object_->TryRef();
    return is_owned_;
  }
  // Gives up the reference without releasing it; the caller owns it now.
  T* Leave() { return std::exchange(object_, nullptr); }
  // Releases an owned reference; the pointer becomes null.
  void Reset() {
    if (object_ != nullptr && is_owned_) object_->Unref();
    object_ = nullptr;
  }

 private:
  ObjectRef(T* object, bool is_owned) : object_(object), is_owned_(is_owned) {}

  T* object_ = nullptr;
  bool is_owned_ = false;  // false: valid only until the caller's EpochGuard ends
};

}  // namespace ashlar
