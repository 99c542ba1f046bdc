// SPDX-License-Identifier: Apache-2.0
//
// Names of the special column families. They are not in db/ because every room of db/ uses them.
#include "ashlar/db.h"

namespace ashlar {

const std::string kDefaultColumnFamilyName("default");
const std::string kPersistentStatsColumnFamilyName("___rocksdb_stats_history___");

}  // namespace ashlar
