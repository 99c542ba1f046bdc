// SPDX-License-Identifier: Apache-2.0
//
// The FIFO style treats the family as a cache of the newest data. All tables are on level 0. The
// oldest tables are dropped, whatever they contain, when they are too old or when all tables
// together are too large. Tables are rewritten only in order to merge small ones, if the options
// allow it, and to bring old ones to other storage tiers.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/blob/blob_file.h"
#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"

namespace ashlar {
namespace {

// Merging is meant for small tables, which come from memtables that were flushed before they were
// full. The tables of full memtables are written once and never again.
constexpr double kMostBytesPerTableSaved = 1.1;  // in units of write_buffer_size

// Computes which blob files become free when tables are dropped, beginning with the oldest table.
class BlobsToFree {
 public:
  BlobsToFree(const BlobFiles& blobs, const std::vector<LevelFiles>& by_age)
      : blobs_(blobs), needed_from_(by_age.size() + 1, FileNumber::None()) {
    for (size_t i = by_age.size(); i > 0; i--) {
      const FileNumber oldest = by_age[i - 1].files.front()->meta.oldest_blob_file_number;
      needed_from_[i - 1] = oldest == 0 ? needed_from_[i] : std::min(oldest, needed_from_[i]);
    }
  }

  // The bytes of the blob files that become free when only the tables from index `table` on remain.
  // Files that earlier calls counted are not counted again, so calls come with ascending indexes.
  uint64_t BytesBelow(size_t table) {
    assert(table < needed_from_.size());
    uint64_t bytes = 0;
    for (; next_ < blobs_.all().size(); next_++) {
      const BlobFileAddition& meta = blobs_.all()[next_].file->meta;
      // From here on the remaining tables need the files.
      if (meta.number >= needed_from_[table]) break;
      bytes += meta.file_bytes();
    }
    return bytes;
  }

 private:
  const BlobFiles& blobs_;
  std::vector<FileNumber> needed_from_;  // by table: the oldest blob file it or a newer one needs
  size_t next_ = 0;                      // index of the first blob file not freed yet
};

class FifoPicker {
 public:
  FifoPicker(const Version& version, const PickOptions& options,
             const std::vector<const CompactionPlan*>& running) REQUIRES(db_mutex)
      : version_(version),
        pick_(options),
        options_(*options.options),
        plans_(version, options_, *options.claims, running) {}

  std::optional<CompactionPlan> Pick() REQUIRES(db_mutex);

 private:
  // All tables, oldest first. A table on a deeper level was written under another style, and is
  // older than all of level 0.
  std::vector<LevelFiles> ByAge() const;
  static uint64_t NewestTimeOf(const std::vector<LevelFiles>& by_age, size_t i);
  bool IsExpired(uint64_t born) const;
  std::optional<CompactionPlan> PickExpired(const std::vector<LevelFiles>& by_age)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickForSpace(const std::vector<LevelFiles>& by_age)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickForTier(const std::vector<LevelFiles>& by_age)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickSmallTables() REQUIRES(db_mutex);
  static void Drop(const LevelFiles& table, CompactionPlan* plan);
  static std::optional<CompactionPlan> Deletion(CompactionPlan plan, CompactionReason reason);

