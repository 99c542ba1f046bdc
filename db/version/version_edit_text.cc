// SPDX-License-Identifier: Apache-2.0
//
// Version edits as text: every field that decoding reads, in the order of the struct.
#include "db/version/version_edit.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

std::string Hex(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

// What an ordinary table does not have is left out.
std::string DescribeFile(const FileMetadata& meta, bool hex) {
  std::string out =
      StrCat(meta.number, " ", meta.file_size, " ", DescribeInternalKey(meta.smallest, hex), " .. ",
             DescribeInternalKey(meta.largest, hex), " seq:", meta.smallest_seqno, "..",
             meta.largest_seqno, " epoch:", meta.epoch_number,
             " oldest_ancestor_time:", meta.oldest_ancestor_time,
             " file_creation_time:", meta.file_creation_time);
  const auto number = [&out](const char* name, uint64_t value) {
    if (value != 0) StrAppend(&out, " ", name, ":", value);
  };
  number("oldest_blob_file", meta.oldest_blob_file_number);
  number("compensated_range_deletion_bytes", meta.compensated_range_deletion_bytes);
  number("tail_bytes", meta.tail_bytes);
  number("path_id", meta.path_id);
  number("temperature", meta.temperature);
  number("marked_for_compaction", meta.marked_for_compaction ? 1 : 0);
  if (!meta.timestamps_persisted) StrAppend(&out, " timestamps_persisted:0");
  if (meta.has_file_checksum) {
    StrAppend(&out, " checksum:", Hex(meta.file_checksum), " by ", meta.file_checksum_function);
  }
  if (!meta.unique_id.empty()) StrAppend(&out, " unique_id:", Hex(meta.unique_id));
  if (!meta.min_timestamp.empty()) StrAppend(&out, " min_timestamp:", Hex(meta.min_timestamp));
  if (!meta.max_timestamp.empty()) StrAppend(&out, " max_timestamp:", Hex(meta.max_timestamp));
  for (const auto& [field, body] : meta.unknown_fields) {
    StrAppend(&out, " unknown field ", field, ":", Hex(body));
  }
  return out;
}

}  // namespace

std::string VersionEdit::DebugString(bool hex) const {
  std::string out;
  const auto line = [&out](const auto&... parts) { out += StrCat("  ", parts..., "\n"); };
  const auto number = [&line](const char* name, const auto& value) {
    if (value) line(name, ": ", uint64_t{*value});
  };
  if (db_id) line("DB id: ", *db_id);
  if (comparator) line("Comparator: ", *comparator);
  number("LogNumber", log_number);
  number("PrevLogNumber", prev_log_number);
  number("NextFileNumber", next_file_number);
  number("MinLogNumberToKeep", min_log_number_to_keep);
  number("LastSeq", last_sequence);
  for (const CompactCursor& cursor : compact_cursors) {
    line("CompactCursor: ", cursor.level, " ", DescribeInternalKey(cursor.key, hex));
  }
  for (const DeletedFile& file : deleted_files) line("DeleteFile: ", file.level, " ", file.number);
  for (const NewFile& file : new_files) {
    line("AddFile: ", file.level, " ", DescribeFile(file.meta, hex));
  }
  for (const BlobFileAddition& blob : blob_additions) {
    line("BlobFileAddition: ", blob.number, " count ", blob.blob_count, " bytes ", blob.blob_bytes,
         " checksum ", Hex(blob.checksum_value), " by ", blob.checksum_method);
  }
  for (const BlobFileGarbage& garbage : blob_garbage) {
    line("BlobFileGarbage: ", garbage.number, " count ", garbage.garbage_count, " bytes ",
         garbage.garbage_bytes);
  }
  for (const WalAddition& wal : wal_additions) {
    const std::string synced = wal.synced_bytes ? StrCat(*wal.synced_bytes) : "unknown";
    line("WalAddition: ", wal.log_number, " synced bytes ", synced);
  }
  number("WalDeletion", wal_deletion);
  line("ColumnFamily: ", column_family);
  if (added_family) line("ColumnFamilyAdd: ", *added_family);
  if (is_family_drop) line("ColumnFamilyDrop");
  number("MaxColumnFamily", max_column_family);
  if (atomic_group_remaining) line("AtomicGroup: ", *atomic_group_remaining, " remaining");
  if (full_history_ts_low) line("FullHistoryTsLow: ", Hex(*full_history_ts_low));
  number("PersistUserDefinedTimestamps", persist_user_defined_timestamps);
  number("LastCompactedManifestBytes", last_compacted_manifest_bytes);
  for (const LogFacts& log : logs) {
    line("Log: ", log.number, " first seq ", log.first_seqno, " synced bytes ", log.synced_bytes,
         " end ", log.end_bytes == 0 ? "unknown" : StrCat(log.end_bytes));
  }
  number("ForgottenLogsEnd", forgotten_logs_end);
  number("InitialRecords", initial_records);
  number("ChangeBegin", change_begin);
  for (const auto& [tag, body] : unknown_fields) line("Unknown field ", tag, ": ", Hex(body));
  return out;
}

}  // namespace ashlar
