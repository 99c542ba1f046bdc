// SPDX-License-Identifier: Apache-2.0
//
// The section about the C API: how many functions each header has, and which of them are refused.
// tests/capi calls all of them and checks what they do: a function is refused if it fails there
// with "Not implemented" whenever it is called. Setters of options are not counted as refused: the
// section about options says which values are.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/docs/header_text.h"
#include "tests/docs/page.h"
#include "tests/support/paths.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The functions that a header declares.
std::set<std::string> FunctionsOf(const std::string& header) {
  std::string text;
  std::istringstream lines(TextOf(header));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    text += line.substr(0, line.find("//")) + " ";
  }
  text = std::regex_replace(text, std::regex("typedef[^;{}]*;"), "");
  std::set<std::string> names;
  const std::regex name("\\bashlar_(\\w+)\\s*\\(");
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

// The functions whose every call in tests/capi is followed by a check that it is refused.
std::set<std::string> RefusedInCTests() {
  const std::regex any_call("\\bashlar_(\\w+)\\s*\\(");
  const std::regex refused_call(
      "\\bashlar_(\\w+)\\s*\\([^;]*;\\s*CHECK_ERROR\\(\\w+, \"Not implemented");
  std::map<std::string, int> calls, refusals;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/capi"))) {
    if (entry.path().extension() != ".c") continue;
    const std::string text = TextOf("tests/capi/" + entry.path().filename().string());
    for (std::sregex_iterator i(text.begin(), text.end(), any_call), end; i != end; ++i) {
      calls[(*i)[1]]++;
    }
    for (std::sregex_iterator i(text.begin(), text.end(), refused_call), end; i != end; ++i) {
      refusals[(*i)[1]]++;
    }
  }
  std::set<std::string> names;
  for (const auto& [name, count] : refusals) {
    if (calls[name] == count) names.insert(name);
  }
  return names;
}

TEST(Compatibility, FunctionsOfCAreCalled) {
  NamesByState names({"refused"});
  const std::set<std::string> refused = RefusedInCTests();
  EXPECT_FALSE(refused.empty()) << "the checks of tests/capi have another form now";
  for (const std::string& name : refused) names.Add("refused", "rocksdb_" + name);
  std::string table = "| functions of | declared | refused |\n|---|---|---|\n";
  size_t all = 0;
  std::map<std::string, std::set<std::string>> by_header;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("include/ashlar/c"))) {
    const std::string header = entry.path().filename().string();
    std::set<std::string> declared = FunctionsOf("include/ashlar/c/" + header);
    if (!declared.empty()) by_header[header] = std::move(declared);
  }
  for (const auto& [header, declared] : by_header) {
    size_t refused_here = 0;
    for (const std::string& name : declared) refused_here += refused.count(name);
    all += declared.size();
    table += StrCat("| `ashlar/c/", header, "` | ", declared.size(), " | ", refused_here, " |\n");
  }
  ExpectSection("Functions of the C API",
                StrCat("`<rocksdb/c.h>` declares ", all,
                       " functions: all of RocksDB 11.9, some of older releases, and those of "
                       "Ashlar's own options. ",
                       "**works** (", all - refused.size(), "): all but the following.\n\n",
                       names.Text(), "\n", table));
}

}  // namespace
}  // namespace ashlar
