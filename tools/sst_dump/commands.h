// SPDX-License-Identifier: Apache-2.0
//
// What sst_dump can do with a table file: one row of a table for each --command.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/lib/table_inspector.h"
#include "tools/lib/table_scan.h"
#include "tools/sst_dump/recompress.h"

namespace ashlar {

struct SstDumpRequest {
  TableScan scan;
  RecompressPlan recompress;
  std::string output;  // --output of the report; empty: a file beside each table
  bool shows_properties = false;
  bool lists_meta_blocks = false;
  bool verifies_first = false;         // --verify_checksum: all blocks, before check or scan
  uint64_t entries_left = UINT64_MAX;  // --read_num, over all files
  bool is_range_printed = false;       // says once what --from and --to are
};

struct SstDumpCommand {
  std::string_view name;
  std::string_view help;
  // Works on one file; prints its results. The error says what is wrong with the file.
  Status (*run)(TableInspector* table, SstDumpRequest* request);
};

std::span<const SstDumpCommand> SstDumpCommands();
// Null if there is no such command.
const SstDumpCommand* FindSstDumpCommand(std::string_view name);

// --command=raw: everything in the file as text, into <file without .sst>_dump.txt beside it.
Status DumpRaw(TableInspector* table, SstDumpRequest* request);
// --command=recompress.
Status Recompress(TableInspector* table, SstDumpRequest* request);
// --command=report: a page of HTML, into <file without .sst>_report.html beside it or --output.
Status WriteReport(TableInspector* table, SstDumpRequest* request);

// The path of a file that a command makes beside a table: its own, with another ending.
std::string PathBeside(const TableInspector& table, std::string_view ending);

}  // namespace ashlar
