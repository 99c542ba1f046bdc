// SPDX-License-Identifier: Apache-2.0
//
// LDBTool, SSTDumpTool and LDBCommand with a comparator, a merge operator, directories and files of
// the program; families with timestamps, and tables without blocks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/env_encryption.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_dump_tool.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/utilities/ldb_cmd.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Backwards final : public Comparator {
 public:
  const char* Name() const override { return "Backwards"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Longest final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Longest"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    const bool keeps = existing != nullptr && existing->size() > value.size();
    *result = (keeps ? *existing : value).ToString();
    return true;
  }
};

class InBrackets final : public SliceFormatter {
 public:
  std::string Format(const Slice& s) const override { return "[" + s.ToString() + "]"; }
};

using Words = std::vector<std::string>;

// What a call of ldb prints. The options are those of the program.
std::string RunLdb(const Options& options, const std::string& db, Words words, int exit_code,
                   const LDBOptions& ldb_options = LDBOptions()) {
  words.insert(words.begin(), {"ldb", "--db=" + db});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  EXPECT_EQ(
      LDBTool().RunAndReturn(static_cast<int>(argv.size()), argv.data(), options, ldb_options),
      exit_code)
      << words[2];
  return testing::internal::GetCapturedStdout();
}

std::string RunSstDump(const Options& options, const std::string& file, Words words,
                       int exit_code) {
  words.insert(words.begin(), {"sst_dump", "--file=" + file});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  EXPECT_EQ(SSTDumpTool().Run(static_cast<int>(argv.size()), argv.data(), options), exit_code)
      << words[2];
  return testing::internal::GetCapturedStdout();
}

class ToolCalls : public testing::Test {
 protected:
  ToolCalls() {
    options_.env = env_.get();
    options_.comparator = &order_;
    options_.merge_operator = std::make_shared<Longest>();
    options_.create_if_missing = true;
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::Open(options_, "/db", &db));
    EXPECT_OK(db->Put({}, "a", "1"));
    EXPECT_OK(db->Merge({}, "a", "longer"));
    EXPECT_OK(db->Put({}, "b", "2"));
    EXPECT_OK(db->Flush({}));
    EXPECT_OK(db->Close());
  }
  // What the call prints.
  std::string Ldb(const Words& words, int exit_code, const LDBOptions& ldb_options = LDBOptions()) {
    return RunLdb(options_, "/db", words, exit_code, ldb_options);
  }

  const Backwards order_;
  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
};

TEST_F(ToolCalls, LdbUsesTheOptionsOfTheProgram) {
  EXPECT_EQ(Ldb({"scan"}, 0), "b : 2\na : longer\n");
  EXPECT_EQ(Ldb({"put", "c", "3"}, 0), "OK\n");
  LDBOptions ldb_options;
  ldb_options.key_formatter = std::make_shared<InBrackets>();
  EXPECT_EQ(Ldb({"scan", "--max_keys=1"}, 0, ldb_options), "[c] : 3\n");
  EXPECT_EQ(Ldb({"get", "none"}, 1), "");
}

TEST_F(ToolCalls, WithoutTheComparatorLdbRefusesTheDatabase) {
  options_.comparator = BytewiseComparator();
  EXPECT_EQ(Ldb({"scan"}, 1), "");
}

TEST_F(ToolCalls, SstDumpUsesTheOptionsOfTheProgram) {
  const std::string text = RunSstDump(options_, "/db", {"--command=scan"}, 0);
  EXPECT_LT(text.find("'b' seq:"), text.find("'a' seq:")) << text;
}

TEST_F(ToolCalls, CommandsOnFilesUseThoseOfTheProgram) {
  EXPECT_EQ(Ldb({"list_column_families"}, 0), "Column families in /db: \n{default}\n");
  EXPECT_EQ(Ldb({"update_manifest", "--update_temperatures"}, 0), "Manifest updates successful\n");
  EXPECT_TRUE(Ldb({"repair"}, 0).ends_with("OK\n"));
  EXPECT_EQ(Ldb({"scan"}, 0), "b : 2\na : longer\n");
}

