// SPDX-License-Identifier: Apache-2.0
//
// Line by line; a statement ends with the line that closes its last bracket and ends in ; or }.
#include "tests/docs/header_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/support/paths.h"

namespace ashlar {
namespace {

std::string Trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(' ') - begin + 1);
}

// Nothing for what is not a member with a name of its own.
void AddMember(const std::string& statement, const std::string& comment, const std::string& type,
               std::vector<DeclaredMember>* members) {
  static const std::regex nested("^(struct|class|enum|using|friend|static_assert|typedef)\\b");
  static const std::regex function("(~?\\w+)\\s*\\(");
  static const std::regex field("(\\w+)\\s*(=.*|\\{.*)?;$");
  std::smatch match;
  if (std::regex_search(statement, nested) || statement.find("operator") != std::string::npos)
    return;
  // Default values and template arguments may have brackets too.
  const std::string head =
      std::regex_replace(statement.substr(0, statement.find('=')), std::regex("<[^<>]*>"), "");
  const bool is_function = std::regex_search(head, match, function);
  if (!is_function && !std::regex_search(statement, match, field)) return;
  const std::string name = match[1];
  if (name == type || name == "~" + type) return;
  members->push_back({name, comment, is_function});
}

}  // namespace

std::vector<DeclaredMember> MembersOf(const std::string& header, const std::string& opening) {
  std::istringstream lines(header);
  std::string line;
  const std::regex macro("ASHLAR_[A-Z]+ ");  // what a declaration may say to the linker
  while (std::getline(lines, line) && std::regex_replace(line, macro, "") != opening) continue;
  EXPECT_EQ(std::regex_replace(line, macro, ""), opening);
  const std::string type = opening.substr(
      opening.find(' ') + 1, opening.find(' ', opening.find(' ') + 1) - opening.find(' ') - 1);
  std::vector<DeclaredMember> members;
  std::string comment, statement;
  bool was_comment = false;
  while (std::getline(lines, line) && line != "};") {
    line = Trimmed(line);
    if (line.starts_with("//")) {
      if (!statement.empty()) continue;
      if (!was_comment) comment.clear();
      comment += line.substr(2);
      was_comment = true;
      continue;
    }
    was_comment = false;
    if (line.empty() && statement.empty()) comment.clear();
    if (line.empty() || (statement.empty() && (line == "public:" || line == "private:"))) continue;
    statement += (statement.empty() ? "" : " ") + Trimmed(line.substr(0, line.find(" //")));
    const auto count = [&](char c) { return std::count(statement.begin(), statement.end(), c); };
    const bool is_whole = count('{') == count('}') && count('(') == count(')');
    if (!is_whole || (statement.back() != ';' && statement.back() != '}')) continue;
    AddMember(statement, comment, type, &members);
    statement.clear();
  }
  EXPECT_FALSE(members.empty()) << opening;
  return members;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(SourcePath(path));
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace ashlar
