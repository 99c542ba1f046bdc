// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::memory_limit: how one limit becomes a block cache, a limit of memtables and charges.
// The cache is that of the write buffer manager, which the limit creates and which other databases
// may share. Pure functions of options, but for the objects that they create.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

// InvalidArgument if the limit is too small, or if an object with a limit of its own is given.
Status CheckMemoryLimit(const DBOptions& options);
// The same for a family of a database with a limit.
Status CheckMemoryOfFamily(const DBOptions& db_options, const ColumnFamilyOptions& options);

// Creates the manager of memtables with its cache, unless one is given.
void ApplyMemoryLimit(DBOptions* options);
// Makes the family use the cache of the manager, and charge to it what it needs besides. Without a
// manager, because the options are not those of a database but of an SstFileWriter, nothing
// changes.
void UseMemoryOfDatabase(const DBOptions& db_options, ColumnFamilyOptions* options);
// The largest write_buffer_size.
uint64_t MostWriteBufferBytes(const DBOptions& db_options);
// Applies a limit that was changed while the database is open.
void SetMemoryLimit(const DBOptions& options);

}  // namespace ashlar
