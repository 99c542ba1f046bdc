// SPDX-License-Identifier: Apache-2.0
//
// The commands of `ldb` as objects, for programs that run single commands or add their own. In the
// library `ashlar-tools` (`rocksdb-tools` of the drop-in).
//
//   std::unique_ptr<LDBCommand> command(LDBCommand::InitFromCmdLineArgs(
//       {"--db=/data/users", "get", "user1"}, Options(), LDBOptions(), nullptr));
//   command->Run();
//   if (command->GetExecuteState().IsFailed()) ...
//
// A command of a program derives from LDBCommand, implements DoCommand(), and is created by the
// function `selector` of InitFromCmdLineArgs().
//
// Threads: one command at a time in the process. The members that RocksDB has for its own commands,
// such as options that a command overrides before it opens the database, are not there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/utilities/ldb_cmd_execute_result.h"

namespace ashlar {

class ASHLAR_EXPORT LDBCommand {
 public:
  // Names of flags, without the two dashes.
  static const std::string ARG_ENV_URI;
  static const std::string ARG_FS_URI;
  static const std::string ARG_DB;
  static const std::string ARG_PATH;
  static const std::string ARG_SECONDARY_PATH;
  static const std::string ARG_HEX;
  static const std::string ARG_KEY_HEX;
  static const std::string ARG_VALUE_HEX;
  static const std::string ARG_CF_NAME;
  static const std::string ARG_TTL;
  static const std::string ARG_TTL_START;
  static const std::string ARG_TTL_END;
  static const std::string ARG_TIMESTAMP;
  static const std::string ARG_TRY_LOAD_OPTIONS;
  static const std::string ARG_IGNORE_UNKNOWN_OPTIONS;
  static const std::string ARG_FROM;
  static const std::string ARG_TO;
  static const std::string ARG_MAX_KEYS;
  static const std::string ARG_BLOOM_BITS;
  static const std::string ARG_FIX_PREFIX_LEN;
  static const std::string ARG_COMPRESSION_TYPE;
  static const std::string ARG_COMPRESSION_MAX_DICT_BYTES;
  static const std::string ARG_BLOCK_SIZE;
  static const std::string ARG_AUTO_COMPACTION;
  static const std::string ARG_DB_WRITE_BUFFER_SIZE;
  static const std::string ARG_WRITE_BUFFER_SIZE;
  static const std::string ARG_FILE_SIZE;
  static const std::string ARG_CREATE_IF_MISSING;
  static const std::string ARG_NO_VALUE;
  static const std::string ARG_DISABLE_CONSISTENCY_CHECKS;
  static const std::string ARG_ENABLE_BLOB_FILES;
  static const std::string ARG_MIN_BLOB_SIZE;
  static const std::string ARG_BLOB_FILE_SIZE;
  static const std::string ARG_BLOB_COMPRESSION_TYPE;
  static const std::string ARG_ENABLE_BLOB_GARBAGE_COLLECTION;
  static const std::string ARG_BLOB_GARBAGE_COLLECTION_AGE_CUTOFF;
  static const std::string ARG_BLOB_GARBAGE_COLLECTION_FORCE_THRESHOLD;
  static const std::string ARG_BLOB_COMPACTION_READAHEAD_SIZE;
  static const std::string ARG_BLOB_FILE_STARTING_LEVEL;
  static const std::string ARG_PREPOPULATE_BLOB_CACHE;
  static const std::string ARG_DECODE_BLOB_INDEX;
  static const std::string ARG_DUMP_UNCOMPRESSED_BLOBS;
  // Separates key and value in the output of `dump`: " ==> ".
  static const char* const DELIM;

  using OptionMap = std::map<std::string, std::string>;

  // The parts of a command line.
  struct ParsedParams {
    std::string cmd;                      // the first word
    std::vector<std::string> cmd_params;  // the other words
    OptionMap option_map;                 // from --name=value
    std::vector<std::string> flags;       // from --name
  };

  // Creates the command of ldb with this name; null if there is none. The caller deletes it.
  static LDBCommand* SelectCommand(const ParsedParams& parsed_params);
  // Creates the command that a line names, with the options of the program. Null if the line has no
  // word, or if `selector` returns null. The form with argv skips the name of the program.
  static LDBCommand* InitFromCmdLineArgs(
      const std::vector<std::string>& args, const Options& options, const LDBOptions& ldb_options,
      const std::vector<ColumnFamilyDescriptor>* column_families,
      const std::function<LDBCommand*(const ParsedParams&)>& selector = SelectCommand);
  static LDBCommand* InitFromCmdLineArgs(
      int argc, char const* const* argv, const Options& options, const LDBOptions& ldb_options,
      const std::vector<ColumnFamilyDescriptor>* column_families);

