// SPDX-License-Identifier: Apache-2.0
#include "tools/ldb/manifest_summary.h"

#include <algorithm>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Levels that are shown even when empty: as many as a database has unless told otherwise.
constexpr size_t kUsualLevels = 7;

std::string FileText(const FileMetadata& meta, bool hex) {
  std::string text = StrCat(" ", meta.number, ":", meta.file_size, "[", meta.smallest_seqno, " .. ",
                            meta.largest_seqno, "][", DescribeInternalKey(meta.smallest, hex),
                            " .. ", DescribeInternalKey(meta.largest, hex), "]");
  if (meta.oldest_blob_file_number != 0) {
    StrAppend(&text, " blob_file:", meta.oldest_blob_file_number);
  }
  return text + "\n";
}

// Where levels cannot be shown in their order: why.
std::string_view OrderText(const FamilyState& family) {
  if (OrderOfBoundaries(family) != nullptr) return "";
  return BuiltinComparator(family.comparator) == nullptr
             ? ", which is not built in: levels are shown in the order of the records"
             : ", but tables are without timestamps: levels are shown in the order of the records";
}

std::string FamilyText(const FamilyState& family, bool hex) {
  std::string text = StrCat("--------------- Column family \"", family.name, "\"  (ID ", family.id,
                            ") --------------\nlog number: ", family.log_number, "\n");
  StrAppend(&text, "comparator: ", family.comparator, OrderText(family), "\n");
  for (size_t level = 0; level < std::max(kUsualLevels, family.levels.size()); level++) {
    StrAppend(&text, "--- level ", level, " --- version# 1 ---\n");
    if (level >= family.levels.size()) continue;
    for (const FileMetadata& meta : family.levels[level]) {
      text += FileText(meta, hex);
    }
  }
  return text;
}

// The tables that name a blob file as the oldest they refer to.
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

}  // namespace

std::string ManifestSummaryText(const ManifestState& state, bool hex) {
  std::string text;
  for (const auto& [id, family] : state.families()) {
    StrAppend(&text, FamilyText(family, hex), BlobFilesText(family));
  }
  // An opener takes the recorded number for its new MANIFEST: the next one is what files can have.
  StrAppend(&text, "next_file_number ", state.next_file_number().Next(), " last_sequence ",
            state.last_sequence(), "  prev_log_number ", state.prev_log_number(),
            " max_column_family ", state.max_column_family(), " min_log_number_to_keep ",
            state.min_log_number_to_keep(), "\n");
  return text;
}

}  // namespace ashlar
