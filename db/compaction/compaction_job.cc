// SPDX-License-Identifier: Apache-2.0
//
// A job is cut at user keys into subcompactions of about the same number of input bytes. Each
// subcompaction merges its range of keys: inputs -> EntryStream -> OutputWriter. A crash leaves
// outputs that the MANIFEST does not name; the next opening deletes them.
#include "db/compaction/compaction_job.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/compaction/cut_points.h"
#include "db/output/entry_pipe.h"
#include "db/output/filter_bits.h"
#include "db/read/iterator_builder.h"
#include "db/table_cache/table_cache.h"
#include "env/info_log.h"
#include "env/start_thread.h"
#include "table/sst/write/block_passing.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"
#include "util/threads/thread_mark.h"

namespace ashlar {
namespace {

// The earliest known ancestor time of the inputs, in seconds; 0 if no time is known.
uint64_t OldestAncestor(const CompactionPlan& plan) {
  uint64_t oldest = UINT64_MAX;
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) {
      if (file->meta.oldest_ancestor_time != 0) {
        oldest = std::min(oldest, file->meta.oldest_ancestor_time);
      }
    }
  }
  return oldest == UINT64_MAX ? 0 : oldest;
}

// A time at which the newest entry of an input was written already. Tables of RocksDB 7.8 and files
// that were ingested do not say it, but they are not older than their entries. A file of another
// database that was ingested counts from its ingestion.
uint64_t NewestKeyTimeOf(const FileMetadata& meta, const TableProperties& properties,
                         const TableOutputOptions& output) {
  const uint64_t written = properties.newest_key_time;
  if (written != 0) return std::max(written, meta.oldest_ancestor_time);
  return meta.file_creation_time != 0 ? meta.file_creation_time : output.creation_time;
}

// Among tables of level 0, the epoch number decides which data is newer. An output there takes the
// place of its oldest input.
uint64_t OldestEpoch(const CompactionPlan& plan) {
  uint64_t oldest = UINT64_MAX;
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) oldest = std::min(oldest, file->meta.epoch_number);
  }
  return oldest;
}

}  // namespace

// Without a partitioner (null) outputs are cut only by size. On level 0 there is just one output.
std::unique_ptr<SstPartitioner> MakePartitioner(const ColumnFamilyOptions& options,
                                                const CompactionPlan& plan,
                                                const Version& version) {
  const SstPartitionerFactory* const factory = options.sst_partitioner_factory.get();
  if (factory == nullptr || plan.output_level == 0) return nullptr;
  SstPartitioner::Context context;
  context.is_full_compaction = plan.InputFileCount() == version.file_count();
  context.is_manual_compaction = plan.is_manual;
  context.output_level = plan.output_level;
  std::tie(context.smallest_user_key, context.largest_user_key) =
      plan.UserKeyRange(version.comparator());
  return factory->CreatePartitioner(context);
}

// The part of a job with the user keys in [begin, end).
class CompactionJob::Subcompaction {
 public:
  Subcompaction(const CompactionJob& job, int number, std::optional<Slice> begin,
                std::optional<Slice> end)
      : job_(job), number_(number), options_(job.options_), begin_(begin), end_(end) {}

  Status Run();
  OutputResult result;  // valid after Run(), also after an error

 private:
  Status Merge();
  SortedRuns OpenInputs(const ReadOptions& read, const BlockPassing* passing) const;
  DeeperLevels LevelsBelow() const;
  Result<std::unique_ptr<EntryFilter>> MakeFilter() const;
  EntryStreamOptions StreamOptions(DeeperLevels* below);
  OutputWriterOptions WriterOptions() const;
  // What the writer needs besides if it divides the entries by age.
  struct Division {
    DividedTombstones tombstones;
    YoungOutputs outputs;
    OutputWriterOptions writer;
    std::unique_ptr<SstPartitioner> partitioner;
  };
  void DivideByAge(const FragmentedTombstones* tombstones, OutputWriterOptions* writer,
                   Division* division) const;
  bool IsPiped(const EntryStreamOptions& stream) const;
  Status Write(const OutputWriterOptions& writer, EntryStream* entries);
  // True if no deeper level holds keys of the range, and none will be ingested below them later.
  // Then a tombstone has nothing left to hide.
  bool HidesNothingBelow() const {
    return options_.plan->is_bottommost && !options_.plan->is_open_below;
  }

