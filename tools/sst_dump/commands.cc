// SPDX-License-Identifier: Apache-2.0
//
// The commands that print to stdout, and the table of all. raw_dump.cc has the one that writes.
#include "tools/sst_dump/commands.h"

#include <utility>

#include "ashlar/options.h"
#include "tools/lib/output.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

Status ScanWith(TableInspector* table, SstDumpRequest* request, bool prints) {
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
  ASSIGN_OR_RETURN(const TableReader* reader, table->Reader());
  const Heartbeat heartbeat(StrCat("verifying ", table->path()));
  RETURN_IF_ERROR(reader->VerifyChecksums(ReadOptions()));
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
     "            command if none is given)",
     &Check},
    {"scan", "print the entries: 'key' seq:<sequence number>, type:<kind> => value", &Scan},
    {"raw", "write footer, properties, index and all blocks as text to <file>_dump.txt", &DumpRaw},
    {"verify", "check every block of the file, its metadata included", &Verify},
    {"identify", "say whether the file is an SST file, or which files of a directory are",
     &Identify},
    {"none", "only open the file, as with --show_properties", &None},
};

}  // namespace

std::span<const SstDumpCommand> SstDumpCommands() { return kCommands; }

const SstDumpCommand* FindSstDumpCommand(std::string_view name) {
  for (const SstDumpCommand& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace ashlar
