// SPDX-License-Identifier: Apache-2.0
//
// The commands that only read, and the table of all.
#include "tools/sst_dump/commands.h"

#include <utility>

#include "ashlar/options.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kTableSuffix = ".sst";

Status VerifyBlocks(TableInspector* table) {
  ASSIGN_OR_RETURN(const TableReader* reader, table->Reader());
  const Heartbeat heartbeat(StrCat("verifying ", table->path()));
  return reader->VerifyChecksums(ReadOptions());
}

Status ScanWith(TableInspector* table, SstDumpRequest* request, bool prints) {
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

// Opening the table has already proved what is asked here.
Status Identify(TableInspector* table, SstDumpRequest*) {
  PrintLine(StrCat(table->path(), " is a valid SST file"));
  return Status::OK();
}

constexpr SstDumpCommand kCommands[] = {
    {"check",
     "walk the entries and check every block on the way; print nothing but errors (the\n"
     "              command if none is given)",
     &Check},
    {"scan", "print the entries: 'key' seq:<sequence number>, type:<kind> => value", &Scan},
    {"raw", "write footer, properties, index and all blocks as text to <file>_dump.txt", &DumpRaw},
    {"verify", "check every block of the file, its metadata included", &Verify},
    {"recompress",
     "try every compression on the table: size, time and MB/s; writes no file. For the sizes\n"
     "              of a database's tables give the block size that it has: --set_block_size",
     &Recompress},
    {"report",
     "write one page of HTML, into <file>_report.html: blocks by size and compression, keys,\n"
     "              tombstones, how full the filter is",
     &WriteReport},
    {"identify", "say whether the file is an SST file, or which files of a directory are",
     &Identify},
    {"none", "only open the file, as with --show_properties", &None},
};

}  // namespace

std::string PathBeside(const TableInspector& table, std::string_view ending) {
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
