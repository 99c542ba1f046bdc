// SPDX-License-Identifier: Apache-2.0
//
// Commands that read the live files of a database without opening it, so that they also work on
// databases with features that this engine does not have: dump_live_files, dump --path,
// list_live_files_metadata, list_file_range_deletes, checkconsistency and report.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <memory>

#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/filename.h"
#include "tools/ldb/command.h"
#include "tools/ldb/dumps.h"
#include "tools/ldb/file_locations.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/stored_options.h"
#include "tools/ldb/tree_page.h"
#include "tools/ldb/tree_survey.h"
#include "tools/lib/blob_dump.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "tools/lib/table_inspector.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kDoubleRule = "==============================";
constexpr std::string_view kRule = "------------------------------";

void PrintTitle(std::string_view title) {
  PrintLine(title);
  PrintLine(kDoubleRule);
}

// Prints all entries of a table and returns their number.
Result<uint64_t> DumpEntries(FileSystem* fs, const Invocation& call, const std::string& path,
                             std::unique_ptr<TableInspector>* table) {
  // The table is opened by its inspector, which needs neither a MANIFEST nor the options of a
  // family.
  assert(table != nullptr);
  PrintLine(StrCat("Process ", path));
  ASSIGN_OR_RETURN(*table, TableInspector::Open(fs, path));
  PrintLine(StrCat("Sst file format: ", (*table)->FormatName()));
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
  assert(table != nullptr);
  Print(PropertiesText(table->properties()));
  PrintLine(StrCat("Entries: ", entry_count, "\n"));
  return Status::OK();
}

// For dump --path: unlike DumpTable(), prints the properties in the form of
// TableProperties::ToString().
Status DumpTableAlone(FileSystem* fs, const Invocation& call, const std::string& path) {
  std::unique_ptr<TableInspector> table;
  RETURN_IF_ERROR(DumpEntries(fs, call, path, &table).status());
  assert(table != nullptr);
  PrintLine(StrCat("\nTable Properties:\n", table->properties().ToString("\n")));
  return Status::OK();
}

Status DumpBlobs(FileSystem* fs, const Invocation& call, const std::string& path) {
  BlobDump dump{.hex_keys = call.hex_keys, .hex_values = call.hex_values};
  ASSIGN_OR_RETURN(dump.uncompresses, call.line->Bool("dump_uncompressed_blobs"));
  return DumpBlobFile(fs, path, dump);
}

// Goes on after a file that cannot be read, and returns the first error.
Status DumpFamily(FileSystem* fs, const Invocation& call, const FileLocations& locations,
                  const FamilyState& family) {
  Status first_error;
  PrintTitle(StrCat("Column family name: ", family.name));
  PrintTitle("\nSST Files");
  for (size_t level = 0; level < family.levels.size(); level++) {
    for (const FileMetadata& meta : family.levels[level]) {
      const std::string path = locations.TablePath(meta.number);
      PrintLine(StrCat(path, " level:", level));
      PrintLine(kRule);
      const Status status = DumpTable(fs, call, path);
      // The error is printed where the entries would be, so a reader sees which file is damaged.
      if (!status.ok()) PrintLine(status.ToString());
      if (first_error.ok()) first_error = status;
    }
  }
  PrintTitle("Blob Files");
  for (const auto& [number, blob] : family.blobs) {
    const std::string path = locations.BlobPath(number);
    PrintLine(path);
    PrintLine(kRule);
    const Status status = DumpBlobs(fs, call, path);
    if (!status.ok()) PrintLine(status.ToString());
    if (first_error.ok()) first_error = status;
    PrintLine("");
  }
  return first_error;
}

// Prints the logs that an opening of the database would replay, and checks that none is missing.
Status DumpLogs(FileSystem* fs, const Invocation& call, const ManifestState& state) {
  PrintTitle("\nWrite Ahead Log Files");
  ASSIGN_OR_RETURN(const std::string directory, FindLogDirectory(call, state));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, directory));
  // Logs below this number are not replayed, even if their files are still there.
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
  return CheckLogs(call, state);
}

// Prints empty levels as well, as RocksDB's ldb does.
void PrintByLevel(const FileLocations& locations, const ManifestState& state) {
  for (const auto& [id, family] : state.families()) {
    PrintLine(StrCat("===== Column Family: ", family.name, " =====\nLive SST Files:"));
    // At least as many levels as RocksDB's ldb shows, so that outputs can be compared.
    const size_t levels = std::max(family.levels.size(), kLevelsAlwaysShown);
    for (size_t level = 0; level < levels; level++) {
      PrintLine(StrCat("---------- level ", level, " ----------"));
      if (level >= family.levels.size()) continue;
      for (const FileMetadata& meta : family.levels[level]) {
        PrintLine(locations.TablePath(meta.number));
      }
    }
    PrintLine("Live Blob Files:");
    for (const auto& [number, blob] : family.blobs) PrintLine(locations.BlobPath(number));
  }
}

