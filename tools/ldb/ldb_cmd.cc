// SPDX-License-Identifier: Apache-2.0
//
// LDBCommand over the table of commands: a command of ldb is one row of it, a command of a program
// is a class that uses the same opening of the database.
#include "ashlar/utilities/ldb_cmd.h"

#include <strings.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/command_line.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {

const std::string LDBCommand::ARG_ENV_URI = "env_uri";
const std::string LDBCommand::ARG_FS_URI = "fs_uri";
const std::string LDBCommand::ARG_DB = "db";
const std::string LDBCommand::ARG_PATH = "path";
const std::string LDBCommand::ARG_SECONDARY_PATH = "secondary_path";
const std::string LDBCommand::ARG_HEX = "hex";
const std::string LDBCommand::ARG_KEY_HEX = "key_hex";
const std::string LDBCommand::ARG_VALUE_HEX = "value_hex";
const std::string LDBCommand::ARG_CF_NAME = "column_family";
const std::string LDBCommand::ARG_TTL = "ttl";
const std::string LDBCommand::ARG_TTL_START = "start_time";
const std::string LDBCommand::ARG_TTL_END = "end_time";
const std::string LDBCommand::ARG_TIMESTAMP = "timestamp";
const std::string LDBCommand::ARG_TRY_LOAD_OPTIONS = "try_load_options";
const std::string LDBCommand::ARG_IGNORE_UNKNOWN_OPTIONS = "ignore_unknown_options";
const std::string LDBCommand::ARG_FROM = "from";
const std::string LDBCommand::ARG_TO = "to";
const std::string LDBCommand::ARG_MAX_KEYS = "max_keys";
const std::string LDBCommand::ARG_BLOOM_BITS = "bloom_bits";
const std::string LDBCommand::ARG_FIX_PREFIX_LEN = "fix_prefix_len";
const std::string LDBCommand::ARG_COMPRESSION_TYPE = "compression_type";
const std::string LDBCommand::ARG_COMPRESSION_MAX_DICT_BYTES = "compression_max_dict_bytes";
const std::string LDBCommand::ARG_BLOCK_SIZE = "block_size";
const std::string LDBCommand::ARG_AUTO_COMPACTION = "auto_compaction";
const std::string LDBCommand::ARG_DB_WRITE_BUFFER_SIZE = "db_write_buffer_size";
const std::string LDBCommand::ARG_WRITE_BUFFER_SIZE = "write_buffer_size";
const std::string LDBCommand::ARG_FILE_SIZE = "file_size";
const std::string LDBCommand::ARG_CREATE_IF_MISSING = "create_if_missing";
const std::string LDBCommand::ARG_NO_VALUE = "no_value";
const std::string LDBCommand::ARG_DISABLE_CONSISTENCY_CHECKS = "disable_consistency_checks";
const std::string LDBCommand::ARG_ENABLE_BLOB_FILES = "enable_blob_files";
const std::string LDBCommand::ARG_MIN_BLOB_SIZE = "min_blob_size";
const std::string LDBCommand::ARG_BLOB_FILE_SIZE = "blob_file_size";
const std::string LDBCommand::ARG_BLOB_COMPRESSION_TYPE = "blob_compression_type";
const std::string LDBCommand::ARG_ENABLE_BLOB_GARBAGE_COLLECTION = "enable_blob_garbage_collection";
const std::string LDBCommand::ARG_BLOB_GARBAGE_COLLECTION_AGE_CUTOFF =
    "blob_garbage_collection_age_cutoff";
const std::string LDBCommand::ARG_BLOB_GARBAGE_COLLECTION_FORCE_THRESHOLD =
    "blob_garbage_collection_force_threshold";
const std::string LDBCommand::ARG_BLOB_COMPACTION_READAHEAD_SIZE = "blob_compaction_readahead_size";
const std::string LDBCommand::ARG_BLOB_FILE_STARTING_LEVEL = "blob_file_starting_level";
const std::string LDBCommand::ARG_PREPOPULATE_BLOB_CACHE = "prepopulate_blob_cache";
const std::string LDBCommand::ARG_DECODE_BLOB_INDEX = "decode_blob_index";
const std::string LDBCommand::ARG_DUMP_UNCOMPRESSED_BLOBS = "dump_uncompressed_blobs";
const char* const LDBCommand::DELIM = kArrow.data();  // a literal, which ends with a zero byte

