// SPDX-License-Identifier: Apache-2.0
//
// A key that was never written has no value.
#include "tests/fault/possible_rows.h"

namespace ashlar {

void PossibleRows::Write(const RowKey& row, const std::string& value, bool is_acknowledged) {
  std::set<std::string>& values = values_[row];
  if (values.empty()) values.insert("");
  if (is_acknowledged) values.clear();
  values.insert(value);
}

void PossibleRows::Append(const RowKey& row, const std::string& operand, bool is_acknowledged) {
  std::set<std::string>& values = values_[row];
  if (values.empty()) values.insert("");
  std::set<std::string> appended;
  for (const std::string& value : values) {
    appended.insert(value.empty() ? operand : value + "," + operand);
  }
  if (is_acknowledged) values.clear();
  values.merge(appended);
}

void PossibleRows::SettleAll(const Contents& contents) {
  for (auto& [row, values] : values_) {
    const auto family = contents.find(row.first);
    const bool has_family = family != contents.end();
    const auto found = has_family ? family->second.find(row.second) : Rows::const_iterator();
    values = {has_family && found != family->second.end() ? found->second : ""};
  }
}

std::string PossibleRows::Judge(const RowKey& row, const std::string& value) const {
  const auto it = values_.find(row);
  const bool may_be = it == values_.end() ? value.empty() : it->second.contains(value);
  if (may_be) return "";
  return row.first + "/" + row.second + " is '" + value.substr(0, 20) + "', which it cannot be";
}

std::string PossibleRows::JudgeFamily(const std::string& family, const Rows& rows) const {
  for (const auto& [key, value] : rows) {
    std::string wrong = Judge({family, key}, value);
    if (!wrong.empty()) return wrong;
  }
  for (const auto& [row, values] : values_) {
    if (row.first == family && !values.contains("") && !rows.contains(row.second)) {
      return family + "/" + row.second + " is lost";
    }
  }
  return "";
}

std::string PossibleRows::JudgeAll(const Contents& contents) const {
  std::set<std::string> families;
  for (const auto& [row, values] : values_) families.insert(row.first);
  for (const auto& [family, rows] : contents) families.insert(family);
  for (const std::string& family : families) {
    const auto rows = contents.find(family);
    std::string wrong = JudgeFamily(family, rows == contents.end() ? Rows() : rows->second);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace ashlar
