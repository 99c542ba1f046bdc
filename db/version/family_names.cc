// SPDX-License-Identifier: Apache-2.0
//
// Names of the special column families. On this floor because the MANIFEST knows the first of them
// without a record.
#include "ashlar/db.h"

namespace ashlar {

const std::string kDefaultColumnFamilyName("default");
const std::string kPersistentStatsColumnFamilyName("___rocksdb_stats_history___");

}  // namespace ashlar
