// SPDX-License-Identifier: Apache-2.0
//
// The command table, and the commands that are small: check, scan, verify, identify, none, report.
#include "tools/sst_dump/commands.h"

#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "env/file_writer.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "tools/sst_dump/report_page.h"
#include "tools/sst_dump/table_survey.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kTableSuffix = ".sst";

// Reads every block of the file and compares its checksum. The user is told from time to time that
// this is still running.
Status VerifyBlocks(TableInspector* table) {
  assert(table != nullptr);
  ASSIGN_OR_RETURN(const TableReader* reader, table->Reader());
  const Heartbeat heartbeat(StrCat("verifying ", table->path()));
  return reader->VerifyChecksums(ReadOptions());
}

// Check and scan are the same walk over the entries; they differ in whether entries are printed.
// Both count against --read_num, which limits all files together.
Status ScanWith(TableInspector* table, SstDumpRequest* request, bool prints) {
  assert(table != nullptr);
  assert(request != nullptr);
  if (request->verifies_first) {
    RETURN_IF_ERROR(VerifyBlocks(table));
  }
  ASSIGN_OR_RETURN(const TableReader* reader, table->Reader());
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, table->FindComparator());
  TableScan scan = request->scan;
  if (!std::exchange(request->is_range_printed, true)) {
    PrintLine(StrCat("from [", HexBytes(scan.from.value_or("")), "] to [",
                     HexBytes(scan.to.value_or("")), "]"));
  }
  scan.prints = prints;
  scan.max_entries = request->entries_left;
  ASSIGN_OR_RETURN(const uint64_t visited, ScanTable(*reader, comparator, scan));
  if (request->entries_left != UINT64_MAX) request->entries_left -= visited;
  return Status::OK();
}

Status Check(TableInspector* table, SstDumpRequest* request) {
  return ScanWith(table, request, /*prints=*/false);
}

Status Scan(TableInspector* table, SstDumpRequest* request) {
  return ScanWith(table, request, /*prints=*/true);
}

Status None(TableInspector*, SstDumpRequest*) { return Status::OK(); }

Status Verify(TableInspector* table, SstDumpRequest*) {
  RETURN_IF_ERROR(VerifyBlocks(table));
  PrintLine("The file is ok");
  return Status::OK();
}

// The table has been opened, which proves that it is an SST file.
Status Identify(TableInspector* table, SstDumpRequest*) {
  assert(table != nullptr);
  PrintLine(StrCat(table->path(), " is a valid SST file"));
  return Status::OK();
}

// In the order of the help text. A line break within a help text is indented to the column of the
// texts.
constexpr SstDumpCommand kCommands[] = {
    {"check", "read all entries and verify their blocks; print only errors (the default command)",
     &Check},
    {"scan", "print the entries: 'key' seq:<sequence number>, type:<kind> => value", &Scan},
    {"raw", "write footer, properties, index and all blocks as text to <file>_dump.txt", &DumpRaw},
    {"verify", "verify every block of the file, its metadata included", &Verify},
    {"recompress",
     "try every compression on the table: size, time and MB/s; write no file. To see the sizes\n"
     "              that a database would have, pass its block size: --set_block_size",
     &Recompress},
    {"report",
     "write a page of HTML to <file>_report.html: blocks by size and compression, keys,\n"
     "              tombstones, how full the filter is",
     &WriteReport},
    {"identify", "print whether the file is an SST file, or which files of a directory are",
     &Identify},
    {"none", "only open the file, as with --show_properties", &None},
};

}  // namespace

// The page is written after all of the table has been read, so a damaged block leaves no partial
// page.
Status WriteReport(TableInspector* table, SstDumpRequest* request) {
  assert(table != nullptr);
  assert(request != nullptr);
  ASSIGN_OR_RETURN(const TableSurvey survey, SurveyTable(table));
  ASSIGN_OR_RETURN(const FilterSurvey filter, SurveyFilter(table));
  const std::string path =
      request->output.empty() ? OutputPath(*table, "_report.html") : request->output;
  ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> out,
                   FileWriter::Create(ToolFiles(), path, FileOptions()));
  RETURN_IF_ERROR(out->Append(ReportPage(*table, survey, filter)));
  RETURN_IF_ERROR(out->Close());
  PrintLine(StrCat("report written to file ", path));
  return Status::OK();
}

std::string OutputPath(const TableInspector& table, std::string_view ending) {
  std::string path = table.path();
  if (Slice(path).ends_with(kTableSuffix)) path.resize(path.size() - kTableSuffix.size());
  return StrCat(path, ending);
}

std::span<const SstDumpCommand> SstDumpCommands() { return kCommands; }

const SstDumpCommand* FindSstDumpCommand(std::string_view name) {
  for (const SstDumpCommand& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace ashlar
