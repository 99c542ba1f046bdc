// SPDX-License-Identifier: Apache-2.0
//
// Makes plans: completes sets of files so that no user key is split, and finds conflicts with
// running compactions.
#include "db/compaction/plan_maker.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <utility>

#include "db/compaction/output_paths.h"
#include "db/compaction/young_data.h"
#include "db/output/table_output.h"
#include "util/rare_sort.h"

namespace ashlar {

PlanMaker::PlanMaker(const Version& version, const ColumnFamilyOptions& options,
                     const CompactionClaims& claims,
                     const std::vector<const CompactionPlan*>& running)
    : version_(version),
      options_(options),
      running_(running),
      needs_(AssessCompaction(version, options, claims)),
      young_level_(YoungLevel(version, options)),
      first_young_(claims.first_young()) {}

// Whether all keys of the range `a` are before those of a range that begins with `smallest`.
bool PlanMaker::EndsBefore(const KeyRange& a, const Slice& smallest) const {
  const int order = version_.comparator().OrderWithoutTimestamp(a.largest, smallest);
  return order < 0 || (order == 0 && a.largest_is_exclusive);
}

bool PlanMaker::EndsBefore(const TableFile* a, const TableFile* b) const {
  assert(a != nullptr);
  assert(b != nullptr);
  const KeyRange range{a->meta.smallest_user_key(), a->meta.largest_user_key(),
                       a->meta.largest_is_exclusive()};
  return EndsBefore(range, b->meta.smallest_user_key());
}

uint64_t PlanMaker::BytesOf(const std::vector<TableFile*>& files) {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const TableFile* f) { return sum + f->meta.file_size; });
}

// The files of a running compaction belong to it until it has ended.
bool PlanMaker::IsTaken(const std::vector<TableFile*>& files) const {
  return std::any_of(files.begin(), files.end(), [](const TableFile* file) REQUIRES(db_mutex) {
    return file->being_compacted;
  });
}

// Returns the files of a level that overlap the range.
LevelFiles PlanMaker::OverlappingRange(Level level, const KeyRange& range) const {
  assert(version_.comparator().OrderWithoutTimestamp(range.smallest, range.largest) <= 0);
  LevelFiles files = version_.Overlapping(level, &range.smallest, &range.largest);
  if (!range.largest_is_exclusive) return files;
  // The range ends before its largest key, so a file that begins with this key is outside.
  std::erase_if(files.files, [&](const TableFile* file) {
    return version_.comparator().SameKey(file->meta.smallest_user_key(), range.largest);
  });
  return files;
}

// Returns the smallest range that contains all input files.
PlanMaker::KeyRange PlanMaker::RangeOf(const std::vector<LevelFiles>& inputs) const {
  assert(!inputs.empty());
  assert(!inputs.front().files.empty());
  const InternalKeyComparator& cmp = version_.comparator();
  KeyRange range;
  bool is_first = true;
  for (const LevelFiles& level : inputs) {
    for (const TableFile* file : level.files) {
      const Slice smallest = file->meta.smallest_user_key();
      const Slice largest = file->meta.largest_user_key();
      if (is_first || cmp.OrderWithoutTimestamp(smallest, range.smallest) < 0)
        range.smallest = smallest;
      const bool is_exclusive = file->meta.largest_is_exclusive();
      const int order = is_first ? 1 : cmp.OrderWithoutTimestamp(largest, range.largest);
      if (order > 0) {
        range.largest = largest;
        range.largest_is_exclusive = is_exclusive;
      } else if (order == 0 && !is_exclusive) {
        range.largest_is_exclusive = false;
      }
      is_first = false;
    }
  }
  return range;
}

// Whether a running job writes into the range on this level. Two jobs must not write overlapping
// ranges into one level, since neither would see the outputs of the other.
bool PlanMaker::OverlapsRunning(const KeyRange& range, Level output_level) const {
  return std::any_of(running_.begin(), running_.end(), [&](const CompactionPlan* plan) {
    if (!plan->WritesTo(output_level)) return false;
    const KeyRange other =
        plan->output_level == output_level ? RangeOf(plan->inputs) : *plan->young_range;
    return !EndsBefore(other, range.smallest) && !EndsBefore(range, other.smallest);
  });
}

