// SPDX-License-Identifier: Apache-2.0
//
// TableBounds holds the boundary keys and the range of sequence numbers of a table that the
// MANIFEST does not name yet, such as a file to ingest or to repair.
#pragma once

#include <string>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

class TableReader;

struct TableBounds {
  // Internal keys, of points and range tombstones together; as in FileMetadata.
  std::string smallest;
  std::string largest;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;

  bool empty() const { return smallest.empty(); }
  // The bounds as user keys. Both count as inclusive, even if the last one is the exclusive end of
  // a range tombstone, so the range covers every key that the table might affect.
  Slice begin() const { return ExtractUserKey(smallest); }
  Slice end() const { return ExtractUserKey(largest); }
};

// Reads the first and the last block; reads all blocks if an old file does not record its sequence
// numbers. Precondition: the table was opened without limits of its key range.
Result<TableBounds> FindTableBounds(const TableReader& table,
                                    const InternalKeyComparator& comparator);

// Bounds that are correct for any contents of the data blocks; no data block is read. NotSupported
// unless the comparator is the bytewise one, because the smallest possible key is unknown for
// others.
Result<TableBounds> FindWidestBounds(const TableReader& table,
                                     const InternalKeyComparator& comparator);

}  // namespace ashlar
