// SPDX-License-Identifier: Apache-2.0
//
//   entry:  shared | non_shared | [value length] | key suffix | value
//   block:  entries | u32 restart offsets | [hash index] | u32 count and flags
//
// With separate values:
//   entry:  shared | non_shared | value length | [value offset, at restart points] | key suffix
//   block:  entries | values | u32 restart offsets | [hash index] | u32 offset of the values
//           | u32 count and flags
#include "table/block/block_builder.h"

#include <algorithm>
#include <cstring>

#include "table/block/block_flags.h"
#include "util/keys/internal_key.h"

namespace ashlar {

namespace {

constexpr size_t kMaxEntryHeaderBytes = 4 * kMaxVarint32Bytes;
constexpr size_t kFirstCapacity = 4096;

}  // namespace

BlockBuilder::BlockBuilder(const BlockBuilderOptions& options)
    : options_(options), last_words_bytes_((options.separates_values ? 2 : 1) * sizeof(uint32_t)) {
  assert(options.restart_interval >= 1);
  assert(options.has_value_lengths || !options.separates_values);
  restarts_.push_back(0);
  if (options.hash_util_ratio > 0) {
    hash_index_ = std::make_unique<DataBlockHashIndexBuilder>(options.hash_util_ratio);
  }
}

// Hot: one call per entry; allocates only until the buffers have their final size.
void BlockBuilder::AddEntry(const Slice& key, const Slice& value, const Slice* delta_value) {
  size_t shared = 0;
  if (entries_since_restart_ >= options_.restart_interval) {
    restarts_.push_back(static_cast<uint32_t>(size_));
    entries_since_restart_ = 0;
  } else if (options_.use_delta_encoding &&
             (options_.has_value_lengths || delta_value != nullptr)) {
    shared = SharedBytes(key);
  }
  assert(shared <= key.size());
  assert(key.size() <= UINT32_MAX);
  assert(value.size() <= UINT32_MAX);
  if (options_.separates_values) [[unlikely]] {
    AppendSeparated(key, shared, value);
  } else {
    AppendEntry(key, shared, delta_value != nullptr && shared != 0 ? *delta_value : value);
  }
  assert(size_ <= capacity_);

  if (hash_index_ != nullptr) hash_index_->Add(ExtractUserKey(key), restarts_.size() - 1);
  RememberKey(key, shared);
  assert(last_key() == key);
  assert(restarts_.back() < size_);
  ++entries_since_restart_;
  ++entry_count_;
}

inline void BlockBuilder::AppendEntry(const Slice& key, size_t shared, const Slice& value) {
  const size_t non_shared = key.size() - shared;
  char* const begin = Reserve(kMaxEntryHeaderBytes + non_shared + value.size());
  char* p = EncodeVarint32(begin, static_cast<uint32_t>(shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(non_shared));
  if (options_.has_value_lengths) p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
  p = std::copy_n(key.data() + shared, non_shared, p);
  p = std::copy_n(value.data(), value.size(), p);
  size_ += static_cast<size_t>(p - begin);
}

// The entry is a restart point if its interval is empty so far.
void BlockBuilder::AppendSeparated(const Slice& key, size_t shared, const Slice& value) {
  assert(options_.separates_values);
  assert(options_.has_value_lengths);
  const size_t non_shared = key.size() - shared;
  char* const begin = Reserve(kMaxEntryHeaderBytes + non_shared);
  char* p = EncodeVarint32(begin, static_cast<uint32_t>(shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(non_shared));
  p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
  if (entries_since_restart_ == 0) p = EncodeVarint32(p, static_cast<uint32_t>(values_.size()));
  p = std::copy_n(key.data() + shared, non_shared, p);
  values_.append(value.data(), value.size());
  size_ += static_cast<size_t>(p - begin);
  assert(values_.size() <= UINT32_MAX);
}

size_t BlockBuilder::SharedBytes(const Slice& key) const {
  assert(last_key_bytes_ <= last_key_.size());
  return key.difference_offset(Slice(last_key_.data(), last_key_bytes_));
}

// The string keeps its greatest size, because shrinking and growing it costs more than the copy.
void BlockBuilder::RememberKey(const Slice& key, size_t shared) {
  assert(shared <= last_key_bytes_);
  if (last_key_.size() < key.size()) last_key_.resize(key.size() + kFirstCapacity / 64);
  std::memcpy(last_key_.data() + shared, key.data() + shared, key.size() - shared);
  last_key_bytes_ = key.size();
}

size_t BlockBuilder::EstimateBytesWith(const Slice& key, const Slice& value) const {
  const size_t lengths = sizeof(uint32_t) + VarintLength(key.size()) + VarintLength(value.size());
  size_t restart = 0;
  if (NextIsRestart()) {
    restart = sizeof(uint32_t);
    if (options_.separates_values) restart += VarintLength(values_.size());
  }
  return CurrentBytes() + key.size() + value.size() + lengths + restart;
}

Slice BlockBuilder::Finish(bool has_uniform_keys) {
  assert(!restarts_.empty());
  assert(restarts_.size() <= kBlockRestartCountMask);  // the bits of the flags are free
  const size_t bytes = CurrentBytes();
  const size_t hash_bytes = HashIndexBytes();
  const bool has_hash_index = hash_bytes != 0 && bytes <= DataBlockHashIndexBuilder::kMaxBlockBytes;
  char* p = Reserve(bytes - size_);
  p = std::copy_n(values_.data(), values_.size(), p);
  for (const uint32_t offset : restarts_) {
    EncodeFixed32(p, offset);
    p += sizeof(offset);
  }
  if (has_hash_index) {
    hash_index_->EncodeTo(p);
    p += hash_bytes;
  }
  auto packed = static_cast<uint32_t>(restarts_.size());
  if (has_hash_index) packed |= kBlockHashIndexFlag;
  if (has_uniform_keys) packed |= kBlockUniformKeysFlag;
  if (options_.separates_values) {
    packed |= kBlockSeparateValuesFlag;
    EncodeFixed32(p, static_cast<uint32_t>(size_));
    p += sizeof(uint32_t);
  }
  EncodeFixed32(p, packed);
  p += sizeof(uint32_t);
  assert(static_cast<size_t>(p - buffer_.get()) <= bytes);
  return Slice(buffer_.get(), static_cast<size_t>(p - buffer_.get()));
}

void BlockBuilder::Reset() {
  size_ = 0;
  values_.clear();
  restarts_.assign(1, 0);
  entries_since_restart_ = 0;
  entry_count_ = 0;
  last_key_bytes_ = 0;
  if (hash_index_ != nullptr) hash_index_->Reset();
  assert(empty());
}

void BlockBuilder::Grow(size_t bytes) {
  const size_t capacity = std::max({kFirstCapacity, capacity_ * 2, size_ + bytes});
  PageArray larger = MakePageArray(capacity);
  if (size_ != 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
  assert(capacity_ - size_ >= bytes);
}

}  // namespace ashlar