namespace {

// The parameters as a line again.
CommandLine LineOf(const std::string& command, const std::vector<std::string>& parameters,
                   const LDBCommand::OptionMap& options, const std::vector<std::string>& flags) {
  std::vector<std::string> words = {"ldb"};
  for (const auto& [name, value] : options) words.push_back(StrCat("--", name, "=", value));
  for (const std::string& flag : flags) words.push_back("--" + flag);
  words.emplace_back("--");  // a parameter may begin with dashes
  words.push_back(command);
  words.insert(words.end(), parameters.begin(), parameters.end());
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return CommandLine(static_cast<int>(argv.size()), argv.data());
}

std::vector<std::string> FlagsOf(const LdbCommand& command) {
  std::vector<std::string> flags;
  for (const std::string_view flag : command.flags) flags.emplace_back(flag);
  return flags;
}

// A command of ldb.
class CommandOfLdb final : public LDBCommand {
 public:
  CommandOfLdb(const LdbCommand* command, const ParsedParams& params)
      : LDBCommand(params.option_map, params.flags, /*is_read_only=*/true,
                   BuildCmdLineOptions(FlagsOf(*command))),
        command_(command),
        line_(LineOf(params.cmd, params.cmd_params, params.option_map, params.flags)) {}

  bool NoDBOpen() override { return true; }  // the function of the row opens it
  void DoCommand() override {
    const Status status = RunLdbCommand(*command_, line_);
    if (!status.ok()) exec_state_ = LDBCommandExecuteResult::Failed(status.ToString());
  }

 private:
  const LdbCommand* const command_;
  const CommandLine line_;
};

ProgramParts PartsOf(const Options& options, const LDBOptions& ldb_options,
                     const std::vector<ColumnFamilyDescriptor>& families) {
  return {.options = options,
          .families = families,
          .key_formatter = ldb_options.key_formatter,
          .help_head = ldb_options.print_help_header};
}

// Parses all of the text, or returns false.
template <typename Number>
bool ParseNumber(const std::string& text, Number* number) {
  assert(number != nullptr);
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *number = parsed;
  return true;
}

template <typename Number>
bool ParseNumberOption(const LDBCommand::OptionMap& options, const std::string& option,
                       Number* value, LDBCommandExecuteResult* state) {
  const auto found = options.find(option);
  if (found == options.end()) return false;
  if (ParseNumber(found->second, value)) return true;
  *state = LDBCommandExecuteResult::Failed(
      StrCat("--", option, ": expected a number, found \"", found->second, "\""));
  return true;
}

}  // namespace

// The database while it is open, and the call that opened it.
class LDBCommand::OpenDatabase {
 public:
  OpenDatabase(CommandLine line, const LDBCommand& command) : line_(std::move(line)) {
    call_.line = &line_;
    call_.db = command.db_path_;
    call_.family = command.column_family_name_;
    call_.hex_keys = command.is_key_hex_;
    call_.hex_values = command.is_value_hex_;
  }

  Status Open(bool is_read_only) {
    RETURN_IF_ERROR(UseEnvOfLine(line_));
    ASSIGN_OR_RETURN(database_, is_read_only ? OpenForReading(call_) : OpenForWriting(call_));
    return Status::OK();
  }
  // Null if it could not be opened.
  LdbDatabase* get() const { return database_.get(); }

 private:
  const CommandLine line_;
  Invocation call_;
  std::unique_ptr<LdbDatabase> database_;
};

LDBCommand::LDBCommand(const OptionMap& options, const std::vector<std::string>& flags,
                       bool is_read_only, const std::vector<std::string>& valid_cmd_line_options)
    : is_read_only_(is_read_only),
      is_key_hex_(false),
      is_value_hex_(false),
      option_map_(options),
      flags_(flags),
      valid_cmd_line_options_(valid_cmd_line_options) {
  is_key_hex_ = IsTrue(ARG_HEX) || IsTrue(ARG_KEY_HEX);
  is_value_hex_ = IsTrue(ARG_HEX) || IsTrue(ARG_VALUE_HEX);
  column_family_name_ = kDefaultColumnFamilyName;
  ParseStringOption(option_map_, ARG_DB, &db_path_);
  ParseStringOption(option_map_, ARG_CF_NAME, &column_family_name_);
}

