// SPDX-License-Identifier: Apache-2.0
//
// OutputWriter writes the entries of a stream, and range tombstones, to as many tables as its
// limits demand, and moves large values to blob files if it has a BlobFlow.
//
// Threads: one at a time. Crash: a finished table is synced, but belongs to no version until the
// MANIFEST names it. An output that was not finished is deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/output/blob_flow.h"
#include "db/output/entry_stream.h"
#include "db/output/output_cutter.h"
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
  bool is_young = false;  // belongs to the level above that of the other outputs

  Level LevelFor(Level output_level) const {
    return is_young ? Level{output_level - 1} : output_level;
  }
};

// The outputs and counts of a flush or compaction, or of one part of it.
struct OutputResult {
  // Empty if no entry was kept. Those of one level are ascending and disjoint.
  std::vector<OutputTable> tables;
  std::vector<BlobFileAddition> blob_files;
  std::vector<BlobFileGarbage> blob_garbage;  // ascending by number, each once
  BlobFlow::Counts blobs;
  uint64_t input_entries = 0;
  uint64_t output_entries = 0;
  uint64_t hidden_dropped = 0;            // versions that a newer one hides
  uint64_t covered_dropped = 0;           // entries that a range tombstone hides
  uint64_t tombstones_dropped = 0;        // point tombstones that hid nothing any more
  uint64_t filtered = 0;                  // dropped or made tombstones by the program's filter
  uint64_t unmatched_singles = 0;         // SingleDeletes dropped without a version to delete
  uint64_t mismatched_singles = 0;        // versions other than one value deleted by them
  uint64_t corrupt_entries = 0;           // entries of an unknown kind; they end the job
  bool has_skipped = false;               // the filter skipped entries, which are not counted
  uint32_t part_count = 0;                // number of parts of a compaction in this process
  uint64_t range_tombstones_dropped = 0;  // fragments that covered nothing any more
  uint64_t bytes_written = 0;
  uint64_t passed_blocks = 0;  // blocks that were copied from inputs as they were stored
  uint64_t cpu_micros = 0;     // processor time of all threads that worked on it

  uint64_t blob_bytes_written() const {
    uint64_t bytes = 0;
    for (const BlobFileAddition& file : blob_files) bytes += file.file_bytes();
    return bytes;
  }

  // Adds the result of the part with the next higher keys.
  void Append(OutputResult part);
};

// OutputObserver is notified of the tables and the parts of a job while it runs. The calls come
// from the thread that works on the part, so several may come at the same time. No lock is held.
class OutputObserver {
 public:
  virtual ~OutputObserver() = default;
  // OnTableEnded() follows each OnTableBegun(). If the table was not finished, `status` is the
  // error and `finished` is null.
  virtual void OnTableBegun(FileNumber number) = 0;
  virtual void OnTableEnded(FileNumber number, const OutputTable* finished,
                            const Status& status) = 0;
  // Parts are numbered from 0.
  virtual void OnPartBegun(int part) = 0;
  virtual void OnPartEnded(int part, const OutputResult& result, const Status& status) = 0;
};

struct OutputWriterOptions;

// The entries that go to tables of another level.
struct YoungOutputs {
  SequenceNumber first_young = kMaxSequenceNumber;  // entries with this number or a greater one
  // Only those with user keys in this range.
  Slice smallest, largest;
  bool largest_is_exclusive = false;
  const OutputWriterOptions* writer = nullptr;  // has no YoungOutputs
};

struct OutputWriterOptions {
  TableOutputOptions table;  // of each output, except for the file number
  OutputLimits limits;
  // The range tombstones to write, which lie inside the range of the stream. Each output gets the
  // part from its first key to the first key of the next output. Null: none.
  const FragmentedTombstones* tombstones = nullptr;
  // Returns the number of the next output. The caller protects it from deletion until the job is
  // installed.
  std::function<FileNumber()> new_file_number;
  OutputObserver* observer = nullptr;  // null: none
  // The program's partitioner, which ends outputs besides the limits; outlives the writer. Null:
  // none.
  SstPartitioner* partitioner = nullptr;
  BlobFlow* blobs = nullptr;  // all entries pass through it; null: entries are written unchanged
  const YoungOutputs* young = nullptr;  // null: all entries go to the same level
};

class OutputWriter {
 public:
  // The options outlive the writer.
  explicit OutputWriter(const OutputWriterOptions& options) : options_(options) {}

  // Writes all entries. After an error the result holds the tables that were finished; the caller
  // deletes them.
  Status WriteAll(EntryStream* entries, OutputResult* result);
  // The same for entries that another thread reads meanwhile; requires options without a BlobFlow.
  Status WriteAll(EntryPipe* entries, OutputResult* result);

 private:
  template <typename Entries>
  Status WriteAndFinish(Entries* entries);
  template <typename Entries>
  Status WriteEntries(Entries* entries);
  // The same if there are YoungOutputs, which `young` writes.
  template <typename Entries>
  Status WriteToBoth(Entries* entries, OutputWriter* young);
  // Writes the current entry to the current table, or to a new one.
  template <typename Entries>
  Status WriteEntry(Entries* entries, bool is_first_of_key, OutputCutter* cutter);
  bool IsYoungRange(const Slice& user_key) const;
  // Completes the last table, or drops it after an error.
  void EndLastTable(Status* status);
  // Completes the result and moves it to *result.
  void TellCounts(const EntryStream::Counts& counts, OutputResult* result);
  Status CutBefore(const Slice& user_key, OutputCutter* cutter);
  bool PartitionsBefore(const Slice& user_key, uint64_t output_bytes);
  // Counts the range tombstones that begin at or before the key (null: all) to the current table,
  // and begins a table for them if necessary.
  Status PassTombstones(const Slice* user_key, OutputCutter* cutter);
  // Completes the current table. `next_key`: the first key of the next table; null if there is
  // none.
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
  std::string last_key_;                    // the last key passed to the partitioner
  size_t next_tombstone_ = 0;               // fragments before it have been passed
  size_t first_tombstone_ = 0;              // fragments before it have been written
  uint64_t tombstone_bytes_ = 0;            // size of the fragments that begin in table_
  std::optional<std::string> table_begin_;  // the border to the table before; nullopt: none yet
  OutputResult result_;
};

// The message of Status::SpaceLimit().
inline constexpr char kSpaceLimitReached[] = "Max allowed space was reached";

// Deletes the files of a result that no version will name. `table`: the options with which they
// were written.
void DeleteUnnamedFiles(const TableOutputOptions& table, OutputResult* result);

// The paths of these files.
std::vector<std::string> PathsOf(const TableOutputOptions& table, const OutputResult& result);

// Adds the files of a result, whose tables belong to `level`, to an edit for the MANIFEST.
void DescribeOutput(const OutputResult& result, Level level, VersionEdit* edit);

}  // namespace ashlar
