// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchReader walks the records of a write batch. It is the one decoder of these bytes: WAL
// replay, memtable insertion and WriteBatch::Iterate() use it. Bytes: docs/formats/write_batch.md.
//
// The bytes may come from a disk: every length is checked, and malformed bytes end the walk with
// Corruption. Records refer to the batch's bytes. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {

inline constexpr size_t kWriteBatchHeaderBytes = 12;  // fixed64 sequence number, fixed32 count

// One record. Which slices are set depends on the kind; the others are empty:
//   put, merge, blob index, entity, timed put   key, value (of a timed put: value + fixed64 time)
//   delete, single delete                       key
//   delete range                                key = begin, value = end
//   log data                                    value
//   end prepare, commit, rollback               value = xid
//   commit with timestamp                       key = timestamp, value = xid
struct WriteBatchRecord {
  // The kind as a memtable stores it: tags with and without a family number map to the same kind.
  ValueType type = kTypeNoop;
  uint32_t family = 0;
  Slice key;
  Slice value;

  // Whether the record is part of the header's count and takes a sequence number.
  bool IsCounted() const {
    constexpr uint32_t kCounted = 1u << kTypeDeletion | 1u << kTypeValue | 1u << kTypeMerge |
                                  1u << kTypeSingleDeletion | 1u << kTypeRangeDeletion |
                                  1u << kTypeBlobIndex | 1u << kTypeWideColumnEntity |
                                  1u << kTypeValuePreferredSeqno;
    return (kCounted >> type & 1) != 0;
  }
  // Makes a plain put of a timed put. Only batches keep the write time, not memtables and tables.
  void DropWriteTime() {
    if (type != kTypeValuePreferredSeqno) [[likely]]
      return;
    assert(value.size() >= sizeof(uint64_t));  // checked by WriteBatchReader
    type = kTypeValue;
    value.remove_suffix(sizeof(uint64_t));
  }
};

class WriteBatchReader {
 public:
  // `batch` is a whole batch with its header and must outlive the reader.
  explicit WriteBatchReader(const Slice& batch)
      : begin_(batch.data()), next_(batch.data()), limit_(batch.data() + batch.size()) {
    if (batch.size() < kWriteBatchHeaderBytes) [[unlikely]] {
      Fail("the 12-byte header");
    } else {
      next_ += kWriteBatchHeaderBytes;
    }
  }

  // From the record at `offset` on.
  WriteBatchReader(const Slice& batch, size_t offset)
      : begin_(batch.data()), next_(batch.data() + offset), limit_(batch.data() + batch.size()) {
    assert(offset >= kWriteBatchHeaderBytes);
    assert(offset <= batch.size());
  }

  // Moves to the next record. False at the end, and after an error; see status().
  // Hot: no call, no allocation for well-formed bytes with lengths below 128. Always inlined,
  // because each Put walks its batch twice and the compiler's own choice costs it 70 instructions.
  [[gnu::always_inline]] bool Next(WriteBatchRecord* record) {
    if (next_ == limit_) [[unlikely]]
      return false;
    record_begin_ = next_;
    const auto tag = static_cast<ValueType>(*next_++);
    record->type = tag;
    record->family = 0;
    switch (tag) {
      case kTypeColumnFamilyValue: return TakeFamily(record, kTypeValue) && TakeKeyAndValue(record);
      case kTypeValue: return TakeKeyAndValue(record);
      case kTypeColumnFamilyDeletion: return TakeFamily(record, kTypeDeletion) && TakeKey(record);
      case kTypeDeletion: return TakeKey(record);
      case kTypeColumnFamilyMerge: return TakeFamily(record, kTypeMerge) && TakeKeyAndValue(record);
      case kTypeMerge: return TakeKeyAndValue(record);
      default: return TakeRareRecord(record);
    }
  }

  // OK at the end of well-formed bytes, else Corruption with the offset.
  Status status() const;

  // Offset in the batch of the record that the last call of Next() returned.
  size_t record_offset() const { return static_cast<size_t>(record_begin_ - begin_); }
  // Offset of the next record.
  size_t next_offset() const { return static_cast<size_t>(next_ - begin_); }

 private:
  // Ends the walk: next_ moves to the end, and status() describes the error at the present offset.
  bool Fail(const char* expected) {
    error_offset_ = static_cast<size_t>(next_ - begin_);
    error_expected_ = expected;
    next_ = limit_;
    return false;
  }
  // Reads a length and that many bytes. `what` names the part in an error message.
  [[gnu::always_inline]] bool Take(Slice* result, const char* what) {
    const char* p = GetLengthPrefixedSlicePtr(next_, limit_, result);
    if (p == nullptr) [[unlikely]]
      return Fail(what);
    next_ = p;
    return true;
  }
  bool TakeKey(WriteBatchRecord* record) {
    assert(record != nullptr);
    record->value = Slice();
    return Take(&record->key, "a key");
  }
  [[gnu::always_inline]] bool TakeKeyAndValue(WriteBatchRecord* record) {
    return Take(&record->key, "a key") && Take(&record->value, "a value");
  }
  bool TakeFamily(WriteBatchRecord* record, ValueType type) {
    assert(record != nullptr);
    record->type = type;
    const char* p = GetVarint32Ptr(next_, limit_, &record->family);
    if (p == nullptr) [[unlikely]]
      return Fail("a column family number");
    next_ = p;
    return true;
  }
  bool TakeRareRecord(WriteBatchRecord* record);
  bool TakeTimedPut(WriteBatchRecord* record);

  const char* begin_;
  const char* record_begin_ = nullptr;
  // Always begin_ <= next_ <= limit_.
  const char* next_;
  const char* limit_;
  size_t error_offset_ = 0;
  const char* error_expected_ = nullptr;  // null: no error
};

}  // namespace ashlar
