// SPDX-License-Identifier: Apache-2.0
//
// A table of another kind of RocksDB's as a block-based table in memory.
//
// Opening a PlainTable or a CuckooTable copies its rows into a block-based table, which then is
// read like any other: point lookups, batches, iterators in both directions and prefix filters need
// no second implementation, and lookups in block-based tables no second path. RocksDB's reader
// scans the rows as well when it opens a file without index. The price is memory: the table is in
// memory while it is open. Threads: a pure function.
#pragma once

#include <memory>

#include "ashlar/table_properties.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/result.h"

namespace ashlar {

struct BareTranslation {
  std::unique_ptr<RandomReader> image;  // a file in memory with the entries of the table
  TableProperties properties;           // those of the table, not of the image
  uint64_t file_bytes = 0;              // the size of the table
};
// InvalidArgument: `file` was written with another comparator. Corruption: damage, rows out of
// order, another number of rows than the properties say, or a translation of more than 64 MiB and
// 64 times the size of the file.
Result<BareTranslation> TranslateBareTable(const RandomReader& file,
                                           const TableReaderOptions& options);

}  // namespace ashlar
