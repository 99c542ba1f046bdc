// SPDX-License-Identifier: Apache-2.0
//
// SSTDumpTool, and with it the program sst_dump: inspects table files, given by name or as
// directories. The flags are those of RocksDB's tool. Every file is visited even if one before it
// is damaged; then the exit code is 1.
#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/sst_dump_tool.h"
#include "ashlar/version.h"
#include "db/options/option_values.h"
#include "env/file_util.h"
#include "table/format/meta_block_names.h"
#include "tools/lib/command_line.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "tools/sst_dump/commands.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kUsage =
    "sst_dump --file=<sst file or directory> [--command=<command>] [flags] [more files ..]\n\n"
    "Commands:\n";
constexpr std::string_view kFlagHelp =
    "\nFlags:\n"
    "  --output_hex         print keys and values as hexadecimal digits (scan)\n"
    "  --decode_blob_index  print references to blob files decoded (scan)\n"
    "  --from=<user key>    start here (check, scan)\n"
    "  --to=<user key>      stop before this key (check, scan)\n"
    "  --prefix=<bytes>     only keys with this prefix; not together with --from (check, scan)\n"
    "  --input_key_hex      --from, --to and --prefix are given as 0x6B6579\n"
    "  --read_num=<n>       stop after n entries, counted over all files (check, scan)\n"
    "  --verify_checksum    verify every block of the file before check or scan, which otherwise\n"
    "                       verify only the blocks that they read\n"
    "  --show_properties    print the properties of the table\n"
    "  --list_meta_blocks   print offset, sizes and compression of index, filter, properties and\n"
    "                       the other blocks that are not data blocks\n"
    "  --show_summary       print totals over all tables at the end\n"
    "  --output=<file>      the file for the page of report\n"
    "  --parse_internal_key=<0x6B6579..>  print the parts of an internal key; needs no file\n"
    "  --env_uri=<name>     the environment of the files\n"
    "  --fs_uri=<name>      the file system of the files\n"
    "  --version            print the version of this program\n"
    "\nFlags of recompress:\n"
    "  --compression_types=<kZSTD,kLZ4Compression,..>  default: all that this build has\n"
    "  --compression_level_from=<n>  first compression level to try; needs a single type\n"
    "  --compression_level_to=<n>    last compression level to try\n"
    "  --set_block_size=<bytes>      size of data blocks before compression; default 16384\n"
    "  --compression_max_dict_bytes=<n>         as in CompressionOptions; so are the next three\n"
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
                                              "env_uri",
                                              "fs_uri",
                                              "help"};

// The commands come from their table, so that the help cannot miss one.
std::string UsageText() {
  std::string text(kUsage);
  for (const SstDumpCommand& command : SstDumpCommands()) {
    StrAppend(&text, "  ", command.name, std::string(12 - command.name.size(), ' '), command.help,
              "\n");
  }
  return StrCat(text, kFlagHelp);
}

// Prints the error and returns the exit code of a failure.
int Fail(const Status& status) {
  std::fprintf(stderr, "sst_dump: %s\n", status.ToString().c_str());
  return 1;
}

// Sets *key to the key that the flag gives, as bytes; to nullopt if the flag is absent.
Status TakeKey(const CommandLine& line, std::string_view flag, bool is_hex,
               std::optional<std::string>* key) {
  assert(key != nullptr);
  *key = line.Value(flag);
  if (!*key || !is_hex) return Status::OK();
  ASSIGN_OR_RETURN(*key, ParseHexText(**key));
  return Status::OK();
}

// Checks all flags before any file is opened, so a mistyped flag produces no partial output. A
// negative --read_num means no limit.
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

// A path of the command line: a file, or a directory with its table files sorted by name.
struct InputPath {
  std::string path;
  bool is_directory = false;
  std::vector<std::string> files;
};

// NotFound for a directory without tables: an empty result would look like success.
Result<InputPath> FindFiles(FileSystem* fs, const std::string& path) {
  assert(fs != nullptr);
  InputPath input{.path = path};
  RETURN_IF_ERROR(fs->IsDirectory(path, IOOptions(), &input.is_directory, nullptr));
  if (!input.is_directory) {
    input.files = {path};
    return input;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, path));
  for (const std::string& name : names) {
    if (Slice(name).ends_with(".sst")) input.files.push_back(StrCat(path, "/", name));
  }
  if (input.files.empty()) {
    return Status::NotFound(StrCat(path, ": no SST files in this directory"));
  }
  return input;
}

void PrintProperties(const TableProperties& properties) {
  constexpr std::string_view kRule = "------------------------------\n";
  Print(StrCat("Table Properties:\n", kRule, PropertiesText(properties)));
  Print(StrCat("  Raw user collected properties\n", kRule, UserPropertiesText(properties)));
}

