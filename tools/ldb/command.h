// SPDX-License-Identifier: Apache-2.0
//
// The commands of ldb: one row of a table and one function each. Help, argument checks and the
// dispatch all come from the rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "tools/lib/command_line.h"
#include "util/result.h"

namespace ashlar {

// One call of ldb, parsed as far as all commands share it.
struct Invocation {
  const CommandLine* line = nullptr;   // outlives the call
  std::vector<std::string> arguments;  // the words behind the command
  std::string db;                      // --db; checked to be there unless the command needs none
  std::string family;                  // --column_family
  bool hex_keys = false;               // --key_hex, --hex
  bool hex_values = false;

  // Arguments and flags as bytes. InvalidArgument for bad hexadecimal text.
  Result<std::string> KeyFrom(const std::string& text) const;
  Result<std::string> ValueFrom(const std::string& text) const;
  // Bytes as text.
  std::string KeyText(const Slice& key) const;
  std::string ValueText(const Slice& value) const;
};

struct LdbCommand {
  std::string_view name;
  std::string_view usage;               // behind the name
  std::string_view summary;             // one line
  std::string_view details;             // for --help of this command; may be empty
  std::vector<std::string_view> flags;  // besides those of all commands
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  bool needs_db = true;
  Status (*run)(const Invocation& call);
};

std::span<const LdbCommand> DataCommands();
std::span<const LdbCommand> AdminCommands();
// Names of commands that RocksDB's ldb has and this one lacks; not_built.cc.
std::vector<std::string_view> UnbuiltCommands();

// data_commands.cc
Status RunGet(const Invocation& call);
Status RunMultiGet(const Invocation& call);
Status RunGetEntity(const Invocation& call);
Status RunMultiGetEntity(const Invocation& call);
Status RunPutEntity(const Invocation& call);
Status RunPut(const Invocation& call);
Status RunDelete(const Invocation& call);
Status RunSingleDelete(const Invocation& call);
Status RunDeleteRange(const Invocation& call);
Status RunBatchPut(const Invocation& call);

// load_command.cc
Status RunLoad(const Invocation& call);

// query_command.cc
Status RunQuery(const Invocation& call);

// explain_command.cc
Status RunExplain(const Invocation& call);

// scan_commands.cc
Status RunScan(const Invocation& call);
Status RunDump(const Invocation& call);
Status RunIdump(const Invocation& call);

// family_commands.cc
Status RunListFamilies(const Invocation& call);
Status RunCreateFamily(const Invocation& call);
Status RunDropFamily(const Invocation& call);

// store_commands.cc
Status RunApproxSize(const Invocation& call);
Status RunCompact(const Invocation& call);
Status RunCheckConsistency(const Invocation& call);
Status RunGetProperty(const Invocation& call);
Status RunCheckpoint(const Invocation& call);

// extern_sst_commands.cc
Status RunWriteExternSst(const Invocation& call);
Status RunIngestExternSst(const Invocation& call);

// range_deletes_list.cc
Status RunListFileRangeDeletes(const Invocation& call);

// report_command.cc
Status RunReport(const Invocation& call);

// level_commands.cc
Status RunReduceLevels(const Invocation& call);
Status RunChangeCompactionStyle(const Invocation& call);

// remove_sst_command.cc
Status RunUnsafeRemoveSstFile(const Invocation& call);

// manifest_dump.cc, wal_dump.cc, live_files_dump.cc, live_files_list.cc, file_checksum_dump.cc
Status RunManifestDump(const Invocation& call);
Status RunDumpWal(const Invocation& call);
Status RunDumpLiveFiles(const Invocation& call);
Status RunListLiveFiles(const Invocation& call);
Status RunFileChecksumDump(const Invocation& call);
// dump --path: a table, log or MANIFEST by itself.
Status DumpFile(const Invocation& call, const std::string& path);

}  // namespace ashlar
