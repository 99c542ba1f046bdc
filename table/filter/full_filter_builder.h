// SPDX-License-Identifier: Apache-2.0
//
// FullFilterBuilder collects the keys of a table and writes one Bloom filter over them.
// docs/formats/filters.md, sections 2, 4.1 and 5.
//
// Only hashes are kept, eight bytes a key, because the size of the filter follows from their
// number. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/hash.h"
#include "util/page_buffer.h"

namespace ashlar {

class SliceTransform;

enum class BloomKind : uint8_t { kCacheLocal, kLegacy };

struct FullFilterOptions {
  BloomKind kind = BloomKind::kCacheLocal;
  uint32_t millibits_per_key = 10000;  // at least 1000
  // Choose the number of probes by the bits a key really gets, which in a small cache-local filter
  // are more, because its size is a whole number of lines.
  bool fit_probes_to_size = false;
  bool add_whole_keys = true;
  const SliceTransform* prefix_extractor = nullptr;  // null: no prefixes; outlives the builder
};

// Grows by pieces that stay where they are: a vector would hold everything twice, and more, each
// time it grows.
class HashList {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint64_t operator[](size_t i) const {
    assert(i < size_);
    return PieceOf(i)[i % kPieceHashes];
  }
  uint64_t back() const {
    assert(size_ != 0);
    return (*this)[size_ - 1];
  }
  void push_back(uint64_t hash) {
    if (size_ % kPieceHashes == 0) [[unlikely]]
      AddPiece();
    PieceOf(size_)[size_ % kPieceHashes] = hash;
    ++size_;
  }

 private:
  static constexpr size_t kPieceHashes = size_t{32} << 10;
  void AddPiece();
  uint64_t* PieceOf(size_t i) const {
    assert(i / kPieceHashes < pieces_.size());
    return reinterpret_cast<uint64_t*>(pieces_[i / kPieceHashes].data());
  }

  std::vector<PageBuffer> pieces_;
  size_t size_ = 0;
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

  // The filter block; empty when nothing was added, and then no filter is stored. Ends the builder.
  std::string Finish();

  // Corruption if `filter`, the result of Finish(), misses a key that was added: memory was damaged
  // while it was built.
  Status CheckFilter(const Slice& filter) const;

 private:
  uint64_t Hash(const Slice& item) const {
    return options_.kind == BloomKind::kCacheLocal
               ? FilterHash64(item)
               : Hash32(item.data(), item.size(), kLegacyBloomSeed);
  }
  void AddHash(uint64_t hash) {
    if (hashes_.empty() || hashes_.back() != hash) hashes_.push_back(hash);
  }
  void AddKeyWithPrefix(const Slice& user_key);
  void AddKeyAndPrefix(uint64_t key_hash, uint64_t prefix_hash);
  uint32_t CacheLocalBytes() const;
  int CacheLocalProbes() const;
  uint32_t LegacyLineCount() const;
  int LegacyProbes() const;
  std::string FinishCacheLocal() const;
  std::string FinishLegacy() const;

  const FullFilterOptions options_;
  HashList hashes_;
  // Hash of the last prefix that was offered beside a whole key.
  uint64_t previous_prefix_hash_ = 0;
  bool has_previous_prefix_ = false;
};

}  // namespace ashlar
