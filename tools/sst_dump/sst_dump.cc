// SPDX-License-Identifier: Apache-2.0
//
// sst_dump: looks into table files, those named and all of the directories named. The flags are
// those of RocksDB's tool. Every file is visited even if one before it is damaged; the exit code is
// 1 if any was.
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/version.h"
#include "env/file_util.h"
#include "tools/lib/command_line.h"
#include "tools/lib/key_text.h"
#include "tools/lib/output.h"
#include "tools/sst_dump/block_lists.h"
#include "tools/sst_dump/commands.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kUsage =
    "sst_dump --file=<sst file or directory> [--command=<command>] [flags] [more files ..]\n\n"
    "Commands:\n";
constexpr std::string_view kFlagHelp =
    "\nFlags:\n"
    "  --output_hex         print keys and values as hexadecimal digits (scan)\n"
    "  --decode_blob_index  show what references to blob files say (scan)\n"
    "  --from=<user key>    start here (check, scan)\n"
    "  --to=<user key>      stop before this key (check, scan)\n"
    "  --prefix=<bytes>     only keys that begin so; not together with --from (check, scan)\n"
    "  --input_key_hex      --from, --to and --prefix are given as 0x6B6579\n"
    "  --read_num=<n>       stop after so many entries, counted over all files (check, scan)\n"
    "  --verify_checksum    verify every block of the file before check or scan, which without it\n"
    "                       verify those that they read\n"
    "  --show_properties    print what the table says about itself\n"
    "  --list_meta_blocks   print place, sizes and compression of index, filter, properties and "
    "the\n"
    "                       like\n"
    "  --show_summary       print sums over all tables at the end\n"
    "  --output=<file>      where the page of report goes\n"
    "  --parse_internal_key=<0x6B6579..>  print the parts of an internal key; needs no file\n"
    "  --version            print the version of this program\n"
    "\nFlags of recompress:\n"
    "  --compression_types=<kZSTD,kLZ4Compression,..>  instead of all that this build has\n"
    "  --compression_level_from=<n>  first of the levels to try, of one type\n"
    "  --compression_level_to=<n>    last of them\n"
    "  --set_block_size=<bytes>      of data blocks before compression; 16384 if not given\n"
    "  --compression_max_dict_bytes=<n>         dictionaries, as CompressionOptions has them\n"
    "  --compression_zstd_max_train_bytes=<n>\n"
    "  --compression_max_dict_buffer_bytes=<n>\n"
    "  --compression_use_zstd_finalize_dict\n"
    "\nExamples:\n"
    "  sst_dump --file=db/000012.sst --command=scan --from=user100 --read_num=10\n"
    "  sst_dump --file=db --command=verify --show_summary\n"
    "  sst_dump --file=db/000012.sst --command=report\n"
    "  sst_dump --file=db/000012.sst --command=recompress --set_block_size=4096\n";

const std::vector<std::string_view> kFlags = {"file",
                                              "command",
                                              "output_hex",
                                              "decode_blob_index",
                                              "from",
                                              "to",
                                              "prefix",
                                              "input_key_hex",
                                              "read_num",
                                              "show_properties",
                                              "verify_checksum",
                                              "list_meta_blocks",
                                              "show_summary",
                                              "output",
                                              "compression_types",
                                              "compression_level_from",
                                              "compression_level_to",
                                              "set_block_size",
                                              "compression_max_dict_bytes",
                                              "compression_zstd_max_train_bytes",
                                              "compression_max_dict_buffer_bytes",
                                              "compression_use_zstd_finalize_dict",
                                              "help"};

std::string UsageText() {
  std::string text(kUsage);
  for (const SstDumpCommand& command : SstDumpCommands()) {
    StrAppend(&text, "  ", command.name, std::string(12 - command.name.size(), ' '), command.help,
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
  ASSIGN_OR_RETURN(request.lists_meta_blocks, line.Bool("list_meta_blocks"));
  ASSIGN_OR_RETURN(request.verifies_first, line.Bool("verify_checksum"));
  ASSIGN_OR_RETURN(request.recompress, ParseRecompressPlan(line));
  request.output = line.Value("output").value_or("");
  ASSIGN_OR_RETURN(request.scan.hex, line.Bool("output_hex"));
  ASSIGN_OR_RETURN(request.scan.decodes_blob_references, line.Bool("decode_blob_index"));
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

// A path of the command line: a file, or a directory with its table files in the order of their
// names.
struct Place {
  std::string path;
  bool is_directory = false;
  std::vector<std::string> files;
};

Result<Place> FindFiles(FileSystem* fs, const std::string& path) {
  Place place{.path = path};
  RETURN_IF_ERROR(fs->IsDirectory(path, IOOptions(), &place.is_directory, nullptr));
  if (!place.is_directory) {
    place.files = {path};
    return place;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, path));
  for (const std::string& name : names) {
    if (Slice(name).ends_with(".sst")) place.files.push_back(StrCat(path, "/", name));
  }
  if (place.files.empty())
    return Status::NotFound(StrCat(path, ": no SST files in this directory"));
  return place;
}

void PrintProperties(const TableProperties& properties) {
  constexpr std::string_view kRule = "------------------------------\n";
  Print(StrCat("Table Properties:\n", kRule, PropertiesText(properties)));
  Print(StrCat("  Raw user collected properties\n", kRule, UserPropertiesText(properties)));
}

// Visits files, one after the other, and remembers what came of it.
class Visit {
 public:
  Visit(const SstDumpCommand& command, SstDumpRequest* request, bool sums_up)
      : command_(command), request_(request), sums_up_(sums_up) {}

  // Goes on behind a path or a table that cannot be read.
  void Run(FileSystem* fs, const std::vector<std::string>& paths);
  int exit_code() const { return exit_code_; }

 private:
  Status Process(FileSystem* fs, const std::string& file);
  void ProcessAll(FileSystem* fs, const Place& place, FileProgress* progress);
  void PrintIdentified(const std::string& directory, const std::vector<std::string>& valid) const;

  const SstDumpCommand& command_;
  SstDumpRequest* const request_;
  const bool sums_up_;
  TablesSummary summary_;
  int exit_code_ = 0;
};

Status Visit::Process(FileSystem* fs, const std::string& file) {
  PrintLine(StrCat("Process ", file));
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, file));
  PrintLine("Sst file format: block-based");
  RETURN_IF_ERROR(command_.run(table.get(), request_));
  if (request_->lists_meta_blocks) {
    ASSIGN_OR_RETURN(const std::string text, MetaBlocksText(table.get()));
    Print(text);
  }
  if (request_->shows_properties) PrintProperties(table->properties());
  summary_.Add(table->properties());
  return Status::OK();
}

