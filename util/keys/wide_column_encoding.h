// SPDX-License-Identifier: Apache-2.0
//
// The stored form of a wide-column entity. Bytes: docs/formats/write_batch.md, section 8.
//
// Functions without state; any thread. Decoded columns refer to the bytes they came from.
#pragma once

#include <string>

#include "ashlar/wide_columns.h"

namespace ashlar {

// Appends the stored form (version 1) to *dst, sorted by name. With *dst as it was: Corruption, as
// in RocksDB, for two columns of one name; InvalidArgument for sizes of 4 GiB and more.
Status AppendEncodedColumns(const WideColumns& columns, std::string* dst);

// Reads versions 1 and 2. Corruption for malformed bytes, NotSupported for a newer version or a
// column whose value lives in a blob file; *columns is empty then.
Status DecodeColumns(const Slice& entity, WideColumns* columns);

// Of columns that are sorted by name, the value of the default one; empty without one.
Slice DefaultColumnOf(const WideColumns& columns);

// Only the value of the default column; empty without one. Errors as above: all of the entity is
// looked at. Of version 1 without an allocation.
Status DecodeDefaultColumn(const Slice& entity, Slice* value);

}  // namespace ashlar
