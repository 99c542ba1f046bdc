// SPDX-License-Identifier: Apache-2.0
//
// Reshapes a database so that it can be opened with options that do not fit its levels.
#pragma once

#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

struct ColumnFamilyDescriptor;

// Compacts a closed database until compaction_style, num_levels and the like of the new options
// fit. It may rewrite all data. NotSupported so far.
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                                           const Options& new_opts);
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                                           const DBOptions& new_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& new_cf_descs);

}  // namespace ashlar
