// SPDX-License-Identifier: Apache-2.0
//
// TableOutput writes one new table of a flush or compaction: the file, its builder, and the
// metadata that the MANIFEST will record.
//
// Threads: one at a time. Crash: Finish() syncs the file; the caller syncs the directory before a
// version edit names the file. The destructor deletes an output that was not finished.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "db/manifest/file_metadata.h"
#include "env/file_writer.h"
#include "table/plain/bare_table_writer.h"
#include "table/range_del/range_tombstone.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

class BlobStore;
class EntriesHash;
class PassedBlock;
class SeqnoTimes;
class SstFileManagerImpl;
struct BlockPassing;

// The settings that all tables of a database share.
struct TableOutputContext {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  FileWriterOptions writer_options;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  bool write_for_7_8 = false;
  std::shared_ptr<FileChecksumGenFactory> checksum_factory;  // null: whole files have no checksums
  SstFileManagerImpl* space = nullptr;  // counts the finished files; null: files are not counted
};

// The settings of one table. db/jobs/table_options.h fills in those that do not depend on the job.
struct TableOutputOptions {
  const TableOutputContext* context = nullptr;
  // Replaces the buffering of context->writer_options, which was set when the database was opened.
  struct Buffering {
    size_t buffer_bytes = 0;
    uint64_t bytes_per_sync = 0;
    bool is_strict = false;  // waits for the previous range before it syncs the next one
  };
  std::optional<Buffering> buffering;
  std::shared_ptr<const ColumnFamilyOptions> family_options;
  const InternalKeyComparator* comparator = nullptr;  // outlives the output
  std::string family_name;
  uint32_t family_id = 0;
  std::string dir;  // the directory of path_id
  uint32_t path_id = 0;
  std::string blob_dir;
  // Times are in seconds since 1970; 0: unknown.
  uint64_t creation_time = 0;
  uint64_t oldest_ancestor_time = 0;  // of the oldest flush whose entries the table may hold
  uint64_t oldest_key_time = 0;       // of the oldest entry; 0 except in a flush
  uint64_t newest_key_time = 0;       // no entry is younger; 0: creation_time

  FileNumber file_number = 0;
  Level level = 0;
  Level base_level = 1;  // the level into which level 0 is compacted
  bool is_bottommost = false;
  bool is_lowest = false;      // no compaction merges the table with data further down
  bool is_open_below = false;  // older data may be added below the table later
  bool is_flush = true;        // made from memtables; false: from other tables
  bool has_helper = false;     // threads besides the caller's may work for it
  CompressionType compression = kDisableCompressionOption;  // this value: the family's options
  uint64_t target_file_bytes = 0;                           // 0: unknown
  int32_t filter_shift_millibits = 0;                       // see filter_bits.h
  Temperature temperature = Temperature::kUnknown;          // this value: the family's options
  uint64_t epoch_number = 0;
  // The oldest snapshot for which the job keeps older versions and tombstones.
  SequenceNumber oldest_snapshot = kMaxSequenceNumber;
  const BlobStore* blob_store = nullptr;  // of the family; outlives the output. Null: none
  // When sequence numbers were written, as far as is known when the job begins. Null: the family
  // does not keep times, and its tables carry none.
  std::shared_ptr<const SeqnoTimes> seqno_times;
};

// The storage tier of a table on `level`. Compactions write the tables of the last level, flushes
// never do, even if the family has a single level.
Temperature TemperatureFor(const ColumnFamilyOptions& options, Level level, bool is_flush);
// The storage tier of a table with these options.
Temperature TemperatureFor(const TableOutputOptions& options);

// The number of threads that compress blocks: the number in the options, but at least two if
// helpers are allowed and the compression takes longer than all other work together.
uint32_t CompressionThreads(const CompressionOptions& options, CompressionType type,
                            bool has_helper);

// How the files of such an output are written, apart from their contents.
FileWriterOptions WriterOptionsFor(const TableOutputOptions& options);
FileOptions FileOptionsFor(const TableOutputOptions& options);

// The conditions under which such an output accepts blocks of other tables; nullopt: it accepts
// none.
std::optional<BlockPassing> PassingInto(const TableOutputOptions& options);

// Deletes a finished table that no version will name. If the deletion fails, the next open deletes
// the file.
void DeleteUnnamedTable(const TableOutputOptions& options, FileNumber file_number);

class TableOutput {
 public:
  [[gnu::cold]] static Result<std::unique_ptr<TableOutput>> Create(
      const TableOutputOptions& options);
  ~TableOutput();

  // Adds a point entry; keys must be strictly ascending.
  Status Add(const Slice& internal_key, const Slice& value);  // may be a blob index
  // The entry that is added next is not the newest version of its key.
  void NoteOlderVersion() { has_older_versions_ = true; }
  // The next entry begins this block of another table: see TableBuilder.
  void OfferBlock(PassedBlock* block) { builder_->OfferBlock(block); }
  // Adds a range tombstone that is not empty; may be called at any time before Finish(). The
  // boundary keys of the table will include its whole range.
  Status AddTombstone(const RangeTombstone& tombstone);
  // The size of the file so far, including the block under construction.
  uint64_t FileBytes() const { return builder_->FileSize(); }
  uint64_t entry_count() const { return builder_->num_entries(); }
  uint64_t passed_blocks() const { return builder_->passed_blocks(); }
  FileNumber file_number() const { return options_.file_number; }

  // Completes and syncs the file, reads it back if options ask for it, and fills in the metadata.
  Status Finish(FileMetadata* meta);
  const TableProperties& properties() const { return builder_->properties(); }

 private:
  explicit TableOutput(const TableOutputOptions& options);
  Status ReadBack(const FileMetadata& meta);
  void BeginChecksum();
  void NoteChecksum();
  void SetBounds();
  Status NoteBlob(const Slice& internal_key, const Slice& index);
  void CountTombstones(const Slice& internal_key);
  bool IsDenseWithTombstones() const;

  const TableOutputOptions options_;
  BlockBasedTableOptions table_options_;
  BareTableFormat bare_format_;
  std::string path_;
  std::unique_ptr<EntriesHash> entries_hash_;        // null: the table is not read back
  std::unique_ptr<FileChecksumGenerator> checksum_;  // of the whole file; null: none
  std::unique_ptr<FileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  FileMetadata meta_;
  // The first and the last point entry; empty if there is none.
  std::string first_key_, last_key_;
  // The smallest begin and the largest end of the range tombstones, as internal keys; empty without
  // tombstones.
  std::string first_begin_, last_end_;
  bool has_older_versions_ = false;
  uint64_t tombstones_ = 0;         // number of point tombstones
  uint64_t tombstones_in_row_ = 0;  // length of the row of tombstones that ends at the last entry
  uint64_t longest_row_ = 0;        // length of the longest row
  bool is_finished_ = false;
};

// The compression of a table on `level`; `is_bottommost`: no deeper level has files. With dynamic
// levels, the second entry of compression_per_level belongs to the base level, into which level 0
// is compacted.
CompressionType CompressionFor(const ColumnFamilyOptions& options, Level level, Level base_level,
                               bool is_bottommost);
// The compression of a table with these options.
CompressionType CompressionFor(const TableOutputOptions& options);

}  // namespace ashlar
