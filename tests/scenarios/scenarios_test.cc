// SPDX-License-Identifier: Apache-2.0
//
// Runs every scenario of this folder: tests/scenarios/<room>/<name>.txt is the test
// Scenarios.<room>/<name>.
//
//   build/test/scenarios_test --rewrite [--gtest_filter=Scenarios.flush*]
//
// writes the actual answers into the files. The scenarios of compaction work on a tree without a
// database (tree_scenario.h), the others on a database (db_scenario.h).
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/scenarios/db_scenario.h"
#include "tests/scenarios/tree_scenario.h"
#include "tests/support/paths.h"
#include "tests/support/scenario.h"

namespace ashlar {
namespace {

bool g_rewrites = false;

class ScenarioFile : public testing::Test {
 public:
  ScenarioFile(std::string room, std::string path)
      : room_(std::move(room)), path_(std::move(path)) {}

  void TestBody() override {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    TreeScenario tree;
    DbScenario db;
    const ScenarioOutcome outcome = RunScenario(text.str(), [&](const ScenarioStep& step) {
      return room_ == "compaction" ? tree.Run(step) : db.Run(step);
    });
    if (g_rewrites && outcome.text != text.str()) std::ofstream(path_) << outcome.text;
    if (!g_rewrites) {
      EXPECT_EQ(outcome.mismatch, "") << path_ << " (--rewrite takes over what happened)";
      EXPECT_FALSE(outcome.text.empty());
    }
  }

 private:
  const std::string room_;
  const std::string path_;
};

size_t RegisterScenarios(const std::filesystem::path& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    const std::string room = entry.path().parent_path().filename();
    const std::string name = room + "/" + entry.path().stem().string();
    const std::string path = entry.path();
    testing::RegisterTest("Scenarios", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> testing::Test* { return new ScenarioFile(room, path); });
    count++;
  }
  return count;
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::g_rewrites = argc > 1 && std::strcmp(argv[1], "--rewrite") == 0;
  if (ashlar::RegisterScenarios(ashlar::SourcePath("tests/scenarios")) == 0) return 1;
  return RUN_ALL_TESTS();
}
