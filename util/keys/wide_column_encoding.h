// SPDX-License-Identifier: Apache-2.0
//
// The stored form of a wide-column entity. Bytes: docs/formats/write_batch.md, section 8.
//
// Functions without state; any thread. Decoded columns refer to the bytes of the entity.
#pragma once

#include <string>

#include "ashlar/wide_columns.h"

namespace ashlar {

// Appends the stored form (version 1) to *dst, sorted by name. Returns Corruption (as RocksDB does)
// if two columns have the same name, and InvalidArgument for sizes of 4 GiB or more; *dst is
// unchanged then.
Status AppendEncodedColumns(const WideColumns& columns, std::string* dst);

// Reads versions 1 and 2. Returns Corruption for malformed bytes, and NotSupported for a newer
// version or a column whose value is in a blob file; *columns is empty then.
Status DecodeColumns(const Slice& entity, WideColumns* columns);

// The value of the default column, or an empty slice if there is none. The columns must be sorted.
Slice DefaultColumnOf(const WideColumns& columns);

// Decodes only the value of the default column; it is empty if there is none. Errors as for
// DecodeColumns(), because the whole entity is checked. Allocates nothing for version 1.
Status DecodeDefaultColumn(const Slice& entity, Slice* value);

}  // namespace ashlar
