// SPDX-License-Identifier: Apache-2.0
//
// The runner itself: a wrong scenario fails, and rewriting changes only answers.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/scenario.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Answers with its input.
std::string Echo(const ScenarioStep& step) {
  std::string text;
  for (const std::string& word : step.words) StrAppend(&text, word, "\n");
  for (const auto& [name, value] : step.arguments) StrAppend(&text, name, " is ", value, "\n");
  for (const std::string& line : step.input) StrAppend(&text, line, "\n");
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

TEST(ScenarioRunner, RightAnswersPassAndAreNotChanged) {
  const std::string text =
      "# A comment.\n\n$ echo one\n=> one\n\n$ echo b=2 a=1\nline\n=>\na is 1\nb is 2\nline\n\n"
      "$ echo\n=>\n";
  const ScenarioOutcome outcome = RunScenario(text, Echo);
  EXPECT_EQ(outcome.mismatch, "");
  EXPECT_EQ(outcome.text, text);
}

TEST(ScenarioRunner, AWrongAnswerFailsAndIsRewritten) {
  const ScenarioOutcome outcome = RunScenario("$ echo one\n=> two\n\n$ echo x\n=> x\n", Echo);
  EXPECT_NE(outcome.mismatch.find("line 1: $ echo"), std::string::npos) << outcome.mismatch;
  EXPECT_EQ(outcome.text, "$ echo one\n=> one\n\n$ echo x\n=> x\n");
}

TEST(ScenarioRunner, AMissingAnswerOrAMissingLineFails) {
  EXPECT_NE(RunScenario("$ echo one\n", Echo).mismatch, "");
  EXPECT_NE(RunScenario("$ echo one two\n=>\none\n", Echo).mismatch, "");
  EXPECT_NE(RunScenario("$ echo one\n=>\n", Echo).mismatch, "");
}

}  // namespace ashlar
