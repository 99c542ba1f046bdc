// SPDX-License-Identifier: Apache-2.0
//
// FullFilterBuilder collects keys and writes one filter over them: of a table, or of a partition.
// docs/formats/filters.md, sections 2, 4.1, 5 and 6.3.
//
// Only hashes are kept, eight bytes a key, because the size of the filter follows from their
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
  kRibbon       // or cache-local Bloom, where Ribbon would be larger or cannot be built
};

struct FullFilterOptions {
  FilterForm kind = FilterForm::kCacheLocal;
  uint32_t millibits_per_key = 10000;  // at least 1000; Ribbon: of a Bloom filter as precise
  // Choose the number of probes by the bits a key really gets, which in a small cache-local filter
  // are more, because its size is a whole number of lines.
  bool fit_probes_to_size = false;
  bool add_whole_keys = true;
  const SliceTransform* prefix_extractor = nullptr;  // null: no prefixes; outlives the builder
};

class FullFilterBuilder {
 public:
  explicit FullFilterBuilder(const FullFilterOptions& options) : options_(options) {
    assert(options_.millibits_per_key >= 1000);
  }

  // Keys in the order of the file, one call for every version.
  void AddKey(const Slice& user_key) {
    if (options_.prefix_extractor == nullptr) [[likely]] {
      if (options_.add_whole_keys) AddHash(Hash(user_key));
    } else {
      AddKeyWithPrefix(user_key);
    }
  }

  // What RocksDB calls filter entries: keys and prefixes less adjacent duplicates.
  size_t entry_count() const { return hashes_.size(); }
  // Of the filter as it would be written now.
  size_t EstimateBytes() const;

  // The key on the other side of the border of a partition: seeks by prefix that land there ask
  // this partition too.
  void AddPrefixOfNeighbour(const Slice& user_key);

  // What Finish() takes beside the keys and its result: Ribbon takes 21 bytes for each.
  size_t ConstructionBytes() const;

  // The filter block; empty when nothing was added, and then no filter is stored. Ends the builder
  // until Reset(). Where there is no memory for ConstructionBytes(), Ribbon becomes Bloom.
  enum class Memory : bool { kShort, kAmple };
  PageString Finish(Memory memory = Memory::kAmple);
  void Reset();

  // How many entries a filter of at most `bytes` can have; at least one.
  size_t CapacityOf(size_t bytes) const;

  // Corruption if `filter`, the result of Finish(), misses a key that was added: memory was damaged
  // while it was built.
  Status CheckFilter(const Slice& filter) const;

 private:
  uint64_t Hash(const Slice& item) const {
    return options_.kind == FilterForm::kLegacy ? Hash32(item.data(), item.size(), kLegacyBloomSeed)
                                                : FilterHash64(item);
  }
  void AddHash(uint64_t hash) {
    if (hashes_.empty() || hashes_.back() != hash) hashes_.push_back(hash);
  }
  void AddKeyWithPrefix(const Slice& user_key);
  void AddKeyAndPrefix(uint64_t key_hash, uint64_t prefix_hash);
  uint32_t CacheLocalBytesFor(size_t entry_count) const;
  int CacheLocalProbes() const;
  uint32_t LegacyLineCountFor(size_t entry_count) const;
  int LegacyProbes() const;
  // No slots: a Bloom filter is smaller.
  RibbonShape RibbonFor(size_t entry_count, uint64_t first_hash) const;
  // Of the filter with its metadata. A Ribbon filter's size depends a little on its first hash.
  size_t BytesFor(size_t entry_count, uint64_t first_hash) const;
  PageString FinishCacheLocal() const;
  PageString FinishLegacy() const;
  PageString FinishRibbon();

  const FullFilterOptions options_;
  HashList hashes_;
  // Hash of the last prefix that was offered beside a whole key.
  uint64_t previous_prefix_hash_ = 0;
  bool has_previous_prefix_ = false;
  size_t finished_bytes_ = 0;  // of what Finish() gave, for CheckFilter()
};

}  // namespace ashlar
