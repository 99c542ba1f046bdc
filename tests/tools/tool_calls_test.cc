// SPDX-License-Identifier: Apache-2.0
//
// LDBTool and SSTDumpTool with a comparator, a merge operator and files of the program.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_dump_tool.h"
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

}  // namespace
}  // namespace ashlar
