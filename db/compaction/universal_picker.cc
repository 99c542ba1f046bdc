// SPDX-License-Identifier: Apache-2.0
//
// The universal style keeps a few sorted runs; the older a run, the larger it is. A run is one
// table of level 0, or a whole deeper level. Compactions merge runs that are neighbours in age. So
// each byte is rewritten seldom; the price is the extra space while the largest runs are merged.
//
//   runs     L0: 9    L0: 8    L0: 7    L4: 5 6      L6: 1 2 3 4       newest first
//   bytes    10       10       30       90           1000
//
// The output of a merge is placed right above the next older run: in this example 9 and 8 go to
// level 0, and 9 to 7 to level 3. A merge with the oldest run goes to the last level. `incremental`
// splits large merges with the oldest run: a window of the second oldest run, for example file 6,
// is merged with the files that it overlaps below.
#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "db/compaction/merge_window.h"
#include "db/compaction/output_paths.h"
#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"
#include "db/compaction/young_data.h"

namespace ashlar {
namespace {

struct Run {
  Level level = 0;
  std::vector<TableFile*> files;
  uint64_t bytes = 0;
  bool is_taken = false;   // one of its files is being compacted
  bool is_marked = false;  // one of its files is marked for compaction
};

class UniversalPicker {
 public:
  UniversalPicker(const Version& version, const PickOptions& options,
                  const std::vector<const CompactionPlan*>& running) REQUIRES(db_mutex);

  // The most urgent plan; nullopt if there is none.
  std::optional<CompactionPlan> Pick() REQUIRES(db_mutex);
  // Merges all runs. nullopt if a file is being compacted, or if there is only one run, on the last
  // level.
  std::optional<CompactionPlan> PickAll() REQUIRES(db_mutex) {
    asks_for_all_ = true;
    return PlanOf(0, runs_.size());
  }
  bool IsAnyTaken() const { return std::any_of(runs_.begin(), runs_.end(), IsTaken); }
  const std::vector<Run>& runs() const { return runs_; }
  // Rewrites the oldest run on its level.
  std::optional<CompactionPlan> RewriteLast() REQUIRES(db_mutex);

 private:
  static bool IsTaken(const Run& run) { return run.is_taken; }

  std::optional<CompactionPlan> PickForSpace() REQUIRES(db_mutex);
  std::optional<CompactionPlan> PlanWindow() REQUIRES(db_mutex);
  // Merges runs of about the same size; `ratio` is in percent.
  std::optional<CompactionPlan> PickSimilar(double ratio, size_t fewest, size_t most)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickForReads() REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickMarked() REQUIRES(db_mutex);
  size_t CountSimilar(size_t first, double ratio, size_t most) const;
  size_t MostRuns() const;
  // A plan for the `count` runs from index `first` on.
  std::optional<CompactionPlan> PlanOf(size_t first, size_t count) REQUIRES(db_mutex);
  // Returns the end of a merge of the runs [first, end). This is `end`, or a later run if these
  // runs must not be merged on level 0. nullopt if a running compaction prevents the merge.
  std::optional<size_t> EndOf(size_t first, size_t end) const REQUIRES(db_mutex);
  // Returns the level for the output of a merge of the runs before index `end`.
  Level OutputAbove(size_t end) const;
  bool LeavesUncompressed(size_t end) const;
  // Whether enough data in the runs [first, end) is old enough for the last level.
  bool IsWorthMoving(size_t first, size_t end) const;

