// SPDX-License-Identifier: Apache-2.0
//
// FileMetadata is the MANIFEST's record of a table file; TableFile is the shared object of a live
// table at run time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/table_properties.h"
#include "ashlar/types.h"
#include "table/iterator/sampled_reads.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ReadTrace;
class TableReader;

// How many entries a table has, and how large its values are. All 0: not known.
struct EntryWeights {
  uint64_t entries = 0;
  uint64_t tombstones = 0;   // part of `entries`; range tombstones count as one each
  uint64_t value_bytes = 0;  // of the file, as if keys and values were compressed equally well

  static EntryWeights Of(const TableProperties& properties, uint64_t file_bytes) {
    const auto values = static_cast<double>(properties.raw_value_size);
    const double raw = values + static_cast<double>(properties.raw_key_size);
    const double share = raw > 0 ? values / raw : 0;
    return {.entries = properties.num_entries,
            .tombstones = properties.num_deletions,
            .value_bytes = static_cast<uint64_t>(share * static_cast<double>(file_bytes))};
  }
};

// A plain value: one NewFile record. Times are unix seconds, 0 if unknown.
// Encoded and decoded by VersionEdit.
struct FileMetadata {
  // The name of the file, in the directory path_id, and its length in bytes.
  FileNumber number = 0;
  uint64_t file_size = 0;
  std::string smallest;  // internal keys; both inclusive, except a range tombstone sentinel
  std::string largest;
  // The range of the sequence numbers of all entries. An empty table has the reversed range.
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;

  uint64_t epoch_number = 0;  // age of level-0 files; 0 if unknown (written before 7.10)
  uint64_t oldest_ancestor_time = 0;
  uint64_t file_creation_time = 0;
  FileNumber oldest_blob_file_number = 0;  // 0: refers to no blob file
  // An estimate of the bytes that the table's range tombstones delete.
  uint64_t compensated_range_deletion_bytes = 0;
  uint64_t tail_bytes = 0;  // from the end of the last data block to the end of the file
  uint32_t path_id = 0;
  uint8_t temperature = 0;
  bool marked_for_compaction = false;
  // The table was written to the bottommost level with versions or tombstones that a snapshot
  // needed (KeptForSnapshots). The MANIFEST records this as marked_for_compaction, because after
  // the next opening no snapshot exists and the entries can be dropped.
  bool keeps_for_snapshots = false;
  // Known only until the database is closed: every entry is a value, the only one of its key in the
  // table. If no older data of the keys exists elsewhere, rewriting the table removes nothing.
  bool has_only_single_values = false;
  bool timestamps_persisted = true;
  bool has_file_checksum = false;  // 7.8 writes an empty checksum named "Unknown"
  std::string file_checksum;
  std::string file_checksum_function;
  std::string unique_id;      // 16 bytes, or empty
  std::string min_timestamp;  // raw; empty without user-defined timestamps
  std::string max_timestamp;
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;  // ignorable ones, kept as read
  EntryWeights weights;  // of a table that this process has written
  // A time at which all entries were in tables already. Known only until the database is closed.
  uint64_t newest_key_time = 0;

  Slice smallest_user_key() const { return ExtractUserKey(smallest); }
  Slice largest_user_key() const { return ExtractUserKey(largest); }
  // True when `largest` is the exclusive end of a range tombstone.
  bool largest_is_exclusive() const { return ExtractTrailer(largest) == kRangeTombstoneSentinel; }
};

// TableFile is a live table. All versions that contain it share one object, and LiveVersions
// deletes the file after the last of these versions is gone.
class TableFile {
 public:
  // The reader is opened later, by the table cache.
  explicit TableFile(FileMetadata metadata)
      : meta(std::move(metadata)), newest_key_time(meta.newest_key_time) {
    NoteWeights(meta.weights);
  }
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Memory of this object, including the strings of `meta`.
  size_t MemoryBytes() const;
  // Known if this process has written the table, or has opened it once.
  EntryWeights weights() const {
    EntryWeights weights;
    weights.entries = entries_.load(std::memory_order_acquire);
    weights.tombstones = tombstones_.load(std::memory_order_relaxed);
    weights.value_bytes = value_bytes_.load(std::memory_order_relaxed);
    return weights;
  }
  // All calls that follow a known value bring the same one.
  void NoteWeights(const EntryWeights& weights) {
    tombstones_.store(weights.tombstones, std::memory_order_relaxed);
    value_bytes_.store(weights.value_bytes, std::memory_order_relaxed);
    entries_.store(weights.entries, std::memory_order_release);
  }
  // Notes in `trace` that a read enters the table on `level`.
  void TraceEntry(Level level, ReadTrace* trace) const;

  const FileMetadata meta;

  // The open reader, or null. The table cache sets it once (release; readers load with acquire),
  // and clears it when too many files are open. An unlinked reader is freed through the epoch.
  std::atomic<TableReader*> reader{nullptr};
  // True if the table was opened while the number of open tables had no limit: then it stays open
  // and its handles are not counted. Set once, before `reader`.
  std::atomic<bool> stays_open{false};
  // Set by lookups only when clear; the table cache's clock hand clears it.
  std::atomic<bool> recently_used{false};
  // While the table is open: its index in TableCache::open_. Guarded by the mutex of the table
  // cache.
  size_t open_place = 0;

  // The time of its newest entry, in seconds since 1970. 0 until it is known: when this process
  // writes the table or opens it for the first time.
  std::atomic<uint64_t> newest_key_time;

  // The table's level in the newest version, or in a version that failed to be installed. Used only
  // for statistics. Written by VersionBuilder.
  std::atomic<int> level{0};

  // Sampled counts of point reads of this table (db/read/read_sampler.h).
  mutable SampledReads sampled_reads;

  // Number of handles of the open reader; not counted if `stays_open`. The reader is not closed
  // while it is above 0. Incremented under the table cache's mutex.
  std::atomic<int> pins{0};

  // True while the table is an input of a running compaction (CompactionClaims).
  bool being_compacted GUARDED_BY(db_mutex) = false;
  // Number of failed automatic compactions that started from this table; saturates at its maximum.
  uint8_t failed_compactions GUARDED_BY(db_mutex) = 0;
  uint64_t first_version = 0;  // number of the first version that holds the table; see LiveVersions

 private:
  // See weights(). `entries_` is written last: with 0 entries the others do not matter.
  std::atomic<uint64_t> tombstones_{0}, value_bytes_{0}, entries_{0};
};

}  // namespace ashlar