// The range of the inputs above the last level: outside of it, only the last level has entries,
// which stay there. Inside, the plan must hold all that the level above has, since the outputs go
// between those tables.
bool PlanMaker::AddYoungRange(CompactionPlan* plan) const {
  assert(!plan->young_range.has_value());
  if (!young_level_.has_value() || plan->output_level != young_level_->Next()) return true;
  std::vector<LevelFiles> upper;
  std::vector<TableFile*> held;
  for (const LevelFiles& level : plan->inputs) {
    if (level.level < plan->output_level) upper.push_back(level);
    if (level.level == *young_level_) held = level.files;
  }
  if (upper.empty()) return true;
  const KeyRange range = RangeOf(upper);
  const std::vector<TableFile*> needed = OverlappingRange(*young_level_, range).files;
  const bool has_all = std::all_of(needed.begin(), needed.end(), [&held](const TableFile* file) {
    return std::find(held.begin(), held.end(), file) != held.end();
  });
  if (!has_all) return true;  // the order of the levels comes first
  if (OverlapsRunning(range, *young_level_)) return false;
  plan->young_range = range;
  return true;
}

bool PlanMaker::IsHeldBack(const TableFile& file, Level output_level) const {
  return young_level_.has_value() && output_level == young_level_->Next() &&
         !IsWorthMoving(file.meta, first_young_);
}

// Adds neighbours that share a user key with the first or the last file. All versions of a key must
// move together: a newer version must never be below an older one.
void PlanMaker::MakeClean(LevelFiles* files) const {
  assert(files != nullptr);
  if (files->level == 0 || files->files.empty()) return;
  const std::vector<TableFile*>& all = version_.files(files->level);
  auto first = std::find(all.begin(), all.end(), files->files.front());
  auto last = std::find(all.begin(), all.end(), files->files.back());
  assert(first != all.end());
  assert(last != all.end());
  assert(first <= last);
  const auto share_key = [this](const TableFile* a, const TableFile* b) {
    return !EndsBefore(a, b);
  };
  while (first != all.begin() && share_key(*(first - 1), *first)) --first;
  while (last + 1 != all.end() && share_key(*last, *(last + 1))) ++last;
  files->files.assign(first, last + 1);
}

LevelFiles PlanMaker::Level0Component(const TableFile* seed) const {
  assert(seed != nullptr);
  const Slice smallest = seed->meta.smallest_user_key();
  const Slice largest = seed->meta.largest_user_key();
  return version_.Overlapping(0, &smallest, &largest, /*expand_level0=*/true);
}

// Whether no two of the files share a user key.
bool PlanMaker::AreDisjoint(std::vector<TableFile*> files) const {
  const InternalKeyComparator& cmp = version_.comparator();
  SortRarely(&files, [&cmp](const TableFile* a, const TableFile* b) {
    return cmp.Compare(a->meta.smallest, b->meta.smallest) < 0;
  });
  for (size_t i = 0; i + 1 < files.size(); i++) {
    if (!EndsBefore(files[i], files[i + 1])) return false;
  }
  return true;
}

uint64_t PlanMaker::OverlapBytes(const TableFile& file, Level level) const {
  const KeyRange range{file.meta.smallest_user_key(), file.meta.largest_user_key(),
                       file.meta.largest_is_exclusive()};
  return BytesOf(OverlappingRange(level, range).files);
}

// Whether the inputs are in the storage tier that the plan wants. Only a plan with a tier of its
// own and the last level are particular about it.
bool PlanMaker::HasTemperature(const CompactionPlan& plan) const {
  Temperature wanted = plan.temperature;
  if (wanted == Temperature::kUnknown && plan.output_level + 1 == options_.num_levels) {
    wanted = options_.last_level_temperature;
  }
  if (wanted == Temperature::kUnknown) return true;
  return std::all_of(plan.inputs.begin(), plan.inputs.end(), [wanted](const LevelFiles& level) {
    return std::all_of(level.files.begin(), level.files.end(), [wanted](const TableFile* file) {
      return file->meta.temperature == static_cast<uint8_t>(wanted);
    });
  });
}

// Whether the inputs can be moved instead of rewritten. They must overlap nothing on the output
// level, keep their compression there, and not overlap too much of the level after it.
bool PlanMaker::CanMove(const CompactionPlan& plan) const {
  assert(plan.start_level <= plan.output_level);
  if (plan.inputs.back().level == plan.output_level) return false;
  if (plan.compression != kDisableCompressionOption) return false;
  if (!plan.IsAllOnPath(plan.output_path_id)) return false;
  if (!HasTemperature(plan)) return false;
  std::vector<TableFile*> files;
  for (const LevelFiles& level : plan.inputs) {
    files.insert(files.end(), level.files.begin(), level.files.end());
    const bool is_old = std::all_of(
        level.files.begin(), level.files.end(),
        [this](const TableFile* file) { return file->meta.largest_seqno < first_young_; });
    if (plan.young_range.has_value() && !is_old) return false;
    const CompressionType here =
        CompressionFor(options_, level.level, needs_.base_level, /*is_bottommost=*/false);
    const CompressionType there =
        CompressionFor(options_, plan.output_level, needs_.base_level, plan.is_bottommost);
    if (here != there) return false;
  }
  if ((plan.start_level == 0 || plan.inputs.size() > 1) && !AreDisjoint(files)) return false;
  // A mark requests a rewrite, because of many tombstones or on behalf of a collector of the
  // program. Where no data lies below, this is the last chance, since no later compaction would
  // rewrite the table.
  const auto is_marked = [](const TableFile* f) { return f->meta.marked_for_compaction; };
  if (std::any_of(files.begin(), files.end(), is_marked) && IsLowest(plan, version_)) return false;
  if (plan.max_grandparent_bytes == UINT64_MAX) return true;
  if (plan.output_level + 1 >= version_.num_levels()) return true;
  return std::all_of(files.begin(), files.end(), [&](const TableFile* file) {
    return OverlapBytes(*file, plan.output_level.Next()) <= plan.max_grandparent_bytes;
  });
}

