// SPDX-License-Identifier: Apache-2.0
//
// A section begins with its heading and ends before the next one.
#include "tests/docs/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/docs/header_text.h"
#include "tests/support/paths.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kPage[] = "docs/compatibility.md";
constexpr size_t kLineBytes = 140;

// Breaks a list of words at spaces.
std::string Wrapped(const std::string& text) {
  std::string result;
  size_t line_bytes = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line_bytes > 0 && line_bytes + 1 + word.size() > kLineBytes) {
      result += "\n";
      line_bytes = 0;
    } else if (line_bytes > 0) {
      result += " ";
      line_bytes++;
    }
    result += word;
    line_bytes += word.size();
    begin = end + 1;
  }
  return result;
}

}  // namespace

void NamesByState::Add(const std::string& state, const std::string& name) {
  EXPECT_NE(std::find(states_.begin(), states_.end(), state), states_.end()) << state;
  std::vector<std::string>& names = names_[state];
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string NamesByState::Text() const {
  std::string text;
  for (const std::string& state : states_) {
    const auto found = names_.find(state);
    if (found == names_.end()) continue;
    std::string line = StrCat("**", state, "** (", found->second.size(), "):");
    for (const std::string& name : found->second) {
      StrAppend(&line, " `", name, "`", &name == &found->second.back() ? "" : ",");
    }
    StrAppend(&text, text.empty() ? "" : "\n", Wrapped(line), "\n");
  }
  return text;
}

NamesByState PlainStates() { return NamesByState({"works", "hint", "refused"}); }

void ExpectSection(const std::string& heading, const std::string& body) {
  std::string page = TextOf(kPage);
  const std::string head = StrCat("\n## ", heading, "\n");
  const std::string expected = StrCat(head, "\n", body);
  size_t begin = page.find(head);
  if (begin == std::string::npos) begin = page.size();
  const size_t next = page.find("\n## ", std::min(begin + 1, page.size()));
  const size_t end = next == std::string::npos ? page.size() : next;
  const bool is_same = page.substr(begin, end - begin) == expected;
  if (std::getenv("ASHLAR_REWRITE") != nullptr && !is_same) {
    page.replace(begin, end - begin, expected);
    std::ofstream(SourcePath(kPage)) << page;
    return;
  }
  EXPECT_TRUE(is_same) << kPage << ", section \"" << heading
                       << "\" is not what the code does: run this test with ASHLAR_REWRITE=1";
}

}  // namespace ashlar
