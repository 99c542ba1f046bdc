// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's CuckooTable, read as a whole: docs/formats/plain_table.md.
//
// A CuckooTable is a hash table of buckets of one size: a key and a value. Keys are user keys in
// the last level, where all entries are values with sequence number 0, and internal keys elsewhere.
// Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "util/result.h"

namespace ashlar {

class InternalKeyComparator;
class RandomReader;

struct CuckooFormat {
  uint64_t key_bytes = 0;  // of the stored key
  uint64_t value_bytes = 0;
  bool has_user_keys = false;  // the stored keys are user keys
  std::string empty_key;       // the stored key of buckets without an entry
};

// From the properties of the table. Corruption: they are missing or do not fit together.
Result<CuckooFormat> CuckooFormatOf(const RandomReader& file, const TableProperties& properties);

// An internal key, and the value, which points into the buckets.
using CuckooEntry = std::pair<std::string, Slice>;
// The entries of the buckets in the order of their keys. Corruption: the bytes are no whole
// buckets.
Result<std::vector<CuckooEntry>> SortedEntries(const Slice& buckets, const CuckooFormat& format,
                                               const InternalKeyComparator& order);

}  // namespace ashlar
