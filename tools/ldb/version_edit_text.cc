// SPDX-License-Identifier: Apache-2.0
//
// Field by field in the order of RocksDB's ldb; fields that only newer versions have come last.
#include "tools/ldb/version_edit_text.h"

#include <algorithm>

#include "table/format/unique_id.h"
#include "tools/lib/key_text.h"
#include "util/coding.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

// Levels that are shown even when empty: as many as a database has unless told otherwise.
constexpr size_t kUsualLevels = 7;

std::string KeyRangeText(const FileMetadata& meta, bool hex) {
  return StrCat(InternalKeyText(meta.smallest, hex), " .. ", InternalKeyText(meta.largest, hex));
}

std::string BlobReferenceText(const FileMetadata& meta) {
  return meta.oldest_blob_file_number == 0 ? std::string()
                                           : StrCat(" blob_file:", meta.oldest_blob_file_number);
}

// Both forms of the unique id: as the MANIFEST stores it, and as users are shown it.
std::string UniqueIdText(const std::string& stored) {
  if (stored.size() != 2 * sizeof(uint64_t)) return "";
  InternalUniqueId id;
  for (size_t i = 0; i < 2; i++) id.words[i] = DecodeFixed64(stored.data() + i * sizeof(uint64_t));
  const std::string bytes = PublicUniqueId(id, UniqueIdForm::kStandard);
  const std::string digits = Slice(bytes).ToString(/*hex=*/true);
  return StrCat(" unique_id(internal): {", id.words[0], ",", id.words[1],
                "} public_unique_id: ", digits.substr(0, 16), "-", digits.substr(16));
}

std::string NewFileText(const VersionEdit::NewFile& file, bool hex) {
  const FileMetadata& meta = file.meta;
  std::string text = StrCat(file.level, " ", meta.number, " ", meta.file_size, " ",
                            KeyRangeText(meta, hex), BlobReferenceText(meta));
  StrAppend(&text, " oldest_ancester_time:", meta.oldest_ancestor_time,
            " file_creation_time:", meta.file_creation_time);
  if (meta.epoch_number != 0) StrAppend(&text, " epoch_number:", meta.epoch_number);
  StrAppend(&text, " file_checksum:", Slice(meta.file_checksum).ToString(/*hex=*/true),
            " file_checksum_func_name: ", meta.file_checksum_function);
  if (meta.temperature != 0) StrAppend(&text, " temperature: ", int{meta.temperature});
  StrAppend(&text, UniqueIdText(meta.unique_id));
  if (meta.tail_bytes != 0) StrAppend(&text, " tail_size:", meta.tail_bytes);
  if (!meta.timestamps_persisted) text += " User-defined timestamps persisted: false";
  return text;
}

