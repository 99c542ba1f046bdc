// SPDX-License-Identifier: Apache-2.0
//
// MemTableEntry: the form in which a memtable stores one internal key and its value, in all
// representations: two lengths, then user key, trailer and value, in one piece of arena memory
// without alignment. A checksum may follow; the memtable knows whether it does. Immutable once
// other threads can reach it, except for a value that is overwritten in place
// (memtable/in_place.h).
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "ashlar/slice.h"
#include "util/hash/hash.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class MemTableEntry {
 public:
  // The size of an entry.
  static size_t BytesFor(const Slice& user_key, const Slice& value, size_t checksum_bytes) {
    return sizeof(MemTableEntry) + user_key.size() + kTrailerBytes + value.size() + checksum_bytes;
  }
  // Fills this header and the bytes behind it, BytesFor() in total.
  void Fill(const Slice& user_key, uint64_t trailer, const Slice& value, size_t checksum_bytes) {
    assert(user_key.size() <= UINT32_MAX);
    assert(value.size() <= UINT32_MAX);
    const uint32_t lengths[] = {static_cast<uint32_t>(user_key.size()),
                                static_cast<uint32_t>(value.size())};
    std::memcpy(lengths_, lengths, sizeof(lengths));
    char* p = reinterpret_cast<char*>(this + 1);
    if (!user_key.empty()) std::memcpy(p, user_key.data(), user_key.size());
    p += user_key.size();
    trailer = LittleEndian(trailer);
    std::memcpy(p, &trailer, kTrailerBytes);
    p += kTrailerBytes;
    if (!value.empty()) std::memcpy(p, value.data(), value.size());
    if (checksum_bytes == 0) [[likely]]
      return;
    StoreChecksum(internal_key(), Slice(p, value.size()), checksum_bytes);
  }

  // Stores the checksum behind the value, which is in the memory of an entry.
  static void StoreChecksum(const Slice& internal_key, const Slice& value, size_t checksum_bytes) {
    const uint64_t checksum = LittleEndian(Checksum(internal_key, value, checksum_bytes));
    std::memcpy(const_cast<char*>(value.data()) + value.size(), &checksum, checksum_bytes);
  }

  // Replaces the value by one that is not longer. The caller keeps readers of the value away.
  void Overwrite(const Slice& value, size_t checksum_bytes) {
    const Slice place = this->value();
    assert(value.size() <= place.size());
    if (!value.empty()) std::memcpy(const_cast<char*>(place.data()), value.data(), value.size());
    const auto length = static_cast<uint32_t>(value.size());
    std::memcpy(lengths_ + sizeof(length), &length, sizeof(length));
    if (checksum_bytes != 0) StoreChecksum(internal_key(), this->value(), checksum_bytes);
  }

  // The checksum of an entry, cut to `checksum_bytes` bytes.
  static uint64_t Checksum(const Slice& internal_key, const Slice& value, size_t checksum_bytes) {
    const uint64_t hash = HashBytes(value, HashBytes(internal_key, internal_key.size()));
    return checksum_bytes == sizeof(hash) ? hash : hash & ((uint64_t{1} << 8 * checksum_bytes) - 1);
  }
  // The checksum that is stored behind the value of an entry.
  static uint64_t ChecksumBehind(const Slice& value, size_t checksum_bytes) {
    uint64_t checksum = 0;
    std::memcpy(&checksum, value.data() + value.size(), checksum_bytes);
    return LittleEndian(checksum);
  }

  Slice internal_key() const { return Slice(bytes(), user_key_bytes() + kTrailerBytes); }
  Slice user_key() const { return Slice(bytes(), user_key_bytes()); }
  uint64_t trailer() const { return LoadLittleEndian64(bytes() + user_key_bytes()); }
  Slice value() const { return Slice(bytes() + user_key_bytes() + kTrailerBytes, value_bytes()); }

 private:
  static uint64_t LittleEndian(uint64_t number) {
    return std::endian::native == std::endian::little ? number : __builtin_bswap64(number);
  }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  size_t user_key_bytes() const { return Length(0); }  // without the trailer
  size_t value_bytes() const { return Length(sizeof(uint32_t)); }
  uint32_t Length(size_t offset) const {
    uint32_t length;
    std::memcpy(&length, lengths_ + offset, sizeof(length));
    return length;
  }

  char lengths_[2 * sizeof(uint32_t)];  // of user key and value, in the byte order of the machine
};
static_assert(alignof(MemTableEntry) == 1);

}  // namespace ashlar