// Adds more files of the start level, if this adds no file of the output level: they are merged at
// little extra cost.
void PlanMaker::GrowStartLevel(CompactionPlan* plan) const {
  assert(plan != nullptr);
  assert(plan->inputs.size() <= 2);
  if (plan->start_level == 0 || plan->inputs.size() < 2) return;
  const KeyRange range = RangeOf(plan->inputs);
  LevelFiles grown = OverlappingRange(plan->start_level, range);
  MakeClean(&grown);
  assert(grown.files.size() >= plan->inputs[0].files.size());  // it contains these files
  if (grown.files.size() <= plan->inputs[0].files.size() || IsTaken(grown.files)) return;
  const auto stays = [&](const TableFile* file) { return IsHeldBack(*file, plan->output_level); };
  if (std::any_of(grown.files.begin(), grown.files.end(), stays)) return;
  const uint64_t bytes = BytesOf(grown.files) + BytesOf(plan->inputs[1].files);
  if (bytes > options_.max_compaction_bytes) return;
  const KeyRange grown_range = RangeOf({grown});
  LevelFiles outputs = OverlappingRange(plan->output_level, grown_range);
  MakeClean(&outputs);
  if (outputs.files == plan->inputs[1].files) plan->inputs[0] = std::move(grown);
}

// Sets all fields of the plan that follow from its inputs and its output level.
void PlanMaker::Finish(CompactionPlan* plan) const {
  assert(plan != nullptr);
  assert(!plan->inputs.empty());
  assert(plan->inputs[0].level == plan->start_level);
  assert(plan->output_level < version_.num_levels());
  const KeyRange range = RangeOf(plan->inputs);
  plan->target_file_bytes = TargetFileBytes(options_, needs_.base_level, plan->output_level);
  plan->base_level = needs_.base_level;
  plan->output_path_id = options_.compaction_style == kCompactionStyleLevel
                             ? PathOfLevel(options_, needs_, plan->output_level)
                             : PathOfRun(options_, plan->InputBytes());
  plan->max_grandparent_bytes = options_.max_compaction_bytes;
  if (plan->output_level + 1 < version_.num_levels()) {
    plan->grandparents = OverlappingRange(plan->output_level.Next(), range).files;
  }
  // The outputs are bottommost if no deeper level has files in their range.
  plan->is_bottommost = true;
  for (Level level = plan->output_level.Next(); level < version_.num_levels(); ++level) {
    if (!OverlappingRange(level, range).files.empty()) plan->is_bottommost = false;
  }
  plan->is_open_below = options_.cf_allow_ingest_behind;
  if (plan->output_level == 0) FinishOnLevel0(plan);
}

// Level 0 is ordered by age, and all outputs of a job have the same age, so the output is one
// table.
void PlanMaker::FinishOnLevel0(CompactionPlan* plan) const {
  assert(plan != nullptr);
  assert(plan->inputs.size() == 1);
  plan->target_file_bytes = plan->max_grandparent_bytes = UINT64_MAX;
  plan->grandparents.clear();
  const std::vector<TableFile*>& level0 = version_.files(0);
  const auto oldest = std::find(level0.begin(), level0.end(), plan->inputs[0].files.back());
  assert(oldest != level0.end());
  plan->older_in_level0.assign(oldest + 1, level0.end());
  if (!plan->older_in_level0.empty()) plan->is_bottommost = false;
}