void Visit::ProcessAll(FileSystem* fs, const Place& place, FileProgress* progress) {
  const bool identifies = command_.name == "identify";
  std::vector<std::string> valid;
  for (const std::string& file : place.files) {
    if (request_->entries_left == 0) break;
    progress->Begin(file);
    const Status status = Process(fs, file);
    if (status.ok()) {
      valid.push_back(file);
    } else {
      if (identifies) PrintLine(StrCat(file, " is not a valid SST file"));
      exit_code_ = Fail(status);
    }
  }
  if (identifies && place.is_directory) PrintIdentified(place.path, valid);
}

void Visit::PrintIdentified(const std::string& directory,
                            const std::vector<std::string>& valid) const {
  PrintLine("------------------------------");
  if (valid.empty()) return PrintLine(StrCat("No valid SST files found in ", directory));
  PrintLine(StrCat("List of valid SST files found in ", directory, ":"));
  for (const std::string& file : valid) PrintLine(file);
  PrintLine(StrCat("Number of valid SST files: ", valid.size()));
}

void Visit::Run(FileSystem* fs, const std::vector<std::string>& paths) {
  std::vector<Place> places;
  size_t file_count = 0;
  for (const std::string& path : paths) {
    Result<Place> place = FindFiles(fs, path);
    if (!place.ok()) {
      exit_code_ = Fail(place.status());
      continue;
    }
    file_count += place->files.size();
    places.push_back(place.Take());
  }
  if (!request_->output.empty() && file_count > 1) {
    exit_code_ = Fail(Status::InvalidArgument(
        StrCat("--output is for the page of one table, here are ", file_count)));
    return;
  }
  FileProgress progress(file_count);
  for (const Place& place : places) ProcessAll(fs, place, &progress);
  if (sums_up_) Print(summary_.ToString());
}

int DumpInternalKey(const std::string& text) {
  Result<std::string> bytes = ParseHexText(text);
  if (!bytes.ok()) return Fail(bytes.status());
  if (bytes->size() < kTrailerBytes) {
    return Fail(Status::InvalidArgument(
        StrCat("--parse_internal_key: an internal key ends in eight bytes of its own, found ",
               bytes->size(), " bytes in all")));
  }
  PrintLine(StrCat("key=", DescribeInternalKey(*bytes, /*hex=*/true)));
  return 0;
}

int Run(const CommandLine& line) {
  if (const std::optional<std::string> key = line.Value("parse_internal_key")) {
    return DumpInternalKey(*key);
  }
  Result<SstDumpRequest> request = ParseRequest(line);
  if (!request.ok()) return Fail(request.status());
  Result<bool> sums_up = line.Bool("show_summary");
  if (!sums_up.ok()) return Fail(sums_up.status());
  std::vector<std::string> paths = line.words();
  if (line.Has("file")) paths.insert(paths.begin(), *line.Value("file"));
  if (paths.empty() || paths.front().empty()) {
    return Fail(Status::InvalidArgument("--file must name a file or directory; see --help"));
  }
  const std::string name = line.Value("command").value_or("check");
  const SstDumpCommand* command = FindSstDumpCommand(name);
  if (command == nullptr) {
    return Fail(Status::InvalidArgument(StrCat("unknown command \"", name, "\"; see --help")));
  }
  Visit visit(*command, &*request, *sums_up);
  visit.Run(FileSystem::Default().get(), paths);
  const Status flushed = FlushOutput();
  return flushed.ok() ? visit.exit_code() : Fail(flushed);
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  const ashlar::CommandLine line(argc, argv);
  if (argc == 1 || line.Has("help")) {
    std::fputs(ashlar::UsageText().c_str(), argc == 1 ? stderr : stdout);
    return argc == 1 ? 1 : 0;
  }
  if (line.Has("version")) {
    std::puts(ashlar::GetRocksBuildInfoAsString("sst_dump").c_str());
    return 0;
  }
  ashlar::AllowDataInErrors();
  return ashlar::Run(line);
}
