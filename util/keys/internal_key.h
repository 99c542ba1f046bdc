// SPDX-License-Identifier: Apache-2.0
//
// The internal key: a user key followed by eight bytes that hold its sequence number and kind.
// Memtables, tables and the database all speak it. Bytes: docs/formats/write_batch.md, section 7.
//
// Order: user keys ascending by the family's comparator; for one user key the trailer, read as a
// 64-bit number, descending, so that newer versions come first.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/slice.h"
#include "ashlar/types.h"

namespace ashlar {

// The kind of an entry. The numbers are part of the file formats; those from 0x03 to 0x06, 0x08 to
// 0x10 (except 0x0f) and the markers occur in write batches only.
enum ValueType : uint8_t {
  kTypeDeletion = 0x00,
  kTypeValue = 0x01,
  kTypeMerge = 0x02,
  kTypeLogData = 0x03,
  kTypeColumnFamilyDeletion = 0x04,
  kTypeColumnFamilyValue = 0x05,
  kTypeColumnFamilyMerge = 0x06,
  kTypeSingleDeletion = 0x07,
  kTypeColumnFamilySingleDeletion = 0x08,
  kTypeBeginPrepareXID = 0x09,
  kTypeEndPrepareXID = 0x0a,
  kTypeCommitXID = 0x0b,
  kTypeRollbackXID = 0x0c,
  kTypeNoop = 0x0d,
  kTypeColumnFamilyRangeDeletion = 0x0e,
  kTypeRangeDeletion = 0x0f,
  kTypeColumnFamilyBlobIndex = 0x10,
  kTypeBlobIndex = 0x11,
  kTypeBeginPersistedPrepareXID = 0x12,
  kTypeBeginUnprepareXID = 0x13,
  kTypeDeletionWithTimestamp = 0x14,
  kTypeCommitXIDAndTimestamp = 0x15,
  kTypeWideColumnEntity = 0x16,
  kTypeColumnFamilyWideColumnEntity = 0x17,
  kTypeValuePreferredSeqno = 0x18,
  kTypeColumnFamilyValuePreferredSeqno = 0x19,
  kMaxValue = 0x7f,  // never stored
};

// Greater than every kind a table or memtable stores, so that (key, s, kValueTypeForSeek) sorts
// before every version of `key` at or below sequence number s.
inline constexpr ValueType kValueTypeForSeek = kTypeValuePreferredSeqno;

inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;
inline constexpr size_t kTrailerBytes = 8;

// Trailer of the exclusive end of a range tombstone when it serves as a file boundary.
inline constexpr uint64_t kRangeTombstoneSentinel = (kMaxSequenceNumber << 8) | kTypeRangeDeletion;

constexpr uint64_t PackTrailer(SequenceNumber seqno, ValueType type) { return seqno << 8 | type; }
constexpr SequenceNumber TrailerSeqno(uint64_t trailer) { return trailer >> 8; }
constexpr ValueType TrailerType(uint64_t trailer) { return static_cast<ValueType>(trailer & 0xff); }

// True for the kinds that may stand in a data block or memtable as a point entry.
constexpr bool IsPointEntryType(ValueType type) {
  return type <= kTypeMerge || type == kTypeSingleDeletion || type == kTypeBlobIndex ||
         type == kTypeDeletionWithTimestamp || type == kTypeWideColumnEntity ||
         type == kTypeValuePreferredSeqno;
}

// A tombstone of one key as every reader knows it. None of them knows kTypeDeletionWithTimestamp,
// as families with timestamps are refused: they must not take it for one of these.
constexpr bool IsPointTombstone(ValueType type) {
  return type == kTypeDeletion || type == kTypeSingleDeletion;
}
// All kinds that delete, one key or a range: for those who count, and ask what may be alive.
constexpr bool IsTombstone(ValueType type) {
  return IsPointTombstone(type) || type == kTypeDeletionWithTimestamp || type == kTypeRangeDeletion;
}

inline uint64_t LoadLittleEndian64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof(value));
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

// Splitting an internal key. The key must be at least kTrailerBytes long: parsers of foreign bytes
// check that first.
inline Slice ExtractUserKey(const Slice& internal_key) {
  assert(internal_key.size() >= kTrailerBytes);
  return Slice(internal_key.data(), internal_key.size() - kTrailerBytes);
}
inline uint64_t ExtractTrailer(const Slice& internal_key) {
  assert(internal_key.size() >= kTrailerBytes);
  return LoadLittleEndian64(internal_key.data() + internal_key.size() - kTrailerBytes);
}

