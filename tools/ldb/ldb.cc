// SPDX-License-Identifier: Apache-2.0
//
// LDBTool, and with it the program ldb: inspects a database and makes small changes to it. Commands
// and flags are those of RocksDB's tool of this name. The exit code is 0 on success, else 1 with a
// message on stderr.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/version.h"
#include "tools/ldb/command.h"
#include "tools/ldb/option_flags.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kHead =
    "ldb --db=<directory> [flags] <command> [arguments]\n\n"
    "Flags of all commands:\n"
    "  --db=<directory>            the database\n"
    "  --column_family=<name>      the column family; \"default\" if not given\n"
    "  --key_hex --value_hex --hex read and print keys, values or both as 0x6B6579\n"
    "  --env_uri=<name> --fs_uri=<name>  the environment or the file system of the database\n"
    "  --help                      this text, or the details of a command\n"
    "  --version                   the version of this program\n";
constexpr std::string_view kOpenHelp =
    "\nFlags of commands that write (options of a family are changed in the one of the call):\n"
    "  --create_if_missing         create the database if it does not exist\n"
    "  --compression_type=<no|snappy|zlib|bzip2|lz4|lz4hc|zstd>\n"
    "  --compression_max_dict_bytes=<n>  --block_size=<bytes>  --bloom_bits=<n>\n"
    "  --write_buffer_size=<bytes>  --file_size=<bytes>  --auto_compaction=<true|false>\n"
    "  --fix_prefix_len=<bytes>  --db_write_buffer_size=<bytes>  --disable_consistency_checks\n"
    "  --enable_blob_files  --min_blob_size=<bytes>  --blob_file_size=<bytes>\n"
    "  --blob_compression_type=<as above>  --enable_blob_garbage_collection\n"
    "  --blob_garbage_collection_age_cutoff=<share>  --blob_compaction_readahead_size=<bytes>\n"
    "  --blob_garbage_collection_force_threshold=<share>  --blob_file_starting_level=<n>\n"
    "  --prepopulate_blob_cache=<0|1>\n"
    "  --try_load_options=false    use default options instead of the database's OPTIONS file\n"
    "  --ignore_unknown_options    skip options in that file that this version does not know\n"
    "  --write_compatible_with=7.8 write only what RocksDB 7.8 can read\n\n"
    "Read commands open the database without changing it, also while another process has it open.\n"
    "--secondary_path=<directory>: beside a busy process, as a secondary instance: a file that "
    "the\n"
    "other process deletes meanwhile is no error. The directory gets an info log.\n"
    "They accept the flags above except the first; those about writing have no effect.\n"
    "--ttl: the database is a DBWithTTL, whose values end in the times of their writes.\n"
    "--db_paths=<dir>,..: further directories of tables and blob files (DBOptions::db_paths,\n"
    "cf_paths), in any order.\n"
    "--read_timestamp=<timestamp>: needed to read a family with timestamps: a number for the "
    "built-in\n"
    "comparators, else 0x and its bytes.\n"
    "Example: ldb --db=/data/users scan --from=user1 --to=user2 --max_keys=10\n";

std::string CommandLines(std::span<const LdbCommand> commands) {
  std::string text;
  for (const LdbCommand& command : commands) {
    StrAppend(&text, "  ", command.name, command.usage.empty() ? "" : " ", command.usage,
              "\n      ", command.summary, "\n");
  }
  return text;
}

std::string UsageText(const LdbCommand& command) {
  std::string text =
      StrCat("ldb ", command.needs_db ? "--db=<directory> " : "", command.name, " ", command.usage,
             "\n\n", command.summary, "\n", command.details, command.details.empty() ? "" : "\n");
  if (!command.flags.empty()) {
    StrAppend(&text, "\nFlags:");
    for (const std::string_view flag : command.flags) StrAppend(&text, " --", flag);
    StrAppend(&text, "\n");
  }
  return text;
}

// Refuses unknown flags and a wrong number of words before anything is opened.
Status CheckArguments(const LdbCommand& command, const Invocation& call) {
  std::vector<std::string_view> known = CommonLdbFlags();
  known.insert(known.end(), command.flags.begin(), command.flags.end());
  RETURN_IF_ERROR(call.line->CheckFlags(known));
  const size_t found = call.arguments.size();
  if (found < command.min_arguments || found > command.max_arguments) {
    return Status::InvalidArgument(
        StrCat("expected ", command.name, " ", command.usage, ", found ", found, " arguments"));
  }
  if (command.needs_db && call.db.empty()) {
    return Status::InvalidArgument(StrCat(command.name, " needs --db=<directory>"));
  }
  return Status::OK();
}

