// SPDX-License-Identifier: Apache-2.0
//
// FlushJob writes the entries of some sealed memtables to a new level-0 table.
//
// Pure work: it takes memtables and returns metadata; picking and installing are the caller's.
// Needs no lock. Crash: before the caller installs the result, the file is nobody's and is deleted
// at the next open.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "db/output/table_output.h"
#include "memtable/memtable.h"

namespace ashlar {

struct FlushJobOptions {
  TableOutputOptions output;
  std::vector<MemTable*> memtables;  // oldest first; the caller holds references
  std::vector<SequenceNumber> snapshots;
  // Told now and then how much of the memtables is written, 0 to 1. May be empty.
  std::function<void(double)> on_progress;
};

struct FlushResult {
  std::optional<FileMetadata> file;  // none if no entry survived
  uint64_t input_entries = 0;
  uint64_t input_deletes = 0;
  uint64_t output_entries = 0;
  TableProperties properties;
};

class FlushJob {
 public:
  explicit FlushJob(const FlushJobOptions& options) : options_(options) {}
  Status Run(FlushResult* result);

 private:
  Status WriteEntries(TableOutput* output, FlushResult* result);

  const FlushJobOptions& options_;
};

}  // namespace ashlar