struct ParsedInternalKey {
  Slice user_key;
  SequenceNumber seqno = 0;
  ValueType type = kTypeDeletion;
};

// False when the key is shorter than a trailer or its kind cannot stand in a sorted run.
bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result);

void AppendInternalKey(std::string* dst, const Slice& user_key, uint64_t trailer);
std::string MakeInternalKey(const Slice& user_key, SequenceNumber seqno, ValueType type);

// For messages and dumps: 'key' seq:17, type:1; with `hex` the key in hexadecimal digits.
std::string DescribeInternalKey(const Slice& internal_key, bool hex);

// How user keys are ordered. Hot loops take this as a plain value, so that the bytewise orders cost
// no call; only kCustom goes through the virtual Comparator.
enum class KeyOrder : uint8_t { kBytewise, kReverseBytewise, kCustom };

// The first eight bytes of a user key as a big-endian number (missing bytes are zero), arranged so
// that in every order head(a) < head(b) implies a < b, and equal heads decide nothing. In a custom
// order all heads are equal.
inline uint64_t KeyHead(const char* data, size_t size, KeyOrder order) {
  if (order == KeyOrder::kCustom) return 0;
  uint64_t head = 0;
  if (size >= sizeof(head)) [[likely]] {
    std::memcpy(&head, data, sizeof(head));
  } else {
    std::memcpy(&head, data, size);
  }
  if constexpr (std::endian::native == std::endian::little) head = __builtin_bswap64(head);
  return order == KeyOrder::kBytewise ? head : ~head;
}
inline uint64_t KeyHead(const Slice& user_key, KeyOrder order) {
  return KeyHead(user_key.data(), user_key.size(), order);
}

// InternalKeyComparator orders internal keys. Cheap to copy; the user comparator outlives it.
class InternalKeyComparator {
 public:
  explicit InternalKeyComparator(const Comparator* user_comparator);

  const Comparator* user_comparator() const { return user_comparator_; }
  KeyOrder order() const { return order_; }

  // User keys by four names, which say whether a timestamp at their end counts. Families with
  // timestamps are refused so far, so no key has one and each pair does the same; a caller still
  // says what it means. Whether two entries are versions of one key, and whether a key lies within
  // bounds or a file's range, never depends on timestamps.
  int OrderWithoutTimestamp(const Slice& a, const Slice& b) const { return OrderBytes(a, b); }
  bool SameKey(const Slice& a, const Slice& b) const { return SameBytes(a, b); }
  // The order in which entries are stored.
  int OrderWithTimestamp(const Slice& a, const Slice& b) const { return OrderBytes(a, b); }
  bool SameKeyAndTimestamp(const Slice& a, const Slice& b) const { return SameBytes(a, b); }

  int Compare(const Slice& a, const Slice& b) const {
    const int by_user_key = OrderWithTimestamp(ExtractUserKey(a), ExtractUserKey(b));
    if (by_user_key != 0) return by_user_key;
    const uint64_t trailer_a = ExtractTrailer(a), trailer_b = ExtractTrailer(b);
    return trailer_a > trailer_b ? -1 : trailer_a < trailer_b ? +1 : 0;
  }
  uint64_t Head(const Slice& user_key) const { return KeyHead(user_key, order_); }

 private:
  int OrderBytes(const Slice& a, const Slice& b) const {
    if (order_ == KeyOrder::kBytewise) [[likely]]
      return a.compare(b);
    if (order_ == KeyOrder::kReverseBytewise) return b.compare(a);
    return OrderCustom(a, b);
  }
  // The user's comparator, whose calls are counted.
  int OrderCustom(const Slice& a, const Slice& b) const;
  bool SameBytes(const Slice& a, const Slice& b) const {
    if (order_ != KeyOrder::kCustom) [[likely]]
      return a == b;
    return user_comparator_->Equal(a, b);
  }

  const Comparator* user_comparator_;
  KeyOrder order_;
};

// What a point lookup carries: the user key, its head, and the greatest trailer it may see. Borrows
// the key's bytes.
struct LookupKey {
  LookupKey(const Slice& key, SequenceNumber snapshot, KeyOrder order)
      : user_key(key),
        trailer(PackTrailer(snapshot, kValueTypeForSeek)),
        head(KeyHead(key, order)) {}
  SequenceNumber snapshot() const { return TrailerSeqno(trailer); }

  Slice user_key;
  uint64_t trailer;
  uint64_t head;
};

}  // namespace ashlar
