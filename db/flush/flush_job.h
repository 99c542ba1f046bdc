// SPDX-License-Identifier: Apache-2.0
//
// FlushJob writes the entries of some immutable memtables to a new level-0 table.
//
// It gets memtables and returns metadata, and needs no lock. The caller picks the memtables and
// installs the result. Crash: until the result is installed, its files belong to no version and are
// deleted at the next open.
#pragma once

#include <functional>
#include <vector>

#include "db/output/output_writer.h"
#include "memtable/memtable.h"
#include "util/keys/seqno_range.h"

namespace ashlar {

// Everything that a flush needs; the pointers outlive the job.
struct FlushJobOptions {
  TableOutputOptions table;
  std::vector<MemTable*> memtables;  // oldest first; the caller holds references
  std::vector<SequenceNumber> snapshots;
  SeqnoRanges undecided;            // the program's filter does not get it
  std::string full_history_ts_low;  // of a stamped family; empty: it was never raised
  // Returns the number of the next blob file. The caller protects it from deletion until the job is
  // installed.
  std::function<FileNumber()> new_blob_number;
  BlobFileObserver* blob_observer = nullptr;  // null: none
  MergeTools merge;                           // without an operator, operands are written unchanged
  bool verifies_count = true;  // the number of entries read must equal the number inserted
  bool may_filter = false;     // a filter factory of the program is asked whether it wants flushes
  // Called repeatedly with the share of the entries that were written, 0 to 1. May be empty.
  std::function<void(double)> on_progress;
};

class FlushJob {
 public:
  explicit FlushJob(const FlushJobOptions& options) : options_(options) {}
  // Writes one table and its blob files, or no table if no entry is kept. After an error there are
  // no new files.
  Status Run(OutputResult* result);

 private:
  const FlushJobOptions& options_;
};

}  // namespace ashlar
