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

namespace ashlar {

struct SstDumpRequest {
  TableScan scan;
  bool shows_properties = false;
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

}  // namespace ashlar