// Then only the OPTIONS file names the comparator.
TEST_F(ToolCalls, RepairWithoutAManifestUsesTheComparatorOfTheProgram) {
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren("/db", &names));
  for (const std::string& name : names) {
    if (name == "CURRENT" || name.starts_with("MANIFEST")) {
      ASSERT_OK(env_->DeleteFile("/db/" + name));
    }
  }
  EXPECT_TRUE(Ldb({"repair"}, 0).ends_with("OK\n"));
  EXPECT_EQ(Ldb({"scan"}, 0), "b : 2\na : longer\n");
}

// The tables of an encrypted database are no tables in any other environment.
TEST(ToolEnvironments, RepairKeepsAnEncryptedDatabase) {
  const std::string dir = FreshTempDir("encrypted_repair") + "/db";
  std::shared_ptr<EncryptionProvider> provider;
  ASSERT_OK(EncryptionProvider::CreateFromString(ConfigOptions(), "CTR://test", &provider));
  const std::unique_ptr<Env> env(NewEncryptedEnv(Env::Default(), provider));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir, &db));
  ASSERT_OK(db->Put({}, "a", "1"));
  ASSERT_OK(db->Flush({}));
  ASSERT_OK(db->Put({}, "b", "2"));
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_TRUE(RunLdb(options, dir, {"repair"}, 0).ends_with("OK\n"));
  std::vector<std::string> lost;
  if (env->FileExists(dir + "/lost").ok()) {
    ASSERT_OK(env->GetChildren(dir + "/lost", &lost));
  }
  for (const std::string& name : lost) EXPECT_FALSE(name.ends_with(".sst")) << name;
  options.create_if_missing = false;
  ASSERT_OK(DB::Open(options, dir, &db));
  for (const auto& [key, value] : {std::pair("a", "1"), std::pair("b", "2")}) {
    std::string found;
    EXPECT_OK(db->Get({}, key, &found));
    EXPECT_EQ(found, value);
  }
}

// No file has the directories and the statistics.
TEST(ToolEnvironments, DirectoriesAndObjectsOfTheProgramAreUsed) {
  for (const bool is_of_family : {false, true}) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    Options options;
    options.env = env.get();
    options.create_if_missing = true;
    options.statistics = CreateDBStatistics();
    (is_of_family ? options.cf_paths : options.db_paths) = {{"/fast", 1 << 30}, {"/slow", 1 << 30}};
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, "/db", &db));
    ASSERT_OK(db->Put({}, "a", "1"));
    ASSERT_OK(db->Flush({}));
    ASSERT_OK(db->Put({}, "b", "2"));
    ASSERT_OK(db->Close());
    db.reset();
    EXPECT_EQ(RunLdb(options, "/db", {"scan"}, 0), "a : 1\nb : 2\n");
    Options later = options;  // with a directory that does not exist yet
    later.db_paths.emplace_back("/later", 1);
    EXPECT_EQ(RunLdb(later, "/db", {"checkconsistency"}, 0), "OK\n");
    options.statistics->getAndResetTickerCount(NUMBER_KEYS_WRITTEN);
    EXPECT_EQ(RunLdb(options, "/db", {"put", "c", "3"}, 0), "OK\n");
    EXPECT_GT(options.statistics->getTickerCount(NUMBER_KEYS_WRITTEN), 0u);
    EXPECT_TRUE(RunLdb(options, "/db", {"repair"}, 0).ends_with("OK\n"));
    options.create_if_missing = false;
    ASSERT_OK(DB::Open(options, "/db", &db));
    std::string found;
    for (const char* const key : {"a", "b", "c"}) EXPECT_OK(db->Get({}, key, &found)) << key;
  }
}

// The logs are where the database was opened before the program chose another directory.
TEST(ToolEnvironments, AMissingWalDirOfTheProgramIsIgnored) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put({}, "a", "1"));
  ASSERT_OK(db->Close());
  db.reset();
  std::vector<std::string> names;
  ASSERT_OK(env->GetChildren("/db", &names));
  for (const std::string& name : names) {
    if (name.starts_with("OPTIONS-")) {
      ASSERT_OK(env->DeleteFile("/db/" + name));
    }
  }
  Options later = options;
  later.wal_dir = "/none";
  EXPECT_EQ(RunLdb(later, "/db", {"checkconsistency"}, 0), "OK\n");
  EXPECT_EQ(RunLdb(later, "/db", {"scan"}, 0), "a : 1\n");
  EXPECT_NE(RunLdb(later, "/db", {"dump_live_files"}, 0).find("PUT(0) : 0x61"), std::string::npos);
  EXPECT_TRUE(RunLdb(later, "/db", {"repair"}, 0).ends_with("OK\n"));
  EXPECT_FALSE(env->FileExists("/none").ok());
  ASSERT_OK(DB::Open(options, "/db", &db));
  std::string found;
  EXPECT_OK(db->Get({}, "a", &found));
}