LDBCommand::~LDBCommand() = default;

LDBCommand* LDBCommand::SelectCommand(const ParsedParams& parsed_params) {
  const LdbCommand* const command = FindLdbCommand(parsed_params.cmd);
  return command == nullptr ? nullptr : new CommandOfLdb(command, parsed_params);
}

LDBCommand* LDBCommand::InitFromCmdLineArgs(
    const std::vector<std::string>& args, const Options& options, const LDBOptions& ldb_options,
    const std::vector<ColumnFamilyDescriptor>* column_families,
    const std::function<LDBCommand*(const ParsedParams&)>& selector) {
  ParsedParams params;
  std::vector<std::string> words;
  for (const std::string& arg : args) {
    const size_t equals = arg.find('=');
    if (!arg.starts_with("--")) {
      words.push_back(arg);
    } else if (equals == std::string::npos) {
      params.flags.push_back(arg.substr(2));
    } else {
      params.option_map[arg.substr(2, equals - 2)] = arg.substr(equals + 1);
    }
  }
  if (words.empty()) return nullptr;
  params.cmd = words.front();
  params.cmd_params.assign(words.begin() + 1, words.end());
  LDBCommand* const command = selector(params);
  if (command == nullptr) return nullptr;
  command->SetDBOptions(options);
  command->SetLDBOptions(ldb_options);
  command->SetColumnFamilies(column_families);
  return command;
}

LDBCommand* LDBCommand::InitFromCmdLineArgs(
    int argc, char const* const* argv, const Options& options, const LDBOptions& ldb_options,
    const std::vector<ColumnFamilyDescriptor>* column_families) {
  const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  return InitFromCmdLineArgs(args, options, ldb_options, column_families, SelectCommand);
}

void LDBCommand::SetDBOptions(Options options) { options_ = std::move(options); }

void LDBCommand::SetColumnFamilies(const std::vector<ColumnFamilyDescriptor>* column_families) {
  column_families_.clear();
  if (column_families != nullptr) column_families_ = *column_families;
}

bool LDBCommand::ValidateCmdLineOptions() {
  const auto is_known = [this](const std::string& name) {
    if (IsFlagPresent(valid_cmd_line_options_, name)) return true;
    std::fprintf(stderr, "unknown flag --%s\n", name.c_str());
    return false;
  };
  return std::all_of(option_map_.begin(), option_map_.end(),
                     [&](const auto& option) { return is_known(option.first); }) &&
         std::all_of(flags_.begin(), flags_.end(), is_known);
}

void LDBCommand::Run() {
  if (!exec_state_.IsNotStarted()) return;
  const ProgramScope scope(PartsOf(options_, ldb_options_, column_families_));
  if (db_ == nullptr && !NoDBOpen()) OpenDB();
  if (!exec_state_.IsFailed()) DoCommand();
  CloseDB();
  if (exec_state_.IsNotStarted()) exec_state_ = LDBCommandExecuteResult::Succeed("");
}

// Called by commands of a program. Those of ldb open the database themselves.
void LDBCommand::OpenDB() {
  if (open_ != nullptr) return;
  Status status = Status::InvalidArgument("the command needs --db=<directory>");
  auto opening = std::make_unique<OpenDatabase>(LineOf("", {}, option_map_, flags_), *this);
  if (!db_path_.empty()) status = opening->Open(is_read_only_);
  if (!status.ok()) {
    exec_state_ = LDBCommandExecuteResult::Failed(status.ToString());
    return;
  }
  open_ = std::move(opening);
  db_ = open_->get()->get();
  for (ColumnFamilyHandle* const handle : open_->get()->handles()) {
    cf_handles_[handle->GetName()] = handle;
  }
}

void LDBCommand::CloseDB() {
  if (open_ == nullptr) return;
  cf_handles_.clear();
  db_ = nullptr;
  const Status status = open_->get()->Close();
  open_.reset();
  if (status.ok() || exec_state_.IsFailed()) return;
  exec_state_ = LDBCommandExecuteResult::Failed(status.ToString());
}

