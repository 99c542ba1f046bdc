// SPDX-License-Identifier: Apache-2.0
//
// OutputWriter writes the entries of a stream, and range tombstones, to tables, as many as its
// limits ask for; large values to blob files, if it has a flow of them.
//
// Threads: one at a time. Crash: a finished table is synced, but nobody's until a MANIFEST names
// it; an output that was not finished is deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/output/blob_flow.h"
#include "db/output/entry_stream.h"
#include "db/output/output_cutter.h"
#include "db/output/output_observer.h"
#include "db/output/table_output.h"
#include "util/keys/file_number.h"

namespace ashlar {

class EntryPipe;
class SstPartitioner;
struct VersionEdit;

// A finished table.
struct OutputTable {
  FileMetadata meta;
  TableProperties properties;
};

// What a flush or compaction, or a part of one, did.
struct OutputResult {
  std::vector<OutputTable> tables;  // ascending and disjoint; none if nothing survived
  std::vector<BlobFileAddition> blob_files;
  std::vector<BlobFileGarbage> blob_garbage;  // ascending by number, each once
  BlobFlow::Counts blobs;
  uint64_t input_entries = 0;
  uint64_t output_entries = 0;
  uint64_t hidden_dropped = 0;            // versions behind a newer one
  uint64_t covered_dropped = 0;           // entries under a range tombstone
  uint64_t tombstones_dropped = 0;        // that hid nothing any more
  uint64_t filtered = 0;                  // dropped, or made tombstones, by the program's filter
  uint64_t unmatched_singles = 0;         // SingleDeletes that went without a version to delete
  uint64_t mismatched_singles = 0;        // whatever but a value was deleted by one
  uint64_t corrupt_entries = 0;           // which ended the job
  bool has_skipped = false;               // which spared entries: they are in no count
  uint32_t part_count = 0;                // of a compaction that has run here
  uint64_t range_tombstones_dropped = 0;  // fragments that cover nothing any more
  uint64_t bytes_written = 0;
  uint64_t passed_blocks = 0;  // that went into tables as they were stored in others
  uint64_t cpu_micros = 0;     // of the threads that worked on it

  uint64_t blob_bytes_written() const {
    uint64_t bytes = 0;
    for (const BlobFileAddition& file : blob_files) bytes += file.file_bytes();
    return bytes;
  }

  // Takes over what the part with the next higher keys did.
  void Append(OutputResult part);
};

struct OutputWriterOptions {
  TableOutputOptions table;  // of every output; the number is filled in
  OutputLimits limits;
  // The range tombstones to be written, inside the range of the stream. Each output gets the part
  // from its first key to the next one's. Null for none.
  const FragmentedTombstones* tombstones = nullptr;
  // A number for the next output, protected from deletion by the caller until the job is installed.
  std::function<FileNumber()> new_file_number;
  OutputObserver* observer = nullptr;  // null: nobody is told
  // The program's, which ends outputs besides the limits; outlives the writer. Null: none.
  SstPartitioner* partitioner = nullptr;
  BlobFlow* blobs = nullptr;  // entries pass through it; null: as they are
};

class OutputWriter {
 public:
  // The options outlive the writer.
  explicit OutputWriter(const OutputWriterOptions& options) : options_(options) {}

  // From the first entry to the last. The result holds what was finished also after an error: those
  // tables are the caller's to delete.
  Status WriteAll(EntryStream* entries, OutputResult* result);
  // The same entries, which another thread reads meanwhile; there is no flow of blobs.
  Status WriteAll(EntryPipe* entries, OutputResult* result);

 private:
  template <typename Entries>
  Status WriteAndFinish(Entries* entries);
  template <typename Entries>
  Status WriteEntries(Entries* entries);
  void TellCounts(const EntryStream::Counts& counts, OutputResult* result);
  Status CutBefore(const Slice& user_key, OutputCutter* cutter);
  bool PartitionsBefore(const Slice& user_key, uint64_t output_bytes);
  // Range tombstones that begin at or before the key, which may be null for all, come into the
  // table that is being written, or begin one.
  Status PassTombstones(const Slice* user_key, OutputCutter* cutter);
  // `next_key`: where the next table begins; null if this is the last one.
  Status FinishTable(const Slice* next_key);
  Status CheckSpaceLimit() const;
  Status BeginTable(const Slice& first_key);
  void TellEnd(FileNumber number, const OutputTable* finished, const Status& status);
  Status WriteTombstonesBefore(const Slice* next_key);
  size_t tombstone_count() const {
    return options_.tombstones == nullptr ? 0 : options_.tombstones->size();
  }

  const OutputWriterOptions& options_;
  std::unique_ptr<TableOutput> table_;      // null: the next entry begins one
  std::string table_first_key_;             // the user key with which table_ begins
  std::string last_key_;                    // what a partitioner was asked about last
  size_t next_tombstone_ = 0;               // fragments before it have been passed
  size_t first_tombstone_ = 0;              // and those before this one are written
  uint64_t tombstone_bytes_ = 0;            // of those that begin in table_
  std::optional<std::string> table_begin_;  // where the table before ended; none in the first one
  OutputResult result_;
};

// What a Status::SpaceLimit() says.
inline constexpr char kSpaceLimitReached[] = "Max allowed space was reached";

// Deletes the files of a result that no version is going to name. `table`: as they were written.
void DeleteUnnamedFiles(const TableOutputOptions& table, OutputResult* result);

// What the MANIFEST is to record of a result, whose tables are on `level`.
void DescribeOutput(const OutputResult& result, Level level, VersionEdit* edit);

}  // namespace ashlar
