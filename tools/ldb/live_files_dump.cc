// SPDX-License-Identifier: Apache-2.0
//
// ldb dump_live_files: the MANIFEST, every live table and every log that is still needed, in full.
#include <memory>

#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/command.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/manifest_summary.h"
#include "tools/ldb/open_db.h"
#include "tools/ldb/wal_text.h"
#include "tools/lib/blob_dump.h"
#include "tools/lib/output.h"
#include "tools/lib/table_inspector.h"
#include "tools/lib/table_scan.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kDoubleRule = "==============================";
constexpr std::string_view kRule = "------------------------------";

void PrintTitle(std::string_view title) {
  PrintLine(title);
  PrintLine(kDoubleRule);
}

// Returns the number of entries, all of which are printed.
Result<uint64_t> DumpEntries(FileSystem* fs, const Invocation& call, const std::string& path,
                             std::unique_ptr<TableInspector>* table) {
  PrintLine(StrCat("Process ", path));
  ASSIGN_OR_RETURN(*table, TableInspector::Open(fs, path));
  PrintLine("Sst file format: block-based");
  ASSIGN_OR_RETURN(const TableReader* reader, (*table)->Reader());
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, (*table)->FindComparator());
  TableScan scan;
  scan.prints = true;
  scan.hex = call.hex_keys;
  ASSIGN_OR_RETURN(scan.decodes_blob_references, call.line->Bool("decode_blob_index"));
  return ScanTable(*reader, comparator, scan);
}

Status DumpTable(FileSystem* fs, const Invocation& call, const std::string& path) {
  std::unique_ptr<TableInspector> table;
  ASSIGN_OR_RETURN(const uint64_t entry_count, DumpEntries(fs, call, path, &table));
  PrintLine(StrCat("Table Properties:\n", kRule));
  Print(PropertiesText(table->properties()));
  PrintLine(StrCat("Entries: ", entry_count, "\n"));
  return Status::OK();
}

// Its properties in the form of TableProperties::ToString().
Status DumpTableAlone(FileSystem* fs, const Invocation& call, const std::string& path) {
  std::unique_ptr<TableInspector> table;
  RETURN_IF_ERROR(DumpEntries(fs, call, path, &table).status());
  PrintLine(StrCat("\nTable Properties:\n", table->properties().ToString("\n")));
  return Status::OK();
}

Status DumpBlobs(FileSystem* fs, const Invocation& call, const std::string& path) {
  BlobDump dump{.hex_keys = call.hex_keys, .hex_values = call.hex_values};
  ASSIGN_OR_RETURN(dump.uncompresses, call.line->Bool("dump_uncompressed_blobs"));
  return DumpBlobFile(fs, path, dump);
}

// A table that cannot be read does not keep the others from being shown.
Status DumpFamily(FileSystem* fs, const Invocation& call, const FilePlaces& places,
                  const FamilyState& family) {
  Status first_error;
  PrintTitle(StrCat("Column family name: ", family.name));
  PrintTitle("\nSST Files");
  for (size_t level = 0; level < family.levels.size(); level++) {
    for (const FileMetadata& meta : family.levels[level]) {
      const std::string path = places.TablePath(meta.number);
      PrintLine(StrCat(path, " level:", level));
      PrintLine(kRule);
      const Status status = DumpTable(fs, call, path);
      if (!status.ok()) PrintLine(status.ToString());
      if (first_error.ok()) first_error = status;
    }
  }
  PrintTitle("Blob Files");
  for (const auto& [number, blob] : family.blobs) {
    const std::string path = places.BlobPath(number);
    PrintLine(path);
    PrintLine(kRule);
    const Status status = DumpBlobs(fs, call, path);
    if (!status.ok()) PrintLine(status.ToString());
    if (first_error.ok()) first_error = status;
    PrintLine("");
  }
  return first_error;
}

Status DumpLogs(FileSystem* fs, const Invocation& call, const ManifestState& state) {
  PrintTitle("\nWrite Ahead Log Files");
  ASSIGN_OR_RETURN(const std::string directory, FindLogDirectory(call, state));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, directory));
  const FileNumber first_log = state.FirstNeededLog();
  WalDump dump;
  dump.has_header = dump.prints_values = true;
  for (const std::string& name : names) {
    FileNumber number;
    FileType type = kTempFile;
    if (!ParseFileName(name, &number, &type) || type != kWalFile || number < first_log) continue;
    const std::string path = LogFileName(directory, number);
    PrintLine(path);
    RETURN_IF_ERROR(DumpWal(fs, path, dump));
  }
  return Status::OK();
}

}  // namespace

Status RunDumpLiveFiles(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FilePlaces places, FilePlaces::Find(fs, call, state));
  PrintTitle("Manifest File");
  PrintLine(manifest);
  PrintLine(ManifestSummaryText(state, call.hex_keys));
  Status first_error;
  for (const auto& [id, family] : state.families()) {
    const Status status = DumpFamily(fs, call, places, family);
    if (first_error.ok()) first_error = status;
  }
  const Status status = DumpLogs(fs, call, state);
  return first_error.ok() ? status : first_error;
}

Status DumpFile(const Invocation& call, const std::string& path) {
  FileSystem* const fs = FileSystem::Default().get();
  FileNumber number;
  FileType type = kTempFile;
  if (!ParseFileName(BaseNameOf(path), &number, &type)) {
    return Status::InvalidArgument(StrCat("not the name of a file of a database: ", path));
  }
  switch (type) {
    case kTableFile: return DumpTableAlone(fs, call, path);
    case kBlobFile: return DumpBlobs(fs, call, path);
    case kWalFile: return DumpWal(fs, path, {.has_header = true, .prints_values = true});
    case kDescriptorFile: {
      ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, path));
      Print(ManifestSummaryText(state, call.hex_keys));
      return Status::OK();
    }
    default:
      return Status::NotSupported(StrCat(
          "only tables, blob files, logs and MANIFESTs can be dumped by --path, not ", path));
  }
}

}  // namespace ashlar