  const CompactionJob& job_;
  const int number_;  // from 0, ascending by keys
  const CompactionJobOptions& options_;
  const std::optional<Slice> begin_;
  const std::optional<Slice> end_;
  std::optional<TrackedBytes> bytes_;  // of the merging thread, while it merges
  bool is_piped_ = false;              // a helper thread reads, and reports its own bytes
  uint64_t helper_cpu_micros_ = 0;
};

// The writer replaces `result` as a whole, so other counts are added to it only afterwards.
Status CompactionJob::Subcompaction::Run() {
  assert(result.tables.empty());
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_micros = clock->CPUMicros();
  if (options_.observer != nullptr) options_.observer->OnPartBegun(number_);
  bytes_.emplace(options_.operation, ThreadStatus::COMPACTION_BYTES_READ,
                 ThreadStatus::COMPACTION_BYTES_WRITTEN);
  Status status = Merge();
  bytes_.reset();
  result.cpu_micros = clock->CPUMicros() - start_micros + helper_cpu_micros_;
  if (options_.observer != nullptr) options_.observer->OnPartEnded(number_, result, status);
  return status;
}

Status CompactionJob::Subcompaction::Merge() {
  assert(!begin_ || !end_ ||
         options_.version->comparator().OrderWithoutTimestamp(*begin_, *end_) < 0);
  // A compaction reads each block once. Blocks of its inputs must not displace others in the cache.
  ReadOptions read;
  read.fill_cache = false;
  read.rate_limiter_priority = Env::IO_LOW;
  read.readahead_size = options_.readahead_bytes;
  DeeperLevels below = LevelsBelow();
  OutputWriterOptions writer = WriterOptions();
  const std::unique_ptr<SstPartitioner> partitioner =
      MakePartitioner(*options_.table.family_options, *options_.plan, *options_.version);
  writer.partitioner = partitioner.get();
  BlobFlow blobs(
      BlobFlowOptionsFor(writer.table, {.files = options_.version->blobs(),
                                        .new_file_number = options_.new_file_number,
                                        .observer = options_.blob_observer,
                                        .relocated_share = options_.relocated_blob_share,
                                        .readahead_bytes = options_.blob_readahead_bytes}));
  if (blobs.IsNeeded()) writer.blobs = &blobs;
  EntryStreamOptions stream = StreamOptions(&below);
  stream.blobs = writer.blobs;
  std::unique_ptr<EntryFilter> filter;
  ASSIGN_OR_RETURN(filter, MakeFilter());
  if (filter != nullptr) filter->SetBlobs(writer.blobs);
  stream.filter = filter.get();
  // The passing of whole blocks, without decoding their entries, is impossible with a filter, which
  // may change any entry.
  std::optional<BlockPassing> passing;
  if (filter == nullptr) passing = PassingInto(writer.table);
  EntryStream entries(stream, OpenInputs(read, passing.has_value() ? &*passing : nullptr));
  std::unique_ptr<const FragmentedTombstones> kept;
  uint64_t dropped = 0;
  if (job_.tombstones_ != nullptr) {
    DeeperLevels below_tombstones = LevelsBelow();
    const bool is_open_below = options_.plan->is_open_below;
    kept =
        TombstonesToKeep(*job_.tombstones_, {.snapshots = options_.snapshots,
                                             .full_history_ts_low = options_.full_history_ts_low,
                                             .below = is_open_below ? nullptr : &below_tombstones,
                                             .is_bottommost = HidesNothingBelow(),
                                             .begin = begin_,
                                             .end = end_,
                                             .dropped = &dropped});
    writer.tombstones = kept.get();
  }
  writer.table.has_helper = is_piped_ = IsPiped(stream);
  Division division;
  DivideByAge(kept.get(), &writer, &division);
  Status status = Write(writer, &entries);
  result.range_tombstones_dropped = dropped;
  return status;
}

// Whether a helper thread reads while this thread writes. BlobFlow is used by the reader and by the
// writer, and a filter is code of the program; neither may be used by two threads at once. If the
// job has several parts, those use the available threads already.
bool CompactionJob::Subcompaction::IsPiped(const EntryStreamOptions& stream) const {
  constexpr uint64_t kLeastBytes = uint64_t{1} << 20;  // below, a thread costs more than it saves
  return options_.may_use_helper && !begin_ && !end_ && stream.blobs == nullptr &&
         stream.filter == nullptr && options_.plan->InputBytes() >= kLeastBytes;
}

