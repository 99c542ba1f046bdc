// SPDX-License-Identifier: Apache-2.0
//
// KeyRef refers to all updates that a batch has for one key; BatchKeys finds the key of a
// reference.
//
// Most keys are written once. The reference of such a key is the offset of its record, so an index
// needs no further memory for the key. A second update of the key starts a chain (update_chains.h),
// and the reference names the chain. References use offsets because the batch moves its bytes when
// it grows.
#pragma once

#include <cassert>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/write_batch.h"
#include "db/transaction/indexed_batch/update_chains.h"
#include "db/write/write_batch_reader.h"

namespace ashlar {

class KeyRef {
 public:
  static constexpr int kBits = 41;
  static constexpr uint64_t kMaxOffset = (uint64_t{1} << (kBits - 1)) - 1;

  // An empty reference.
  KeyRef() = default;
  // A reference to a key whose only update is the record at `offset`.
  static KeyRef ToRecord(uint64_t offset) {
    assert(offset >= kWriteBatchHeaderBytes && offset <= kMaxOffset);
    return KeyRef(offset << 1);
  }
  // A reference to a key with several updates.
  static KeyRef ToChain(uint32_t chain) { return KeyRef(uint64_t{chain} << 1 | 1); }
  static KeyRef FromBits(uint64_t bits) { return KeyRef(bits); }

  // Below 2^kBits. Never 0 for a key, because no record begins at offset 0.
  uint64_t bits() const { return bits_; }
  bool is_chain() const { return (bits_ & 1) != 0; }
  uint64_t offset() const {
    assert(!is_chain());
    return bits_ >> 1;
  }
  uint32_t chain() const {
    assert(is_chain());
    return static_cast<uint32_t>(bits_ >> 1);
  }

 private:
  explicit KeyRef(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = 0;
};

// Reads the records behind references. Borrows the batch and the chains. Threads: as the batch.
class BatchKeys {
 public:
  BatchKeys(const WriteBatch* batch, const UpdateChains* chains) : batch_(batch), chains_(chains) {}

  // The record at this offset, which is in the index and therefore well-formed.
  WriteBatchRecord RecordAt(uint64_t offset) const {
    WriteBatchReader reader(batch_->Data(), offset);
    WriteBatchRecord record;
    [[maybe_unused]] const bool is_there = reader.Next(&record);
    assert(is_there);
    return record;
  }
  // The offset of a record with the key: the newest one, if there are several.
  uint64_t OffsetOf(KeyRef ref) const {
    return ref.is_chain() ? chains_->Newest(ref.chain()).offset : ref.offset();
  }
  // The key of a reference; valid until the batch changes.
  Slice KeyOf(KeyRef ref) const { return RecordAt(OffsetOf(ref)).key; }
  // Prefetches the memory that KeyOf() will read.
  void Prefetch(KeyRef ref) const {
    if (!ref.is_chain()) __builtin_prefetch(batch_->Data().data() + ref.offset());
  }

 private:
  const WriteBatch* const batch_;
  const UpdateChains* const chains_;
};

}  // namespace ashlar
