// SPDX-License-Identifier: Apache-2.0
//
// Changing options of an open database: SetOptions() and SetDBOptions(). Pure functions.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/options.h"
#include "util/result.h"

namespace ashlar {

// The options after the change. InvalidArgument, naming it, for an option that is unknown, has a
// bad value or cannot change; NotSupported as at open. The input is not touched.
Result<DBOptions> ChangeDbOptions(const DBOptions& current,
                                  const std::unordered_map<std::string, std::string>& changes);
// Of settled options, not of sanitized ones: see SettleColumnFamilyOptions().
Result<ColumnFamilyOptions> ChangeColumnFamilyOptions(
    const DBOptions& db_options, const ColumnFamilyOptions& settled,
    const std::unordered_map<std::string, std::string>& changes);

}  // namespace ashlar
