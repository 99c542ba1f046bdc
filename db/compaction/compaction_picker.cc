// SPDX-License-Identifier: Apache-2.0
//
// Choosing the inputs of a compaction.
//
// A "clean" set of files of a level holds all versions of each of its user keys: where neighbours
// share a user key both belong to it, for the older versions must never end above the newer ones.
#include "db/compaction/compaction_picker.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "db/output/table_output.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

// A byte is rewritten in some ten nanoseconds, and a search in memory takes several hundred: so
// compaction costs at most about as much time as the reads before it have wasted.
constexpr double kDefaultWastedReadsPerByte = 1.0 / 64;

struct KeyRange {
  Slice smallest;  // user keys, inclusive
  Slice largest;
  bool largest_is_exclusive = false;  // the end of a range tombstone; inclusive otherwise
};

// Whether keys that end with `largest` come before keys that begin with `smallest`.
bool EndsBefore(const InternalKeyComparator& cmp, const Slice& largest, bool is_exclusive,
                const Slice& smallest) {
  const int order = cmp.OrderWithoutTimestamp(largest, smallest);
  return order < 0 || (order == 0 && is_exclusive);
}
bool EndsBefore(const InternalKeyComparator& cmp, const TableFile* a, const TableFile* b) {
  return EndsBefore(cmp, a->meta.largest_user_key(), a->meta.largest_is_exclusive(),
                    b->meta.smallest_user_key());
}

class Picker {
 public:
  Picker(const Version& version, const ColumnFamilyOptions& options, const CompactionClaims& claims,
         const std::vector<const CompactionPlan*>& running) REQUIRES(db_mutex)
      : version_(version),
        options_(options),
        running_(running),
        needs_(AssessCompaction(version, options, claims)) {}

  const CompactionNeeds& needs() const { return needs_; }

  std::optional<CompactionPlan> PickForReads() REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickLevel(Level level, const std::map<Level, std::string>* cursors)
      REQUIRES(db_mutex);
  // Completes a plan around these files of a level. None if a file or the output range is taken.
  std::optional<CompactionPlan> PlanFor(LevelFiles start, Level output_level,
                                        bool allow_trivial_move) REQUIRES(db_mutex);

 private:
  std::optional<CompactionPlan> PickLevel0() REQUIRES(db_mutex);
  std::vector<TableFile*> ByPriority(Level level,
                                     const std::map<Level, std::string>* cursors) const;
  LevelFiles Level0Component(TableFile* seed) const;
  void MakeClean(LevelFiles* files) const;
  KeyRange RangeOf(const std::vector<LevelFiles>& inputs) const;
  LevelFiles OverlappingRange(Level level, const KeyRange& range) const;
  bool IsTaken(const std::vector<TableFile*>& files) const REQUIRES(db_mutex);
  bool OverlapsRunning(const KeyRange& range, Level output_level) const;
  bool AreDisjoint(const std::vector<TableFile*>& files) const;
  bool CanMove(const CompactionPlan& plan) const;
  uint64_t OverlapBytes(const TableFile& file, Level level) const;
  void GrowStartLevel(CompactionPlan* plan) const REQUIRES(db_mutex);
  void Finish(CompactionPlan* plan) const;
  static uint64_t BytesOf(const std::vector<TableFile*>& files);

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const std::vector<const CompactionPlan*>& running_;
  const CompactionNeeds needs_;
};

uint64_t Picker::BytesOf(const std::vector<TableFile*>& files) {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const TableFile* f) { return sum + f->meta.file_size; });
}

// What of a level overlaps the range.
LevelFiles Picker::OverlappingRange(Level level, const KeyRange& range) const {
  assert(version_.comparator().OrderWithoutTimestamp(range.smallest, range.largest) <= 0);
  LevelFiles files = version_.Overlapping(level, &range.smallest, &range.largest);
  if (!range.largest_is_exclusive) return files;
  std::erase_if(files.files, [&](const TableFile* file) {
    return version_.comparator().SameKey(file->meta.smallest_user_key(), range.largest);
  });
  return files;
}

bool Picker::IsTaken(const std::vector<TableFile*>& files) const {
  return std::any_of(files.begin(), files.end(), [](const TableFile* file) REQUIRES(db_mutex) {
    return file->being_compacted;
  });
}