// A block and the name under which it is listed; names in parentheses are not those of the
// metaindex.
struct NamedBlock {
  std::string name;
  BlockHandle handle;
};

// All blocks that are not data blocks. The metaindex names most of them; the partitions of index
// and filter are listed in their top-level blocks.
Result<std::vector<NamedBlock>> FindMetaBlocks(TableInspector* table) {
  assert(table != nullptr);
  std::vector<NamedBlock> blocks;
  bool has_index = false;
  bool has_filter_partitions = false;
  for (const auto& [name, handle] : table->meta_blocks()) {
    has_index |= name == kIndexBlockName;
    has_filter_partitions |= Slice(name).starts_with(kPartitionedFilterPrefix);
    blocks.push_back({name, handle});
  }
  ASSIGN_OR_RETURN(const BlockHandle index, table->IndexHandle());
  if (!has_index) blocks.push_back({"(index)", index});
  blocks.push_back({"(metaindex)", table->footer().metaindex});
  ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> parts, table->IndexPartitions());
  for (size_t i = 0; i < parts.size(); ++i) {
    blocks.push_back({StrCat("(index partition ", i + 1, ")"), parts[i].handle});
  }
  if (has_filter_partitions) {
    ASSIGN_OR_RETURN(const std::vector<BlockHandle> filters, table->FilterBlocks());
    for (size_t i = 0; i < filters.size(); ++i) {
      blocks.push_back({StrCat("(filter partition ", i + 1, ")"), filters[i]});
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const NamedBlock& a, const NamedBlock& b) {
    return a.handle.offset < b.handle.offset;
  });
  return blocks;
}

// The output of --list_meta_blocks: a line for each block that is not a data block, in the order of
// the file, with its offset, its stored and uncompressed size, its compression and its name. Reads
// and verifies all of them.
Result<std::string> MetaBlocksText(TableInspector* table) {
  assert(table != nullptr);
  ASSIGN_OR_RETURN(const std::vector<NamedBlock> blocks, FindMetaBlocks(table));
  std::string text = "Meta Blocks:\n------------------------------\n";
  text += "      offset      stored         raw  compression              name\n";
  for (const NamedBlock& block : blocks) {
    uint64_t raw_bytes = block.handle.size;
    std::string compression = "-";
    if (block.handle.size != 0) {  // the filter of a table without keys may have no block
      // The checksum of the properties block has its own rule; Open() has verified it.
      ASSIGN_OR_RETURN(const CompressionType type, table->StoredAs(block.handle));
      if (type != kNoCompression) {
        ASSIGN_OR_RETURN(const LooseBlock read, table->ReadBlock(block.handle, block.name));
        raw_bytes = read.contents.size();
      } else if (block.name != kPropertiesBlockName) {
        RETURN_IF_ERROR(table->ReadBlock(block.handle, block.name).status());
      }
      compression.clear();
      PrintEnum(PrintContext(), EnumNames(type), type, &compression);
    }
    char line[96];
    std::snprintf(line, sizeof(line), "%12" PRIu64 "%12" PRIu64 "%12" PRIu64 "  %-24s ",
                  block.handle.offset, block.handle.size, raw_bytes, compression.c_str());
    StrAppend(&text, line, block.name, "\n");
  }
  return text;
}

// The output of --show_summary: totals over the tables that were visited without an error.
class TablesSummary {
 public:
  void Add(const TableProperties& properties) {
    ++files_;
    data_blocks_ += properties.num_data_blocks;
    data_bytes_ += properties.data_size;
    index_bytes_ += properties.index_size;
    filter_bytes_ += properties.filter_size;
  }
  // The lines of RocksDB's tool.
  std::string ToString() const {
    return StrCat(
        "total number of files: ", files_, "\ntotal number of data blocks: ", data_blocks_,
        "\ntotal data block size: ", data_bytes_, "\ntotal index block size: ", index_bytes_,
        "\ntotal filter block size: ", filter_bytes_, "\n");
  }

 private:
  uint64_t files_ = 0;
  uint64_t data_blocks_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t index_bytes_ = 0;
  uint64_t filter_bytes_ = 0;
};

// Runs the command on all files, one after the other, and determines the exit code.
class Session {
 public:
  Session(const SstDumpCommand& command, SstDumpRequest* request, bool sums_up)
      : command_(command), request_(request), sums_up_(sums_up) {}

  // Continues after a path or a table that cannot be read.
  void Run(FileSystem* fs, const std::vector<std::string>& paths);
  int exit_code() const { return exit_code_; }

 private:
  Status Process(FileSystem* fs, const std::string& file);
  void ProcessAll(FileSystem* fs, const InputPath& input, FileProgress* progress);
  void PrintIdentified(const std::string& directory, const std::vector<std::string>& valid) const;

