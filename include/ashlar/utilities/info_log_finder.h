// SPDX-License-Identifier: Apache-2.0
//
// Finds the info logs of an open database.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Sets *info_log_list to the names of the present and the older info logs, sorted, without their
// directory, which is DBOptions::db_log_dir or that of the database. InvalidArgument without a
// database; else an error of listing the directory. Threads: any.
ASHLAR_EXPORT Status GetInfoLogList(DB* db, std::vector<std::string>* info_log_list);

}  // namespace ashlar
