// SPDX-License-Identifier: Apache-2.0
//
// The levelled style: the level that exceeds its target most compacts a table into the next level.
#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"
#include "util/rare_sort.h"

namespace ashlar {
namespace {

// The default price of a rewritten byte, in wasted reads. Rewriting a byte takes about ten
// nanoseconds, and a search in memory several hundred. So a compaction takes at most about as much
// time as the reads have wasted before.
constexpr double kDefaultWastedReadsPerByte = 1.0 / 64;

class LevelPicker {
 public:
  LevelPicker(const Version& version, const PickOptions& options,
              const std::vector<const CompactionPlan*>& running) REQUIRES(db_mutex)
      : version_(version),
        pick_(options),
        options_(*options.options),
        plans_(version, options_, *options.claims, running) {}

  const std::vector<double>& scores() const { return plans_.needs().scores; }
  std::optional<CompactionPlan> PickForReads() REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickLevel(Level level) REQUIRES(db_mutex);

 private:
  std::optional<CompactionPlan> PickLevel0() REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickWithinLevel0() REQUIRES(db_mutex);
  // Returns `size` as the reason, unless only marked tables make the level due.
  CompactionReason ReasonFor(Level level, CompactionReason size) const {
    const bool is_marked = plans_.needs().is_due_by_mark[level];
    return is_marked ? CompactionReason::kFilesMarkedForCompaction : size;
  }
  std::string CursorBehind(const LevelFiles& files) const;
  std::vector<TableFile*> ByPriority(Level level) const REQUIRES(db_mutex);
  void PutForward(Level level, std::vector<TableFile*>* files) const REQUIRES(db_mutex);

