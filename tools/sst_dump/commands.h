// SPDX-License-Identifier: Apache-2.0
//
// The commands of sst_dump. Each --command is a row of a table and a function that works on one
// file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/compression_type.h"
#include "tools/lib/command_line.h"
#include "tools/lib/table_inspector.h"

namespace ashlar {

// --command=recompress: the compressions to try. In recompress.cc.
struct RecompressPlan {
  std::vector<CompressionType> types;  // in the order in which they are tried
  // Inclusive. CompressionOptions::kDefaultCompressionLevel if the flags give no levels.
  int first_level = CompressionOptions::kDefaultCompressionLevel;
  int last_level = CompressionOptions::kDefaultCompressionLevel;
  uint64_t block_bytes = 16384;  // of data blocks before compression; the default of RocksDB's tool
  CompressionOptions options;    // except the level
};

// InvalidArgument names the flag.
Result<RecompressPlan> ParseRecompressPlan(const CommandLine& line);

// The flags of one call.
struct SstDumpRequest {
  TableScan scan;
  RecompressPlan recompress;
  std::string output;  // --output of the report; empty: a file next to each table
  bool shows_properties = false;
  bool lists_meta_blocks = false;
  bool verifies_first = false;         // --verify_checksum: verify all blocks before check or scan
  uint64_t entries_left = UINT64_MAX;  // of --read_num, which counts over all files
  bool is_range_printed = false;       // --from and --to are printed once
};

struct SstDumpCommand {
  std::string_view name;
  std::string_view help;
  // Works on one file and prints the results. The error says what is wrong with the file.
  Status (*run)(TableInspector* table, SstDumpRequest* request);
};

std::span<const SstDumpCommand> SstDumpCommands();
// Null if there is no command of this name.
const SstDumpCommand* FindSstDumpCommand(std::string_view name);

// --command=raw: writes the whole file as text to <file without .sst>_dump.txt. In raw_dump.cc.
Status DumpRaw(TableInspector* table, SstDumpRequest* request);
// --command=recompress. In recompress.cc.
Status Recompress(TableInspector* table, SstDumpRequest* request);
// --command=report: writes a page of HTML to <file without .sst>_report.html or to --output.
Status WriteReport(TableInspector* table, SstDumpRequest* request);

// The path of a file that a command writes next to a table: the table's path with another ending.
std::string OutputPath(const TableInspector& table, std::string_view ending);

}  // namespace ashlar