void PrintByName(const FileLocations& locations, const ManifestState& state) {
  // Sorted by path, because that is what the flag asks for.
  std::map<std::string, std::string> lines;  // by path
  for (const auto& [id, family] : state.families()) {
    for (size_t level = 0; level < family.levels.size(); level++) {
      for (const FileMetadata& meta : family.levels[level]) {
        lines[locations.TablePath(meta.number)] =
            StrCat(" : level ", level, ", column family '", family.name, "'");
      }
    }
    for (const auto& [number, blob] : family.blobs) {
      lines[locations.BlobPath(number)] = StrCat(", column family '", family.name, "'");
    }
  }
  PrintLine("Live SST and Blob Files:");
  for (const auto& [path, place] : lines) PrintLine(StrCat(path, place));
}

// Compares a table with its record in the MANIFEST, and opens it as the engine does, which verifies
// footer, properties, index, filter and range tombstones. Data blocks are not read: sst_dump
// --command=verify checks them.
Status CheckTable(FileSystem* fs, const std::string& path, const FileMetadata& meta) {
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, path));
  // The size is compared before the file is opened, so a file that was cut off is reported as such.
  if (bytes != meta.file_size) {
    return Status::Corruption(
        StrCat(path, ": the MANIFEST says ", meta.file_size, " bytes, the file has ", bytes));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, path));
  const Status opened = table->Reader().status();
  // A feature that this engine does not have is not damage.
  return opened.IsNotSupported() ? Status::OK() : opened;
}

Status CheckBlobFile(FileSystem* fs, const std::string& path, const BlobFileAddition& added) {
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, path));
  if (bytes == added.file_bytes()) return Status::OK();
  return Status::Corruption(
      StrCat(path, ": the MANIFEST says ", added.file_bytes(), " bytes, the file has ", bytes));
}

// Tables of a level below 0 must not overlap, and must be in the order of their keys.
Status CheckOrder(const FamilyState& family, size_t level) {
  const Comparator* comparator = OrderOfBoundaries(family);
  // Without the comparator the order is not known, and a check would report errors that are none.
  if (comparator == nullptr) return Status::OK();
  const InternalKeyComparator order(comparator);
  assert(level < family.levels.size());
  const std::vector<FileMetadata>& files = family.levels[level];
  for (size_t i = 0; i < files.size(); i++) {
    if (order.Compare(files[i].smallest, files[i].largest) > 0) {
      return Status::Corruption(StrCat("file ", files[i].number, " of column family ", family.name,
                                       ": its smallest key sorts after its largest"));
    }
    // Tables of level 0 may overlap, because each of them is a sorted run of its own.
    if (level > 0 && i > 0 && order.Compare(files[i - 1].largest, files[i].smallest) >= 0) {
      return Status::Corruption(StrCat("files ", files[i - 1].number, " and ", files[i].number,
                                       " of column family ", family.name, ", level ", level,
                                       ": their key ranges overlap"));
    }
  }
  return Status::OK();
}

Status CheckFamily(FileSystem* fs, const FileLocations& locations, const FamilyState& family) {
  for (size_t level = 0; level < family.levels.size(); level++) {
    RETURN_IF_ERROR(CheckOrder(family, level));
    for (const FileMetadata& meta : family.levels[level]) {
      RETURN_IF_ERROR(CheckTable(fs, locations.TablePath(meta.number), meta));
    }
  }
  for (const auto& [number, blob] : family.blobs) {
    RETURN_IF_ERROR(CheckBlobFile(fs, locations.BlobPath(number), blob.added));
  }
  return Status::OK();
}

// Prints the range tombstones of tables, at most `max_count` in all.
class RangeTombstonePrinter {
 public:
  explicit RangeTombstonePrinter(int64_t max_count) : left_(max_count) {}

  bool IsFull() const { return left_ == 0; }
  Status Print(FileSystem* fs, const std::string& path) {
    assert(left_ >= 0);
    ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, path));
    PrintLine(StrCat("=== file : ", path, " ==="));
    return table->ForEachTombstone([this](const Slice& key, const Slice& end) {
      // The limit counts tombstones of all tables, so the printer keeps it from table to table.
      if (IsFull()) return Status::OK();
      left_--;
      PrintLine(StrCat("start: ", ExtractUserKey(key).ToString(/*hex=*/true), " end: ",
                       end.ToString(/*hex=*/true), " seq: ", TrailerSeqno(ExtractTrailer(key))));
      return Status::OK();
    });
  }

 private:
  // How many may still be printed.
  int64_t left_;
};

}  // namespace

