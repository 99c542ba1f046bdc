// SPDX-License-Identifier: Apache-2.0
//
// RepairDB() with its report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"

namespace ashlar {

// The same as RepairDB(). `report` gets a line for each file that was not kept unchanged. The info
// log has the same lines, unless the repair ended before it had written a MANIFEST.
Status RepairWithReport(const std::string& dir, const DBOptions& db_options,
                        const std::vector<ColumnFamilyDescriptor>& families,
                        const std::optional<ColumnFamilyOptions>& unknown_options,
                        std::vector<std::string>* report);

}  // namespace ashlar