KeyRange Picker::RangeOf(const std::vector<LevelFiles>& inputs) const {
  assert(!inputs.empty() && !inputs.front().files.empty());
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

// Two jobs must not write overlapping ranges into one level.
bool Picker::OverlapsRunning(const KeyRange& range, Level output_level) const {
  const InternalKeyComparator& cmp = version_.comparator();
  return std::any_of(running_.begin(), running_.end(), [&](const CompactionPlan* plan) {
    if (plan->output_level != output_level) return false;
    const KeyRange other = RangeOf(plan->inputs);
    return !EndsBefore(cmp, other.largest, other.largest_is_exclusive, range.smallest) &&
           !EndsBefore(cmp, range.largest, range.largest_is_exclusive, other.smallest);
  });
}

void Picker::MakeClean(LevelFiles* files) const {
  if (files->level == 0 || files->files.empty()) return;
  const InternalKeyComparator& cmp = version_.comparator();
  const std::vector<TableFile*>& all = version_.files(files->level);
  auto first = std::find(all.begin(), all.end(), files->files.front());
  auto last = std::find(all.begin(), all.end(), files->files.back());
  assert(first != all.end() && last != all.end() && first <= last);
  const auto share_key = [&cmp](const TableFile* a, const TableFile* b) {
    return !EndsBefore(cmp, a, b);
  };
  while (first != all.begin() && share_key(*(first - 1), *first)) --first;
  while (last + 1 != all.end() && share_key(*last, *(last + 1))) ++last;
  files->files.assign(first, last + 1);
}

// The seed and all files of level 0 that it overlaps, directly or through others.
LevelFiles Picker::Level0Component(TableFile* seed) const {
  assert(seed != nullptr);
  const Slice smallest = seed->meta.smallest_user_key();
  const Slice largest = seed->meta.largest_user_key();
  return version_.Overlapping(0, &smallest, &largest, /*expand_level0=*/true);
}

bool Picker::AreDisjoint(const std::vector<TableFile*>& files) const {
  const InternalKeyComparator& cmp = version_.comparator();
  std::vector<TableFile*> sorted = files;
  std::sort(sorted.begin(), sorted.end(), [&cmp](const TableFile* a, const TableFile* b) {
    return cmp.Compare(a->meta.smallest, b->meta.smallest) < 0;
  });
  for (size_t i = 0; i + 1 < sorted.size(); i++) {
    if (!EndsBefore(cmp, sorted[i], sorted[i + 1])) return false;
  }
  return true;
}

uint64_t Picker::OverlapBytes(const TableFile& file, Level level) const {
  const KeyRange range{file.meta.smallest_user_key(), file.meta.largest_user_key(),
                       file.meta.largest_is_exclusive()};
  return BytesOf(OverlappingRange(level, range).files);
}

// Relinking is right if nothing on the output level is touched, the file would be written with the
// same compression there, and it would not overlap too much of the level after.
bool Picker::CanMove(const CompactionPlan& plan) const {
  assert(plan.start_level <= plan.output_level);
  if (plan.inputs.size() != 1 || plan.output_level == plan.start_level) return false;
  if (plan.start_level == 0 && !AreDisjoint(plan.inputs[0].files)) return false;
  // A mark asks for a rewrite, of many tombstones or of what a collector of the user's saw: at the
  // latest where nothing lies below, for there no other compaction would take the table up.
  const auto is_marked = [](const TableFile* f) { return f->meta.marked_for_compaction; };
  const auto& files = plan.inputs[0].files;
  if (plan.is_bottommost && std::any_of(files.begin(), files.end(), is_marked)) return false;
  const CompressionType here = CompressionFor(options_, plan.start_level, /*is_bottommost=*/false);
  const CompressionType there = CompressionFor(options_, plan.output_level, plan.is_bottommost);
  if (here != there) return false;
  if (plan.output_level + 1 >= version_.num_levels()) return true;
  return std::all_of(
      plan.inputs[0].files.begin(), plan.inputs[0].files.end(), [&](const TableFile* file) {
        return OverlapBytes(*file, plan.output_level.Next()) <= plan.max_grandparent_bytes;
      });
}

// Takes more files of the start level along if they cost no further file of the output level.
void Picker::GrowStartLevel(CompactionPlan* plan) const {
  assert(plan->inputs.size() <= 2);
  if (plan->start_level == 0 || plan->inputs.size() < 2) return;
  const KeyRange range = RangeOf(plan->inputs);
  LevelFiles grown = OverlappingRange(plan->start_level, range);
  MakeClean(&grown);
  assert(grown.files.size() >= plan->inputs[0].files.size());  // it overlaps at least itself
  if (grown.files.size() <= plan->inputs[0].files.size() || IsTaken(grown.files)) return;
  const uint64_t bytes = BytesOf(grown.files) + BytesOf(plan->inputs[1].files);
  if (bytes > options_.max_compaction_bytes) return;
  const KeyRange grown_range = RangeOf({grown});
  LevelFiles outputs = OverlappingRange(plan->output_level, grown_range);
  MakeClean(&outputs);
  if (outputs.files == plan->inputs[1].files) plan->inputs[0] = std::move(grown);
}

void Picker::Finish(CompactionPlan* plan) const {
  assert(!plan->inputs.empty() && plan->inputs[0].level == plan->start_level);
  assert(plan->output_level < version_.num_levels());
  const KeyRange range = RangeOf(plan->inputs);
  uint64_t target = options_.target_file_size_base;
  for (Level level = needs_.base_level; level < plan->output_level; ++level) {
    target *= static_cast<uint64_t>(std::max(options_.target_file_size_multiplier, 1));
  }
  plan->target_file_bytes = target;
  plan->max_grandparent_bytes = options_.max_compaction_bytes;
  if (plan->output_level + 1 < version_.num_levels()) {
    plan->grandparents = OverlappingRange(plan->output_level.Next(), range).files;
  }
  plan->is_bottommost = true;
  for (Level level = plan->output_level.Next(); level < version_.num_levels(); ++level) {
    if (!OverlappingRange(level, range).files.empty()) plan->is_bottommost = false;
  }
}

std::optional<CompactionPlan> Picker::PlanFor(LevelFiles start, Level output_level,
                                              bool allow_trivial_move) {
  // Down one level, past empty ones, or into itself; never up, where newer data is.
  assert(output_level >= start.level && output_level < version_.num_levels());
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
  assert(!IsTaken(plan.inputs.front().files) && !IsTaken(plan.inputs.back().files));
  if (OverlapsRunning(RangeOf(plan.inputs), output_level)) return std::nullopt;
  Finish(&plan);
  plan.is_trivial_move = allow_trivial_move && CanMove(plan);
  return plan;
}

// Files that overlap nothing are moved all at once; else the oldest file goes, with all that it
// overlaps. One merge out of level 0 at a time: a second one would be older or newer than it.
std::optional<CompactionPlan> Picker::PickLevel0() {
  const std::vector<TableFile*>& files = version_.files(0);
  if (files.empty()) return std::nullopt;
  for (const CompactionPlan* plan : running_) {
    if (plan->start_level == 0) return std::nullopt;
  }
  const CompactionReason reason = CompactionReason::kLevelL0FilesNum;
  if (!IsTaken(files) && AreDisjoint(files)) {
    auto move = PlanFor({0, files}, needs_.base_level, /*allow_trivial_move=*/true);
    if (move.has_value() && move->is_trivial_move) {
      move->reason = reason;
      return move;
    }
  }
  auto plan = PlanFor(Level0Component(files.back()), needs_.base_level,
                      /*allow_trivial_move=*/true);
  if (plan.has_value()) plan->reason = reason;
  return plan;
}

// The files of a level, the one to compact first in front.
std::vector<TableFile*> Picker::ByPriority(Level level,
                                           const std::map<Level, std::string>* cursors) const {
  std::vector<TableFile*> files = version_.files(level);
  switch (options_.compaction_pri) {
    case kByCompensatedSize:
      std::stable_sort(files.begin(), files.end(), [](const TableFile* a, const TableFile* b) {
        return a->meta.file_size > b->meta.file_size;
      });
      break;
    case kOldestLargestSeqFirst:
      std::stable_sort(files.begin(), files.end(), [](const TableFile* a, const TableFile* b) {
        return a->meta.largest_seqno < b->meta.largest_seqno;
      });
      break;
    case kOldestSmallestSeqFirst:
      std::stable_sort(files.begin(), files.end(), [](const TableFile* a, const TableFile* b) {
        return a->meta.smallest_seqno < b->meta.smallest_seqno;
      });
      break;
    case kRoundRobin: {
      if (cursors == nullptr || !cursors->contains(level)) break;
      const auto start = std::find_if(files.begin(), files.end(), [&](const TableFile* file) {
        return version_.comparator().Compare(file->meta.largest, cursors->at(level)) > 0;
      });
      std::rotate(files.begin(), start, files.end());
      break;
    }
    default: {  // kMinOverlappingRatio
      std::vector<std::pair<double, TableFile*>> ranked;
      for (TableFile* file : files) {
        const double size = static_cast<double>(std::max<uint64_t>(file->meta.file_size, 1));
        ranked.emplace_back(static_cast<double>(OverlapBytes(*file, level.Next())) / size, file);
      }
      std::stable_sort(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (size_t i = 0; i < files.size(); i++) files[i] = ranked[i].second;
    }
  }
  std::stable_partition(files.begin(), files.end(),
                        [](const TableFile* f) { return f->meta.marked_for_compaction; });
  return files;
}

// Reads that searched a table in vain pay for merging it with what they had to go on to. The plan
// that is paid for best is taken, if it is the only compaction of the family: so what is rewritten
// for the sake of reads is bounded by what the reads have cost.
std::optional<CompactionPlan> Picker::PickForReads() {
  const double given = options_.read_triggered_compaction_threshold;
  if (given < 0 || !running_.empty()) return std::nullopt;
  const double reads_per_byte = given == 0 ? kDefaultWastedReadsPerByte : given;
  const auto credit = [&](const TableFile& file) {  // in bytes
    const uint64_t wasted = file.sampled_reads.wasted.load(std::memory_order_relaxed);
    return static_cast<double>(wasted) / reads_per_byte;
  };
  std::optional<CompactionPlan> best;
  double best_score = 1;
  for (Level level = 0; level.Next() < version_.num_levels(); ++level) {
    for (TableFile* file : version_.files(level)) {
      // Its own bytes are a part of any plan's.
      if (credit(*file) < static_cast<double>(file->meta.file_size)) continue;
      auto plan = level == 0 ? PlanFor(Level0Component(file), needs_.base_level, true)
                             : PlanFor({level, {file}}, level.Next(), true);
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

std::optional<CompactionPlan> Picker::PickLevel(Level level,
                                                const std::map<Level, std::string>* cursors) {
  assert(level >= 0 && level + 1 < version_.num_levels());
  if (level == 0) return PickLevel0();
  for (TableFile* file : ByPriority(level, cursors)) {
    if (file->being_compacted) continue;
    auto plan = PlanFor({level, {file}}, level.Next(), /*allow_trivial_move=*/true);
    if (plan.has_value()) {
      plan->reason = CompactionReason::kLevelMaxLevelSize;
      return plan;
    }
  }
  return std::nullopt;
}

}  // namespace

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

std::string CompactionPlan::DebugString() const {
  std::string text = is_trivial_move ? "move" : "merge";
  for (const LevelFiles& level : inputs) {
    StrAppend(&text, " L", level.level, "[");
    for (size_t i = 0; i < level.files.size(); i++) {
      StrAppend(&text, i == 0 ? "" : " ", level.files[i]->meta.number);
    }
    text += "]";
  }
  StrAppend(&text, " -> L", output_level, is_bottommost ? " bottommost" : "");
  return text;
}

std::optional<CompactionPlan> PickCompaction(const Version& version, const PickOptions& options,
                                             const std::vector<const CompactionPlan*>& running) {
  Picker picker(version, *options.options, *options.claims, running);
  const std::vector<double>& scores = picker.needs().scores;
  std::vector<int> levels(scores.size());
  std::iota(levels.begin(), levels.end(), 0);
  std::stable_sort(levels.begin(), levels.end(),
                   [&scores](int a, int b) { return scores[a] > scores[b]; });
  for (const int number : levels) {
    const Level level{number};
    if (scores[level] < 1) break;
    auto plan = picker.PickLevel(level, options.cursors);
    if (plan.has_value()) {
      plan->score = scores[level];
      return plan;
    }
  }
  return options.may_serve_reads ? picker.PickForReads() : std::nullopt;
}

std::optional<CompactionPlan> PickRewrite(const Version& version, const PickOptions& options,
                                          const LevelFiles& table,
                                          const std::vector<const CompactionPlan*>& running) {
  assert(table.level > 0 && table.files.size() == 1);
  Picker picker(version, *options.options, *options.claims, running);
  auto plan = picker.PlanFor(table, table.level, /*allow_trivial_move=*/false);
  if (plan.has_value()) plan->reason = CompactionReason::kBottommostFiles;
  return plan;
}

std::optional<CompactionPlan> PickRangeCompaction(const Version& version,
                                                  const RangePickOptions& options,
                                                  const std::vector<const CompactionPlan*>& running,
                                                  bool* has_conflict) {
  assert(options.input_level >= 0 && options.input_level <= options.output_level);
  *has_conflict = false;
  LevelFiles start = version.Overlapping(options.input_level, options.begin, options.end,
                                         /*expand_level0=*/true);
  if (start.files.empty()) return std::nullopt;
  // A part of a deep level at a time; level 0 goes as a whole, for its files overlap.
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
  Picker picker(version, *options.options, *options.claims, running);
  auto plan = picker.PlanFor(std::move(start), options.output_level, options.allow_trivial_move);
  if (!plan.has_value()) {
    *has_conflict = true;
    return std::nullopt;
  }
  plan->next_begin = std::move(next_begin);
  return plan;
}

}  // namespace ashlar
