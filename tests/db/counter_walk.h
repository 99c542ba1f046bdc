// SPDX-License-Identifier: Apache-2.0
//
// Compares counters with docs/statistics.md: which of them must count, which must not, and which
// may. Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace ashlar {

// The names in the first column of the rows below a heading of docs/statistics.md.
inline std::vector<std::string> ListedUnder(const std::string& heading) {
  std::ifstream file(SourcePath("docs/statistics.md"));
  std::vector<std::string> names;
  bool is_below = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_below = line == "## " + heading;
    if (!is_below || !line.starts_with("| `")) continue;
    const std::string column = line.substr(0, line.find('|', 1));
    for (size_t end, at = column.find('`'); at != std::string::npos;
         at = column.find('`', end + 1)) {
      end = column.find('`', at + 1);
      names.push_back(column.substr(at + 1, end - at - 1));
    }
  }
  EXPECT_FALSE(names.empty()) << heading;
  return names;
}

// What docs/statistics.md says of each counter, compared with what it does.
class CounterDocument {
 public:
  void Visit(const std::string& kind, const std::string& name, bool counts) {
    const bool may_count = FindIn(sometimes_, name) != nullptr;
    const std::string* const row = FindIn(never_, name);
    EXPECT_FALSE(may_count && row != nullptr) << name << " stands in both tables";
    if (row != nullptr) used_.insert(*row);
    if (may_count) return;
    EXPECT_NE(counts, row != nullptr) << kind << " " << name;
  }
  void ExpectAllRowsUsed() const {
    for (const std::string& row : never_)
      EXPECT_TRUE(used_.contains(row)) << row << " means nothing";
  }

 private:
  static const std::string* FindIn(const std::vector<std::string>& rows, const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const std::string& row) { return name.starts_with(row); });
    return found == rows.end() ? nullptr : &*found;
  }

  const std::vector<std::string> never_ = ListedUnder("Not counted, and why");
  const std::vector<std::string> sometimes_ = ListedUnder("Counted where there is what it takes");
  std::set<std::string> used_;
};

// "name = value, name = value"
inline std::map<std::string, uint64_t> CountersIn(const std::string& text) {
  std::map<std::string, uint64_t> counters;
  std::istringstream words(text);
  std::string name, equals, value;
  while (words >> name >> equals >> value) counters[name] = std::stoull(value);
  return counters;
}

}  // namespace ashlar
