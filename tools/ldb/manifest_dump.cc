// SPDX-License-Identifier: Apache-2.0
//
// ldb manifest_dump and file_checksum_dump: the contents of a MANIFEST, in the forms of RocksDB's
// ldb.
#include <algorithm>
#include <map>

#include "tools/ldb/command.h"
#include "tools/ldb/dumps.h"
#include "tools/ldb/manifest_state.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string FileText(const FileMetadata& meta, bool hex) {
  std::string text = StrCat(" ", meta.number, ":", meta.file_size, "[", meta.smallest_seqno, " .. ",
                            meta.largest_seqno, "][", DescribeInternalKey(meta.smallest, hex),
                            " .. ", DescribeInternalKey(meta.largest, hex), "]");
  if (meta.oldest_blob_file_number != 0) {
    StrAppend(&text, " blob_file:", meta.oldest_blob_file_number);
  }
  return text + "\n";
}

// Why the files of a level cannot be shown in key order; empty if they can.
std::string_view OrderNote(const FamilyState& family) {
  if (OrderOfBoundaries(family) != nullptr) return "";
  return FindComparator(family.comparator) == nullptr
             ? ", which is not built in: levels are shown in the order of the records"
             : ", but its tables were written without timestamps: levels are shown in the order of "
               "the records";
}

// A family in the format of RocksDB's ldb. Empty levels are shown too, so that
// at least as many levels appear as a family has by default.
std::string FamilyText(const FamilyState& family, bool hex) {
  std::string text = StrCat("--------------- Column family \"", family.name, "\"  (ID ", family.id,
                            ") --------------\nlog number: ", family.log_number, "\n");
  StrAppend(&text, "comparator: ", family.comparator, OrderNote(family), "\n");
  for (size_t level = 0; level < std::max(kLevelsAlwaysShown, family.levels.size()); level++) {
    StrAppend(&text, "--- level ", level, " --- version# 1 ---\n");
    if (level >= family.levels.size()) continue;
    for (const FileMetadata& meta : family.levels[level]) {
      text += FileText(meta, hex);
    }
  }
  return text;
}

// The numbers of the tables whose oldest blob file is this one.
std::string LinkedTables(const FamilyState& family, FileNumber blob_number) {
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
    StrAppend(&text, blob.added.DebugString(), " linked_ssts: { ", LinkedTables(family, number),
              "} garbage_blob_count: ", blob.garbage_count,
              " garbage_blob_bytes: ", blob.garbage_bytes, "\n");
  }
  return text;
}

// As the MANIFEST has recorded it; the value is binary.
struct ChecksumInManifest {
  std::string function;
  std::string value;
};

std::map<FileNumber, ChecksumInManifest> ChecksumsOf(const ManifestState& state) {
  std::map<FileNumber, ChecksumInManifest> checksums;
  for (const auto& [id, family] : state.families()) {
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        // RocksDB's name for a file without a checksum.
        checksums[meta.number] = {meta.has_file_checksum ? meta.file_checksum_function : "Unknown",
                                  meta.file_checksum};
      }
    }
    for (const auto& [number, blob] : family.blobs) {
      const std::string& method = blob.added.checksum_method;
      checksums[number] = {method.empty() ? "Unknown" : method, blob.added.checksum_value};
    }
  }
  return checksums;
}

}  // namespace

std::string ManifestSummaryText(const ManifestState& state, bool hex) {
  std::string text;
  for (const auto& [id, family] : state.families()) {
    StrAppend(&text, FamilyText(family, hex), BlobFilesText(family));
  }
  // Opening the database uses the recorded number for its new MANIFEST, so the next file gets the
  // number after it.
  StrAppend(&text, "next_file_number ", state.next_file_number().Next(), " last_sequence ",
            state.last_sequence(), "  prev_log_number ", state.prev_log_number(),
            " max_column_family ", state.max_column_family(), " min_log_number_to_keep ",
            state.min_log_number_to_keep(), "\n");
  return text;
}

// With --verbose each version edit is printed before the state that they add up to.
Status RunManifestDump(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const bool is_verbose, call.line->Bool("verbose"));
  std::string path = call.line->Value("path").value_or("");
  if (path.empty()) {
    if (call.db.empty()) return Status::InvalidArgument("manifest_dump needs --db or --path");
    ASSIGN_OR_RETURN(path, FindManifest(fs, call.db));
  }
  std::function<void(const VersionEdit&)> on_edit;
  if (is_verbose) {
    PrintLine(StrCat("Processing Manifest file ", path));
    on_edit = [&](const VersionEdit& edit) { Print(edit.DebugString(call.hex_keys)); };
  }
  std::optional<ManifestState> state;
  const Status status = ReadManifestUpToDamage(fs, path, on_edit, &state);
  if (state.has_value()) Print(ManifestSummaryText(*state, call.hex_keys));
  RETURN_IF_ERROR(status);
  if (is_verbose) PrintLine(StrCat("Processing Manifest file ", path, " done"));
  return Status::OK();
}

// Prints the checksums that the MANIFEST has. The files are not read: DB::VerifyFileChecksums()
// compares them with their checksums.
Status RunFileChecksumDump(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  std::string path = call.line->Value("path").value_or("");
  if (path.empty()) {
    if (call.db.empty()) {
      return Status::InvalidArgument(
          "file_checksum_dump needs --db=<directory> or --path=<MANIFEST file>");
    }
    ASSIGN_OR_RETURN(path, FindManifest(fs, call.db));
  }
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, path));
  for (const auto& [number, checksum] : ChecksumsOf(state)) {
    const std::string value =
        call.hex_values && !checksum.value.empty() ? HexText(checksum.value) : checksum.value;
    PrintLine(StrCat(number, ", ", checksum.function, ", ", value));
  }
  PrintLine("Print SST file checksum information finished ");
  return Status::OK();
}

}  // namespace ashlar
