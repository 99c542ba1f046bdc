// SPDX-License-Identifier: Apache-2.0
//
// The end of a block, from the back: the packed word (flags and number of restart points), the
// offset of the value section (flag kSeparateValues), the hash index (flag kHashIndex: buckets,
// then their number), and the restart offsets.
#include "table/block/block.h"

#include <cassert>
#include <limits>

#include "table/block/block_flags.h"
#include "util/hash/hash.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kMaxHashedBlockBytes = 64 * 1024;

}  // namespace

// The contents come from a file and may be damaged. `*block` is set only if the tail makes sense;
// entries are checked when they are read.
Status Block::Parse(const Slice& contents, Block* block) {
  assert(block != nullptr);
  if (contents.size() < sizeof(uint32_t)) {
    return Status::Corruption(
        StrCat("a block of ", contents.size(), " bytes, at least 4 expected"));
  }
  if (contents.size() > std::numeric_limits<uint32_t>::max()) {
    return Status::Corruption(
        StrCat("a block of ", contents.size(), " bytes, under 4 GiB expected"));
  }
  Block parsed;
  parsed.data_ = contents.data();
  parsed.size_ = static_cast<uint32_t>(contents.size());
  const uint32_t packed = DecodeFixed32(contents.data() + contents.size() - sizeof(uint32_t));
  if (Status status = parsed.ParseTail(packed); !status.ok()) return status;
  *block = parsed;
  return Status::OK();
}

Status Block::ParseTail(uint32_t packed) {
  assert(size_ >= sizeof(uint32_t));
  uint32_t end = size_ - sizeof(uint32_t);  // bytes in [0, end) are not assigned to a section yet
  if ((packed & kBlockReservedFlag) != 0) {
    return Status::Corruption(StrCat("packed word ", packed, " has the reserved bit 30 set"));
  }
  uint32_t values_offset = 0;
  if ((packed & kBlockSeparateValuesFlag) != 0) {
    if (end < sizeof(uint32_t)) return Status::Corruption("no room for the value section's offset");
    end -= sizeof(uint32_t);
    values_offset = DecodeFixed32(data_ + end);
    has_separate_values_ = true;
  }
  if ((packed & kBlockHashIndexFlag) != 0) {
    if (size_ > kMaxHashedBlockBytes) {
      return Status::Corruption(StrCat("a hash index in a block of ", size_, " bytes"));
    }
    if (end < sizeof(uint16_t)) return Status::Corruption("no room for the hash index");
    end -= sizeof(uint16_t);
    bucket_count_ = DecodeFixed16(data_ + end);
    if (bucket_count_ == 0 || bucket_count_ > end) {
      return Status::Corruption(
          StrCat("hash index of ", bucket_count_, " buckets, 1 to ", end, " have room"));
    }
    end -= bucket_count_;
    buckets_ = data_ + end;
  }
  restart_count_ = packed & kBlockRestartCountMask;
  if (restart_count_ > end / sizeof(uint32_t)) {
    return Status::Corruption(
        StrCat(restart_count_, " restart points, at most ", end / sizeof(uint32_t), " have room"));
  }
  end -= restart_count_ * static_cast<uint32_t>(sizeof(uint32_t));
  assert(end <= size_);  // no section above was larger than the rest
  restarts_ = data_ + end;
  entries_bytes_ = end;
  if (has_separate_values_) {
    if (values_offset > end) {
      return Status::Corruption(
          StrCat("value section at ", values_offset, ", at most ", end, " expected"));
    }
    entries_bytes_ = values_offset;
  }
  return CheckRestarts();
}

Status Block::CheckRestarts() {
  if (entries_bytes_ == 0) {
    restart_count_ = 0;  // writers store one restart point at 0 even without entries
    bucket_count_ = 0;
    return Status::OK();
  }
  if (restart_count_ == 0) return Status::Corruption("entries, but no restart point");
  if (RestartOffset(0) != 0) {
    return Status::Corruption(StrCat("first restart point at ", RestartOffset(0), ", 0 expected"));
  }
  uint32_t previous = 0;
  bool ascends = true;
  for (uint32_t i = 1; i < restart_count_; ++i) {
    const uint32_t offset = RestartOffset(i);
    ascends &= offset > previous;
    previous = offset;
  }
  if (!ascends || previous >= entries_bytes_) {
    return Status::Corruption("restart points do not ascend inside the entries");
  }
  return Status::OK();
}

uint32_t Block::RestartAtOrBefore(uint32_t entry_offset) const {
  assert(restart_count_ != 0);
  assert(entry_offset <= entries_bytes_);
  uint32_t left = 0, count = restart_count_;  // restart point `left` is at or before the entry
  while (count > 1) {
    const uint32_t half = count / 2;
    left = RestartOffset(left + half) <= entry_offset ? left + half : left;
    count -= half;
  }
  assert(RestartOffset(left) <= entry_offset);
  return left;
}

uint8_t Block::HashLookup(const Slice& user_key) const {
  assert(has_hash_index());
  const uint32_t hash = Hash32(user_key.data(), user_key.size(), kDataBlockHashSeed);
  return static_cast<uint8_t>(buckets_[hash % bucket_count_]);
}

}  // namespace ashlar
