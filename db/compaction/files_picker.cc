// SPDX-License-Identifier: Apache-2.0
//
// Makes the plan of CompactFiles(): finds the tables that the call names, and checks that they can
// be compacted into the level that it asks for.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/plan_maker.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Returns the named tables by level, each level in its own order.
Result<std::vector<LevelFiles>> FindNamed(const Version& version, const FilesToCompact& wanted) {
  std::vector<FileNumber> left = wanted.numbers;
  std::vector<LevelFiles> found;
  for (Level level = 0; level < version.num_levels(); ++level) {
    LevelFiles named{level, {}};
    for (TableFile* file : version.files(level)) {
      if (std::erase(left, file->meta.number) > 0) named.files.push_back(file);
    }
    if (named.files.empty()) continue;
    if (level > wanted.output_level) {
      return Status::InvalidArgument(StrCat("CompactFiles: table ",
                                            named.files.front()->meta.number, " is on level ",
                                            level, ", which is below level ", wanted.output_level));
    }
    found.push_back(std::move(named));
  }
  if (left.empty()) return found;
  return Status::InvalidArgument(
      StrCat("CompactFiles: the column family has no table ", left.front()));
}

}  // namespace

Result<CompactionPlan> PickFiles(const Version& version, const PickOptions& options,
                                 const FilesToCompact& wanted,
                                 const std::vector<const CompactionPlan*>& running) {
  if (wanted.numbers.empty()) return Status::InvalidArgument("CompactFiles: no tables are named");
  const bool is_flat = options.options->compaction_style == kCompactionStyleFIFO;
  const int levels = is_flat ? 1 : LevelsInUse(version, *options.options);
  if (wanted.output_level < 0 || wanted.output_level >= levels) {
    return Status::InvalidArgument(StrCat("CompactFiles: there is no level ", wanted.output_level));
  }
  std::vector<LevelFiles> named;
  ASSIGN_OR_RETURN(named, FindNamed(version, wanted));
  PlanMaker plans(version, *options.options, *options.claims, running);
  auto plan = plans.PlanForFiles(std::move(named), wanted.output_level);
  if (!plan.has_value()) {
    return Status::Aborted("CompactFiles: a running compaction has something of these tables");
  }
  const auto may_merge = [&](const TableFile* file) { return options.MayMergeOnLevel0(*file); };
  const std::vector<TableFile*>& first = plan->inputs.front().files;
  if (plan->output_level == 0 && !std::all_of(first.begin(), first.end(), may_merge)) {
    return Status::InvalidArgument(
        "CompactFiles: tables that were ingested beside older writes, which RocksDB 7.8 "
        "(write_compatible_with) does not read merged on level 0; Flush() first");
  }
  plan->reason = CompactionReason::kManualCompaction;
  plan->is_manual = true;
  plan->compression = wanted.compression;
  plan->temperature = wanted.temperature;
  if (wanted.output_level > 0) plan->target_file_bytes = wanted.target_file_bytes;
  if (wanted.output_path_id.has_value()) plan->output_path_id = *wanted.output_path_id;
  plan->is_trivial_move = wanted.allow_trivial_move && plans.CanMove(*plan);
  return std::move(*plan);
}

}  // namespace ashlar
