// SPDX-License-Identifier: Apache-2.0
//
// VersionEdit is one record of the MANIFEST: the changes from one version to the next. Bytes:
// docs/formats/manifest.md, sections 2 to 5.
//
// A plain value. Decoding reads every field that RocksDB 5 to 11 writes; unknown fields that are
// marked ignorable are kept and written back, others are refused by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "db/manifest/file_metadata.h"
#include "db/wal/log_summary.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

// RocksDB's record of a WAL. Written only if the option track_and_verify_wals_in_manifest is set:
// RocksDB 7.8 cannot open a database with such a record in read-only mode unless its own option is
// set too.
struct WalAddition {
  FileNumber log_number = 0;
  // No value: RocksDB wrote the record when the WAL began.
  std::optional<uint64_t> synced_bytes;
};

// Each optional field is written only if it has a value.
struct VersionEdit {
  // The internal key at which round-robin compaction of the level continues.
  struct CompactCursor {
    Level level;
    std::string key;  // internal key
  };
  struct DeletedFile {
    Level level;
    FileNumber number;
  };
  struct NewFile {
    Level level;
    FileMetadata meta;
  };

  // Appends the record to *dst. Fields are written in a fixed order.
  void EncodeTo(std::string* dst) const;
  // Replaces *this. Corruption and NotSupported name the field and its offset in the record.
  Status DecodeFrom(const Slice& record);
  // "VersionEdit {" to "}", one field per line, in the format of RocksDB's ldb; keys in hexadecimal
  // if `hex`.
  std::string DebugString(bool hex) const;

  void AddFile(Level level, FileMetadata meta) { new_files.push_back({level, std::move(meta)}); }
  void DeleteFile(Level level, FileNumber number) { deleted_files.push_back({level, number}); }
  bool changes_files() const {
    return !new_files.empty() || !deleted_files.empty() || !blob_additions.empty() ||
           !blob_garbage.empty();
  }
  bool is_family_change() const { return added_family.has_value() || is_family_drop; }

  std::optional<std::string> db_id;
  std::optional<std::string> comparator;
  std::optional<FileNumber> log_number;
  std::optional<FileNumber> prev_log_number;
  std::optional<FileNumber> next_file_number;
  std::optional<uint32_t> max_column_family;
  std::optional<FileNumber> min_log_number_to_keep;
  std::optional<uint64_t> last_sequence;
  std::vector<CompactCursor> compact_cursors;
  // Deletions are applied before the new files, so that a table may move to another level.
  std::vector<DeletedFile> deleted_files;
  std::vector<NewFile> new_files;
  std::vector<BlobFileAddition> blob_additions;
  std::vector<BlobFileGarbage> blob_garbage;
  std::vector<WalAddition> wal_additions;
  std::optional<FileNumber> wal_deletion;  // WALs below this number are removed
  // The family whose files and log number this edit changes.
  uint32_t column_family = 0;
  std::optional<std::string> added_family;
  bool is_family_drop = false;
  // How many edits of the group follow; no value outside of groups.
  std::optional<uint32_t> atomic_group_remaining;
  std::optional<std::string> full_history_ts_low;
  std::optional<bool> persist_user_defined_timestamps;
  std::optional<uint64_t> last_compacted_manifest_bytes;
  // Ashlar has four fields of its own, which RocksDB skips. The first one holds facts about WALs.
  std::vector<LogSummary> logs;
  // Removes all facts about WALs below this number: a copy of the database may lack these files.
  std::optional<FileNumber> forgotten_logs_end;
  // Number of records of this MANIFEST that were durable before CURRENT named it. Only in the first
  // record.
  std::optional<uint64_t> initial_records;
  // Offset in this MANIFEST of the first record of the change that this record belongs to; absent
  // in the first record itself. All earlier changes were synced before this record was written.
  std::optional<uint64_t> change_begin;
  // Ignorable fields of newer versions. They are kept, so that a rewritten MANIFEST still has them.
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;  // (tag, body)
};

}  // namespace ashlar
