// SPDX-License-Identifier: Apache-2.0
//
// A scenario is a text file with commands and their expected answers:
//
//   # A delete may go only when nothing below can hold its key.
//   $ write
//   put a 1
//   => ok
//
//   $ levels
//   =>
//   L0 | a#1 PUT 1
//   L2 | b#0 PUT 2
//
// A command is a '$' line, which may be followed by lines of input; '=>' begins the answer: the
// rest of that line, or the lines up to an empty one. Everything else between commands is kept.
// Rewriting inserts the actual answers; the diff is reviewed like code.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ashlar {

struct ScenarioStep {
  int line = 0;
  std::string name;                              // the first word after '$'
  std::vector<std::string> words;                // the words after it that contain no '='
  std::map<std::string, std::string> arguments;  // name=value
  std::vector<std::string> input;

  // The i-th word, or the default.
  std::string Word(size_t i, const std::string& otherwise = "") const {
    return i < words.size() ? words[i] : otherwise;
  }
  std::string Argument(const std::string& key, const std::string& otherwise = "") const {
    const auto found = arguments.find(key);
    return found == arguments.end() ? otherwise : found->second;
  }
  bool Has(const std::string& word) const;
};

// The answer to a step: lines, without the last line break.
using ScenarioHandler = std::function<std::string(const ScenarioStep&)>;

struct ScenarioOutcome {
  std::string text;      // the file with the answers of this run
  std::string mismatch;  // the first answer that differs from that of the file; empty: none
};
ScenarioOutcome RunScenario(const std::string& text, const ScenarioHandler& handler);

std::vector<std::string> SplitWords(const std::string& text);

}  // namespace ashlar
