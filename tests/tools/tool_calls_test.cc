// SPDX-License-Identifier: Apache-2.0
//
// LDBTool, SSTDumpTool and LDBCommand with a comparator, a merge operator and files of the program.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_dump_tool.h"
#include "ashlar/utilities/ldb_cmd.h"
#include "tests/support/status_matchers.h"

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
  std::string Ldb(std::vector<std::string> words, int exit_code,
                  const LDBOptions& ldb_options = LDBOptions()) {
    words.insert(words.begin(), {"ldb", "--db=/db"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    EXPECT_EQ(
        LDBTool().RunAndReturn(static_cast<int>(argv.size()), argv.data(), options_, ldb_options),
        exit_code);
    return testing::internal::GetCapturedStdout();
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
  const char* const argv[] = {"sst_dump", "--file=/db", "--command=scan"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(SSTDumpTool().Run(3, argv, options_), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_LT(text.find("'b' seq:"), text.find("'a' seq:")) << text;
}

// ---- commands as objects

using Words = std::vector<std::string>;

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
