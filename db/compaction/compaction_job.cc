// SPDX-License-Identifier: Apache-2.0
//
// A job is cut at user keys into subcompactions of about equal input bytes. Each merges its range:
//
//   inputs -> MergingIterator -> VersionRetention (keep or drop) -> OutputCutter -> TableOutput
#include "db/compaction/compaction_job.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "ashlar/env.h"
#include "db/compaction/output_cutter.h"
#include "db/output/version_retention.h"
#include "db/version/level_iterator.h"
#include "db/version/table_cache.h"
#include "table/iterator/merging_iterator.h"
#include "util/epoch.h"
#include "util/mutex.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

// Whether the levels under the output level hold a key; keys come in ascending order, so one
// position a level suffices.
class KeysBelow final : public DeeperLevels {
 public:
  KeysBelow(const Version& version, int output_level)
      : version_(version), first_level_(output_level + 1) {
    positions_.resize(static_cast<size_t>(std::max(version.num_levels() - first_level_, 0)), 0);
  }

  bool MayContain(const Slice& user_key) override {
    const InternalKeyComparator& cmp = version_.comparator();
    for (size_t i = 0; i < positions_.size(); i++) {
      const auto& files = version_.files(first_level_ + static_cast<int>(i));
      size_t& position = positions_[i];
      while (position < files.size() &&
             cmp.CompareUserKeys(files[position]->meta.largest_user_key(), user_key) < 0) {
        position++;
      }
      if (position < files.size() &&
          cmp.CompareUserKeys(files[position]->meta.smallest_user_key(), user_key) <= 0) {
        return true;
      }
    }
    return false;
  }

 private:
  const Version& version_;
  const int first_level_;
  std::vector<size_t> positions_;
};

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

uint64_t OldestEpoch(const CompactionPlan& plan) {
  uint64_t oldest = UINT64_MAX;
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) oldest = std::min(oldest, file->meta.epoch_number);
  }
  return oldest;
}

}  // namespace

// The part of a job in [begin, end) of user keys.
class CompactionJob::Subcompaction {
 public:
  Subcompaction(const CompactionJobOptions& options, std::optional<Slice> begin,
                std::optional<Slice> end)
      : options_(options), begin_(begin), end_(end) {}

  Status Run();
  CompactionResult result;

 private:
  std::vector<InternalIterator*> OpenInputs(const ReadOptions& read);
  Status MergeAll(MergingIterator* inputs);
  Status Take(const Slice& key, const Slice& value, OutputCutter* cutter);
  Status StartOutput();
  Status FinishOutput();
  Status CheckStop() const;

  const CompactionJobOptions& options_;
  const std::optional<Slice> begin_;
  const std::optional<Slice> end_;
  std::unique_ptr<TableOutput> output_;
  std::string rewritten_key_;
};

std::vector<InternalIterator*> CompactionJob::Subcompaction::OpenInputs(const ReadOptions& read) {
  std::vector<InternalIterator*> children;
  TableCache* tables = options_.version->tables();
  for (const LevelFiles& level : options_.plan->inputs) {
    if (level.level == 0) {
      for (TableFile* file : level.files) {
        children.push_back(tables->NewIterator(read, file, nullptr, /*for_compaction=*/true));
      }
    } else {
      children.push_back(new LevelIterator({.read = &read,
                                            .comparator = &options_.version->comparator(),
                                            .tables = tables,
                                            .for_compaction = true},
                                           level.files));
    }
  }
  return children;
}

Status CompactionJob::Subcompaction::Run() {
  ReadOptions read;
  read.fill_cache = false;
  read.readahead_size = options_.readahead_bytes;
  MergingIterator inputs(&options_.version->comparator(), OpenInputs(read), IteratorHome::kHeap);
  Status status = MergeAll(&inputs);
  if (status.ok() && output_ != nullptr) status = FinishOutput();
  output_.reset();
  return status;
}

Status CompactionJob::Subcompaction::CheckStop() const {
  if (options_.is_closing != nullptr && options_.is_closing->load(std::memory_order_acquire)) {
    return Status::ShutdownInProgress();
  }
  if (options_.cancel.IsSet()) {
    return Status::Incomplete(Status::kManualCompactionPaused);
  }
  return Status::OK();
}