std::optional<CompactionPlan> PlanMaker::PlanFor(LevelFiles start, Level output_level,
                                                 bool allow_trivial_move) {
  // The output level is deeper, or the same; never higher, because newer data is there.
  assert(output_level >= start.level);
  assert(output_level < version_.num_levels());
  if (start.files.empty()) return std::nullopt;
  MakeClean(&start);
  if (IsTaken(start.files)) return std::nullopt;
  CompactionPlan plan;
  plan.start_level = start.level;
  plan.output_level = output_level;
  plan.inputs.push_back(std::move(start));
  if (output_level != plan.start_level) {
    const KeyRange range = RangeOf(plan.inputs);
    LevelFiles outputs = OverlappingRange(output_level, range);
    MakeClean(&outputs);
    if (IsTaken(outputs.files)) return std::nullopt;
    if (!outputs.files.empty()) {
      plan.inputs.push_back(std::move(outputs));
      GrowStartLevel(&plan);
    }
  }
  assert(!IsTaken(plan.inputs.front().files));
  assert(!IsTaken(plan.inputs.back().files));
  if (OverlapsRunning(RangeOf(plan.inputs), output_level)) return std::nullopt;
  Finish(&plan);
  if (!AddYoungRange(&plan)) return std::nullopt;
  plan.is_trivial_move = allow_trivial_move && CanMove(plan);
  return plan;
}

std::optional<CompactionPlan> PlanMaker::PlanForRuns(std::vector<LevelFiles> inputs,
                                                     Level output_level, bool allow_trivial_move) {
  assert(!inputs.empty());
  assert(output_level >= inputs.back().level);
  CompactionPlan plan;
  plan.start_level = inputs.front().level;
  plan.output_level = output_level;
  plan.inputs = std::move(inputs);
  for (const LevelFiles& level : plan.inputs) {
    assert(!level.files.empty());
    if (IsTaken(level.files)) return std::nullopt;
  }
  if (output_level > 0 && OverlapsRunning(RangeOf(plan.inputs), output_level)) return std::nullopt;
  Finish(&plan);
  // Runs are merged as a whole, so the outputs need no cuts for the sake of the next level.
  plan.grandparents.clear();
  plan.max_grandparent_bytes = UINT64_MAX;
  if (!AddYoungRange(&plan)) return std::nullopt;
  plan.is_trivial_move = allow_trivial_move && CanMove(plan);
  return plan;
}

// Adds files of level 0 to the chosen ones. If the output stays on level 0, these are all files
// between the chosen ones in age, because the output takes one place in the order. Otherwise they
// are the older files that overlap the chosen ones, directly or through others.
void PlanMaker::CompleteLevel0(LevelFiles* files, bool stays) const {
  assert(files != nullptr);
  assert(files->level == 0);
  assert(!files->files.empty());
  const std::vector<TableFile*>& all = version_.files(0);
  const auto newest = std::find(all.begin(), all.end(), files->files.front());
  if (stays) {
    files->files.assign(newest, std::find(newest, all.end(), files->files.back()) + 1);
    return;
  }
  // Repeats until no further file is added.
  for (size_t known = 0; known != files->files.size();) {
    known = files->files.size();
    const std::vector<TableFile*> chosen = std::move(files->files);
    const std::vector<TableFile*> held =
        OverlappingRange(0, RangeOf({LevelFiles{0, chosen}})).files;
    files->files.clear();
    std::copy_if(newest, all.end(), std::back_inserter(files->files), [&](TableFile* file) {
      return std::find(chosen.begin(), chosen.end(), file) != chosen.end() ||
             std::find(held.begin(), held.end(), file) != held.end();
    });
  }
}

// The plan of CompactFiles(). On each level the inputs are all files from the first to the last one
// that was chosen or that overlaps the inputs above. The files in between are needed because an
// output may span them.
std::optional<CompactionPlan> PlanMaker::PlanForFiles(std::vector<LevelFiles> chosen,
                                                      Level output_level) {
  assert(!chosen.empty());
  assert(chosen.back().level <= output_level);
  CompactionPlan plan;
  plan.start_level = chosen.front().level;
  plan.output_level = output_level;
  auto next = chosen.begin();
  for (Level level = plan.start_level; level <= output_level; ++level) {
    LevelFiles files{level, {}};
    if (next != chosen.end() && next->level == level) files = std::move(*next++);
    if (level == 0) {
      CompleteLevel0(&files, /*stays=*/output_level == 0);
    } else {
      std::vector<LevelFiles> so_far = plan.inputs;
      if (!files.files.empty()) so_far.push_back(files);
      files = OverlappingRange(level, RangeOf(so_far));
      MakeClean(&files);
    }
    if (files.files.empty()) continue;
    if (IsTaken(files.files)) return std::nullopt;
    plan.inputs.push_back(std::move(files));
  }
  if (output_level > 0 && OverlapsRunning(RangeOf(plan.inputs), output_level)) return std::nullopt;
  Finish(&plan);
  if (!AddYoungRange(&plan)) return std::nullopt;
  return plan;
}

}  // namespace ashlar