// Prints the MANIFEST, all live tables and blob files, and the logs. Damage in one family does not
// keep the others from being printed; the first error is returned at the end.
Status RunDumpLiveFiles(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const std::string manifest, FindManifest(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(fs, call, state));
  PrintTitle("Manifest File");
  PrintLine(manifest);
  PrintLine(ManifestSummaryText(state, call.hex_keys));
  Status first_error;
  for (const auto& [id, family] : state.families()) {
    const Status status = DumpFamily(fs, call, locations, family);
    if (first_error.ok()) first_error = status;
  }
  const Status status = DumpLogs(fs, call, state);
  return first_error.ok() ? status : first_error;
}

// Compares the MANIFEST with the files, without opening the database.
Status RunCheckConsistency(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const std::string manifest, LiveManifestPath(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(fs, call, state));
  // Checks take long for large databases; the heartbeat shows that the program still works.
  const Heartbeat heartbeat("checking");
  for (const auto& [id, family] : state.families()) {
    RETURN_IF_ERROR(CheckFamily(fs, locations, family));
  }
  RETURN_IF_ERROR(CheckLogs(call, state));
  PrintLine("OK");
  return Status::OK();
}

// Prints one file. Its kind is known from its name, so the database need not be complete. Of a
// damaged MANIFEST the edits before the damage are printed, and the error is returned.
Status DumpFile(const Invocation& call, const std::string& path) {
  FileSystem* const fs = ToolFiles();
  FileNumber number;
  FileType type = kTempFile;
  if (!ParseFileName(BaseNameOf(path), &number, &type)) {
    return Status::InvalidArgument(StrCat("not the name of a database file: ", path));
  }
  switch (type) {
    case kTableFile: return DumpTableAlone(fs, call, path);
    case kBlobFile: return DumpBlobs(fs, call, path);
    case kWalFile: return DumpWal(fs, path, {.has_header = true, .prints_values = true});
    case kDescriptorFile: {
      std::optional<ManifestState> state;
      const Status status = ReadManifestUpToDamage(fs, path, {}, &state);
      if (state.has_value()) Print(ManifestSummaryText(*state, call.hex_keys));
      return status;
    }
    default:
      return Status::NotSupported(StrCat(
          "only tables, blob files, logs and MANIFESTs can be dumped by --path, not ", path));
  }
}

// Lists the live files without opening the database: the MANIFEST says which files are live.
Status RunListLiveFiles(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const bool sorts_by_name, call.line->Bool("sort_by_filename"));
  ASSIGN_OR_RETURN(const std::string manifest, FindManifest(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(fs, call, state));
  if (sorts_by_name) {
    PrintByName(locations, state);
  } else {
    PrintByLevel(locations, state);
  }
  PrintLine("------------------------------");
  return Status::OK();
}

// Prints the range tombstones of the tables of a family, level by level, at most --max_keys of
// them. The last line tells the user if the limit was reached.
Status RunListFileRangeDeletes(const Invocation& call) {
  ASSIGN_OR_RETURN(const int64_t max_count, call.line->Number("max_keys", 1000));
  if (max_count < 0) return Status::InvalidArgument("--max_keys must not be negative");
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const std::string manifest, FindManifest(fs, call.db));
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
  const FamilyState* const family = state.Family(call.family);
  if (family == nullptr) {
    return Status::InvalidArgument(StrCat("no column family is called \"", call.family, "\""));
  }
  ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(fs, call, state));
  RangeTombstonePrinter printer(max_count);
  for (const std::vector<FileMetadata>& level : family->levels) {
    for (const FileMetadata& meta : level) {
      // The limit ends the inner loop; the outer one then finds nothing to print either.
      if (printer.IsFull()) break;
      RETURN_IF_ERROR(printer.Print(fs, locations.TablePath(meta.number)));
    }
  }
  if (printer.IsFull()) PrintLine("(results may not be complete)");
  PrintLine("");
  return Status::OK();
}

// The page is written after everything has been read, so a damaged file leaves no partial page.
Status RunReport(const Invocation& call) {
  FileSystem* const fs = ToolFiles();
  TreeSurvey survey;
  // The scope ends the heartbeat before the result is printed.
  {
    const Heartbeat heartbeat("reading");
    ASSIGN_OR_RETURN(const std::string manifest, FindManifest(fs, call.db));
    ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, manifest));
    ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(fs, call, state));
    ASSIGN_OR_RETURN(const std::string logs, FindLogDirectory(call, state));
    ASSIGN_OR_RETURN(survey, SurveyTree(fs, locations, logs, state));
  }
  const std::string path = call.line->Value("output").value_or(call.db + "_report.html");
  if (path.empty()) return Status::InvalidArgument("--output=<file> has no name");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> out,
                   FileWriter::Create(fs, path, FileOptions()));
  // A file of the same name is replaced.
  RETURN_IF_ERROR(out->Append(TreePage(survey, static_cast<uint64_t>(seconds))));
  RETURN_IF_ERROR(out->Close());
  PrintLine(StrCat("report written to file ", path));
  return Status::OK();
}

}  // namespace ashlar