// Writes the outputs. If no helper thread could be started, this thread reads as well.
Status CompactionJob::Subcompaction::Write(const OutputWriterOptions& writer,
                                           EntryStream* entries) {
  EntryPipe pipe(entries, {.operation = options_.operation, .owners = &*bytes_});
  if (is_piped_ && !pipe.Start()) is_piped_ = false;
  if (!is_piped_) return OutputWriter(writer).WriteAll(entries, &result);
  const Status status = OutputWriter(writer).WriteAll(&pipe, &result);
  helper_cpu_micros_ = pipe.helper_cpu_micros();
  return status;
}

// One iterator over each sorted run of the inputs. Nothing is opened yet.
SortedRuns CompactionJob::Subcompaction::OpenInputs(const ReadOptions& read,
                                                    const BlockPassing* passing) const {
  assert(job_.inputs_.size() == options_.plan->inputs.size());  // set by GatherTombstones()
  IteratorBuilder tower(&options_.version->comparator(), /*arena=*/nullptr);
  for (const LevelFiles& level : job_.inputs_) {
    tower.AddTables(*options_.version, level,
                    {.options = &read, .for_compaction = true, .passing = passing});
  }
  return tower.TakeRuns();
}

// Makes a filter for this part: a filter that a factory makes is used by one thread only.
Result<std::unique_ptr<EntryFilter>> CompactionJob::Subcompaction::MakeFilter() const {
  assert(options_.plan->IsMerge());
  const ColumnFamilyOptions& family = *options_.table.family_options;
  if (!HasCompactionFilter(family)) return std::unique_ptr<EntryFilter>();
  const CompactionPlan& plan = *options_.plan;
  CompactionFilter::Context context;
  context.is_full_compaction = plan.InputFileCount() == options_.version->file_count();
  context.is_manual_compaction = plan.is_manual;
  context.input_start_level = plan.start_level;
  context.column_family_id = options_.table.family_id;
  context.reason = TableFileCreationReason::kCompaction;
  TableCache* const tables = options_.version->tables();
  for (const LevelFiles& level : job_.inputs_) {
    if (family.compaction_filter != nullptr) break;  // only factories get the context
    for (TableFile* file : level.files) {
      TableHandle table;
      ASSIGN_OR_RETURN(table, tables->PinForCompaction(file));
      context.input_table_properties[tables->PathOf(file->meta)] =
          std::make_shared<const TableProperties>(table->properties());
    }
  }
  return EntryFilter::Make(family, context, options_.table.context->writer_options.statistics);
}

// The levels below the outputs, including older tables of level 0. They decide which tombstones are
// still needed.
DeeperLevels CompactionJob::Subcompaction::LevelsBelow() const {
  assert(options_.plan->output_level < options_.version->num_levels());
  const Version& version = *options_.version;
  std::vector<DeeperLevels::Tables> levels;
  for (TableFile* const& file : options_.plan->older_in_level0) levels.emplace_back(&file, 1);
  for (Level level = options_.plan->output_level.Next(); level < version.num_levels(); ++level) {
    levels.emplace_back(version.files(level));
  }
  return DeeperLevels(version.comparator(), levels);
}

EntryStreamOptions CompactionJob::Subcompaction::StreamOptions(DeeperLevels* below) {
  EntryStreamOptions stream;
  stream.comparator = &options_.version->comparator();
  stream.snapshots = options_.snapshots;
  stream.undecided = options_.undecided;
  stream.full_history_ts_low = options_.full_history_ts_low;
  stream.trim = options_.trim;
  stream.merge = options_.merge;
  stream.on_merge_failure = options_.on_merge_failure;
  stream.below = options_.plan->is_open_below ? nullptr : below;
  stream.is_bottommost = HidesNothingBelow();
  stream.first_young = job_.first_young_;
  stream.tombstones = job_.tombstones_.get();
  stream.begin = begin_;
  stream.end = end_;
  // Called every few entries. An error of the check ends the stream, and with it the job.
  stream.on_progress = [this](uint64_t) {
    if (!is_piped_) bytes_->Tell();
    if (options_.on_pause) options_.on_pause();
    return options_.stop.Check();
  };
  return stream;
}

