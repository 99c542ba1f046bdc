// SPDX-License-Identifier: Apache-2.0
//
// The pickers of the styles; compaction_picker.h has the one that asks the options which it is.
#pragma once

#include <optional>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace ashlar {

std::optional<CompactionPlan> PickLevelled(const Version& version, const PickOptions& options,
                                           const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);
std::optional<CompactionPlan> PickUniversal(const Version& version, const PickOptions& options,
                                            const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);
std::optional<CompactionPlan> PickFifo(const Version& version, const PickOptions& options,
                                       const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// Of no style: moves what is left in the oldest blob files, if too much of them is garbage.
std::optional<CompactionPlan> PickForBlobs(const Version& version, const PickOptions& options,
                                           const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

}  // namespace ashlar
