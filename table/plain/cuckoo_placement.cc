// SPDX-License-Identifier: Apache-2.0
//
// The hash functions are one function with different seeds, and each placement is of one key.
#include "table/plain/cuckoo_placement.h"

#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint32_t kFirstHashCount = 2;
constexpr uint32_t kMostHashes = 64;

// MurmurHash64A, by Austin Appleby, in the public domain.
uint64_t Murmur64(const Slice& bytes, uint32_t seed) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995ull;
  constexpr int kShift = 47;
  const auto mix = [](uint64_t word) {
    word *= kFactor;
    return (word ^ (word >> kShift)) * kFactor;
  };
  uint64_t hash = seed ^ (bytes.size() * kFactor);
  Slice rest = bytes;
  while (rest.size() >= sizeof(uint64_t)) {
    hash = (hash ^ mix(DecodeFixed64(rest.data()))) * kFactor;
    rest.remove_prefix(sizeof(uint64_t));
  }
  if (!rest.empty()) {
    char tail[sizeof(uint64_t)] = {};
    std::memcpy(tail, rest.data(), rest.size());
    hash = (hash ^ DecodeFixed64(tail)) * kFactor;
  }
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

class Placer {
 public:
  Placer(const Slice& keys, size_t key_bytes, uint64_t table_size,
         const CuckooTableOptions& options)
      : keys_(keys), key_bytes_(key_bytes), options_(options) {
    assert(options.cuckoo_block_size > 0);
    result_.table_size = table_size;
    result_.hash_count = kFirstHashCount;
    result_.buckets.resize(table_size + options.cuckoo_block_size - 1, CuckooPlacement::kFree);
    visited_.resize(result_.buckets.size());
  }

  // False: there are too many collisions.
  bool Place(uint32_t key);
  CuckooPlacement Take() { return std::move(result_); }

 private:
  // A bucket from which a key may move away, reached from that of `parent`.
  struct Step {
    uint64_t bucket;
    uint32_t depth;  // the number of moves that make it free for the new key
    size_t parent;   // in steps_; without meaning if `depth` is 0
  };

  // The first bucket of the block of a key for a hash function.
  uint64_t BlockOf(uint32_t key, uint32_t hash) const;
  // A free bucket of the block, or nothing.
  bool TakeFree(uint32_t key, uint64_t block);
  bool IsFree(uint64_t bucket) const { return result_.buckets[bucket] == CuckooPlacement::kFree; }
  // Puts the key into a bucket whose key can move away.
  bool Displace(uint32_t key);
  // False: the search has been at this bucket.
  bool Visit(uint64_t bucket);
  // Moves the keys from the last step back to the first one, which the key gets.
  void Move(uint32_t key);

  const Slice keys_;
  const size_t key_bytes_;
  const CuckooTableOptions& options_;
  CuckooPlacement result_;
  uint64_t search_ = 0;            // the number of the search
  std::vector<uint64_t> visited_;  // by bucket: the last search that has been there
  std::vector<Step> steps_;
};

uint64_t Placer::BlockOf(uint32_t key, uint32_t hash) const {
  assert(hash < result_.hash_count);
  assert((size_t{key} + 1) * key_bytes_ <= keys_.size());
  constexpr uint32_t kSeedFactor = 816922183;
  const Slice bytes(keys_.data() + size_t{key} * key_bytes_, key_bytes_);
  const uint64_t value = hash == 0 && options_.identity_as_first_hash
                             ? DecodeFixed64(bytes.data())
                             : Murmur64(bytes, kSeedFactor * hash);
  const uint64_t size = result_.table_size;
  return options_.use_module_hash ? value % size : value & (size - 1);
}

bool Placer::TakeFree(uint32_t key, uint64_t block) {
  assert(block + options_.cuckoo_block_size <= result_.buckets.size());
  for (uint64_t bucket = block; bucket < block + options_.cuckoo_block_size; bucket++) {
    if (!IsFree(bucket)) continue;
    result_.buckets[bucket] = key;
    return true;
  }
  return false;
}

bool Placer::Place(uint32_t key) {
  for (uint32_t hash = 0; hash < result_.hash_count; hash++) {
    if (TakeFree(key, BlockOf(key, hash))) return true;
  }
  while (!Displace(key)) {
    if (result_.hash_count == kMostHashes) return false;
    const uint32_t added = result_.hash_count++;
    if (TakeFree(key, BlockOf(key, added))) return true;
  }
  return true;
}

bool Placer::Visit(uint64_t bucket) {
  assert(bucket < visited_.size());
  if (visited_[bucket] == search_) return false;
  visited_[bucket] = search_;
  return true;
}

// The search begins with as many buckets as there are hash functions, which are the first ones of
// all blocks together, and goes on from each in the order in which it was reached.
bool Placer::Displace(uint32_t key) {
  steps_.clear();
  search_++;
  const uint32_t block_size = options_.cuckoo_block_size;
  for (uint32_t i = 0; i < result_.hash_count; i++) {
    const uint64_t bucket = BlockOf(key, i / block_size) + i % block_size;
    Visit(bucket);
    steps_.push_back({bucket, 0, 0});
  }
  for (size_t at = 0; at < steps_.size(); at++) {
    const Step from = steps_[at];
    if (from.depth >= options_.max_search_depth) return false;
    const uint32_t moving = result_.buckets[from.bucket];
    for (uint32_t hash = 0; hash < result_.hash_count; hash++) {
      const uint64_t block = BlockOf(moving, hash);
      for (uint64_t bucket = block; bucket < block + block_size; bucket++) {
        if (!Visit(bucket)) continue;
        steps_.push_back({bucket, from.depth + 1, at});
        if (!IsFree(bucket)) continue;
        Move(key);
        return true;
      }
    }
  }
  return false;
}

void Placer::Move(uint32_t key) {
  assert(!steps_.empty());
  size_t at = steps_.size() - 1;
  assert(IsFree(steps_[at].bucket));
  while (steps_[at].depth != 0) {
    const size_t parent = steps_[at].parent;
    assert(parent < at);
    result_.buckets[steps_[at].bucket] = result_.buckets[steps_[parent].bucket];
    at = parent;
  }
  result_.buckets[steps_[at].bucket] = key;
}

}  // namespace

Result<CuckooPlacement> PlaceInCuckooTable(const Slice& keys, size_t key_bytes, size_t key_count,
                                           uint64_t table_size, const CuckooTableOptions& options) {
  assert(keys.size() == key_bytes * key_count);
  assert(table_size >= key_count);
  assert(key_count < CuckooPlacement::kFree);
  assert(options.use_module_hash || std::has_single_bit(table_size));
  Placer placer(keys, key_bytes, table_size, options);
  for (size_t key = 0; key < key_count; key++) {
    if (placer.Place(static_cast<uint32_t>(key))) continue;
    return Status::NotSupported(
        StrCat("CuckooTable: too many collisions: of ", key_count, " keys, number ", key,
               " has no bucket with ", kMostHashes, " hash functions; a smaller hash_table_ratio, ",
               "a larger cuckoo_block_size or a larger max_search_depth helps"));
  }
  return placer.Take();
}

}  // namespace ashlar
