// SPDX-License-Identifier: Apache-2.0
//
// The internal key is a user key followed by eight bytes with its sequence number and its kind.
// Used by memtables, tables and the database. Bytes: docs/formats/write_batch.md, section 7.
//
// User keys are in ascending order of the family's comparator. Entries of one user key are in
// descending order of the trailer, read as a 64-bit number, so that newer versions come first.
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

// The kind of an entry. The numbers are part of the file formats. Those from 0x03 to 0x06 and from
// 0x08 to 0x10 (except 0x0f) and the markers occur only in write batches.
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

// At least as great as every kind that tables and memtables store, so that (key, s,
// kValueTypeForSeek) sorts before every version of `key` with a sequence number up to s.
inline constexpr ValueType kValueTypeForSeek = kTypeValuePreferredSeqno;

inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;
inline constexpr size_t kTrailerBytes = 8;

// The trailer of the exclusive end of a range tombstone that is the boundary of a file.
inline constexpr uint64_t kRangeTombstoneSentinel = (kMaxSequenceNumber << 8) | kTypeRangeDeletion;

constexpr uint64_t PackTrailer(SequenceNumber seqno, ValueType type) { return seqno << 8 | type; }
constexpr SequenceNumber TrailerSeqno(uint64_t trailer) { return trailer >> 8; }
constexpr ValueType TrailerType(uint64_t trailer) { return static_cast<ValueType>(trailer & 0xff); }

// Whether the kind may occur as a point entry of a data block or memtable.
constexpr bool IsPointEntryType(ValueType type) {
  return type <= kTypeMerge || type == kTypeSingleDeletion || type == kTypeBlobIndex ||
         type == kTypeDeletionWithTimestamp || type == kTypeWideColumnEntity ||
         type == kTypeValuePreferredSeqno;
}

// A tombstone for one key in a family without timestamps. kTypeDeletionWithTimestamp is not
// included: it occurs only in families with timestamps, whose readers use the next function.
constexpr bool IsPointTombstone(ValueType type) {
  return type == kTypeDeletion || type == kTypeSingleDeletion;
}
constexpr bool IsPointTombstoneOfAnyFamily(ValueType type) {
  return IsPointTombstone(type) || type == kTypeDeletionWithTimestamp;
}
// All kinds that delete a key or a range, for statistics and for checks whether a key may exist.
constexpr bool IsTombstone(ValueType type) {
  return IsPointTombstoneOfAnyFamily(type) || type == kTypeRangeDeletion;
}

inline uint64_t LoadLittleEndian64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof(value));
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

// These split an internal key, which must have at least kTrailerBytes. Code that parses foreign
// bytes must check the size first.
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

// Returns false if the key is shorter than a trailer, or if its kind cannot occur in a sorted run.
bool ParseInternalKey(const Slice& internal_key, ParsedInternalKey* result);

void AppendInternalKey(std::string* dst, const Slice& user_key, uint64_t trailer);
std::string MakeInternalKey(const Slice& user_key, SequenceNumber seqno, ValueType type);

// For messages and dumps: 'key' seq:17, type:1. If `hex` is set, the key is in hexadecimal digits.
std::string DescribeInternalKey(const Slice& internal_key, bool hex);

// The order of user keys. Hot loops use this value, so that the bytewise orders need no call; only
// kCustom calls the virtual Comparator.
enum class KeyOrder : uint8_t { kBytewise, kReverseBytewise, kCustom };

// The first eight bytes of a user key as a big-endian number, with zeros for missing bytes,
// arranged so that in every order head(a) < head(b) implies a < b. Equal heads decide nothing. In a
// custom order all heads are equal.
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

// Compares internal keys. Cheap to copy; the user comparator outlives it.
//
// In a family with timestamps (a stamped family) every key that the engine handles is a stored key:
// the user key followed by stamp_bytes() bytes of timestamp. This includes bounds and the borders
// of files and jobs; the calls of the API append a timestamp to the keys that they get
// (FirstStored(), LastStored()). Keys from damaged files may be shorter; they are compared by their
// bytes and sort before all others.
class InternalKeyComparator {
 public:
  explicit InternalKeyComparator(const Comparator* user_comparator);

  const Comparator* user_comparator() const { return user_comparator_; }
  KeyOrder order() const { return order_; }

