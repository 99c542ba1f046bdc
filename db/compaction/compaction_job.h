// SPDX-License-Identifier: Apache-2.0
//
// CompactionJob merges the inputs of a plan into new tables. Long work without locks: it takes a
// version and a plan and returns metadata; picking and installing are the caller's.
//
// Outputs are cut at the target size, where the files of the next level begin, and never between
// two versions of one user key. Range tombstones take away what they hide and are written anew, cut
// at the borders of the outputs; an input that one of them covers whole is not read. Crash: before
// the result is installed, its files are nobody's and are deleted at the next open.
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
#include "db/output/output_writer.h"
#include "env/thread_list.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct CompactionJobOptions {
  TableOutputOptions table;  // number, level, epoch and ancestor's time are filled in
  const CompactionPlan* plan = nullptr;
  const Version* version = nullptr;  // the inputs' version; the caller holds a reference
  std::vector<SequenceNumber> snapshots;
  MergeTools merge;  // without an operator operands are written as they are
  OperandFold::OnFailure on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  // A number for the next output, protected from deletion by the caller until the job is installed.
  std::function<FileNumber()> new_file_number;
  StopFlags stop;
  // Called every thousand entries or so by each of its threads; may take its time. Null: never.
  std::function<void()> on_pause;
  Env* env = nullptr;
  uint32_t max_subcompactions = 1;
  // A thread beside the caller's reads and merges, if the job is one part and worth it; another one
  // compresses what takes long to compress.
  bool may_use_helper = false;
  size_t readahead_bytes = 0;
  bool verify_record_count = true;
  OutputObserver* observer = nullptr;  // null: nobody is told
  BlobFileObserver* blob_observer = nullptr;
  TrackedOperation* operation = nullptr;  // told of what its threads read and write; null: nobody
  // What of the oldest blob files is moved, 0 to 1 of their number. None: nothing.
  std::optional<double> relocated_blob_share;
  size_t blob_readahead_bytes = 0;
};

// What the program wants its outputs to be cut by; null: nothing. Level 0 takes one table, whole.
std::unique_ptr<SstPartitioner> MakePartitioner(const ColumnFamilyOptions& options,
                                                const CompactionPlan& plan, const Version& version);

class CompactionJob {
 public:
  explicit CompactionJob(const CompactionJobOptions& options) : options_(options) {}
  // After an error there are no tables.
  Status Run(OutputResult* result);

 private:
  class Subcompaction;
  // The range tombstones of the inputs, newer levels first. Tables that those before cover whole
  // are left out of inputs_, unopened.
  Status GatherTombstones();
  Status CheckLastKeys() const;
  Status Cut(std::vector<std::unique_ptr<Subcompaction>>* parts);
  Status FindCuts();
  Status RunParts(std::vector<std::unique_ptr<Subcompaction>>* parts);
  Status CheckCounts(const OutputResult& result) const;

  const CompactionJobOptions& options_;
  std::vector<LevelFiles> inputs_;  // those of the plan that have to be read
  std::vector<std::shared_ptr<const FragmentedTombstones>> input_tombstones_;  // keep the keys
  std::unique_ptr<const FragmentedTombstones> tombstones_;  // all of them; null: none
  std::vector<std::string> cuts_;  // user keys with which the parts but the first one begin
};

}  // namespace ashlar
