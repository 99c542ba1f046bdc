// SPDX-License-Identifier: Apache-2.0
//
// Changing options of an open database: SetOptions() and SetDBOptions(). Pure functions.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/options.h"
#include "util/result.h"

namespace ashlar {

// Returns the options after the change, sanitized; `current` is not modified. NotFound names an
// option that is unknown or cannot be changed; InvalidArgument names a bad value; NotSupported as
// at open.
Result<DBOptions> ChangeDbOptions(const DBOptions& current,
                                  const std::unordered_map<std::string, std::string>& changes);
// The same for a family. Expects and returns settled options, not sanitized ones: see
// SettleColumnFamilyOptions(). InvalidArgument names an option that is unknown or cannot be
// changed.
Result<ColumnFamilyOptions> ChangeColumnFamilyOptions(
    const DBOptions& db_options, const ColumnFamilyOptions& settled,
    const std::unordered_map<std::string, std::string>& changes);

}  // namespace ashlar
