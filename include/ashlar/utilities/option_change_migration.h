// SPDX-License-Identifier: Apache-2.0
//
// Prepares a database for options that do not fit its present levels.
#pragma once

#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

struct ColumnFamilyDescriptor;

// NotSupported so far. Compacts a closed database until it fits options such as compaction_style
// and num_levels of the new options. It may rewrite all data.
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                                           const Options& new_opts);
ASHLAR_EXPORT Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                                           const DBOptions& new_db_opts,
                                           const std::vector<ColumnFamilyDescriptor>& new_cf_descs);

}  // namespace ashlar
