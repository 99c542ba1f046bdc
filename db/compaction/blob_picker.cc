// SPDX-License-Identifier: Apache-2.0
//
// Blob files that are mostly garbage go once nothing refers to what is left of them: tables that do
// are rewritten where they are, and the values they refer to move. For all styles that rewrite.
#include <algorithm>
#include <cassert>

#include "db/blob/blob_file.h"
#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"

namespace ashlar {
namespace {

// Enough of that file and of those behind it, up to the next one to which a table is linked, is
// garbage: moving what is left frees them all. 0: there is none.
FileNumber OldestWastefulFile(const BlobFiles& blobs, const ColumnFamilyOptions& options) {
  const double threshold = options.blob_garbage_collection_force_threshold;
  const auto movable =
      static_cast<size_t>(std::clamp(options.blob_garbage_collection_age_cutoff, 0.0, 1.0) *
                          static_cast<double>(blobs.all().size()));
  if (!options.enable_blob_garbage_collection || threshold >= 1 || movable == 0) return 0;
  uint64_t bytes = 0, garbage = 0;
  for (size_t i = 0; i < blobs.all().size(); i++) {
    const BlobFiles::Live& live = blobs.all()[i];
    if (i > 0 && blobs.LinkCount(live.file->meta.number) > 0) break;
    if (i == movable) return 0;  // a part of them would stay
    bytes += live.file->meta.blob_bytes;
    garbage += live.garbage_bytes;
  }
  const bool is_enough =
      garbage > 0 && static_cast<double>(garbage) >= threshold * static_cast<double>(bytes);
  return is_enough ? blobs.all().front().file->meta.number : FileNumber{};
}

}  // namespace

std::optional<CompactionPlan> PickForBlobs(const Version& version, const PickOptions& options,
                                           const std::vector<const CompactionPlan*>& running) {
  if (version.blobs() == nullptr) return std::nullopt;
  const FileNumber oldest = OldestWastefulFile(*version.blobs(), *options.options);
  if (oldest == 0) return std::nullopt;
  PlanMaker plans(version, *options.options, *options.claims, running);
  for (Level level = 0; level < version.num_levels(); ++level) {
    for (TableFile* file : version.files(level)) {
      if (file->meta.oldest_blob_file_number != oldest || file->being_compacted) continue;
      auto plan = level == 0 ? plans.PlanForRuns({{level, {file}}}, level, false)
                             : plans.PlanFor({level, {file}}, level, false);
      if (!plan.has_value()) continue;
      plan->reason = CompactionReason::kForcedBlobGC;
      return plan;
    }
  }
  return std::nullopt;
}

}  // namespace ashlar