std::string BlobAdditionText(const BlobFileAddition& blob) {
  return StrCat("blob_file_number: ", blob.number, " total_blob_count: ", blob.blob_count,
                " total_blob_bytes: ", blob.blob_bytes, " checksum_method: ", blob.checksum_method,
                " checksum_value: ", Slice(blob.checksum_value).ToString(/*hex=*/true));
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

void AddFileFields(const VersionEdit& edit, bool hex, FieldLines* out) {
  for (const VersionEdit::CompactCursor& cursor : edit.compact_cursors) {
    out->Add("CompactCursor", cursor.level, " ", InternalKeyText(cursor.key, hex));
  }
  for (const VersionEdit::DeletedFile& file : edit.deleted_files) {
    out->Add("DeleteFile", file.level, " ", file.number);
  }
  for (const VersionEdit::NewFile& file : edit.new_files) out->Add("AddFile", NewFileText(file, hex));
  for (const BlobFileAddition& blob : edit.blob_additions) {
    out->Add("BlobFileAddition", BlobAdditionText(blob));
  }
  for (const BlobFileGarbage& garbage : edit.blob_garbage) {
    out->Add("BlobFileGarbage", "blob_file_number: ", garbage.number, " garbage_blob_count: ",
             garbage.garbage_count, " garbage_blob_bytes: ", garbage.garbage_bytes);
  }
  for (const WalAddition& wal : edit.wal_additions) {
    out->Add("WalAddition", "log_number: ", wal.log_number, " synced_size_in_bytes: ",
             wal.synced_bytes ? StrCat(*wal.synced_bytes) : std::string("unknown"));
  }
  if (edit.wal_deletion) out->Add("WalDeletion", "log_number: ", *edit.wal_deletion);
}

std::string FamilyText(const FamilyState& family, bool hex) {
  std::string text = StrCat("--------------- Column family \"", family.name, "\"  (ID ", family.id,
                            ") --------------\nlog number: ", family.log_number, "\n");
  StrAppend(&text, "comparator: ", family.comparator,
            BuiltinComparator(family.comparator) == nullptr
                ? ", which is not built in: levels are shown in the order of the records\n"
                : "\n");
  for (size_t level = 0; level < std::max(kUsualLevels, family.levels.size()); level++) {
    StrAppend(&text, "--- level ", level, " --- version# 1 ---\n");
    if (level >= family.levels.size()) continue;
    for (const FileMetadata& meta : family.levels[level]) {
      StrAppend(&text, " ", meta.number, ":", meta.file_size, "[", meta.smallest_seqno, " .. ",
                meta.largest_seqno, "][", KeyRangeText(meta, hex), "]", BlobReferenceText(meta),
                "\n");
    }
  }
  return text;
}

// The tables that name a blob file as the oldest they refer to.
std::string LinkedTables(const FamilyState& family, uint64_t blob_number) {
  std::string text;
  for (const auto& files : family.levels) {
    for (const FileMetadata& meta : files) {
      if (meta.oldest_blob_file_number == blob_number) StrAppend(&text, meta.number, " ");
    }
  }
  return text;
}

std::string BlobFilesText(const FamilyState& family) {
  if (family.blobs.empty()) return "";
  std::string text = "--- blob files --- version# 1 ---\n";
  for (const auto& [number, blob] : family.blobs) {
    StrAppend(&text, BlobAdditionText(blob.added), " linked_ssts: { ", LinkedTables(family, number),
              "} garbage_blob_count: ", blob.garbage_count,
              " garbage_blob_bytes: ", blob.garbage_bytes, "\n");
  }
  return text;
}

}  // namespace

std::string VersionEditText(const VersionEdit& edit, bool hex) {
  FieldLines out;
  out.AddIfSet("DB id", edit.db_id);
  out.AddIfSet("Comparator", edit.comparator);
  out.AddIfSet("LogNumber", edit.log_number);
  out.AddIfSet("PrevLogNumber", edit.prev_log_number);
  out.AddIfSet("NextFileNumber", edit.next_file_number);
  out.AddIfSet("MaxColumnFamily", edit.max_column_family);
  out.AddIfSet("MinLogNumberToKeep", edit.min_log_number_to_keep);
  out.AddIfSet("LastSeq", edit.last_sequence);
  AddFileFields(edit, hex, &out);
  out.Add("ColumnFamily", edit.column_family);
  out.AddIfSet("ColumnFamilyAdd", edit.added_family);
  if (edit.is_family_drop) out.AddWord("ColumnFamilyDrop");
  if (edit.atomic_group_remaining) {
    out.Add("AtomicGroup", *edit.atomic_group_remaining, " entries remains");
  }
  if (edit.full_history_ts_low) {
    out.Add("FullHistoryTsLow", Slice(*edit.full_history_ts_low).ToString(/*hex=*/true));
  }
  out.AddIfSet("PersistUserDefinedTimestamps", edit.persist_user_defined_timestamps);
  out.AddIfSet("LastCompactedManifestFileSize", edit.last_compacted_manifest_bytes);
  for (const auto& [tag, body] : edit.unknown_fields) {
    out.Add(StrCat("Unknown field ", tag), Slice(body).ToString(/*hex=*/true));
  }
  return StrCat("VersionEdit {\n", out.Take(), "}\n");
}

std::string ManifestSummaryText(const ManifestState& state, bool hex) {
  std::string text;
  for (const auto& [id, family] : state.families()) {
    StrAppend(&text, FamilyText(family, hex), BlobFilesText(family));
  }
  // An opener takes the recorded number for its new MANIFEST: the next one is what files can have.
  StrAppend(&text, "next_file_number ", state.next_file_number() + 1, " last_sequence ",
            state.last_sequence(), "  prev_log_number ", state.prev_log_number(),
            " max_column_family ", state.max_column_family(), " min_log_number_to_keep ",
            state.min_log_number_to_keep(), "\n");
  return text;
}

}  // namespace ashlar