// ---- families with timestamps

class StampedToolCalls : public testing::Test {
 protected:
  StampedToolCalls() {
    options_.env = env_.get();
    options_.comparator = BytewiseComparatorWithU64Ts();
    options_.create_if_missing = true;
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::Open(options_, "/db", &db));
    for (const auto& [key, timestamp] : {std::pair("a", 1), {"b", 1}, {"b", 3}, {"c", 2}}) {
      for (const std::string suffix : {"", "-of-14-bytes"}) {
        std::string bytes;
        EncodeU64Ts(static_cast<uint64_t>(timestamp), &bytes);
        EXPECT_OK(db->Put({}, key + suffix, bytes, StrCat(key, timestamp)));
      }
    }
    EXPECT_OK(db->Flush({}));
    EXPECT_OK(db->Close());
  }
  std::string Ldb(const Words& words, int exit_code) {
    return RunLdb(options_, "/db", words, exit_code);
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
};

// The values of the entries that `idump` or `sst_dump --command=scan` has printed.
std::string ValuesOf(const std::string& text) {
  constexpr std::string_view kBeforeValue = "type:1 => ";
  std::string values;
  for (size_t at = text.find(kBeforeValue); at != std::string::npos;
       at = text.find(kBeforeValue, at)) {
    at += kBeforeValue.size();
    StrAppend(&values, values.empty() ? "" : " ", text.substr(at, text.find('\n', at) - at));
  }
  return values;
}

TEST_F(StampedToolCalls, BoundsAreKeysWithoutTimestamps) {
  const auto scan = [this](const Words& flags) {
    Words words = {"--command=scan"};
    words.insert(words.end(), flags.begin(), flags.end());
    return ValuesOf(RunSstDump(options_, "/db", words, 0));
  };
  EXPECT_EQ(scan({}), "a1 a1 b3 b1 b3 b1 c2 c2");
  EXPECT_EQ(scan({"--from=b", "--to=c"}), "b3 b1 b3 b1");
  EXPECT_EQ(scan({"--from=b-of-14-bytes", "--to=c-of-14-bytes"}), "b3 b1 c2");
  EXPECT_EQ(scan({"--prefix=b-of"}), "b3 b1");
  EXPECT_EQ(scan({"--prefix=c"}), "c2 c2");
  EXPECT_EQ(ValuesOf(Ldb({"idump", "--from=b", "--to=c"}, 0)), "b3 b1 b3 b1");
  EXPECT_EQ(ValuesOf(Ldb({"idump", "--from=b-of-14-bytes"}, 0)), "b3 b1 c2 c2");
}

TEST_F(StampedToolCalls, ReadsAreAsOfTheGivenTimestamp) {
  EXPECT_EQ(Ldb({"get", "b", "--read_timestamp=3"}, 0), "b3\n");
  EXPECT_EQ(Ldb({"get", "b", "--read_timestamp=2"}, 0), "b1\n");
  EXPECT_EQ(Ldb({"get", "b", "--read_timestamp=0"}, 1), "");
  EXPECT_EQ(Ldb({"get_entity", "b", "--read_timestamp=2"}, 0), ":b1\n");
  EXPECT_EQ(Ldb({"multi_get", "a", "b", "--read_timestamp=3"}, 0), "a ==> a1\nb ==> b3\n");
  EXPECT_EQ(Ldb({"multi_get_entity", "a", "b", "--read_timestamp=1"}, 0), "a ==> :a1\nb ==> :b1\n");
  EXPECT_EQ(Ldb({"scan", "--from=b", "--to=b-", "--read_timestamp=9"}, 0), "b : b3\n");
  EXPECT_EQ(Ldb({"dump", "--from=b", "--to=c", "--read_timestamp=1"}, 0),
            "b ==> b1\nb-of-14-bytes ==> b1\nKeys in range: 2\n");
  EXPECT_NE(Ldb({"explain", "--key=b", "--read_timestamp=1"}, 0), "");
}

