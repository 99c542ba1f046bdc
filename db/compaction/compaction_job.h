// SPDX-License-Identifier: Apache-2.0
//
// CompactionJob merges the inputs of a plan into new tables. Long work without locks: it takes a
// version and a plan and returns metadata; picking and installing are the caller's.
//
// Outputs are cut at the target size, where the files of the next level begin, and never between
// two versions of one user key. Crash: before the result is installed, its files are nobody's and
// are deleted at the next open.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/output/table_output.h"

namespace ashlar {

// A manual compaction stops when either is set; null is never set.
struct CancelFlags {
  const std::atomic<bool>* of_database = nullptr;
  const std::atomic<bool>* of_caller = nullptr;

  bool IsSet() const {
    return (of_database != nullptr && of_database->load(std::memory_order_acquire)) ||
           (of_caller != nullptr && of_caller->load(std::memory_order_acquire));
  }
};

struct CompactionJobOptions {
  // Number, level and times of each output are filled in.
  TableOutputOptions output;
  const CompactionPlan* plan = nullptr;
  const Version* version = nullptr;  // the inputs' version; the caller holds a reference
  std::vector<SequenceNumber> snapshots;
  // A number for the next output, protected from deletion by the caller until the job is installed.
  std::function<uint64_t()> new_file_number;
  // The job gives up with ShutdownInProgress soon after one of them is set. May be null.
  const std::atomic<bool>* is_closing = nullptr;
  CancelFlags cancel;  // gives Incomplete(kManualCompactionPaused)
  Env* env = nullptr;
  uint32_t max_subcompactions = 1;
  size_t readahead_bytes = 0;
  bool verify_record_count = true;
};

struct CompactionResult {
  std::vector<FileMetadata> files;
  std::vector<TableProperties> properties;  // of each of `files`
  uint64_t input_entries = 0;
  uint64_t output_entries = 0;
  uint64_t hidden_dropped = 0;      // versions behind a newer one
  uint64_t tombstones_dropped = 0;  // that hid nothing any more
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

class CompactionJob {
 public:
  explicit CompactionJob(const CompactionJobOptions& options);
  // On an error the outputs made so far are deleted.
  Status Run(CompactionResult* result);

 private:
  class Subcompaction;
  Status RunParts(std::vector<std::unique_ptr<Subcompaction>>* parts);
  Status CheckCounts(const CompactionResult& result) const;
  void DeleteOutputs(CompactionResult* result) const;

  const CompactionJobOptions& options_;
};

}  // namespace ashlar