OutputWriterOptions CompactionJob::Subcompaction::WriterOptions() const {
  assert(options_.new_file_number != nullptr);
  const CompactionPlan& plan = *options_.plan;
  OutputWriterOptions writer;
  writer.table = options_.table;
  writer.table.level = plan.output_level;
  writer.table.base_level = plan.base_level;
  writer.table.is_bottommost = plan.is_bottommost;
  writer.table.is_lowest = IsLowest(plan, *options_.version);
  writer.table.is_open_below = plan.is_open_below;
  writer.table.is_flush = false;
  writer.table.seqno_times = job_.seqno_times_;
  if (!options_.snapshots.empty()) writer.table.oldest_snapshot = options_.snapshots.front();
  writer.table.compression = plan.compression;
  writer.table.temperature = plan.temperature;
  writer.table.target_file_bytes = plan.target_file_bytes;
  writer.table.oldest_ancestor_time = OldestAncestor(plan);
  writer.table.newest_key_time = job_.newest_key_time_;
  writer.table.epoch_number = OldestEpoch(plan);
  writer.table.filter_shift_millibits =
      FilterShiftOfCompaction(*options_.version, plan.inputs, plan.output_level);
  writer.limits = {.target_bytes = plan.target_file_bytes,
                   // A guess that lets the writer make tables of equal size.
                   .expected_bytes = plan.InputBytes() / (job_.cuts_.size() + 1),
                   .overlap_bytes = plan.max_grandparent_bytes,
                   .next_level = plan.grandparents};
  writer.new_file_number = options_.new_file_number;
  writer.observer = options_.observer;
  return writer;
}

// Writes the entries that are too young for the level of the plan to the level above, if the plan
// has a range there. Range tombstones, which are left only because of snapshots, are divided as
// well; if that is impossible, everything stays together.
void CompactionJob::Subcompaction::DivideByAge(const FragmentedTombstones* tombstones,
                                               OutputWriterOptions* writer,
                                               Division* division) const {
  const CompactionPlan& plan = *options_.plan;
  if (!plan.young_range.has_value()) return;
  if (tombstones != nullptr) {
    auto divided =
        DivideTombstones(*tombstones, job_.first_above_last_,
                         {.smallest = plan.young_range->smallest,
                          .largest = plan.young_range->largest,
                          .largest_is_inclusive = !plan.young_range->largest_is_exclusive});
    if (!divided.has_value()) return;
    division->tombstones = std::move(*divided);
    writer->tombstones = division->tombstones.old.get();
  }
  division->partitioner = MakePartitioner(*options_.table.family_options, plan, *options_.version);
  division->writer = *writer;
  division->writer.tombstones = division->tombstones.young.get();
  division->writer.table.level = Level{plan.output_level - 1};
  division->writer.table.is_bottommost = division->writer.table.is_lowest = false;
  division->writer.table.compression = kDisableCompressionOption;
  division->writer.limits.next_level = {};
  division->writer.partitioner = division->partitioner.get();
  division->outputs = {.first_young = job_.first_above_last_,
                       .smallest = plan.young_range->smallest,
                       .largest = plan.young_range->largest,
                       .largest_is_exclusive = plan.young_range->largest_is_exclusive,
                       .writer = &division->writer};
  writer->young = &division->outputs;
}

// Gathers the range tombstones of all inputs, and leaves out tables that they cover entirely. The
// levels are visited from the top, so newer tombstones are known when older tables are reached.
Status CompactionJob::GatherTombstones() {
  assert(inputs_.empty());  // called once per job
  const Version& version = *options_.version;
  for (const LevelFiles& level : options_.plan->inputs) {
    LevelFiles to_read{level.level, {}};
    const size_t known = input_tombstones_.size();
    for (TableFile* file : level.files) {
      // A table with blob references must be read even then: otherwise its references would not be
      // counted as garbage.
      const bool has_blobs = file->meta.oldest_blob_file_number != 0;
      if (!has_blobs && tombstones_ != nullptr &&
          CoversTable(*tombstones_, file->meta, options_.snapshots)) {
        continue;
      }
      to_read.files.push_back(file);
      Result<TableHandle> table = version.tables()->PinForCompaction(file);
      if (!table.ok()) return table.status();
      newest_key_time_ = std::max(
          newest_key_time_, NewestKeyTimeOf(file->meta, (*table)->properties(), options_.table));
      if ((*table)->tombstones() != nullptr) input_tombstones_.push_back((*table)->tombstones());
    }
    inputs_.push_back(std::move(to_read));
    if (input_tombstones_.size() == known) continue;
    std::vector<RangeTombstone> all;
    for (const auto& list : input_tombstones_) list->AppendTo(&all);
    options_.trim.Apply(version.comparator(), &all);
    tombstones_ =
        std::make_unique<const FragmentedTombstones>(version.comparator(), std::move(all));
  }
  return CheckLastKeys();
}