Status CompactionJob::Subcompaction::MergeAll(MergingIterator* inputs) {
  const CompactionPlan& plan = *options_.plan;
  const InternalKeyComparator& cmp = options_.version->comparator();
  KeysBelow below(*options_.version, plan.output_level);
  VersionRetention retention(cmp, options_.snapshots, &below, plan.is_bottommost);
  OutputCutter cutter(cmp, plan);
  constexpr uint64_t kEntriesPerStopCheck = 1024;

  if (begin_.has_value()) {
    inputs->Seek(MakeInternalKey(*begin_, kMaxSequenceNumber, kValueTypeForSeek));
  } else {
    inputs->SeekToFirst();
  }
  for (; inputs->Valid(); inputs->Next()) {
    const Slice key = inputs->key();
    const Slice user_key = ExtractUserKey(key);
    if (end_.has_value() && cmp.CompareUserKeys(user_key, *end_) >= 0) break;
    if (result.input_entries++ % kEntriesPerStopCheck == 0) RETURN_IF_ERROR(CheckStop());
    const uint64_t trailer = ExtractTrailer(key);
    const ValueType type = TrailerType(trailer);
    if (!IsPointEntryType(type)) {
      return Status::Corruption("compaction input: unknown kind of entry",
                                DescribeInternalKey(key, /*hex=*/true));
    }
    switch (retention.Decide(user_key, TrailerSeqno(trailer), type)) {
      case VersionRetention::Verdict::kDrop:
        if (retention.drop_reason() == VersionRetention::DropReason::kHidden) {
          result.hidden_dropped++;
        } else {
          result.tombstones_dropped++;
        }
        continue;
      case VersionRetention::Verdict::kKeep:
        RETURN_IF_ERROR(Take(key, inputs->value(), &cutter));
        break;
      case VersionRetention::Verdict::kKeepWithoutSeqno:
        rewritten_key_.clear();
        AppendInternalKey(&rewritten_key_, user_key, PackTrailer(0, type));
        RETURN_IF_ERROR(Take(rewritten_key_, inputs->value(), &cutter));
        break;
    }
  }
  return inputs->status();
}

Status CompactionJob::Subcompaction::Take(const Slice& key, const Slice& value,
                                          OutputCutter* cutter) {
  const uint64_t bytes = output_ == nullptr ? 0 : output_->FileBytes();
  if (cutter->ShouldCutBefore(key, bytes) && output_ != nullptr) RETURN_IF_ERROR(FinishOutput());
  if (output_ == nullptr) {
    RETURN_IF_ERROR(StartOutput());
    cutter->NoteNewOutput();
  }
  result.output_entries++;
  return output_->Add(key, value);
}

Status CompactionJob::Subcompaction::StartOutput() {
  TableOutputOptions output = options_.output;
  output.file_number = options_.new_file_number();
  output.level = options_.plan->output_level;
  output.is_bottommost = options_.plan->is_bottommost;
  output.oldest_ancestor_time = OldestAncestor(*options_.plan);
  output.epoch_number = OldestEpoch(*options_.plan);
  ASSIGN_OR_RETURN(output_, TableOutput::Create(output));
  return Status::OK();
}

Status CompactionJob::Subcompaction::FinishOutput() {
  RETURN_IF_ERROR(CheckStop());
  FileMetadata meta;
  RETURN_IF_ERROR(output_->Finish(&meta));
  result.bytes_written += meta.file_size;
  result.files.push_back(std::move(meta));
  result.properties.push_back(output_->properties());
  output_.reset();
  return Status::OK();
}

CompactionJob::CompactionJob(const CompactionJobOptions& options) : options_(options) {}