  const SstDumpCommand& command_;
  SstDumpRequest* const request_;
  const bool sums_up_;
  TablesSummary summary_;
  int exit_code_ = 0;
};

// Opens one table and runs the command on it. The table is closed before the next one is opened, so
// memory does not grow with the number of files.
Status Session::Process(FileSystem* fs, const std::string& file) {
  PrintLine(StrCat("Process ", file));
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table, TableInspector::Open(fs, file));
  PrintLine(StrCat("Sst file format: ", table->FormatName()));
  RETURN_IF_ERROR(command_.run(table.get(), request_));
  if (request_->lists_meta_blocks) {
    ASSIGN_OR_RETURN(const std::string text, MetaBlocksText(table.get()));
    Print(text);
  }
  if (request_->shows_properties) PrintProperties(table->properties());
  summary_.Add(table->properties());
  return Status::OK();
}

// Goes on after a file that fails, so that one damaged table does not hide the others. The exit
// code tells that a file has failed.
void Session::ProcessAll(FileSystem* fs, const InputPath& input, FileProgress* progress) {
  assert(progress != nullptr);
  const bool identifies = command_.name == "identify";
  std::vector<std::string> valid;
  for (const std::string& file : input.files) {
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
  if (identifies && input.is_directory) PrintIdentified(input.path, valid);
}

// The lines of RocksDB's tool, which scripts parse.
void Session::PrintIdentified(const std::string& directory,
                              const std::vector<std::string>& valid) const {
  PrintLine("------------------------------");
  if (valid.empty()) return PrintLine(StrCat("No valid SST files found in ", directory));
  PrintLine(StrCat("List of valid SST files found in ", directory, ":"));
  for (const std::string& file : valid) PrintLine(file);
  PrintLine(StrCat("Number of valid SST files: ", valid.size()));
}

void Session::Run(FileSystem* fs, const std::vector<std::string>& paths) {
  // All paths are looked up first, because the number of tables is needed for the check of --output
  // and for the progress.
  std::vector<InputPath> inputs;
  size_t file_count = 0;
  for (const std::string& path : paths) {
    Result<InputPath> input = FindFiles(fs, path);
    if (!input.ok()) {
      exit_code_ = Fail(input.status());
      continue;
    }
    file_count += input->files.size();
    inputs.push_back(input.Take());
  }
  if (!request_->output.empty() && file_count > 1) {
    exit_code_ = Fail(Status::InvalidArgument(
        StrCat("--output is for a single table, found ", file_count, " tables")));
    return;
  }
  FileProgress progress(file_count);
  for (const InputPath& input : inputs) ProcessAll(fs, input, &progress);
  if (sums_up_) Print(summary_.ToString());
}

// --parse_internal_key: prints user key, sequence number and type of an internal key.
int DumpInternalKey(const std::string& text) {
  Result<std::string> bytes = ParseHexText(text);
  if (!bytes.ok()) return Fail(bytes.status());
  if (bytes->size() < kTrailerBytes) {
    return Fail(Status::InvalidArgument(StrCat(
        "--parse_internal_key: an internal key has at least eight bytes, found ", bytes->size())));
  }
  PrintLine(StrCat("key=", DescribeInternalKey(*bytes, /*hex=*/true)));
  return 0;
}

// Runs one call and returns its exit code. The environment is replaced before anything else,
// because all paths are paths in it.
int Run(const CommandLine& line) {
  const std::string env_uri = line.Value("env_uri").value_or("");
  const std::string fs_uri = line.Value("fs_uri").value_or("");
  if (!env_uri.empty() || !fs_uri.empty()) {
    const Status status = UseToolEnv(env_uri, fs_uri);
    if (!status.ok()) return Fail(status);
  }
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
  Session session(*command, &*request, *sums_up);
  session.Run(ToolFiles(), paths);
  const Status flushed = FlushOutput();
  return flushed.ok() ? session.exit_code() : Fail(flushed);
}

}  // namespace

// The program's entry for users of the library: `options` may bring comparators, an Env and other
// objects that the tables need. Without arguments the usage is an error and goes to stderr.
int SSTDumpTool::Run(int argc, char const* const* argv, Options options) {
  ProgramParts parts;
  parts.options = std::move(options);
  const ProgramScope scope(std::move(parts));
  const CommandLine line(argc, argv);
  if (argc == 1 || line.Has("help")) {
    std::fputs(UsageText().c_str(), argc == 1 ? stderr : stdout);
    return argc == 1 ? 1 : 0;
  }
  if (line.Has("version")) {
    std::puts(GetRocksBuildInfoAsString("sst_dump").c_str());
    return 0;
  }
  return ashlar::Run(line);
}

}  // namespace ashlar
