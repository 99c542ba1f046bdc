// SPDX-License-Identifier: Apache-2.0
//
// A put into a memtable whose values are updated in place; used by commits and by replay.
#pragma once

#include <cassert>
#include <optional>
#include <string>

#include "ashlar/status.h"
#include "db/write/write_batch_reader.h"
#include "memtable/memtable.h"

namespace ashlar {

inline bool IsPut(const WriteBatchRecord& record) {
  return record.type == kTypeValue || record.type == kTypeWideColumnEntity;
}

// `read_before(&value)` reads the previous value of the key, in case the memtable does not have it.
// Call PutInPlace() outside an epoch, because that read may take long. Precondition: no other
// thread inserts into the memtable, and the calls come in the order of sequence numbers.
template <typename ReadBefore>
Status PutInPlace(const WriteBatchRecord& record, SequenceNumber seqno, MemTable* memtable,
                  InsertHint* hint, const ReadBefore& read_before) {
  assert(memtable != nullptr);
  Slice value = record.value;
  std::string made;  // holds the bytes of `value` when the update callback has made a new value
  switch (memtable->Update(seqno, record.type, record.key, &value, &made)) {
    case MemTable::InPlace::kDone: return Status::OK();
    case MemTable::InPlace::kAdd: break;
    case MemTable::InPlace::kNeedsValue: {
      std::optional<std::string> existing;
      const Status status = read_before(&existing);
      if (!status.ok()) return status;
      // False: the callback wants the old value to stay as it is.
      if (!MakeInPlaceValue(memtable->in_place_callback(),
                            existing.has_value() ? &*existing : nullptr, record.value, &made)) {
        return Status::OK();
      }
      value = made;
    }
  }
  return memtable->Add(seqno, record.type, record.key, value, hint);
}

}  // namespace ashlar
