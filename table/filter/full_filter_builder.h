// SPDX-License-Identifier: Apache-2.0
//
// FullFilterBuilder collects keys and writes one filter for them: of a table, or of a partition.
// docs/formats/filters.md, sections 2, 4.1, 5 and 6.3.
//
// Only hashes are kept, eight bytes for each key, because the size of the filter depends on their
// number. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/filter/hash_list.h"
#include "table/filter/ribbon_builder.h"
#include "util/hash/hash.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

class SliceTransform;

enum class FilterForm : uint8_t {
  kCacheLocal,  // Bloom
  kLegacy,      // Bloom of format_version 4 and earlier
  kRibbon       // a cache-local Bloom filter instead, if Ribbon would be larger or cannot be built
};

struct FullFilterOptions {
  FilterForm kind = FilterForm::kCacheLocal;
  // 1/1000 bits per key, at least 1000; for Ribbon those of a Bloom filter with the same false
  // positive rate.
  uint32_t millibits_per_key = 10000;
  // Choose the number of probes by the bits per key that the filter really has. In a small
  // cache-local filter these are more than requested, because its size is a whole number of lines.
  bool fit_probes_to_size = false;
  bool add_whole_keys = true;
  const SliceTransform* prefix_extractor = nullptr;  // null: no prefixes; outlives the builder
};

class FullFilterBuilder {
 public:
  explicit FullFilterBuilder(const FullFilterOptions& options) : options_(options) {
    assert(options_.millibits_per_key >= 1000);
  }

  // Adds a key. Keys come in the order of the file, once for every version.
  void AddKey(const Slice& user_key) {
    if (options_.prefix_extractor == nullptr) [[likely]] {
      if (options_.add_whole_keys) AddHash(Hash(user_key));
    } else {
      AddKeyWithPrefix(user_key);
    }
  }

  // The number of hashes: keys and prefixes without neighbouring duplicates. RocksDB calls them
  // filter entries.
  size_t entry_count() const { return hashes_.size(); }
  // The size of the filter if it were written now.
  size_t EstimateBytes() const;

  // Adds the prefix of the key on the other side of the border of a partition, because seeks by
  // prefix that end there ask this partition too.
  void AddPrefixOfNeighbour(const Slice& user_key);

  // The memory that Finish() uses besides the keys and its result: about 21 bytes per key for
  // Ribbon, else none.
  size_t ConstructionBytes() const;

  // Returns the filter block; empty if nothing was added, and then no filter is stored. Afterwards
  // the builder can only be checked or Reset(). With Memory::kShort, a Bloom filter is made instead
  // of Ribbon, because there is no room for ConstructionBytes().
  enum class Memory : bool { kShort, kAmple };
  PageString Finish(Memory memory = Memory::kAmple);
  // Removes all keys.
  void Reset();

  // The number of entries that a filter of at most `bytes` bytes can have; at least one.
  size_t CapacityOf(size_t bytes) const;

  // Corruption if `filter`, the result of Finish(), misses a key that was added, because memory was
  // damaged while it was built.
  Status CheckFilter(const Slice& filter) const;

 private:
  uint64_t Hash(const Slice& item) const {
    return options_.kind == FilterForm::kLegacy ? Hash32(item.data(), item.size(), kLegacyBloomSeed)
                                                : FilterHash64(item);
  }
  void AddHash(uint64_t hash) {
    if (hashes_.empty() || hashes_.back() != hash) hashes_.push_back(hash);
  }
  // AddKey() with a prefix extractor.
  void AddKeyWithPrefix(const Slice& user_key);
  void AddKeyAndPrefix(uint64_t key_hash, uint64_t prefix_hash);
  uint32_t CacheLocalBytesFor(size_t entry_count) const;
  int CacheLocalProbes() const;
  uint32_t LegacyLineCountFor(size_t entry_count) const;
  int LegacyProbes() const;
  // No slots if a Bloom filter would be smaller.
  RibbonShape RibbonFor(size_t entry_count, uint64_t first_hash) const;
  // The size of the filter with its metadata. The size of a Ribbon filter depends slightly on its
  // first hash.
  size_t BytesFor(size_t entry_count, uint64_t first_hash) const;
  PageString FinishCacheLocal() const;
  PageString FinishLegacy() const;
  PageString FinishRibbon();

  const FullFilterOptions options_;
  HashList hashes_;
  // The hash of the last prefix that was added, or found to be there, together with a whole key.
  uint64_t previous_prefix_hash_ = 0;
  bool has_previous_prefix_ = false;
  size_t finished_bytes_ = 0;  // size of the result of Finish(); for CheckFilter()
};

}  // namespace ashlar
