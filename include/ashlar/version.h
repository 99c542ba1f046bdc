// SPDX-License-Identifier: Apache-2.0
//
// Version numbers: of Ashlar, and of the RocksDB release whose API and file formats it has.
// Programs test the ROCKSDB_ macros to find out which declarations exist.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/export.h"

#define ASHLAR_MAJOR 0
#define ASHLAR_MINOR 1
#define ASHLAR_PATCH 0

#define ROCKSDB_MAJOR 11
#define ROCKSDB_MINOR 9
#define ROCKSDB_PATCH 0

#define ROCKSDB_MAKE_VERSION_INT(a, b, c) ((a)*1000000 + (b)*1000 + (c))
#define ROCKSDB_VERSION_INT ROCKSDB_MAKE_VERSION_INT(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)
// True if the API is that of version a.b.c or of a newer one.
#define ROCKSDB_VERSION_GE(a, b, c) (ROCKSDB_VERSION_INT >= ROCKSDB_MAKE_VERSION_INT(a, b, c))

// Names of older releases.
#define __ROCKSDB_MAJOR__ ROCKSDB_MAJOR
#define __ROCKSDB_MINOR__ ROCKSDB_MINOR
#define __ROCKSDB_PATCH__ ROCKSDB_PATCH

namespace ashlar {

// Facts about this build, by name. The result stays valid until the process ends.
ASHLAR_EXPORT const std::unordered_map<std::string, std::string>& GetRocksBuildProperties();

// The version of the API: "11.9.0", or "11.9" without the patch number.
ASHLAR_EXPORT std::string GetRocksVersionAsString(bool with_patch = true);

// The line "program (Ashlar) version". If `verbose` is true, one more line per build property.
ASHLAR_EXPORT std::string GetRocksBuildInfoAsString(const std::string& program,
                                                    bool verbose = false);

}  // namespace ashlar