// What ldb prints on stderr.
std::string ErrorOfLdb(const Options& options, const Words& words) {
  testing::internal::CaptureStderr();
  RunLdb(options, "/db", words, 1);
  return testing::internal::GetCapturedStderr();
}

TEST_F(StampedToolCalls, AMissingOrWrongTimestampIsNamed) {
  for (const Words& words :
       {Words{"get", "b"}, Words{"scan"}, Words{"dump"}, Words{"multi_get", "b"},
        Words{"get", "b", "--read_timestamp=x"}, Words{"get", "b", "--read_timestamp=0x01"},
        Words{"get", "b", "--read_timestamp"}}) {
    EXPECT_NE(ErrorOfLdb(options_, words).find("--read_timestamp"), std::string::npos) << words[0];
  }
}

TEST_F(ToolCalls, AFamilyWithoutTimestampsIsNotReadWithOne) {
  for (const Words& words :
       {Words{"get", "b", "--read_timestamp=1"}, Words{"scan", "--read_timestamp"}}) {
    EXPECT_NE(ErrorOfLdb(options_, words).find("--read_timestamp"), std::string::npos) << words[0];
  }
}

// ---- tables without blocks

void ExpectTablesAreRead(const Options& options, const std::string& format) {
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put({}, "k1", "v1"));
  ASSERT_OK(db->Put({}, "k2", "v2"));
  ASSERT_OK(db->Flush({}));
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_EQ(RunLdb(options, "/db", {"checkconsistency"}, 0), "OK\n");
  EXPECT_EQ(RunLdb(options, "/db", {"scan"}, 0), "k1 : v1\nk2 : v2\n");
  EXPECT_EQ(ValuesOf(RunLdb(options, "/db", {"dump_live_files"}, 0)), "v1 v2");
  EXPECT_NE(RunLdb(options, "/db", {"list_file_range_deletes"}, 0), "");
  const auto dump = [&](const Words& words, int exit_code) {
    return RunSstDump(options, "/db", words, exit_code);
  };
  const std::string scanned = dump({"--command=scan"}, 0);
  EXPECT_NE(scanned.find("Sst file format: " + format + "\n"), std::string::npos) << scanned;
  EXPECT_EQ(ValuesOf(scanned), "v1 v2");
  EXPECT_EQ(ValuesOf(dump({"--command=scan", "--from=k2"}, 0)), "v2");
  for (const char* const command : {"check", "verify", "recompress"}) {
    dump({StrCat("--command=", command)}, 0);
  }
  EXPECT_NE(dump({"--command=identify"}, 0).find(" is a valid SST file\n"), std::string::npos);
  EXPECT_NE(dump({"--command=none", "--show_properties"}, 0).find("# entries: 2\n"),
            std::string::npos);
  // What shows blocks says that there are none, and leaves no file.
  std::vector<std::string> before, after;
  ASSERT_OK(options.env->GetChildren("/db", &before));
  for (const Words& words : {Words{"--command=raw"}, Words{"--command=report"},
                             Words{"--command=none", "--list_meta_blocks"}}) {
    testing::internal::CaptureStderr();
    dump(words, 1);
    const std::string error = testing::internal::GetCapturedStderr();
    EXPECT_NE(error.find("a " + format + " has no blocks"), std::string::npos) << error;
  }
  ASSERT_OK(options.env->GetChildren("/db", &after));
  EXPECT_EQ(after.size(), before.size());
}

TEST(ToolsOnBareTables, ReadThem) {
  for (const bool is_plain : {true, false}) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    Options options;
    options.env = env.get();
    options.create_if_missing = true;
    if (is_plain) options.prefix_extractor.reset(NewFixedPrefixTransform(1));
    options.table_factory.reset(is_plain ? NewPlainTableFactory() : NewCuckooTableFactory());
    ExpectTablesAreRead(options, is_plain ? "plain table" : "cuckoo table");
  }
}

// ---- commands as objects

// Runs a command and returns what it prints, or its error.
std::string RunAsObject(const Options& options, const Words& args) {
  const std::unique_ptr<LDBCommand> command(
      LDBCommand::InitFromCmdLineArgs(args, options, LDBOptions(), nullptr));
  if (command == nullptr) return "no command";
  EXPECT_TRUE(command->GetExecuteState().IsNotStarted());
  testing::internal::CaptureStdout();
  command->Run();
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(command->GetExecuteState().IsFailed(), command->GetExecuteState().IsSucceed());
  return printed + command->GetExecuteState().ToString();
}