// Checks range tombstones that reach beyond the last key of their table. Such a tombstone also
// hides older versions of that key in the next table of the level, and the next table holds the
// rest of the tombstone. If the next table were missing from the inputs, the tombstone would be cut
// off, and readers would see those versions again.
Status CompactionJob::CheckLastKeys() const {
  const InternalKeyComparator& order = options_.version->comparator();
  for (const auto& list : input_tombstones_) {
    assert(!list->empty());
    assert(tombstones_ != nullptr);
    const FragmentedTombstones::Fragment last = list->fragment(list->size() - 1);
    if (!last.end_is_inclusive || options_.trim.DropsKey(order, last.end)) continue;
    for (size_t i = 0; i < last.seqnos.size(); i++) {
      const SequenceNumber seqno = last.seqnos[i];
      if (!last.stamps.empty() && options_.trim.DropsStamp(order, last.stamps[i])) continue;
      const SequenceNumber seen_by = OldestSnapshotThatSees(options_.snapshots, seqno);
      if (tombstones_->MaxCoveringSeqno(last.end, seen_by) >= seqno) continue;
      return Status::Corruption(
          StrCat("compaction: range tombstone ", seqno, " reaches behind its table's last key '",
                 last.end.ToString(), "', but no next table goes on with that key (",
                 options_.plan->DebugString(), ")"));
    }
  }
  return Status::OK();
}

// Runs all parts. Their results are appended in key order, so the output tables ascend.
Status CompactionJob::Run(OutputResult* result) {
  assert(options_.plan->IsMerge());
  assert(!options_.plan->inputs.empty());
  std::vector<std::unique_ptr<Subcompaction>> parts;
  RETURN_IF_ERROR(Cut(&parts));
  Status status = RunParts(&parts);
  for (const auto& part : parts) result->Append(std::move(part->result));
  result->part_count = static_cast<uint32_t>(parts.size());
  if (status.ok() && options_.verify_record_count && !result->has_skipped) {
    status = CheckCounts(*result);
  }
  // Nothing names the outputs of a failed job.
  if (!status.ok()) DeleteUnnamedFiles(options_.table, result);
  return status;
}

// Decides how the job is cut into parts, and creates the parts.
Status CompactionJob::Cut(std::vector<std::unique_ptr<Subcompaction>>* parts) {
  assert(parts != nullptr);
  assert(parts->empty());
  Statistics* const statistics = options_.table.context->writer_options.statistics;
  const StopWatch watch(SystemClock::Default().get(), statistics, SUBCOMPACTION_SETUP_TIME);
  RETURN_IF_ERROR(GatherTombstones());
  RETURN_IF_ERROR(GatherTimes());
  RETURN_IF_ERROR(FindCuts());
  for (size_t i = 0; i <= cuts_.size(); i++) {
    parts->push_back(std::make_unique<Subcompaction>(
        *this, static_cast<int>(i), i == 0 ? std::nullopt : std::optional<Slice>(cuts_[i - 1]),
        i == cuts_.size() ? std::nullopt : std::optional<Slice>(cuts_[i])));
  }
  RecordInHistogram(statistics, NUM_SUBCOMPACTIONS_SCHEDULED, parts->size());
  return Status::OK();
}

// A table whose property cannot be decoded adds no times. Its entries then count as young, which is
// no reason to fail.
Status CompactionJob::GatherTimes() {
  if (options_.table.seqno_times == nullptr) return Status::OK();
  const TableCache& tables = *options_.version->tables();
  SeqnoTimes times = *options_.table.seqno_times;
  for (const LevelFiles& level : inputs_) {
    for (TableFile* file : level.files) {
      TableHandle table;
      ASSIGN_OR_RETURN(table, options_.version->tables()->PinForCompaction(file));
      const Status merged = times.MergeEncoded(table->properties().seqno_to_time_mapping);
      if (merged.ok()) continue;
      Warn(options_.merge.info_log, "%s: %s", tables.PathOf(file->meta).c_str(),
           merged.ToString().c_str());
    }
  }
  const uint64_t now = options_.table.creation_time;
  const uint64_t period = SecondsOfKeptTimes(*options_.table.family_options);
  first_young_ = times.FirstYoung(now, period);
  const uint64_t precluded = options_.table.family_options->preclude_last_level_data_seconds;
  if (precluded > 0) first_above_last_ = times.FirstYoung(now, precluded);
  times.ForgetBefore(now - std::min(now, period));
  seqno_times_ = std::make_shared<const SeqnoTimes>(std::move(times));
  return Status::OK();
}

