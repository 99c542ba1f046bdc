// SPDX-License-Identifier: Apache-2.0
//
// FlatIndex is an index block decoded into arrays: for each entry the head of its key, the rest of
// the key, and a block handle. It is used for every index type, for partitions and top levels, and
// for the index of filter partitions. docs/formats/block_based_table.md, section 6.
//
// The common prefix of all keys is stored once, and a head is the eight bytes behind it. So a
// search reads one dense array, and compares whole keys only if heads are equal. Immutable after
// Parse(): any thread may search.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/format/block_handle.h"
#include "util/keys/internal_key.h"
#include "util/keys/key_head_index.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

// How the entries of an index block are encoded; recorded in the properties of the file.
struct IndexFormat {
  bool has_user_keys = false;      // rocksdb.index.key.is.user.key
  bool has_delta_handles = false;  // rocksdb.index.value.is.delta.encoded
  bool has_first_keys = false;     // index type 3; first keys are checked and not kept
};

class FlatIndex {
 public:
  // What parsing needs besides the block.
  struct Source {
    IndexFormat format;
    const InternalKeyComparator* comparator = nullptr;
    uint64_t data_end = 0;  // every block must end before this offset
  };
  // Decodes a verified, uncompressed block. Corruption names the problem inside the block.
  static Result<std::unique_ptr<FlatIndex>> Parse(const Slice& contents, const Source& source);
  // An index with one entry and no key, which names a single block. Only handle() may be called.
  static std::unique_ptr<FlatIndex> OfOne(const BlockHandle& handle, const Source& source);

  size_t size() const { return handles_.size(); }
  bool empty() const { return handles_.empty(); }

  // The index of the first entry whose key is at or after (user_key, trailer), or size().
  // Hot: log2(size) loads without branches; one key comparison if heads are equal.
  size_t Find(const Slice& user_key, uint64_t trailer) const {
    if (empty()) return 0;
    const size_t prefix_bytes = prefix_.size();
    if (prefix_bytes != 0 && !user_key.starts_with(prefix_)) [[unlikely]] {
      return comparator_.OrderWithTimestamp(user_key, prefix_) < 0 ? 0 : size();
    }
    const uint64_t head = KeyHead(user_key.data() + prefix_bytes, user_key.size() - prefix_bytes,
                                  comparator_.order());
    const size_t index = LowerBoundHead(heads_.data(), heads_.size(), head);
    if (index == size() || heads_[index] != head) [[likely]]
      return index;
    return ResolveTie(index, user_key, trailer);
  }
  // Find() in two halves, for several searches at once; AdvanceHeadSearches() runs between them.
  // False if there is nothing to search: then Find() is cheap.
  bool BeginFind(const Slice& user_key, HeadSearch* search) const {
    const size_t prefix_bytes = prefix_.size();
    if (empty() || (prefix_bytes != 0 && !user_key.starts_with(prefix_))) [[unlikely]]
      return false;
    *search = {.base = heads_.data(),
               .rest = heads_.size(),
               .head = KeyHead(user_key.data() + prefix_bytes, user_key.size() - prefix_bytes,
                               comparator_.order())};
    return true;
  }
  size_t EndFind(const HeadSearch& search, const Slice& user_key, uint64_t trailer) const {
    const size_t index = search.Result(heads_.data());
    if (index == size() || heads_[index] != search.head) [[likely]]
      return index;
    return ResolveTie(index, user_key, trailer);
  }
  size_t Find(const Slice& internal_key) const {
    return Find(ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }

  // The block of an entry.
  BlockHandle handle(size_t index) const {
    assert(index < size());
    return {.offset = handles_[index].offset, .size = handles_[index].size};
  }
  // The user key of the separator, assembled in `buffer`.
  Slice UserKey(size_t index, std::string* buffer) const;

  // Called when Find() led to entry `index` and its block has no entry at or after the target. True
  // if entries of `user_key` may follow in the next block.
  bool ContinuesBehind(size_t index, const Slice& user_key) const {
    return !has_user_keys_ && SeparatorEquals(index, user_key);
  }

  // The same in a family with timestamps, where versions with older timestamps may follow, whatever
  // index keys contain.
  bool StampsContinueBehind(size_t index, const Slice& stored) const {
    return SeparatorEquals(index, stored);
  }

  size_t MemoryBytes() const;
  std::string DebugString() const;

 private:
  struct Handle {
    uint64_t offset;
    uint64_t size;
  };

  template <typename T>
  using Array = std::vector<T, PageAllocator<T>>;

  explicit FlatIndex(const Source& source)
      : comparator_(*source.comparator), has_user_keys_(source.format.has_user_keys) {
    assert(source.comparator != nullptr);
  }

  // All keys of a block as they are encoded, one behind the other.
  struct Keys {
    PageString bytes;
    Array<uint32_t> ends;
    Slice at(size_t i) const {
      assert(i < ends.size());
      const size_t begin = i == 0 ? 0 : ends[i - 1];
      return Slice(bytes.data() + begin, ends[i] - begin);
    }
  };

  // Fills the arrays from the keys; handles_ is complete already.
  void Build(const Keys& keys);
  Slice UserPart(const Slice& key) const { return has_user_keys_ ? key : ExtractUserKey(key); }
  // Reads and checks all entries.
  Status Decode(const Slice& contents, const Source& source);
  Status CheckOrder() const;
  // The part of a user key behind the common prefix.
  Slice Rest(size_t index) const {
    assert(index < rest_ends_.size());
    const size_t begin = index == 0 ? 0 : rest_ends_[index - 1];
    return Slice(rests_.data() + begin, rest_ends_[index] - begin);
  }
  int CompareAt(size_t index, const Slice& user_key, uint64_t trailer) const;
  size_t ResolveTie(size_t first, const Slice& user_key, uint64_t trailer) const;
  // True if the user key of the separator equals `user_key`.
  bool SeparatorEquals(size_t index, const Slice& user_key) const;

  Array<uint64_t> heads_;      // of the user keys behind the prefix; the array that searches read
  Array<Handle> handles_;      // the blocks
  Array<uint64_t> trailers_;   // empty if keys are user keys
  Array<uint32_t> rest_ends_;  // where each rest ends in rests_
  Array<char> rests_;          // the parts of the user keys behind the prefix, concatenated
  std::string prefix_;         // common to all user keys; empty with a custom order
  InternalKeyComparator comparator_;
  bool has_user_keys_;
};

}  // namespace ashlar
