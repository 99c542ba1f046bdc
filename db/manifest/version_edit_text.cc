// SPDX-License-Identifier: Apache-2.0
//
// Version edits as text, field by field in the order of RocksDB's ldb; fields that only newer
// versions of RocksDB or only Ashlar writes come last.
#include "db/manifest/version_edit.h"

#include <cassert>

#include "table/format/unique_id.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string Hex(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

// Both forms of the unique id: the stored form in the MANIFEST, and the public form.
std::string UniqueIdText(const std::string& stored) {
  if (stored.size() != 2 * sizeof(uint64_t)) return "";
  InternalUniqueId id;
  // The stored form has two little-endian words.
  for (size_t i = 0; i < 2; i++) id.words[i] = DecodeFixed64(stored.data() + i * sizeof(uint64_t));
  const std::string bytes = PublicUniqueId(id, UniqueIdForm::kStandard);
  const std::string digits = Slice(bytes).ToString(/*hex=*/true);
  return StrCat(" unique_id(internal): {", id.words[0], ",", id.words[1],
                "} public_unique_id: ", digits.substr(0, 16), "-", digits.substr(16));
}

// The fields that RocksDB's ldb does not print and that most tables do not have, in the order in
// which FileMetadata declares them.
std::string RareFactsText(const FileMetadata& meta) {
  std::string text;
  const auto number = [&text](const char* name, uint64_t value) {
    if (value != 0) StrAppend(&text, " ", name, ":", value);
  };
  const auto bytes = [&text](const char* name, const std::string& value) {
    if (!value.empty()) StrAppend(&text, " ", name, ":", Hex(value));
  };
  number("compensated_range_deletion_size", meta.compensated_range_deletion_bytes);
  number("path_id", meta.path_id);
  number("marked_for_compaction", meta.marked_for_compaction ? 1 : 0);
  bytes("min_timestamp", meta.min_timestamp);
  bytes("max_timestamp", meta.max_timestamp);
  for (const auto& [field, body] : meta.unknown_fields) {
    StrAppend(&text, " unknown field ", field, ":", Hex(body));
  }
  return text;
}

// One line. The misspelt name is that of RocksDB's ldb, which scripts parse.
std::string NewFileText(const VersionEdit::NewFile& file, bool hex) {
  const FileMetadata& meta = file.meta;
  std::string text = StrCat(file.level, " ", meta.number, " ", meta.file_size, " ",
                            DescribeInternalKey(meta.smallest, hex), " .. ",
                            DescribeInternalKey(meta.largest, hex));
  if (meta.oldest_blob_file_number != 0) {
    StrAppend(&text, " blob_file:", meta.oldest_blob_file_number);
  }
  StrAppend(&text, " oldest_ancester_time:", meta.oldest_ancestor_time,
            " file_creation_time:", meta.file_creation_time);
  if (meta.epoch_number != 0) StrAppend(&text, " epoch_number:", meta.epoch_number);
  StrAppend(&text, " file_checksum:", Hex(meta.file_checksum),
            " file_checksum_func_name: ", meta.file_checksum_function);
  if (meta.temperature != 0) StrAppend(&text, " temperature: ", int{meta.temperature});
  StrAppend(&text, UniqueIdText(meta.unique_id));
  if (meta.tail_bytes != 0) StrAppend(&text, " tail_size:", meta.tail_bytes);
  if (!meta.timestamps_persisted) text += " User-defined timestamps persisted: false";
  return text + RareFactsText(meta);
}

// Collects "  Name: value" lines.
class FieldLines {
 public:
  template <typename... Parts>
  void Add(std::string_view name, const Parts&... parts) {
    StrAppend(&text_, "  ", name, ": ", parts..., "\n");
  }
  template <typename T>
  void AddIfSet(std::string_view name, const std::optional<T>& value) {
    if (value) Add(name, *value);
  }
  void AddWord(std::string_view word) { StrAppend(&text_, "  ", word, "\n"); }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// The fields that concern files and WALs.
void AddFileFields(const VersionEdit& edit, bool hex, FieldLines* out) {
  assert(out != nullptr);
  for (const VersionEdit::CompactCursor& cursor : edit.compact_cursors) {
    out->Add("CompactCursor", cursor.level, " ", DescribeInternalKey(cursor.key, hex));
  }
  for (const VersionEdit::DeletedFile& file : edit.deleted_files) {
    out->Add("DeleteFile", file.level, " ", file.number);
  }
  for (const VersionEdit::NewFile& file : edit.new_files)
    out->Add("AddFile", NewFileText(file, hex));
  for (const BlobFileAddition& blob : edit.blob_additions) {
    out->Add("BlobFileAddition", blob.DebugString());
  }
  for (const BlobFileGarbage& garbage : edit.blob_garbage) {
    out->Add("BlobFileGarbage", "blob_file_number: ", garbage.number,
             " garbage_blob_count: ", garbage.garbage_count,
             " garbage_blob_bytes: ", garbage.garbage_bytes);
  }
  for (const WalAddition& wal : edit.wal_additions) {
    out->Add("WalAddition", "log_number: ", wal.log_number, " synced_size_in_bytes: ",
             wal.synced_bytes ? StrCat(*wal.synced_bytes) : std::string("unknown"));
  }
  if (edit.wal_deletion) out->Add("WalDeletion", "log_number: ", *edit.wal_deletion);
}

}  // namespace

std::string VersionEdit::DebugString(bool hex) const {
  FieldLines out;
  out.AddIfSet("DB id", db_id);
  out.AddIfSet("Comparator", comparator);
  out.AddIfSet("LogNumber", log_number);
  out.AddIfSet("PrevLogNumber", prev_log_number);
  out.AddIfSet("NextFileNumber", next_file_number);
  out.AddIfSet("MaxColumnFamily", max_column_family);
  out.AddIfSet("MinLogNumberToKeep", min_log_number_to_keep);
  out.AddIfSet("LastSeq", last_sequence);
  AddFileFields(*this, hex, &out);
  out.Add("ColumnFamily", column_family);
  out.AddIfSet("ColumnFamilyAdd", added_family);
  if (is_family_drop) out.AddWord("ColumnFamilyDrop");
  if (atomic_group_remaining) {
    out.Add("AtomicGroup", *atomic_group_remaining, " entries remains");
  }
  if (full_history_ts_low) {
    out.Add("FullHistoryTsLow", Hex(*full_history_ts_low));
  }
  out.AddIfSet("PersistUserDefinedTimestamps", persist_user_defined_timestamps);
  out.AddIfSet("LastCompactedManifestFileSize", last_compacted_manifest_bytes);
  for (const LogSummary& log : logs) {
    out.Add("Log", "log_number: ", log.number, " first_sequence: ", log.first_seqno,
            " synced_size_in_bytes: ", log.synced_bytes,
            " end: ", log.end_bytes == 0 ? std::string("unknown") : StrCat(log.end_bytes));
  }
  out.AddIfSet("ForgottenLogsEnd", forgotten_logs_end);
  out.AddIfSet("InitialRecords", initial_records);
  out.AddIfSet("ChangeBegin", change_begin);
  for (const auto& [tag, body] : unknown_fields) {
    out.Add(StrCat("Unknown field ", tag), Hex(body));
  }
  return StrCat("VersionEdit {\n", out.Take(), "}\n");
}

}  // namespace ashlar