// The parts of the command line that all commands have in common.
Result<Invocation> Parse(const CommandLine& line) {
  Invocation call;
  call.line = &line;
  call.arguments.assign(line.words().begin() + 1, line.words().end());
  call.db = line.Value("db").value_or("");
  while (call.db.size() > 1 && call.db.back() == '/') call.db.pop_back();
  call.family = line.Value("column_family").value_or(kDefaultColumnFamilyName);
  ASSIGN_OR_RETURN(const bool is_hex, line.Bool("hex"));
  ASSIGN_OR_RETURN(call.hex_keys, line.Bool("key_hex", is_hex));
  ASSIGN_OR_RETURN(call.hex_values, line.Bool("value_hex", is_hex));
  return call;
}

// Returns the exit code of the program.
int Run(const CommandLine& line) {
  if (line.words().empty()) {
    const bool is_asked = line.Has("help");
    if (line.Has("version")) {
      PrintLine(GetRocksBuildInfoAsString("ldb"));
      return 0;
    }
    std::fputs(LdbUsageText().c_str(), is_asked ? stdout : stderr);
    return is_asked ? 0 : 1;
  }
  const LdbCommand* command = FindLdbCommand(line.words()[0]);
  if (command == nullptr) {
    std::fprintf(stderr, "Failed: unknown command \"%s\"; ldb --help lists all\n",
                 line.words()[0].c_str());
    return 1;
  }
  if (line.Has("help")) {
    Print(UsageText(*command));
    return 0;
  }
  const Status status = RunLdbCommand(*command, line);
  if (status.ok()) return 0;
  std::fprintf(stderr, "Failed: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

// ---- what ldb_cmd.cc uses too

std::string LdbUsageText() {
  const std::string& head = Program().help_head;
  return StrCat(head, head.empty() ? "" : "\n\n", kHead, "\nData:\n", CommandLines(DataCommands()),
                "\nAdministration:\n", CommandLines(AdminCommands()), kOpenHelp);
}

const LdbCommand* FindLdbCommand(std::string_view name) {
  for (const std::span<const LdbCommand> commands : {DataCommands(), AdminCommands()}) {
    for (const LdbCommand& command : commands) {
      if (command.name == name) return &command;
    }
  }
  return nullptr;
}

Status UseEnvOfLine(const CommandLine& line) {
  const std::string env_uri = line.Value("env_uri").value_or("");
  const std::string fs_uri = line.Value("fs_uri").value_or("");
  return env_uri.empty() && fs_uri.empty() ? Status::OK() : UseToolEnv(env_uri, fs_uri);
}

// Scripts pass the flags of opening to every command, also to commands that do not use them.
std::vector<std::string_view> CommonLdbFlags() {
  std::vector<std::string_view> flags = {"db",        "column_family", "hex",    "key_hex",
                                         "value_hex", "env_uri",       "fs_uri", "help"};
  for (const std::string_view flag : OpenFlags()) {
    if (flag != "create_if_missing") flags.push_back(flag);
  }
  return flags;
}

Status RunLdbCommand(const LdbCommand& command, const CommandLine& line) {
  ASSIGN_OR_RETURN(const Invocation call, Parse(line));
  RETURN_IF_ERROR(CheckArguments(command, call));
  RETURN_IF_ERROR(UseEnvOfLine(line));
  const Status status = command.run(call);
  const Status flushed = FlushOutput();
  return status.ok() ? flushed : status;
}

LDBOptions::LDBOptions() = default;

int LDBTool::RunAndReturn(int argc, char** argv, const Options& db_options,
                          const LDBOptions& ldb_options,
                          const std::vector<ColumnFamilyDescriptor>* column_families) {
  ProgramParts parts;
  parts.options = db_options;
  if (column_families != nullptr) parts.families = *column_families;
  parts.key_formatter = ldb_options.key_formatter;
  parts.help_head = ldb_options.print_help_header;
  // What the calling program brings along counts until the end of the call.
  const ProgramScope scope(std::move(parts));
  return ashlar::Run(CommandLine(argc, argv));
}

void LDBTool::Run(int argc, char** argv, Options db_options, const LDBOptions& ldb_options,
                  const std::vector<ColumnFamilyDescriptor>* column_families) {
  std::exit(RunAndReturn(argc, argv, db_options, ldb_options, column_families));
}

}  // namespace ashlar