  const Version& version_;
  const PickOptions& pick_;
  const ColumnFamilyOptions& options_;
  PlanMaker plans_;
};

std::vector<LevelFiles> FifoPicker::ByAge() const {
  std::vector<LevelFiles> tables;
  for (Level level = version_.deepest_level(); level >= 0; --level) {
    const std::vector<TableFile*>& files = version_.files(level);
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
      tables.push_back({level, {*file}});
    }
  }
  return tables;
}

// Picks one job at a time: two jobs that count the same bytes would drop twice as much as
// necessary. For the same reason it waits for calls that remove tables, which have claims but no
// plan.
std::optional<CompactionPlan> FifoPicker::Pick() {
  if (!plans_.running().empty() || pick_.claims->AreAny()) return std::nullopt;
  const std::vector<LevelFiles> by_age = ByAge();
  auto plan = PickExpired(by_age);
  if (!plan.has_value()) plan = PickForSpace(by_age);
  if (!plan.has_value() && options_.compaction_options_fifo.allow_compaction) {
    plan = PickSmallTables();
  }
  if (!plan.has_value()) plan = PickForTier(by_age);
  return plan;
}

// A time at which the newest data of the table was in the family already; 0: unknown. A table that
// was written again is younger than its data, whose age its properties tell; an ingested one counts
// from its ingestion. The data is also older than the flush of the next newer table. Only level 0
// is in order of age: tables of a deeper level tell nothing of each other.
uint64_t FifoPicker::NewestTimeOf(const std::vector<LevelFiles>& by_age, size_t i) {
  assert(i < by_age.size());
  const TableFile& file = *by_age[i].files.front();
  uint64_t newest = file.meta.file_creation_time;
  const uint64_t key_time = file.newest_key_time.load(std::memory_order_relaxed);
  if (key_time != 0) newest = std::min(newest, std::max(key_time, file.meta.oldest_ancestor_time));
  if (by_age[i].level != 0 || i + 1 == by_age.size()) return newest;
  const uint64_t next = by_age[i + 1].files.front()->meta.oldest_ancestor_time;
  return next == 0 ? newest : std::min(newest, next);
}

bool FifoPicker::IsExpired(uint64_t born) const {
  return born != 0 && born < pick_.now_seconds && pick_.now_seconds - born > options_.ttl;
}

// Drops tables that are too old, up to the first one that is young enough. A table of unknown age
// ends the search as well.
std::optional<CompactionPlan> FifoPicker::PickExpired(const std::vector<LevelFiles>& by_age) {
  if (options_.ttl == 0) return std::nullopt;
  CompactionPlan plan;
  for (size_t i = 0; i < by_age.size() && IsExpired(NewestTimeOf(by_age, i)); i++) {
    Drop(by_age[i], &plan);
  }
  return Deletion(std::move(plan), CompactionReason::kFIFOTtl);
}

// Drops the oldest tables until the rest fits. With max_data_files_size, the bytes of blob files
// count too; a blob file is freed with the last table that needs it.
std::optional<CompactionPlan> FifoPicker::PickForSpace(const std::vector<LevelFiles>& by_age) {
  const FifoLimit limit = FifoLimitOf(version_, options_);
  static const BlobFiles no_blobs;
  const BlobFiles& blobs = limit.blobs != nullptr ? *limit.blobs : no_blobs;
  uint64_t bytes = blobs.total_file_bytes();
  for (const LevelFiles& table : by_age) bytes += table.files.front()->meta.file_size;
  BlobsToFree freed(blobs, by_age);
  CompactionPlan plan;
  for (size_t i = 0; i < by_age.size() && bytes > limit.bytes; i++) {
    bytes -= by_age[i].files.front()->meta.file_size + freed.BytesBelow(i + 1);
    Drop(by_age[i], &plan);
  }
  return Deletion(std::move(plan), CompactionReason::kFIFOMaxSize);
}

// The storage tier of data of this age: that of the greatest age that it has reached. kUnknown: it
// stays where it is.
Temperature TierAtAge(const CompactionOptionsFIFO& fifo, uint64_t age_seconds) {
  FileTemperatureAge reached;
  for (const FileTemperatureAge& threshold : fifo.file_temperature_age_thresholds) {
    if (threshold.age <= age_seconds && threshold.age >= reached.age) reached = threshold;
  }
  return reached.temperature;
}

// Writes the oldest table that is on the wrong tier again.
std::optional<CompactionPlan> FifoPicker::PickForTier(const std::vector<LevelFiles>& by_age) {
  const CompactionOptionsFIFO& fifo = options_.compaction_options_fifo;
  if (fifo.file_temperature_age_thresholds.empty()) return std::nullopt;
  for (size_t i = 0; i < by_age.size(); i++) {
    const TableFile& file = *by_age[i].files.front();
    const uint64_t newest = NewestTimeOf(by_age, i);
    if (by_age[i].level != 0 || newest == 0 || newest > pick_.now_seconds) continue;
    const Temperature tier = TierAtAge(fifo, pick_.now_seconds - newest);
    if (tier == Temperature::kUnknown || file.meta.temperature == static_cast<uint8_t>(tier)) {
      continue;
    }
    auto plan = plans_.PlanForRuns({by_age[i]}, 0, /*allow_trivial_move=*/false);
    if (!plan.has_value()) continue;
    plan->temperature = tier;
    plan->reason = CompactionReason::kChangeTemperature;
    return plan;
  }
  return std::nullopt;
}

// Picks the newest tables for a merge. A further table is included as long as it reduces the bytes
// written per table saved. So a large table, which is the result of earlier merges, is not
// rewritten again and again.
std::optional<CompactionPlan> FifoPicker::PickSmallTables() {
  std::vector<TableFile*> files = version_.files(0);
  const auto stay = std::find_if_not(files.rbegin(), files.rend(), [this](const TableFile* file) {
    return pick_.MayMergeOnLevel0(*file);
  });
  files.erase(files.begin(), stay.base());
  const auto fewest = static_cast<size_t>(options_.level0_file_num_compaction_trigger);
  if (files.size() < std::max<size_t>(fewest, 2)) return std::nullopt;
  uint64_t bytes = files[0]->meta.file_size;
  double per_saved = 0;
  size_t count = 1;
  for (; count < files.size(); count++) {
    const uint64_t next = bytes + files[count]->meta.file_size;
    const double next_per_saved = static_cast<double>(next) / static_cast<double>(count);
    if (next > options_.max_compaction_bytes || (count > 1 && next_per_saved > per_saved)) break;
    bytes = next;
    per_saved = next_per_saved;
  }
  const double most = kMostBytesPerTableSaved * static_cast<double>(options_.write_buffer_size);
  if (count < std::max<size_t>(fewest, 2) || per_saved >= most) return std::nullopt;
  const LevelFiles newest{0, {files.begin(), files.begin() + static_cast<ptrdiff_t>(count)}};
  auto plan = plans_.PlanForRuns({newest}, 0, /*allow_trivial_move=*/false);
  if (plan.has_value()) plan->reason = CompactionReason::kFIFOReduceNumFiles;
  return plan;
}

// Adds a table to a plan that drops tables. As in all plans, levels ascend, and tables of level 0
// are ordered from new to old.
void FifoPicker::Drop(const LevelFiles& table, CompactionPlan* plan) {
  assert(plan != nullptr);
  assert(table.files.size() == 1);
  assert(plan->inputs.empty() || table.level <= plan->inputs.front().level);  // oldest first
  if (plan->inputs.empty() || plan->inputs.front().level != table.level) {
    plan->inputs.insert(plan->inputs.begin(), LevelFiles{table.level, {}});
  }
  std::vector<TableFile*>& files = plan->inputs.front().files;
  files.insert(files.begin(), table.files.front());
}

// Turns the dropped tables into a plan that deletes its inputs and writes nothing.
std::optional<CompactionPlan> FifoPicker::Deletion(CompactionPlan plan, CompactionReason reason) {
  if (plan.inputs.empty()) return std::nullopt;
  plan.start_level = plan.inputs.front().level;
  plan.output_level = plan.inputs.back().level;
  plan.is_deletion = true;
  plan.reason = reason;
  return plan;
}

}  // namespace

FifoLimit FifoLimitOf(const Version& version, const ColumnFamilyOptions& options) {
  const CompactionOptionsFIFO& fifo = options.compaction_options_fifo;
  if (fifo.max_data_files_size == 0) return {.bytes = fifo.max_table_files_size};
  return {.bytes = fifo.max_data_files_size, .blobs = version.blobs()};
}

std::optional<CompactionPlan> PickFifo(const Version& version, const PickOptions& options,
                                       const std::vector<const CompactionPlan*>& running) {
  return FifoPicker(version, options, running).Pick();
}

}  // namespace ashlar
