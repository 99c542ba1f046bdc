// SPDX-License-Identifier: Apache-2.0
//
// The file is read line by line and written again with the answers of this run.
#include "tests/support/scenario.h"

#include <algorithm>
#include <sstream>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Lines {
 public:
  explicit Lines(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }
  bool AtEnd() const { return next_ == lines_.size(); }
  const std::string& Peek() const { return lines_[next_]; }
  const std::string& Take() { return lines_[next_++]; }
  int number() const { return static_cast<int>(next_); }

 private:
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

ScenarioStep ParseStep(Lines* lines) {
  ScenarioStep step;
  const std::vector<std::string> words = SplitWords(lines->Take().substr(1));
  step.line = lines->number();
  for (size_t i = 0; i < words.size(); i++) {
    const size_t equals = words[i].find('=');
    if (i == 0) {
      step.name = words[i];
    } else if (equals != std::string::npos) {
      step.arguments[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    } else {
      step.words.push_back(words[i]);
    }
  }
  return step;
}

// Reads up to an empty line, or the rest of the "=>" line.
std::string TakeExpected(Lines* lines) {
  const std::string first = lines->Take().substr(2);
  if (!first.empty()) return first.substr(1);
  std::string expected;
  while (!lines->AtEnd() && !lines->Peek().empty()) {
    StrAppend(&expected, expected.empty() ? "" : "\n", lines->Take());
  }
  return expected;
}

std::string AnswerText(const std::string& answer) {
  if (answer.empty()) return "=>\n";
  return answer.find('\n') == std::string::npos ? StrCat("=> ", answer, "\n")
                                                : StrCat("=>\n", answer, "\n");
}

}  // namespace

bool ScenarioStep::Has(const std::string& word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> SplitWords(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

ScenarioOutcome RunScenario(const std::string& text, const ScenarioHandler& handler) {
  ScenarioOutcome outcome;
  Lines lines(text);
  while (!lines.AtEnd()) {
    if (lines.Peek().empty() || lines.Peek()[0] != '$') {
      StrAppend(&outcome.text, lines.Take(), "\n");
      continue;
    }
    StrAppend(&outcome.text, lines.Peek(), "\n");
    ScenarioStep step = ParseStep(&lines);
    while (!lines.AtEnd() && !lines.Peek().empty() && !lines.Peek().starts_with("=>")) {
      StrAppend(&outcome.text, lines.Peek(), "\n");
      step.input.push_back(lines.Take());
    }
    const bool has_expected = !lines.AtEnd() && lines.Peek().starts_with("=>");
    const std::string expected = has_expected ? TakeExpected(&lines) : "";
    const std::string answer = handler(step);
    outcome.text += AnswerText(answer);
    if (outcome.mismatch.empty() && (!has_expected || expected != answer)) {
      outcome.mismatch = StrCat("line ", step.line, ": $ ", step.name, "\n--- expected\n", expected,
                                "\n--- answered\n", answer);
    }
  }
  return outcome;
}

}  // namespace ashlar
