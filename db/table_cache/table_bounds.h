// SPDX-License-Identifier: Apache-2.0
//
// TableBounds is what the MANIFEST would say of a table that it does not name yet: its boundary
// keys and the sequence numbers of its entries. For files that come from outside.
#pragma once

#include <string>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

class TableReader;

struct TableBounds {
  std::string smallest;  // internal keys, of points and range tombstones together; as FileMetadata
  std::string largest;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;

  bool empty() const { return smallest.empty(); }
  // Of user keys; both inclusive, also where the last one is the end of a range tombstone: for
  // those who ask what might be touched.
  Slice begin() const { return ExtractUserKey(smallest); }
  Slice end() const { return ExtractUserKey(largest); }
};

// Reads the first and the last block, and all of them where an old file does not tell its sequence
// numbers. The table was opened without a border.
Result<TableBounds> FindTableBounds(const TableReader& table,
                                    const InternalKeyComparator& comparator);

// Bounds that hold whatever the data blocks hold: none is read. NotSupported unless the order is
// the bytewise one, as only of that it is known what comes before every key.
Result<TableBounds> FindWidestBounds(const TableReader& table,
                                     const InternalKeyComparator& comparator);

}  // namespace ashlar