  // There are four functions for stored keys, whose names say whether a timestamp at the end of the
  // key matters; both arguments have one. Timestamps do not matter for whether two entries are
  // versions of one key, and for whether a key is within bounds or within the range of a file.
  int OrderWithoutTimestamp(const Slice& a, const Slice& b) const {
    if (order_ == KeyOrder::kBytewise) [[likely]]
      return a.compare(b);
    if (order_ == KeyOrder::kReverseBytewise) return b.compare(a);
    return OrderCustom(a, b, /*with_stamps=*/false);
  }
  bool SameKey(const Slice& a, const Slice& b) const {
    if (order_ != KeyOrder::kCustom) [[likely]]
      return a == b;
    return SameCustom(a, b, /*with_stamps=*/false);
  }
  // The order in which entries are stored: the newest timestamp of a key comes first.
  int OrderWithTimestamp(const Slice& a, const Slice& b) const {
    if (order_ == KeyOrder::kBytewise) [[likely]]
      return a.compare(b);
    if (order_ == KeyOrder::kReverseBytewise) return b.compare(a);
    return OrderCustom(a, b, /*with_stamps=*/true);
  }
  bool SameKeyAndTimestamp(const Slice& a, const Slice& b) const {
    if (order_ != KeyOrder::kCustom) [[likely]]
      return a == b;
    return SameCustom(a, b, /*with_stamps=*/true);
  }

  int Compare(const Slice& a, const Slice& b) const {
    const int by_user_key = OrderWithTimestamp(ExtractUserKey(a), ExtractUserKey(b));
    if (by_user_key != 0) return by_user_key;
    const uint64_t trailer_a = ExtractTrailer(a), trailer_b = ExtractTrailer(b);
    return trailer_a > trailer_b ? -1 : trailer_a < trailer_b ? +1 : 0;
  }
  uint64_t Head(const Slice& user_key) const { return KeyHead(user_key, order_); }

  // The number of bytes of timestamp at the end of each stored key; 0: the family has none.
  size_t stamp_bytes() const { return stamp_bytes_; }
  // The user key, and the timestamp, of a stored key.
  Slice WithoutStamp(const Slice& stored) const {
    return Slice(stored.data(), stored.size() - StampBytesOf(stored));
  }
  Slice StampOf(const Slice& stored) const {
    const size_t bytes = StampBytesOf(stored);
    return Slice(stored.data() + (stored.size() - bytes), bytes);
  }
  int OrderOfStamps(const Slice& a, const Slice& b) const {  // the newer one is greater
    return user_comparator_->CompareTimestamp(a, b);
  }
  // The greatest and the smallest timestamp in every order: RocksDB's code, and so its files, have
  // these bytes whatever the comparator returns.
  std::string MaxStamp() const { return std::string(stamp_bytes_, '\xff'); }
  std::string MinStamp() const { return std::string(stamp_bytes_, '\0'); }
  // The stored keys before which, or behind which, there is no version of the user key.
  std::string FirstStored(const Slice& user_key) const { return user_key.ToString() + MaxStamp(); }
  std::string LastStored(const Slice& user_key) const { return user_key.ToString() + MinStamp(); }
  // Appends the internal key with this trailer that sorts before (behind) all versions of `stored`
  // with the same trailer: only the user key of `stored` counts.
  void AppendFirst(std::string* dst, const Slice& stored, uint64_t trailer) const;
  void AppendLast(std::string* dst, const Slice& stored, uint64_t trailer) const;
  // The internal key in front of all versions of a key.
  std::string FirstInternalKey(const Slice& stored) const {
    std::string key;
    AppendFirst(&key, stored, PackTrailer(kMaxSequenceNumber, kValueTypeForSeek));
    return key;
  }

 private:
  size_t StampBytesOf(const Slice& stored) const {
    return stored.size() < stamp_bytes_ ? 0 : stamp_bytes_;
  }
  // Calls the user's comparator and counts the call.
  int OrderCustom(const Slice& a, const Slice& b, bool with_stamps) const;
  bool SameCustom(const Slice& a, const Slice& b, bool with_stamps) const;

  const Comparator* user_comparator_;
  KeyOrder order_;
  size_t stamp_bytes_;
};

// The arguments of a point lookup: the user key, its head, and the greatest trailer that is
// visible. Borrows the bytes of the key.
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