TEST_F(ToolCalls, CommandsAreObjects) {
  EXPECT_EQ(RunAsObject(options_, {"--db=/db", "scan"}), "b : 2\na : longer\n");
  EXPECT_EQ(RunAsObject(options_, {"--db=/db", "--key_hex", "get", "0x62"}), "2\n");
  EXPECT_EQ(RunAsObject(options_, {"--db=/db", "get", "none"}).rfind("Failed: ", 0), 0u);
  EXPECT_EQ(RunAsObject(options_, {"get", "b"}).rfind("Failed: ", 0), 0u);
  EXPECT_EQ(RunAsObject(options_, {"--db=/db"}), "no command");
  EXPECT_EQ(RunAsObject(options_, {"--db=/db", "unknown"}), "no command");
  const char* const argv[] = {"ldb", "--db=/db", "--unknown", "scan"};
  const std::unique_ptr<LDBCommand> command(
      LDBCommand::InitFromCmdLineArgs(4, argv, options_, LDBOptions(), nullptr));
  ASSERT_NE(command, nullptr);
  EXPECT_FALSE(command->ValidateCmdLineOptions());
  command->Run();
  EXPECT_TRUE(command->GetExecuteState().IsFailed());
}

// A command of a program: appends a text to the value of a key, `--times` times.
class AppendCommand final : public LDBCommand {
 public:
  explicit AppendCommand(const ParsedParams& params)
      : LDBCommand(params.option_map, params.flags, /*is_read_only=*/false,
                   BuildCmdLineOptions({"times"})),
        words_(params.cmd_params) {}

  void DoCommand() override {
    int times = 1;
    ParseIntOption(option_map_, "times", times, exec_state_);
    if (exec_state_.IsFailed()) return;
    ColumnFamilyHandle* const family = GetCfHandle();
    if (family == nullptr) return;
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), family, words_[0], &value));
    for (int i = 0; i < times; i++) value += words_[1];
    EXPECT_OK(db_->Put(WriteOptions(), family, words_[0], value));
    exec_state_ = LDBCommandExecuteResult::Succeed(
        PrintKeyValue(words_[0], value, is_key_hex_, is_value_hex_));
  }

 private:
  const Words words_;
};

TEST_F(ToolCalls, ACommandOfTheProgramUsesTheDatabase) {
  const auto run = [this](const Words& args) {
    const std::unique_ptr<LDBCommand> command(LDBCommand::InitFromCmdLineArgs(
        args, options_, LDBOptions(), nullptr, [](const LDBCommand::ParsedParams& params) {
          return params.cmd == "append" ? new AppendCommand(params)
                                        : LDBCommand::SelectCommand(params);
        }));
    EXPECT_TRUE(command->ValidateCmdLineOptions());
    command->Run();
    return command->GetExecuteState().ToString();
  };
  EXPECT_EQ(run({"--db=/db", "--times=3", "append", "b", "x"}), "b ==> 2xxx");
  EXPECT_EQ(run({"--db=/db", "--hex", "append", "b", "y"}), "0x62 ==> 0x3278787879");
  EXPECT_EQ(run({"--db=/db", "--times=3x", "append", "b", "x"}).rfind("Failed: --times", 0), 0u);
  EXPECT_EQ(run({"--db=/none", "append", "b", "x"}).rfind("Failed: ", 0), 0u);
  EXPECT_EQ(run({"--db=/db", "--column_family=c", "append", "b", "x"}).rfind("Failed: ", 0), 0u);
  EXPECT_EQ(Ldb({"get", "b"}, 0), "2xxxy\n");
}

TEST(LdbCommandTexts, HexadecimalDigitsAreBytes) {
  EXPECT_EQ(LDBCommand::HexToString("0x6B00fF"), std::string("k\0\xff", 3));
  EXPECT_EQ(LDBCommand::StringToHex(std::string("k\0\xff", 3)), "0x6B00FF");
  for (const char* const text : {"6B", "0x6", "0xGG", ""}) {
    EXPECT_THROW(LDBCommand::HexToString(text), std::invalid_argument) << text;
  }
  EXPECT_EQ(std::string(LDBCommand::DELIM), " ==> ");
}

}  // namespace
}  // namespace ashlar
