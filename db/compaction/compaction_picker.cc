// SPDX-License-Identifier: Apache-2.0
//
// The parts of picking that all styles share, and the choice of the picker by style.
#include "db/compaction/compaction_picker.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"
#include "util/text/str_cat.h"

namespace ashlar {

uint64_t TargetFileBytes(const ColumnFamilyOptions& options, Level base_level, Level level) {
  uint64_t target = options.target_file_size_base;
  for (; base_level < level; ++base_level) {
    target *= static_cast<uint64_t>(std::max(options.target_file_size_multiplier, 1));
  }
  return target;
}

uint64_t CompactionPlan::InputBytes() const {
  uint64_t bytes = 0;
  for (const LevelFiles& level : inputs) {
    for (const TableFile* file : level.files) bytes += file->meta.file_size;
  }
  return bytes;
}

size_t CompactionPlan::InputFileCount() const {
  size_t count = 0;
  for (const LevelFiles& level : inputs) count += level.files.size();
  return count;
}

// All files are looked at, because those of level 0 overlap and are not sorted by key. The slices
// point into the metadata of the files.
std::pair<Slice, Slice> CompactionPlan::UserKeyRange(const InternalKeyComparator& order) const {
  assert(!inputs.empty());
  assert(!inputs.front().files.empty());
  const FileMetadata& first = inputs.front().files.front()->meta;
  std::pair<Slice, Slice> range(first.smallest_user_key(), first.largest_user_key());
  for (const LevelFiles& level : inputs) {
    for (const TableFile* file : level.files) {
      const Slice smallest = file->meta.smallest_user_key(),
                  largest = file->meta.largest_user_key();
      if (order.OrderWithoutTimestamp(smallest, range.first) < 0) range.first = smallest;
      if (order.OrderWithoutTimestamp(largest, range.second) > 0) range.second = largest;
    }
  }
  return range;
}

bool CompactionPlan::IsAllOnPath(uint32_t path_id) const {
  return std::all_of(inputs.begin(), inputs.end(), [path_id](const LevelFiles& level) {
    return std::all_of(level.files.begin(), level.files.end(),
                       [path_id](const TableFile* file) { return file->meta.path_id == path_id; });
  });
}

void CompactionPlan::SetOutputPath(uint32_t path_id) {
  assert(!is_deletion);
  output_path_id = path_id;
  is_trivial_move = is_trivial_move && IsAllOnPath(path_id);
}

std::string CompactionPlan::DebugString() const {
  std::string text = is_trivial_move ? "move" : is_deletion ? "drop" : "merge";
  for (const LevelFiles& level : inputs) {
    StrAppend(&text, " L", level.level, "[");
    for (size_t i = 0; i < level.files.size(); i++) {
      StrAppend(&text, i == 0 ? "" : " ", level.files[i]->meta.number);
    }
    text += "]";
  }
  if (is_deletion) return text;
  if (output_path_id != 0) StrAppend(&text, " path ", output_path_id);
  StrAppend(&text, " -> L", output_level, is_bottommost ? " bottommost" : "",
            compression == kNoCompression ? " uncompressed" : "",
            young_range.has_value() ? " young above" : "");
  return text;
}

bool IsLowest(const CompactionPlan& plan, const Version& version) {
  if (plan.is_bottommost || !plan.is_open_below) return plan.is_bottommost;
  if (!plan.older_in_level0.empty()) return false;
  const auto [smallest, largest] = plan.UserKeyRange(version.comparator());
  const Level reserved{version.num_levels() - 1};
  for (Level level = plan.output_level.Next(); level < reserved; ++level) {
    if (!version.Overlapping(level, &smallest, &largest).files.empty()) return false;
  }
  return true;
}

// Picks the most urgent compaction. The shape of the tree is more urgent than garbage in blob
// files.
std::optional<CompactionPlan> PickCompaction(const Version& version, const PickOptions& options,
                                             const std::vector<const CompactionPlan*>& running) {
  assert(options.options != nullptr);
  assert(options.claims != nullptr);
  std::optional<CompactionPlan> plan;
  switch (options.options->compaction_style) {
    case kCompactionStyleLevel: plan = PickLevelled(version, options, running); break;
    case kCompactionStyleUniversal: plan = PickUniversal(version, options, running); break;
    case kCompactionStyleFIFO: return PickFifo(version, options, running);
    case kCompactionStyleNone: return std::nullopt;
  }
  return plan.has_value() ? std::move(plan) : PickForBlobs(version, options, running);
}

int RunsThatSlowWrites(const Version& version, const ColumnFamilyOptions& options) {
  auto runs = static_cast<int>(version.files(0).size());
  if (options.compaction_style != kCompactionStyleUniversal) return runs;
  for (Level level = 1; level < LevelsInUse(version, options); ++level) {
    runs += version.files(level).empty() ? 0 : 1;
  }
  return runs;
}

// Rewrites one table on its level. Only tables that share a user key with it are added, so the
// output can stay on the level.
std::optional<CompactionPlan> PickRewrite(const Version& version, const PickOptions& options,
                                          const LevelFiles& table,
                                          const std::vector<const CompactionPlan*>& running) {
  assert(table.level > 0);
  assert(table.files.size() == 1);
  PlanMaker plans(version, *options.options, *options.claims, running);
  auto plan = plans.PlanFor(table, table.level, /*allow_trivial_move=*/false);
  if (plan.has_value()) plan->reason = CompactionReason::kBottommostFiles;
  return plan;
}

// Merges a table into the next level. FIFO never moves data between levels, so it has no such plan.
std::optional<CompactionPlan> PickDown(const Version& version, const PickOptions& options,
                                       const LevelFiles& table,
                                       const std::vector<const CompactionPlan*>& running) {
  assert(table.files.size() == 1);
  assert(table.level < version.deepest_level());
  bool has_conflict = false;
  switch (options.options->compaction_style) {
    case kCompactionStyleLevel: break;
    case kCompactionStyleUniversal:
      return PickAllRuns(version, options, /*rewrites_last=*/false, running, &has_conflict);
    default: return std::nullopt;
  }
  PlanMaker plans(version, *options.options, *options.claims, running);
  const bool is_level0 = table.level == 0;
  return plans.PlanFor(is_level0 ? plans.Level0Component(table.files.front()) : table,
                       is_level0 ? plans.needs().base_level : table.level.Next(),
                       /*allow_trivial_move=*/false);
}

namespace {

// Whether merging these tables, the only ones of their range, may join tables, remove entries or
// change the form of the data. If not, a call that compacts a range moves them, as RocksDB does.
bool GainsByRewriting(const std::vector<TableFile*>& files, const ColumnFamilyOptions& options) {
  if (files.size() > 1 || options.enable_blob_files || options.sst_partitioner_factory != nullptr ||
      options.optimize_filters_for_hits || options.comparator->timestamp_size() > 0) {
    return true;
  }
  return std::any_of(files.begin(), files.end(), [&](const TableFile* file) {
    return !file->meta.has_only_single_values || file->meta.oldest_blob_file_number != 0 ||
           file->meta.file_size > options.target_file_size_base;
  });
}

}  // namespace

std::optional<CompactionPlan> PickRangeCompaction(const Version& version,
                                                  const RangePickOptions& options,
                                                  const std::vector<const CompactionPlan*>& running,
                                                  bool* has_conflict) {
  assert(has_conflict != nullptr);
  assert(options.input_level >= 0);
  assert(options.input_level <= options.output_level);
  *has_conflict = false;
  LevelFiles start = version.Overlapping(options.input_level, options.begin, options.end,
                                         /*expand_level0=*/true);
  if (start.files.empty()) return std::nullopt;
  // A deep level is compacted in pieces, so that a single job does not grow too large. The files of
  // level 0 overlap, so this level is compacted as a whole.
  std::optional<std::string> next_begin;
  if (options.input_level > 0) {
    uint64_t bytes = 0;
    size_t count = 0;
    while (count < start.files.size() &&
           (count == 0 || bytes < options.options->max_compaction_bytes)) {
      bytes += start.files[count++]->meta.file_size;
    }
    if (count < start.files.size()) {
      next_begin = start.files[count]->meta.smallest_user_key().ToString();
      start.files.resize(count);
    }
  }
  PlanMaker plans(version, *options.options, *options.claims, running);
  const bool may_move =
      options.allow_trivial_move || !GainsByRewriting(start.files, *options.options);
  auto plan = plans.PlanFor(std::move(start), options.output_level, may_move);
  if (!plan.has_value()) {
    *has_conflict = true;
    return std::nullopt;
  }
  plan->next_begin = std::move(next_begin);
  return plan;
}

}  // namespace ashlar