ColumnFamilyHandle* LDBCommand::GetCfHandle() {
  const auto found = cf_handles_.find(column_family_name_);
  if (found != cf_handles_.end()) return found->second;
  exec_state_ = LDBCommandExecuteResult::Failed(
      db_ == nullptr ? "the database is not open"
                     : StrCat("there is no column family \"", column_family_name_, "\""));
  return nullptr;
}

std::string LDBCommand::HexToString(const std::string& str) {
  auto bytes = str.starts_with("0x") || str.starts_with("0X")
                   ? ParseHexText(str)
                   : Status::InvalidArgument("expected hexadecimal digits behind 0x", str);
  if (!bytes.ok()) throw std::invalid_argument(bytes.status().ToString());
  return bytes.Take();
}

std::string LDBCommand::StringToHex(const std::string& str) { return HexText(str); }

std::string LDBCommand::PrintKeyValue(const std::string& key, const std::string& value,
                                      bool is_key_hex, bool is_value_hex) {
  return StrCat(is_key_hex ? HexText(key) : key, kArrow, is_value_hex ? HexText(value) : value);
}

std::string LDBCommand::PrintKeyValue(const std::string& key, const std::string& value,
                                      bool is_hex) {
  return PrintKeyValue(key, value, is_hex, is_hex);
}

bool LDBCommand::IsFlagPresent(const std::vector<std::string>& flags, const std::string& flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

std::vector<std::string> LDBCommand::BuildCmdLineOptions(std::vector<std::string> options) {
  for (const std::string_view flag : CommonLdbFlags()) options.emplace_back(flag);
  return options;
}

bool LDBCommand::ParseIntOption(const OptionMap& options, const std::string& option, int& value,
                                LDBCommandExecuteResult& exec_state) {
  return ParseNumberOption(options, option, &value, &exec_state);
}

bool LDBCommand::ParseDoubleOption(const OptionMap& options, const std::string& option,
                                   double& value, LDBCommandExecuteResult& exec_state) {
  return ParseNumberOption(options, option, &value, &exec_state);
}

bool LDBCommand::ParseStringOption(const OptionMap& options, const std::string& option,
                                   std::string* value) {
  const auto found = options.find(option);
  if (found == options.end()) return false;
  *value = found->second;
  return true;
}

bool LDBCommand::ParseBooleanOption(const OptionMap& options, const std::string& option,
                                    bool default_val) {
  const auto found = options.find(option);
  if (found == options.end()) return default_val;
  const std::string& text = found->second;
  const bool is_true = strcasecmp(text.c_str(), "true") == 0;
  if (!is_true && strcasecmp(text.c_str(), "false") != 0) {
    exec_state_ = LDBCommandExecuteResult::Failed(
        StrCat("--", option, ": expected true or false, found \"", text, "\""));
    return default_val;
  }
  return is_true;
}

// --flag and --flag=true.
bool LDBCommand::IsTrue(const std::string& flag) const {
  if (IsFlagPresent(flags_, flag)) return true;
  const auto found = option_map_.find(flag);
  return found != option_map_.end() && (found->second == "true" || found->second == "1");
}

std::string LDBCommandExecuteResult::ToString() const {
  switch (state_) {
    case EXEC_FAILED: return "Failed: " + message_;
    case EXEC_NOT_STARTED: return "Not started: " + message_;
    default: return message_;
  }
}

void LDBCommandRunner::PrintHelp(const LDBOptions& ldb_options, const char* /*exec_name*/,
                                 bool to_stderr) {
  const ProgramScope scope(PartsOf(Options(), ldb_options, {}));
  std::fputs(LdbUsageText().c_str(), to_stderr ? stderr : stdout);
}

int LDBCommandRunner::RunCommand(int argc, char const* const* argv, Options options,
                                 const LDBOptions& ldb_options,
                                 const std::vector<ColumnFamilyDescriptor>* column_families) {
  // The arguments are only read.
  return LDBTool().RunAndReturn(argc, const_cast<char**>(argv), options, ldb_options,
                                column_families);
}

}  // namespace ashlar
