// SPDX-License-Identifier: Apache-2.0
//
// What the MANIFEST records of a table file, and TableFile, its shared object at run time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/types.h"
#include "table/iterator/sampled_reads.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ReadTrace;
class TableReader;

// A plain value: one NewFile record. Times are unix seconds, 0 if unknown.
struct FileMetadata {
  FileNumber number = 0;
  uint64_t file_size = 0;
  std::string smallest;  // internal keys; both inclusive, except a range tombstone sentinel
  std::string largest;
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;

  uint64_t epoch_number = 0;  // age of level-0 files; 0 if unknown (written before 7.10)
  uint64_t oldest_ancestor_time = 0;
  uint64_t file_creation_time = 0;
  FileNumber oldest_blob_file_number = 0;  // 0: refers to no blob file
  uint64_t compensated_range_deletion_bytes = 0;
  uint64_t tail_bytes = 0;  // from the end of the last data block to the end of the file
  uint32_t path_id = 0;
  uint8_t temperature = 0;
  bool marked_for_compaction = false;
  // Was written to the bottom with versions or tombstones that a snapshot needed
  // (KeptForSnapshots). The MANIFEST says that as a mark: whoever opens it has no snapshot.
  bool keeps_for_snapshots = false;
  bool timestamps_persisted = true;
  bool has_file_checksum = false;  // 7.8 writes an empty checksum named "Unknown"
  std::string file_checksum;
  std::string file_checksum_function;
  std::string unique_id;      // 16 bytes, or empty
  std::string min_timestamp;  // raw; empty without user-defined timestamps
  std::string max_timestamp;
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;  // ignorable ones, kept as read

  Slice smallest_user_key() const { return ExtractUserKey(smallest); }
  Slice largest_user_key() const { return ExtractUserKey(largest); }
  // True when `largest` is the exclusive end of a range tombstone.
  bool largest_is_exclusive() const { return ExtractTrailer(largest) == kRangeTombstoneSentinel; }
};

// TableFile is a live table: shared by all versions that contain it, deleted from disk after the
// last of them is gone (LiveVersions).
class TableFile {
 public:
  explicit TableFile(FileMetadata metadata) : meta(std::move(metadata)) {}
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Of this and of what it says about the file.
  size_t MemoryBytes() const;
  // Tells that a read enters the table.
  void TraceEntry(Level level, ReadTrace* trace) const;

  const FileMetadata meta;

  // The open reader, or null. Set once by the table cache (release; readers load with acquire),
  // cleared by it when too many files are open; what was unlinked is freed through the epoch.
  std::atomic<TableReader*> reader{nullptr};
  // Opened while the number of open tables had no limit: it stays open, and handles of it are not
  // counted. Set once, before `reader` is.
  std::atomic<bool> stays_open{false};
  // Set by lookups only when clear; the table cache's clock hand clears it.
  std::atomic<bool> recently_used{false};
  // While it is open, its place among the open tables of its cache, under that one's mutex.
  size_t open_place = 0;

  // Where the newest version has it, or was to have it: only statistics go by this. Written by
  // whoever makes versions.
  std::atomic<int> level{0};

  // What point reads do here, by samples (db/read/read_sampler.h).
  mutable SampledReads sampled_reads;

  // Handles of the open reader, but for one that stays open anyway; above 0 it is not closed.
  // Raised under the table cache's mutex.
  std::atomic<int> pins{0};

  // An input of a compaction that runs.
  bool being_compacted GUARDED_BY(db_mutex) = false;
  // How often an automatic compaction that began with it failed; stops at its greatest value.
  uint8_t failed_compactions GUARDED_BY(db_mutex) = 0;
  uint64_t first_version = 0;  // the first one that holds it; see LiveVersions
};

}  // namespace ashlar