// Finds the keys at which the job is cut. A job into level 0 is not cut, because it must write a
// single table: several tables would have the same age. On other levels each part fills at least
// one table, so cutting does not increase the number of tables. If the outputs have no limit
// (CompactFiles), a part has at least the size that tables of the level have otherwise.
Status CompactionJob::FindCuts() {
  assert(cuts_.empty());
  constexpr size_t kSamplesPerTable = 128;
  const CompactionPlan& plan = *options_.plan;
  if (plan.output_level == 0 || options_.max_subcompactions <= 1) return Status::OK();
  const uint64_t target_bytes =
      plan.target_file_bytes != UINT64_MAX
          ? plan.target_file_bytes
          : TargetFileBytes(*options_.table.family_options, plan.base_level, plan.output_level);
  if (plan.InputBytes() <= target_bytes) return Status::OK();
  std::vector<KeyWeight> weights;
  for (const LevelFiles& level : inputs_) {
    for (TableFile* file : level.files) {
      TableHandle table;
      ASSIGN_OR_RETURN(table, options_.version->tables()->PinForCompaction(file));
      RETURN_IF_ERROR(table->SampleKeys(kSamplesPerTable, &weights));
    }
  }
  cuts_ = CutPoints(std::move(weights), options_.version->comparator(), options_.max_subcompactions,
                    target_bytes);
  return Status::OK();
}

// The first part runs on this thread, and each other part on a thread of its own. Waits for all
// parts, even if one has failed, because they use this object.
Status CompactionJob::RunParts(std::vector<std::unique_ptr<Subcompaction>>* parts) {
  assert(parts != nullptr);
  struct Latch {
    Mutex mutex{LockRank::kLeaf};
    CondVar done{&mutex};
    size_t left = 0;
  } latch;
  struct Task {
    Subcompaction* part;
    Latch* latch;
    const ThreadMark* marks;
    Status status;
  };
  assert(!parts->empty());
  std::vector<Task> tasks;
  for (const auto& part : *parts) {
    tasks.push_back({part.get(), &latch, ThreadMark::Innermost(), Status::OK()});
  }
  latch.left = tasks.size() - 1;
  const auto run = [](void* arg) {
    auto* task = static_cast<Task*>(arg);
    const ThreadMark::Adopted adopted(task->marks);
    task->status = task->part->Run();
    MutexLock lock(&task->latch->mutex);
    assert(task->latch->left > 0);
    task->latch->left--;
    task->latch->done.SignalAll();
  };
  size_t started = 1;
  while (started < tasks.size() && TryStartThread(options_.env, run, &tasks[started])) started++;
  tasks[0].status = tasks[0].part->Run();
  // Parts for which there was no thread.
  for (size_t i = started; i < tasks.size(); i++) run(&tasks[i]);
  {
    MutexLock lock(&latch.mutex);
    while (latch.left > 0) latch.done.Wait();
  }
  // The parts are in key order, so the error of the first failed part is returned.
  for (Task& task : tasks) RETURN_IF_ERROR(task.status);
  return Status::OK();
}

// Compares the number of entries read with the properties of the inputs. A difference means that
// entries were lost, so the outputs must not be used.
Status CompactionJob::CheckCounts(const OutputResult& result) const {
  assert(inputs_.size() == options_.plan->inputs.size());
  uint64_t expected = 0;
  for (const LevelFiles& level : inputs_) {
    for (TableFile* file : level.files) {
      Result<TableHandle> table = options_.version->tables()->PinForCompaction(file);
      if (!table.ok()) return table.status();
      const PropertiesView& properties = (*table)->facts();
      expected += properties.num_entries - properties.num_range_deletions;
    }
  }
  if (expected == result.input_entries) return Status::OK();
  return Status::Corruption(StrCat("compaction read ", result.input_entries,
                                   " entries, but the properties of its inputs promise ", expected,
                                   " (", options_.plan->DebugString(), ")"));
}

}  // namespace ashlar
