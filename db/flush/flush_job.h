// SPDX-License-Identifier: Apache-2.0
//
// FlushJob writes the entries of some sealed memtables to a new level-0 table.
//
// Pure work: it takes memtables and returns metadata; picking and installing are the caller's.
// Needs no lock. Crash: before the caller installs the result, the file is nobody's and is deleted
// at the next open.
#pragma once

#include <functional>
#include <vector>

#include "db/output/output_writer.h"
#include "memtable/memtable.h"

namespace ashlar {

struct FlushJobOptions {
  TableOutputOptions table;
  std::vector<MemTable*> memtables;  // oldest first; the caller holds references
  std::vector<SequenceNumber> snapshots;
  // A number for the next blob file, protected from deletion by the caller until the job is
  // installed.
  std::function<FileNumber()> new_blob_number;
  BlobFileObserver* blob_observer = nullptr;  // null: nobody is told
  MergeTools merge;            // without an operator operands are written as they are
  bool verifies_count = true;  // of entries: as many are read as were inserted
  bool may_filter = false;     // the program's code may run: by its factory, if that wants flushes
  // Told now and then how much of the memtables is written, 0 to 1. May be empty.
  std::function<void(double)> on_progress;
};

class FlushJob {
 public:
  explicit FlushJob(const FlushJobOptions& options) : options_(options) {}
  // One table and its blob files or, if no entry survived, none. After an error there is none.
  Status Run(OutputResult* result);

 private:
  const FlushJobOptions& options_;
};

}  // namespace ashlar