  virtual ~LDBCommand();
  LDBCommand(const LDBCommand&) = delete;
  LDBCommand& operator=(const LDBCommand&) = delete;

  // Whether all flags are known to the command. If not, the first unknown one is printed on stderr.
  bool ValidateCmdLineOptions();
  virtual void SetDBOptions(Options options);
  virtual void SetColumnFamilies(const std::vector<ColumnFamilyDescriptor>* column_families);
  void SetLDBOptions(const LDBOptions& ldb_options) { ldb_options_ = ldb_options; }

  // True if the command opens no database, or opens it itself.
  virtual bool NoDBOpen() { return false; }
  // Opens the database, performs the command and closes the database. Does nothing if the command
  // has run already.
  void Run();
  // The work of the command. It leaves its result in exec_state_; if it leaves nothing, the command
  // has succeeded.
  virtual void DoCommand() = 0;
  LDBCommandExecuteResult GetExecuteState() { return exec_state_; }
  // Lets the command run again.
  void ClearPreviousRunState() { exec_state_.Reset(); }

  // "0x6B6579" to bytes and back. HexToString() throws std::invalid_argument for other texts.
  static std::string HexToString(const std::string& str);
  static std::string StringToHex(const std::string& str);

 protected:
  // `is_read_only`: the database is opened for reading, which changes nothing in its directory.
  // `valid_cmd_line_options`: see BuildCmdLineOptions().
  LDBCommand(const OptionMap& options, const std::vector<std::string>& flags, bool is_read_only,
             const std::vector<std::string>& valid_cmd_line_options);

  // Sets db_ and cf_handles_, or exec_state_ to an error. Run() calls it.
  void OpenDB();
  // Sets exec_state_ to an error if writes may not be safe.
  void CloseDB();
  // The handle of --column_family, or of the default family. Null, with exec_state_ set to an
  // error, if the database is not open or has no such family.
  ColumnFamilyHandle* GetCfHandle();

  // "key ==> value", as bytes or as hexadecimal digits.
  static std::string PrintKeyValue(const std::string& key, const std::string& value,
                                   bool is_key_hex, bool is_value_hex);
  static std::string PrintKeyValue(const std::string& key, const std::string& value, bool is_hex);
  static bool IsFlagPresent(const std::vector<std::string>& flags, const std::string& flag);
  // The flags of all commands and these.
  static std::vector<std::string> BuildCmdLineOptions(std::vector<std::string> options);

  // These return false if the flag is absent. If its value is not valid, `exec_state` is set to an
  // error and `value` stays unchanged.
  bool ParseIntOption(const OptionMap& options, const std::string& option, int& value,
                      LDBCommandExecuteResult& exec_state);
  bool ParseDoubleOption(const OptionMap& options, const std::string& option, double& value,
                         LDBCommandExecuteResult& exec_state);
  bool ParseStringOption(const OptionMap& options, const std::string& option, std::string* value);
  // true and false in any case; exec_state_ is set to an error for other values.
  bool ParseBooleanOption(const OptionMap& options, const std::string& option, bool default_val);

  LDBCommandExecuteResult exec_state_;
  std::string db_path_;             // --db
  std::string column_family_name_;  // --column_family
  DB* db_ = nullptr;                // null if it is not open
  std::map<std::string, ColumnFamilyHandle*> cf_handles_;
  const bool is_read_only_;
  bool is_key_hex_;    // --key_hex or --hex
  bool is_value_hex_;  // --value_hex or --hex
  const OptionMap option_map_;
  const std::vector<std::string> flags_;
  const std::vector<std::string> valid_cmd_line_options_;
  Options options_;
  std::vector<ColumnFamilyDescriptor> column_families_;
  LDBOptions ldb_options_;

 private:
  class OpenDatabase;

  bool IsTrue(const std::string& flag) const;

  std::unique_ptr<OpenDatabase> open_;  // null if it is not open
};

class ASHLAR_EXPORT LDBCommandRunner {
 public:
  static void PrintHelp(const LDBOptions& ldb_options, const char* exec_name,
                        bool to_stderr = true);
  // The same as LDBTool::RunAndReturn().
  static int RunCommand(int argc, char const* const* argv, Options options,
                        const LDBOptions& ldb_options,
                        const std::vector<ColumnFamilyDescriptor>* column_families);
};

}  // namespace ashlar