  const Version& version_;
  const PickOptions& pick_;
  const ColumnFamilyOptions& options_;
  PlanMaker plans_;
};

// If no files of level 0 overlap each other or the base level, all are moved at once. Otherwise a
// file is compacted together with all files that it overlaps, directly or through others; the
// oldest such group comes first. Two groups have no key in common, so several can be merged at the
// same time.
std::optional<CompactionPlan> LevelPicker::PickLevel0() {
  const std::vector<TableFile*>& files = version_.files(0);
  if (files.empty()) return std::nullopt;
  std::optional<CompactionPlan> plan;
  if (!plans_.IsTaken(files) && plans_.AreDisjoint(files)) {
    plan = plans_.PlanFor({0, files}, plans_.needs().base_level, /*allow_trivial_move=*/true);
    if (plan.has_value() && !plan->is_trivial_move) plan.reset();
  }
  std::vector<TableFile*> looked_at;
  for (auto file = files.rbegin(); file != files.rend() && !plan.has_value(); ++file) {
    if (std::find(looked_at.begin(), looked_at.end(), *file) != looked_at.end()) continue;
    LevelFiles component = plans_.Level0Component(*file);
    looked_at.insert(looked_at.end(), component.files.begin(), component.files.end());
    plan = plans_.PlanFor(std::move(component), plans_.needs().base_level,
                          /*allow_trivial_move=*/true);
  }
  if (!plan.has_value()) plan = PickWithinLevel0();
  if (plan.has_value()) plan->reason = ReasonFor(0, CompactionReason::kLevelL0FilesNum);
  return plan;
}

// If level 0 cannot be compacted into the base level now, its newest files that may be merged there
// become one file. Then reads and the triggers that slow writes need not wait for the base level. A
// further file is included only if it reduces the bytes written per file saved, so a large file is
// not rewritten again and again.
std::optional<CompactionPlan> LevelPicker::PickWithinLevel0() {
  constexpr size_t kFewest = 4;
  const std::vector<TableFile*>& files = version_.files(0);
  const auto trigger = static_cast<size_t>(options_.level0_file_num_compaction_trigger);
  if (files.size() < std::max(trigger + 2, kFewest)) return std::nullopt;
  // Begins behind the last file that may not be merged on level 0.
  const auto first = std::find_if_not(files.rbegin(), files.rend(), [this](const TableFile* file) {
                       return pick_.MayMergeOnLevel0(*file);
                     }).base();
  auto end = first;
  uint64_t bytes = 0;
  for (uint64_t cost = UINT64_MAX; end != files.end(); ++end) {
    // The inputs must be neighbours in age, so the search ends at a file that is being compacted.
    if ((*end)->being_compacted) break;
    const auto saved = static_cast<uint64_t>(end - first);
    const uint64_t more = bytes + (*end)->meta.file_size;
    const uint64_t cost_with = saved == 0 ? UINT64_MAX : more / saved;
    if (cost_with > cost || (saved > 0 && more > options_.max_compaction_bytes)) break;
    cost = cost_with;
    bytes = more;
  }
  if (static_cast<size_t>(end - first) < kFewest) return std::nullopt;
  return plans_.PlanForRuns({{0, {first, end}}}, 0, /*allow_trivial_move=*/false);
}

// Sorts by ascending rank.
void SortByRank(uint64_t (*rank)(const FileMetadata&), std::vector<TableFile*>* files) {
  SortRarely(files, [rank](const TableFile* a, const TableFile* b) {
    return rank(a->meta) < rank(b->meta);
  });
}

using RankedFiles = std::vector<std::pair<double, TableFile*>>;

void SortRanked(RankedFiles* ranked, std::vector<TableFile*>* files) {
  assert(ranked != nullptr);
  assert(files != nullptr);
  assert(ranked->size() == files->size());
  std::stable_sort(ranked->begin(), ranked->end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < files->size(); i++) (*files)[i] = (*ranked)[i].second;
}

// Sorts by descending size. If most entries of a file are tombstones, those in excess count as
// values of the average size of this level, twice: compacting them frees the space of the values
// below. Equal numbers are left alone, because they are what steady overwriting makes.
void SortByCompensatedSize(std::vector<TableFile*>* files) {
  assert(files != nullptr);
  constexpr double kValuesPerTombstone = 2;
  double values = 0, value_bytes = 0;
  for (const TableFile* file : *files) {
    const EntryWeights weights = file->weights();
    values += static_cast<double>(weights.entries - std::min(weights.entries, weights.tombstones));
    value_bytes += static_cast<double>(weights.value_bytes);
  }
  const double average = values > 0 ? value_bytes / values : 0;
  RankedFiles ranked;
  for (TableFile* file : *files) {
    const EntryWeights weights = file->weights();
    const double excess =
        2 * static_cast<double>(weights.tombstones) - static_cast<double>(weights.entries);
    const double size = static_cast<double>(file->meta.file_size) +
                        static_cast<double>(file->meta.compensated_range_deletion_bytes);
    ranked.emplace_back(-(size + kValuesPerTombstone * average * std::max(excess, 0.0)), file);
  }
  SortRanked(&ranked, files);
}

// The files of a level in the order in which they should be compacted.
std::vector<TableFile*> LevelPicker::ByPriority(Level level) const {
  assert(level > 0);
  std::vector<TableFile*> files = version_.files(level);
  switch (options_.compaction_pri) {
    case kByCompensatedSize: SortByCompensatedSize(&files); break;
    case kOldestLargestSeqFirst:
      SortByRank([](const FileMetadata& meta) { return meta.largest_seqno; }, &files);
      break;
    case kOldestSmallestSeqFirst:
      SortByRank([](const FileMetadata& meta) { return meta.smallest_seqno; }, &files);
      break;
    case kRoundRobin: {
      // The cursor is the smallest key of the file behind the last compaction of this level.
      if (pick_.cursors == nullptr || !pick_.cursors->contains(level)) break;
      const auto start = std::find_if(files.begin(), files.end(), [&](const TableFile* file) {
        return version_.comparator().Compare(file->meta.smallest, pick_.cursors->at(level)) >= 0;
      });
      std::rotate(files.begin(), start, files.end());
      break;
    }
    // The file whose overlap is small compared to its size costs least.
    default: {  // kMinOverlappingRatio
      RankedFiles ranked;
      for (TableFile* file : files) {
        const double size = static_cast<double>(std::max<uint64_t>(file->meta.file_size, 1));
        ranked.emplace_back(static_cast<double>(plans_.OverlapBytes(*file, level.Next())) / size,
                            file);
      }
      SortRanked(&ranked, &files);
    }
  }
  PutForward(level, &files);
  return files;
}

// Moves marked files to the front, and files whose compaction failed to the end. If the level is
// due only because of marks, an unmarked file never comes before a marked one, even if that one has
// failed.
void LevelPicker::PutForward(Level level, std::vector<TableFile*>* files) const {
  assert(files != nullptr);
  constexpr double kBehindAnyFailures = 2 * (UINT8_MAX + 1);
  const bool is_due_by_mark = plans_.needs().is_due_by_mark[level];
  bool is_any_special = false;
  RankedFiles ranked;
  for (TableFile* file : *files) {
    const bool is_marked = file->meta.marked_for_compaction;
    is_any_special |= is_marked || file->failed_compactions != 0;
    const double behind_marked = is_marked ? 0 : is_due_by_mark ? kBehindAnyFailures : 1;
    ranked.emplace_back(2 * file->failed_compactions + behind_marked, file);
  }
  if (is_any_special) SortRanked(&ranked, files);
}

// Reads that searched a table in vain give credit for merging it into the next level. Picks the
// plan with the best ratio of credit to cost, and only if the family has no other compaction. So
// the bytes that are rewritten for the sake of reads are limited by the cost of those reads.
std::optional<CompactionPlan> LevelPicker::PickForReads() {
  const double given = options_.read_triggered_compaction_threshold;
  if (given < 0 || !plans_.running().empty()) return std::nullopt;
  const double reads_per_byte = given == 0 ? kDefaultWastedReadsPerByte : given;
  const auto credit = [&](const TableFile& file) {  // in bytes
    const uint64_t wasted = file.sampled_reads.wasted.load(std::memory_order_relaxed);
    return static_cast<double>(wasted) / reads_per_byte;
  };
  std::optional<CompactionPlan> best;
  double best_score = 1;
  for (Level level = 0; level.Next() < LevelsInUse(version_, options_); ++level) {
    for (TableFile* file : version_.files(level)) {
      // Any plan with this file rewrites at least the file itself, so with less credit it cannot
      // pay.
      if (credit(*file) < static_cast<double>(file->meta.file_size)) continue;
      if (plans_.IsHeldBack(*file, level.Next())) continue;
      auto plan =
          level == 0 ? plans_.PlanFor(plans_.Level0Component(file), plans_.needs().base_level, true)
                     : plans_.PlanFor({level, {file}}, level.Next(), true);
      if (!plan.has_value()) continue;
      double paid = 0;
      for (const TableFile* input : plan->inputs.front().files) paid += credit(*input);
      const double score = paid / static_cast<double>(std::max<uint64_t>(plan->InputBytes(), 1));
      if (score < best_score) continue;
      best_score = score;
      best = std::move(plan);
      best->reason = CompactionReason::kReadTriggered;
      best->score = score;
    }
  }
  return best;
}

// Takes the first file, in the order of compaction_pri, that can be compacted together with
// everything it overlaps. Files of running compactions are passed over.
std::optional<CompactionPlan> LevelPicker::PickLevel(Level level) {
  assert(level >= 0);
  assert(level + 1 < version_.num_levels());
  if (level == 0) return PickLevel0();
  for (TableFile* file : ByPriority(level)) {
    if (file->being_compacted || plans_.IsHeldBack(*file, level.Next())) continue;
    auto plan = plans_.PlanFor({level, {file}}, level.Next(), /*allow_trivial_move=*/true);
    if (plan.has_value()) {
      plan->reason = ReasonFor(level, CompactionReason::kLevelMaxLevelSize);
      if (options_.compaction_pri == kRoundRobin) {
        plan->next_cursor = CursorBehind(plan->inputs.front());
      }
      return plan;
    }
  }
  return std::nullopt;
}

// The key where the next round begins: the smallest of the file behind these, or of the first file
// of the level after the last one.
std::string LevelPicker::CursorBehind(const LevelFiles& files) const {
  const std::vector<TableFile*>& all = version_.files(files.level);
  const auto last = std::find(all.begin(), all.end(), files.files.back());
  assert(last != all.end());
  const auto next = last + 1 == all.end() ? all.begin() : last + 1;
  return (*next)->meta.smallest;
}

}  // namespace

// Tries the levels in the order of their scores, since the plan for the most urgent level may
// conflict with a running compaction.
std::optional<CompactionPlan> PickLevelled(const Version& version, const PickOptions& options,
                                           const std::vector<const CompactionPlan*>& running) {
  LevelPicker picker(version, options, running);
  const std::vector<double>& scores = picker.scores();
  std::vector<int> levels(scores.size());
  std::iota(levels.begin(), levels.end(), 0);
  SortRarely(&levels, [&scores](int a, int b) { return scores[a] > scores[b]; });
  for (const int number : levels) {
    const Level level{number};
    if (scores[level] < 1) break;
    auto plan = picker.PickLevel(level);
    if (plan.has_value()) {
      plan->score = scores[level];
      return plan;
    }
  }
  return options.may_serve_reads ? picker.PickForReads() : std::nullopt;
}

}  // namespace ashlar
