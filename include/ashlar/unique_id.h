// SPDX-License-Identifier: Apache-2.0
//
// Ids of table files that are unique with very high probability among all files of all databases,
// and stay the same when a file is copied. They are computed from the properties of the table. Pure
// functions.
#pragma once

#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"

namespace ashlar {

// Sets *out_id to 16 bytes, which suffice for billions of files, or to 24 bytes. NotSupported, with
// an empty id, if the properties lack what is needed: the table is older than RocksDB 6.24, or of
// an SstFileWriter of that time.
ASHLAR_EXPORT Status GetUniqueIdFromTableProperties(const TableProperties& props,
                                                    std::string* out_id);
ASHLAR_EXPORT Status GetExtendedUniqueIdFromTableProperties(const TableProperties& props,
                                                            std::string* out_id);

// The id in hexadecimal digits, with a hyphen after each 16.
ASHLAR_EXPORT std::string UniqueIdToHumanString(const std::string& id);

}  // namespace ashlar
