// SPDX-License-Identifier: Apache-2.0
//
// OutputWriter writes the entries of a stream to tables, as many as its limits ask for.
//
// Threads: one at a time. Crash: a finished table is synced, but nobody's until a MANIFEST names
// it; an output that was not finished is deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "db/output/entry_stream.h"
#include "db/output/output_cutter.h"
#include "db/output/table_output.h"

namespace ashlar {

// A finished table.
struct OutputTable {
  FileMetadata meta;
  TableProperties properties;
};

// What a flush or compaction, or a part of one, did.
struct OutputResult {
  std::vector<OutputTable> tables;  // ascending and disjoint; none if no entry survived
  uint64_t input_entries = 0;
  uint64_t output_entries = 0;
  uint64_t hidden_dropped = 0;      // versions behind a newer one
  uint64_t tombstones_dropped = 0;  // that hid nothing any more
  uint64_t bytes_written = 0;

  // Takes over what the part with the next higher keys did.
  void Append(OutputResult part);
};

struct OutputWriterOptions {
  TableOutputOptions table;  // of every output; the number is filled in
  OutputLimits limits;
  // A number for the next output, protected from deletion by the caller until the job is installed.
  std::function<uint64_t()> new_file_number;
};

class OutputWriter {
 public:
  // The options outlive the writer.
  explicit OutputWriter(const OutputWriterOptions& options) : options_(options) {}

  // From the first entry to the last. The result holds what was finished also after an error: those
  // tables are the caller's to delete.
  Status WriteAll(EntryStream* entries, OutputResult* result);

 private:
  Status WriteEntries(EntryStream* entries);
  Status CutBefore(const Slice& user_key, OutputCutter* cutter);
  Status FinishTable();

  const OutputWriterOptions& options_;
  std::unique_ptr<TableOutput> table_;  // null: the next entry begins one
  OutputResult result_;
};

// Deletes the tables of a result that no version is going to name. `table`: as they were written.
void DeleteUnnamedTables(const TableOutputOptions& table, OutputResult* result);

}  // namespace ashlar
