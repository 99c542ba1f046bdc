// SPDX-License-Identifier: Apache-2.0
//
// CompactionJob merges the inputs of a plan into new tables. It is long work without locks: it gets
// a version and a plan, and returns metadata. The caller picks the plan and installs the result.
//
// Outputs are cut at the target size or where the files of the next level begin, and never between
// two versions of one user key. Entries hidden by range tombstones are dropped, and the tombstones
// are written anew, cut at the borders of the outputs. An input that is completely covered by one
// is not read. Crash: files of a result that was not installed belong to no version and are deleted
// at the next open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/sst_partitioner.h"
#include "db/compaction/compaction_picker.h"
#include "db/compaction/stop_flags.h"
#include "db/output/history_trim.h"
#include "db/output/output_writer.h"
#include "db/output/seqno_times.h"
#include "env/thread_list.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/file_number.h"
#include "util/keys/seqno_range.h"

namespace ashlar {

struct CompactionJobOptions {
  TableOutputOptions table;  // number, level, epoch and ancestor time are set by the job
  const CompactionPlan* plan = nullptr;
  const Version* version = nullptr;  // the inputs' version; the caller holds a reference
  std::vector<SequenceNumber> snapshots;
  SeqnoRanges undecided;            // the program's filter does not get it
  std::string full_history_ts_low;  // of a stamped family; empty: it was never raised
  HistoryTrim trim;                 // of a stamped family
  MergeTools merge;                 // without an operator, operands are written unchanged
  OperandFold::OnFailure on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  // Returns the number of the next output. The caller protects it from deletion until the job is
  // installed.
  std::function<FileNumber()> new_file_number;
  StopFlags stop;
  // Called by each thread of the job after about a thousand entries; may block. Null: not called.
  std::function<void()> on_pause;
  Env* env = nullptr;
  uint32_t max_subcompactions = 1;
  // If the job is a single part and large enough, a helper thread reads and merges while the
  // caller's thread writes. Another one compresses blocks if the compression is slow.
  bool may_use_helper = false;
  size_t readahead_bytes = 0;
  bool verify_record_count = true;
  OutputObserver* observer = nullptr;  // null: none
  BlobFileObserver* blob_observer = nullptr;
  TrackedOperation* operation = nullptr;  // gets the bytes read and written; null: none
  // The share of the blob files, from the oldest on, whose values are moved: 0 to 1. nullopt: no
  // value is.
  std::optional<double> relocated_blob_share;
  size_t blob_readahead_bytes = 0;
};

// The program's partitioner for the outputs; null: none. Null for level 0 too, where the output
// must be one table.
std::unique_ptr<SstPartitioner> MakePartitioner(const ColumnFamilyOptions& options,
                                                const CompactionPlan& plan, const Version& version);

class CompactionJob {
 public:
  explicit CompactionJob(const CompactionJobOptions& options) : options_(options) {}
  // Runs the job. After an error there are no new files.
  Status Run(OutputResult* result);

 private:
  class Subcompaction;
  // Collects the range tombstones of the inputs, newer levels first, and sets inputs_. Tables that
  // are covered by tombstones of newer levels are not opened and are left out of inputs_.
  Status GatherTombstones();
  // Collects what the inputs know about the times of their sequence numbers.
  Status GatherTimes();
  Status CheckLastKeys() const;
  Status Cut(std::vector<std::unique_ptr<Subcompaction>>* parts);
  Status FindCuts();
  Status RunParts(std::vector<std::unique_ptr<Subcompaction>>* parts);
  Status CheckCounts(const OutputResult& result) const;

  const CompactionJobOptions& options_;
  std::vector<LevelFiles> inputs_;  // the inputs of the plan that must be read
  // These lists own the keys of tombstones_.
  std::vector<std::shared_ptr<const FragmentedTombstones>> input_tombstones_;
  std::unique_ptr<const FragmentedTombstones> tombstones_;  // of all inputs; null: none
  // When the numbers of the inputs were written; null: the family does not keep times.
  std::shared_ptr<const SeqnoTimes> seqno_times_;
  SequenceNumber first_young_ = kMaxSequenceNumber;  // entries from this number on keep it
  // Entries from this number on stay off the last level, in the plan's young_range.
  SequenceNumber first_above_last_ = kMaxSequenceNumber;
  uint64_t newest_key_time_ = 0;   // of inputs_, in seconds since 1970
  std::vector<std::string> cuts_;  // the first user key of each part, except for the first part
};

}  // namespace ashlar
