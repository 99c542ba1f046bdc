// SPDX-License-Identifier: Apache-2.0
//
// sst_dump: looks into table files, one or all of a directory. The flags are those of RocksDB's
// tool of this name. Every file is visited even if one before it is damaged; the exit code is 1 if
// any was.
#include <cstdio>
#include <string>
#include <vector>

#include "env/file_util.h"
#include "tools/lib/command_line.h"
#include "tools/lib/key_text.h"
#include "tools/lib/output.h"
#include "tools/sst_dump/commands.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kUsage =
    "sst_dump --file=<sst file or directory> [--command=<command>] [flags]\n\n"
    "Commands:\n";
constexpr std::string_view kFlagHelp =
    "\nFlags:\n"
    "  --output_hex         print keys and values as hexadecimal digits (scan)\n"
    "  --from=<user key>    start here (check, scan)\n"
    "  --to=<user key>      stop before this key (check, scan)\n"
    "  --prefix=<bytes>     only keys that begin so; not together with --from (check, scan)\n"
    "  --input_key_hex      --from, --to and --prefix are given as 0x6B6579\n"
    "  --read_num=<n>       stop after so many entries, counted over all files (check, scan)\n"
    "  --show_properties    print what the table says about itself\n"
    "  --verify_checksum    accepted for compatibility: checksums are always verified\n\n"
    "Example: sst_dump --file=db/000012.sst --command=scan --from=user100 --read_num=10\n";

const std::vector<std::string_view> kFlags = {
    "file",     "command",         "output_hex",      "from", "to", "prefix", "input_key_hex",
    "read_num", "show_properties", "verify_checksum", "help"};

std::string UsageText() {
  std::string text(kUsage);
  for (const SstDumpCommand& command : SstDumpCommands()) {
    StrAppend(&text, "  ", command.name, std::string(10 - command.name.size(), ' '), command.help,
              "\n");
  }
  return StrCat(text, kFlagHelp);
}

int Fail(const Status& status) {
  std::fprintf(stderr, "sst_dump: %s\n", status.ToString().c_str());
  return 1;
}

Status TakeKey(const CommandLine& line, std::string_view flag, bool is_hex,
               std::optional<std::string>* key) {
  *key = line.Value(flag);
  if (!*key || !is_hex) return Status::OK();
  ASSIGN_OR_RETURN(*key, ParseHexText(**key));
  return Status::OK();
}

Result<SstDumpRequest> ParseRequest(const CommandLine& line) {
  RETURN_IF_ERROR(line.CheckFlags(kFlags));
  SstDumpRequest request;
  ASSIGN_OR_RETURN(request.shows_properties, line.Bool("show_properties"));
  ASSIGN_OR_RETURN(request.scan.hex, line.Bool("output_hex"));
  ASSIGN_OR_RETURN(const bool is_hex, line.Bool("input_key_hex"));
  RETURN_IF_ERROR(TakeKey(line, "from", is_hex, &request.scan.from));
  RETURN_IF_ERROR(TakeKey(line, "to", is_hex, &request.scan.to));
  RETURN_IF_ERROR(TakeKey(line, "prefix", is_hex, &request.scan.prefix));
  if (request.scan.from && request.scan.prefix) {
    return Status::InvalidArgument("--from and --prefix exclude each other");
  }
  ASSIGN_OR_RETURN(const int64_t read_num, line.Number("read_num", -1));
  if (read_num >= 0) request.entries_left = static_cast<uint64_t>(read_num);
  return request;
}

// The file itself, or the table files of a directory in the order of their names.
Result<std::vector<std::string>> FindFiles(FileSystem* fs, const std::string& path) {
  bool is_directory = false;
  RETURN_IF_ERROR(fs->IsDirectory(path, IOOptions(), &is_directory, nullptr));
  if (!is_directory) return std::vector<std::string>{path};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, path));
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (Slice(name).ends_with(".sst")) files.push_back(StrCat(path, "/", name));
  }
  if (files.empty()) return Status::NotFound(StrCat(path, ": no SST files in this directory"));
  return files;
}

void PrintProperties(const TableProperties& properties) {
  constexpr std::string_view kRule = "------------------------------\n";
  Print(StrCat("Table Properties:\n", kRule, PropertiesText(properties)));
  Print(StrCat("  Raw user collected properties\n", kRule, UserPropertiesText(properties)));
}

Status Process(FileSystem* fs, const std::string& file, const SstDumpCommand& command,
               SstDumpRequest* request) {
  PrintLine(StrCat("Process ", file));
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, file));
  PrintLine("Sst file format: block-based");
  RETURN_IF_ERROR(command.run(table.get(), request));
  if (request->shows_properties) PrintProperties(table->properties());
  return Status::OK();
}

void PrintIdentified(const std::string& directory, const std::vector<std::string>& valid) {
  PrintLine("------------------------------");
  if (valid.empty()) return PrintLine(StrCat("No valid SST files found in ", directory));
  PrintLine(StrCat("List of valid SST files found in ", directory, ":"));
  for (const std::string& file : valid) PrintLine(file);
  PrintLine(StrCat("Number of valid SST files: ", valid.size()));
}

int Run(const CommandLine& line) {
  Result<SstDumpRequest> request = ParseRequest(line);
  if (!request.ok()) return Fail(request.status());
  const std::string path = line.Value("file").value_or(line.words().empty() ? "" : line.words()[0]);
  if (path.empty() || line.words().size() > (line.Has("file") ? 0 : 1)) {
    return Fail(Status::InvalidArgument("--file must name one file or directory; see --help"));
  }
  const std::string name = line.Value("command").value_or("check");
  const SstDumpCommand* command = FindSstDumpCommand(name);
  if (command == nullptr) {
    return Fail(Status::InvalidArgument(StrCat("unknown command \"", name, "\"; see --help")));
  }
  FileSystem* const fs = FileSystem::Default().get();
  Result<std::vector<std::string>> files = FindFiles(fs, path);
  if (!files.ok()) return Fail(files.status());
  const bool is_directory = files->size() != 1 || files->front() != path;
  int exit_code = 0;
  std::vector<std::string> valid;
  for (const std::string& file : *files) {
    if (request->entries_left == 0) break;
    const Status status = Process(fs, file, *command, &*request);
    if (status.ok()) {
      valid.push_back(file);
    } else {
      if (name == "identify") PrintLine(StrCat(file, " is not a valid SST file"));
      exit_code = Fail(status);
    }
  }
  if (name == "identify" && is_directory) PrintIdentified(path, valid);
  const Status flushed = FlushOutput();
  return flushed.ok() ? exit_code : Fail(flushed);
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  const ashlar::CommandLine line(argc, argv);
  if (argc == 1 || line.Has("help")) {
    std::fputs(ashlar::UsageText().c_str(), argc == 1 ? stderr : stdout);
    return argc == 1 ? 1 : 0;
  }
  return ashlar::Run(line);
}
