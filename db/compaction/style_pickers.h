// SPDX-License-Identifier: Apache-2.0
//
// The pickers of the compaction styles. PickCompaction() in compaction_picker.h calls the one for
// the style in the options.
#pragma once

#include <cstdint>
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

// What the FIFO style keeps: at most `bytes` of tables and, if `blobs` is not null, of these blob
// files.
struct FifoLimit {
  uint64_t bytes = 0;
  const BlobFiles* blobs = nullptr;
};
FifoLimit FifoLimitOf(const Version& version, const ColumnFamilyOptions& options);

// For all styles that rewrite tables: a compaction that moves the remaining values of the oldest
// blob files, if enough of these files is garbage.
std::optional<CompactionPlan> PickForBlobs(const Version& version, const PickOptions& options,
                                           const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

}  // namespace ashlar