  const Version& version_;
  const PickOptions& pick_;
  const ColumnFamilyOptions& options_;
  const CompactionOptionsUniversal& universal_;
  PlanMaker plans_;
  const std::optional<Level> young_level_;  // see young_data.h
  const SequenceNumber first_young_;
  bool asks_for_all_ = false;  // whatever is old goes to the last level, however little it is
  std::vector<Run> runs_;      // newest first
};

UniversalPicker::UniversalPicker(const Version& version, const PickOptions& options,
                                 const std::vector<const CompactionPlan*>& running)
    : version_(version),
      pick_(options),
      options_(*options.options),
      universal_(options_.compaction_options_universal),
      plans_(version, options_, *options.claims, running),
      young_level_(YoungLevel(version, options_)),
      first_young_(options.claims->first_young()) {
  const auto add = [this](Level level, std::vector<TableFile*> files) REQUIRES(db_mutex) {
    Run& run = runs_.emplace_back();
    run.level = level;
    run.files = std::move(files);
    run.bytes = PlanMaker::BytesOf(run.files);
    run.is_taken = plans_.IsTaken(run.files);
    run.is_marked = std::any_of(run.files.begin(), run.files.end(), [](const TableFile* file) {
      return file->meta.marked_for_compaction;
    });
  };
  for (TableFile* file : version.files(0)) add(0, {file});
  for (Level level = 1; level < LevelsInUse(version, options_); ++level) {
    if (!version.files(level).empty()) add(level, version.files(level));
  }
}

// The reasons in the order of their importance: too much space, runs of similar size, too many runs
// for readers, and files that were marked for compaction.
std::optional<CompactionPlan> UniversalPicker::Pick() {
  const auto trigger = static_cast<size_t>(options_.level0_file_num_compaction_trigger);
  if (runs_.size() < trigger) return PickMarked();
  auto plan = PickForSpace();
  if (!plan.has_value()) {
    const size_t fewest = std::max<size_t>(universal_.min_merge_width, 2);
    plan = PickSimilar(universal_.size_ratio, fewest, universal_.max_merge_width);
    if (plan.has_value()) plan->reason = CompactionReason::kUniversalSizeRatio;
  }
  if (!plan.has_value()) plan = PickForReads();
  return plan.has_value() ? std::move(plan) : PickMarked();
}

// Merges all runs if the newer ones are too large compared to the oldest. In the worst case they
// overwrite only data of the oldest run, so their bytes measure the space that may be wasted.
std::optional<CompactionPlan> UniversalPicker::PickForSpace() {
  const size_t first =
      static_cast<size_t>(std::find_if_not(runs_.begin(), runs_.end(), IsTaken) - runs_.begin());
  if (first + 1 >= runs_.size()) return std::nullopt;
  uint64_t newer = 0;
  // What is too young for the last level stays where it is, so nothing can be gained with it.
  for (size_t i = first; i + 1 < runs_.size(); i++) {
    newer += young_level_.has_value() ? OldBytes(runs_[i].files, first_young_) : runs_[i].bytes;
  }
  const double allowed = static_cast<double>(universal_.max_size_amplification_percent) / 100 *
                         static_cast<double>(runs_.back().bytes);
  if (static_cast<double>(newer) < allowed) return std::nullopt;
  auto plan = PlanOf(first, runs_.size() - first);
  if (universal_.incremental &&
      (!plan.has_value() || plan->InputBytes() > options_.max_compaction_bytes)) {
    auto window = PlanWindow();
    if (window.has_value()) plan = std::move(window);
  }
  if (plan.has_value()) plan->reason = CompactionReason::kUniversalSizeAmplification;
  return plan;
}

// Merges a part of the second oldest run into the oldest one. No run lies between these two in age,
// so newer data stays above older data. A file of level 0 is a run of its own, and is not split.
std::optional<CompactionPlan> UniversalPicker::PlanWindow() {
  assert(runs_.size() >= 2);
  const Run& upper = runs_[runs_.size() - 2];
  const Run& oldest = runs_.back();
  if (upper.level == 0) return std::nullopt;
  const bool may_move = universal_.allow_trivial_move && universal_.compression_size_percent < 0;
  auto plan =
      plans_.PlanFor(CheapestWindow(plans_, upper.level, oldest.level), oldest.level, may_move);
  // The directory fits the run into which the outputs go, not the size of the outputs themselves.
  if (plan.has_value()) plan->SetOutputPath(PathOfRun(options_, upper.bytes + oldest.bytes));
  return plan;
}

// Picks the newest sequence of runs in which at least `fewest` are similar in size.
std::optional<CompactionPlan> UniversalPicker::PickSimilar(double ratio, size_t fewest,
                                                           size_t most) {
  for (size_t first = 0; first + 1 < runs_.size(); first++) {
    const size_t count = CountSimilar(first, ratio, most);
    if (count >= fewest) return PlanOf(first, count);
  }
  return std::nullopt;
}

// Returns how many runs from `first` on can be merged together: no run may be much larger than
// those before it.
size_t UniversalPicker::CountSimilar(size_t first, double ratio, size_t most) const {
  assert(first < runs_.size());
  if (runs_[first].is_taken) return 0;
  const double factor = 1 + ratio / 100;
  auto reference = static_cast<double>(runs_[first].bytes);
  size_t count = 1;
  for (; first + count < runs_.size() && count < most; count++) {
    const Run& next = runs_[first + count];
    const auto bytes = static_cast<double>(next.bytes);
    if (next.is_taken || reference * factor < bytes) break;
    // This style compares each run with its neighbour only, the other one with the sum so far.
    if (universal_.stop_style == kCompactionStopStyleSimilarSize) {
      if (bytes * factor < reference) break;
      reference = bytes;
    } else {
      reference += bytes;
    }
  }
  return count;
}

// Merges runs when there are too many, since each read searches every run. Writers may be waiting
// for this, so the sizes of the runs do not limit the merge.
std::optional<CompactionPlan> UniversalPicker::PickForReads() {
  const auto idle =
      static_cast<size_t>(std::count_if(runs_.begin(), runs_.end(), std::not_fn(IsTaken)));
  const size_t most = MostRuns();
  if (idle <= most) return std::nullopt;
  const size_t width =
      std::max<size_t>(std::min<size_t>(idle - most + 1, universal_.max_merge_width), 2);
  auto plan = PickSimilar(std::numeric_limits<double>::infinity(),
                          std::clamp<size_t>(universal_.min_merge_width, 2, width), width);
  if (plan.has_value()) plan->reason = CompactionReason::kUniversalSortedRunNum;
  return plan;
}

// The greatest allowed number of runs. If it is automatic, it is the number of steps in which a run
// grows from the size of a memtable to that of the oldest run, if each run is as large as all newer
// ones together. It always stays below the number that stops writers.
size_t UniversalPicker::MostRuns() const {
  const auto below_stop = static_cast<size_t>(std::max(options_.level0_stop_writes_trigger - 1, 1));
  auto most = static_cast<size_t>(options_.level0_file_num_compaction_trigger);
  if (universal_.max_read_amp > 0) {
    most = static_cast<size_t>(universal_.max_read_amp);
  } else if (universal_.max_read_amp == 0 && !runs_.empty()) {
    const double growth = 2 + static_cast<double>(universal_.size_ratio) / 100;
    auto bytes = static_cast<double>(options_.write_buffer_size);
    for (most = 1; bytes < static_cast<double>(runs_.back().bytes); most++) bytes *= growth;
  }
  return std::min(most, below_stop);
}

// Merges a marked run with the next older one. The oldest run, if it is marked, is rewritten alone.
std::optional<CompactionPlan> UniversalPicker::PickMarked() {
  for (size_t i = 0; i < runs_.size(); i++) {
    if (!runs_[i].is_marked) continue;
    auto plan = i + 1 < runs_.size() ? PlanOf(i, 2) : RewriteLast();
    if (!plan.has_value()) continue;
    plan->reason = CompactionReason::kFilesMarkedForCompaction;
    return plan;
  }
  return std::nullopt;
}

std::optional<CompactionPlan> UniversalPicker::RewriteLast() {
  if (runs_.empty()) return std::nullopt;
  const Run& last = runs_.back();
  return plans_.PlanForRuns({{last.level, last.files}}, last.level, /*allow_trivial_move=*/false);
}

Level UniversalPicker::OutputAbove(size_t end) const {
  assert(end <= runs_.size());
  if (end == runs_.size()) return Level{LevelsInUse(version_, options_) - 1};
  return runs_[end].level == 0 ? Level{0} : Level{runs_[end].level - 1};
}

std::optional<size_t> UniversalPicker::EndOf(size_t first, size_t end) const {
  assert(first < end);
  const auto run = [this](size_t i) { return runs_.begin() + static_cast<ptrdiff_t>(i); };
  const auto may_stay = [this](const Run& r) { return pick_.MayMergeOnLevel0(*r.files.front()); };
  if (OutputAbove(end) > 0 || std::all_of(run(first), run(end), may_stay)) return end;
  // Includes older runs until the output can go to a deeper level.
  while (OutputAbove(end) == 0) {
    if (end == runs_.size() || runs_[end].is_taken) return std::nullopt;
    ++end;
  }
  return end;
}

std::optional<CompactionPlan> UniversalPicker::PlanOf(size_t first, size_t count) {
  assert(first + count <= runs_.size());
  if (count == 0) return std::nullopt;
  const std::optional<size_t> wanted_end = EndOf(first, first + count);
  if (!wanted_end.has_value()) return std::nullopt;
  size_t end = *wanted_end;
  Level output = OutputAbove(end);
  if (young_level_.has_value() && output == young_level_->Next()) {
    // The last level takes no part if the others have nothing for it.
    const size_t upper_end = runs_[end - 1].level == output ? end - 1 : end;
    if (!IsWorthMoving(first, upper_end)) {
      end = upper_end;
      output = *young_level_;
    }
    if (end == first) return std::nullopt;
  }
  // Writing a run onto its own level would gain nothing.
  if (end == first + 1 && runs_[first].level == output) return std::nullopt;
  std::vector<LevelFiles> inputs;
  for (size_t i = first; i < end; i++) {
    if (inputs.empty() || inputs.back().level != runs_[i].level) {
      inputs.push_back({runs_[i].level, {}});
    }
    std::vector<TableFile*>& files = inputs.back().files;
    files.insert(files.end(), runs_[i].files.begin(), runs_[i].files.end());
  }
  auto plan = plans_.PlanForRuns(std::move(inputs), output, universal_.allow_trivial_move);
  if (!plan.has_value()) return plan;
  if (LeavesUncompressed(end)) plan->compression = kNoCompression;
  if (universal_.compression_size_percent >= 0) {
    plan->is_trivial_move = false;  // the inputs may have another compression
  }
  return plan;
}

bool UniversalPicker::IsWorthMoving(size_t first, size_t end) const {
  uint64_t bytes = 0, old_bytes = 0;
  for (size_t i = first; i < end; i++) {
    bytes += runs_[i].bytes;
    old_bytes += OldBytes(runs_[i].files, first_young_);
  }
  return asks_for_all_ ? old_bytes > 0 : old_bytes > 0 && old_bytes >= bytes / 2;
}

// Whether the output stays uncompressed because enough older data is compressed already; the limit
// is compression_size_percent.
bool UniversalPicker::LeavesUncompressed(size_t end) const {
  assert(end <= runs_.size());
  if (universal_.compression_size_percent < 0) return false;
  double total = 0, older = 0;
  for (size_t i = 0; i < runs_.size(); i++) {
    total += static_cast<double>(runs_[i].bytes);
    if (i >= end) older += static_cast<double>(runs_[i].bytes);
  }
  return older * 100 >= total * universal_.compression_size_percent && end < runs_.size();
}

}  // namespace

std::optional<CompactionPlan> PickUniversal(const Version& version, const PickOptions& options,
                                            const std::vector<const CompactionPlan*>& running) {
  return UniversalPicker(version, options, running).Pick();
}

std::optional<CompactionPlan> PickAllRuns(const Version& version, const PickOptions& options,
                                          bool rewrites_last,
                                          const std::vector<const CompactionPlan*>& running,
                                          bool* has_conflict) {
  assert(has_conflict != nullptr);
  UniversalPicker picker(version, options, running);
  *has_conflict = picker.IsAnyTaken();
  if (*has_conflict) return std::nullopt;
  auto plan = picker.PickAll();
  if (!plan.has_value() && rewrites_last) plan = picker.RewriteLast();
  // An ingestion reserves a range but no table, so only the list of running plans shows it.
  if (!plan.has_value()) *has_conflict = !running.empty();
  return plan;
}

}  // namespace ashlar
