// SPDX-License-Identifier: Apache-2.0
//
// The commands of ldb. Each is a row of a table and a function; help, argument checks and dispatch
// all come from the rows.
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

// One call of ldb: its arguments, and the flags that all commands share.
struct Invocation {
  const CommandLine* line = nullptr;   // outlives the call
  std::vector<std::string> arguments;  // the words behind the command
  std::string db;                      // --db; not empty if the command needs a database
  std::string family;                  // --column_family
  bool hex_keys = false;               // --key_hex, --hex
  bool hex_values = false;

  // The bytes that the text of an argument or flag stands for. InvalidArgument for bad hexadecimal
  // text.
  Result<std::string> KeyFrom(const std::string& text) const;
  Result<std::string> ValueFrom(const std::string& text) const;
  // The text that stands for bytes in the output.
  std::string KeyText(const Slice& key) const;
  std::string ValueText(const Slice& value) const;
};

struct LdbCommand {
  std::string_view name;
  std::string_view usage;               // arguments and flags, printed after the name
  std::string_view summary;             // one line
  std::string_view details;             // printed by --help of this command; may be empty
  std::vector<std::string_view> flags;  // in addition to the flags of all commands
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  bool needs_db = true;
  Status (*run)(const Invocation& call);
};

std::span<const LdbCommand> DataCommands();
std::span<const LdbCommand> AdminCommands();
// Null if there is no command of this name.
const LdbCommand* FindLdbCommand(std::string_view name);
// Checks the arguments and runs the command on the files of Program(). The line has the name of the
// command as its first word.
Status RunLdbCommand(const LdbCommand& command, const CommandLine& line);
// Opens the environment that --env_uri or --fs_uri names, for the rest of the call.
Status UseEnvOfLine(const CommandLine& line);
// The flags that every command accepts.
std::vector<std::string_view> CommonLdbFlags();
// The help of the program.
std::string LdbUsageText();

// Separates key and value in the lines that `ldb dump` prints and load reads.
inline constexpr std::string_view kArrow = " ==> ";

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
Status RunExplain(const Invocation& call);
Status RunQuery(const Invocation& call);

// load_commands.cc
Status RunLoad(const Invocation& call);
Status RunWriteExternSst(const Invocation& call);
Status RunIngestExternSst(const Invocation& call);

// scan_commands.cc
Status RunScan(const Invocation& call);
Status RunDump(const Invocation& call);
Status RunIdump(const Invocation& call);

// store_commands.cc
Status RunListFamilies(const Invocation& call);
Status RunCreateFamily(const Invocation& call);
Status RunDropFamily(const Invocation& call);
Status RunApproxSize(const Invocation& call);
Status RunCompact(const Invocation& call);
Status RunGetProperty(const Invocation& call);
Status RunCheckpoint(const Invocation& call);

// backup_commands.cc
Status RunBackup(const Invocation& call);
Status RunRestore(const Invocation& call);

// repair_commands.cc
Status RunRepair(const Invocation& call);
Status RunUpdateManifest(const Invocation& call);

// tree_commands.cc
Status RunReduceLevels(const Invocation& call);
Status RunChangeCompactionStyle(const Invocation& call);
Status RunUnsafeRemoveSstFile(const Invocation& call);

// manifest_dump.cc
Status RunManifestDump(const Invocation& call);
Status RunFileChecksumDump(const Invocation& call);

// wal_dump.cc
Status RunDumpWal(const Invocation& call);

// live_file_commands.cc
Status RunCheckConsistency(const Invocation& call);
Status RunDumpLiveFiles(const Invocation& call);
Status RunListLiveFiles(const Invocation& call);
Status RunListFileRangeDeletes(const Invocation& call);
Status RunReport(const Invocation& call);
// dump --path: prints one table, blob file, log or MANIFEST.
Status DumpFile(const Invocation& call, const std::string& path);

}  // namespace ashlar