namespace {

// User keys at which to cut the job: borders of input files, spread evenly over the input bytes.
std::vector<Slice> CutPoints(const CompactionPlan& plan, const InternalKeyComparator& cmp,
                             uint32_t parts) {
  std::vector<std::pair<Slice, uint64_t>> borders;
  uint64_t total = 0;
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) {
      borders.emplace_back(file->meta.smallest_user_key(), file->meta.file_size);
      total += file->meta.file_size;
    }
  }
  std::sort(borders.begin(), borders.end(), [&cmp](const auto& a, const auto& b) {
    return cmp.CompareUserKeys(a.first, b.first) < 0;
  });
  std::vector<Slice> cuts;
  uint64_t seen = 0;
  for (const auto& [key, bytes] : borders) {
    const bool is_due = seen * parts >= total * (cuts.size() + 1);
    const bool is_new = cuts.empty() ? cmp.CompareUserKeys(borders.front().first, key) < 0
                                     : cmp.CompareUserKeys(cuts.back(), key) < 0;
    if (is_due && is_new && cuts.size() + 1 < parts) cuts.push_back(key);
    seen += bytes;
  }
  return cuts;
}

}  // namespace

Status CompactionJob::Run(CompactionResult* result) {
  const CompactionPlan& plan = *options_.plan;
  const std::vector<Slice> cuts =
      CutPoints(plan, options_.version->comparator(), std::max(options_.max_subcompactions, 1u));
  std::vector<std::unique_ptr<Subcompaction>> parts;
  for (size_t i = 0; i <= cuts.size(); i++) {
    parts.push_back(std::make_unique<Subcompaction>(
        options_, i == 0 ? std::nullopt : std::optional<Slice>(cuts[i - 1]),
        i == cuts.size() ? std::nullopt : std::optional<Slice>(cuts[i])));
  }
  Status status = RunParts(&parts);
  for (const auto& part : parts) {
    CompactionResult& from = part->result;
    std::move(from.files.begin(), from.files.end(), std::back_inserter(result->files));
    std::move(from.properties.begin(), from.properties.end(),
              std::back_inserter(result->properties));
    result->input_entries += from.input_entries;
    result->output_entries += from.output_entries;
    result->hidden_dropped += from.hidden_dropped;
    result->tombstones_dropped += from.tombstones_dropped;
    result->bytes_written += from.bytes_written;
  }
  result->bytes_read = plan.InputBytes();
  if (status.ok() && options_.verify_record_count) status = CheckCounts(*result);
  if (!status.ok()) DeleteOutputs(result);
  return status;
}

// The first part runs here, the others in threads of their own.
Status CompactionJob::RunParts(std::vector<std::unique_ptr<Subcompaction>>* parts) {
  struct Latch {
    Mutex mutex{LockRank::kLeaf};
    CondVar done{&mutex};
    size_t left = 0;
  } latch;
  struct Task {
    Subcompaction* part;
    Latch* latch;
    Status status;
  };
  std::vector<Task> tasks;
  for (const auto& part : *parts) tasks.push_back({part.get(), &latch, Status::OK()});
  latch.left = tasks.size() - 1;
  for (size_t i = 1; i < tasks.size(); i++) {
    options_.env->StartThread(
        [](void* arg) {
          auto* task = static_cast<Task*>(arg);
          task->status = task->part->Run();
          MutexLock lock(&task->latch->mutex);
          task->latch->left--;
          task->latch->done.SignalAll();
        },
        &tasks[i]);
  }
  tasks[0].status = tasks[0].part->Run();
  {
    MutexLock lock(&latch.mutex);
    while (latch.left > 0) latch.done.Wait();
  }
  for (Task& task : tasks) RETURN_IF_ERROR(task.status);
  return Status::OK();
}

// What was read must be what the inputs say they hold.
Status CompactionJob::CheckCounts(const CompactionResult& result) const {
  uint64_t expected = 0;
  for (const LevelFiles& level : options_.plan->inputs) {
    for (TableFile* file : level.files) {
      EpochGuard guard;
      auto reader = options_.version->tables()->Find(file);
      if (!reader.ok()) return reader.status();
      const TableProperties& properties = (*reader)->properties();
      expected += properties.num_entries - properties.num_range_deletions;
    }
  }
  if (expected == result.input_entries) return Status::OK();
  return Status::Corruption(StrCat("compaction read ", result.input_entries,
                                   " entries, but the properties of its inputs promise ", expected,
                                   " (", options_.plan->DebugString(), ")"));
}

void CompactionJob::DeleteOutputs(CompactionResult* result) const {
  for (const FileMetadata& file : result->files) {
    DeleteUnnamedTable(options_.output, file.number);
  }
  result->files.clear();
  result->properties.clear();
}

}  // namespace ashlar
