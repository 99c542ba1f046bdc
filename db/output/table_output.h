// SPDX-License-Identifier: Apache-2.0
//
// TableOutput writes one new table of a flush or compaction: a file, its builder, and the metadata
// the MANIFEST will record.
//
// Threads: one at a time. Crash: Finish() syncs the file; the directory must be synced before an
// edit names it. An output that is not finished is deleted from disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "db/manifest/file_metadata.h"
#include "env/file_writer.h"
#include "table/range_del/range_tombstone.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

class BlobStore;
class EntriesHash;
class PassedBlock;
class SstFileManagerImpl;
struct BlockPassing;

// What all tables of a database have in common.
struct TableOutputContext {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  FileWriterOptions writer_options;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  bool write_for_7_8 = false;
  std::shared_ptr<FileChecksumGenFactory> checksum_factory;  // null: whole files have no checksums
  SstFileManagerImpl* space = nullptr;  // counts the files that are finished; null: nobody does
};

// db/jobs/table_options.h fills in what does not depend on the job.
struct TableOutputOptions {
  const TableOutputContext* context = nullptr;
  // Instead of those of the context's writer_options, which are of the time of opening.
  struct Buffering {
    size_t buffer_bytes = 0;
    uint64_t bytes_per_sync = 0;
    bool is_strict = false;  // what was asked for before is waited for
  };
  std::optional<Buffering> buffering;
  std::shared_ptr<const ColumnFamilyOptions> family_options;
  const InternalKeyComparator* comparator = nullptr;  // outlives the output
  std::string family_name;
  uint32_t family_id = 0;
  std::string dir;  // that of the path id
  uint32_t path_id = 0;
  std::string blob_dir;
  uint64_t creation_time = 0;         // this and the next one in seconds since 1970; 0: unknown
  uint64_t oldest_ancestor_time = 0;  // of the oldest flush whose entries it may hold
  uint64_t oldest_key_time = 0;       // of the oldest entry; like the others, and 0 but in a flush

  FileNumber file_number = 0;
  Level level = 0;
  Level base_level = 1;  // level 0 is compacted into it
  bool is_bottommost = false;
  bool is_open_below = false;  // something older may come to lie below later
  bool is_flush = true;        // of memtables; else of other tables
  bool has_helper = false;     // threads beside the caller's may work for it
  CompressionType compression = kDisableCompressionOption;  // or, instead of what the options say
  uint64_t target_file_bytes = 0;                           // 0: unknown
  int32_t filter_shift_millibits = 0;                       // see filter_bits.h
  uint64_t epoch_number = 0;
  // Of the snapshots that the job keeps older versions and tombstones for.
  SequenceNumber oldest_snapshot = kMaxSequenceNumber;
  const BlobStore* blob_store = nullptr;  // of the family; outlives the output. Null: none
};

// How many threads compress blocks: what the options say, and at least two where helpers may and
// compressing takes longer than all else together.
uint32_t CompressionThreads(const CompressionOptions& options, CompressionType type,
                            bool has_helper);

// How files of such an output are written, apart from what for.
FileWriterOptions WriterOptionsFor(const TableOutputOptions& options);
FileOptions FileOptionsFor(const TableOutputOptions& options);

// What such an output asks of blocks of other tables; none: it takes none.
std::optional<BlockPassing> PassingInto(const TableOutputOptions& options);

// Deletes a finished table of these options that no version is going to name. What stays for an
// error is deleted at the next open.
void DeleteUnnamedTable(const TableOutputOptions& options, FileNumber file_number);

class TableOutput {
 public:
  [[gnu::cold]] static Result<std::unique_ptr<TableOutput>> Create(
      const TableOutputOptions& options);
  ~TableOutput();

  // A point entry; in strictly ascending order.
  Status Add(const Slice& internal_key, const Slice& value);  // may be a blob index
  // The entry added next is not the newest of its key.
  void NoteOlderVersion() { has_older_versions_ = true; }
  // The next entry begins this block of another table: see TableBuilder.
  void OfferBlock(PassedBlock* block) { builder_->OfferBlock(block); }
  // Not empty; at any time. The table answers for all of its range.
  Status AddTombstone(const RangeTombstone& tombstone);
  // Bytes of the file so far, the block under construction included.
  uint64_t FileBytes() const { return builder_->FileSize(); }
  uint64_t entry_count() const { return builder_->num_entries(); }
  uint64_t passed_blocks() const { return builder_->passed_blocks(); }
  FileNumber file_number() const { return options_.file_number; }

  // Completes and syncs the file.
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
  std::string path_;
  std::unique_ptr<EntriesHash> entries_hash_;        // of what is read back; null: nothing is
  std::unique_ptr<FileChecksumGenerator> checksum_;  // of the whole file; null: none
  std::unique_ptr<FileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  FileMetadata meta_;
  // Of the point entries; empty without any.
  std::string first_key_, last_key_;
  // Of the range tombstones, as internal keys: the smallest begin and the largest end.
  std::string first_begin_, last_end_;
  bool has_older_versions_ = false;
  uint64_t tombstones_ = 0;         // of points
  uint64_t tombstones_in_row_ = 0;  // up to the last entry
  uint64_t longest_row_ = 0;
  bool is_finished_ = false;
};

// The compression of a table on `level`; `is_bottommost` if no deeper level has files.
// With dynamic levels the second entry of compression_per_level is that of the base level, into
// which level 0 is compacted.
CompressionType CompressionFor(const ColumnFamilyOptions& options, Level level, Level base_level,
                               bool is_bottommost);
// That of a table written so.
CompressionType CompressionFor(const TableOutputOptions& options);

}  // namespace ashlar
