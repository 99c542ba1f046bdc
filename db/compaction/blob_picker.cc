// SPDX-License-Identifier: Apache-2.0
//
// A blob file can only be deleted once no table refers to it. If most of a file is garbage, the
// tables that refer to it are rewritten on their own level, which moves the values that are still
// needed into new blob files. For all compaction styles that rewrite tables.
#include <algorithm>
#include <cassert>

#include "db/blob/blob_file.h"
#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"

namespace ashlar {
namespace {

// Returns the oldest blob file if rewriting its tables pays off, else 0. The file is freed together
// with the files after it, up to the next one to which a table is linked (BlobFiles::LinkCount). It
// pays off if enough of the bytes of these files are garbage.
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
    if (i == movable) return 0;  // some of these files are too young to be freed
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
  assert(options.options != nullptr);
  assert(options.claims != nullptr);
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
