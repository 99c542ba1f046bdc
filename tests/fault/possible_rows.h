// SPDX-License-Identifier: Apache-2.0
//
// The values that the keys of a database may have after calls of which some failed: one value if
// the last write was acknowledged, more after failed ones. An empty string stands for no value.
// Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/support/opened_db.h"

namespace ashlar {

using RowKey = std::pair<std::string, std::string>;  // family, key

class PossibleRows {
 public:
  // Records a write of `value`. If it was acknowledged, the key has this value; if it failed, the
  // key may have either.
  void Write(const RowKey& row, const std::string& value, bool is_acknowledged);
  // Records a merge of `operand`, by an operator that puts commas between operands.
  void Append(const RowKey& row, const std::string& operand, bool is_acknowledged);
  // Records that a read returned this value, so that the key keeps it.
  void Settle(const RowKey& row, const std::string& value) { values_[row] = {value}; }
  // The same for all rows; keys without a row have no value.
  void SettleAll(const Contents& contents);

  // Returns what is wrong; empty if nothing is.
  std::string Judge(const RowKey& row, const std::string& value) const;
  std::string JudgeAll(const Contents& contents) const;
  // Checks the rows of one family, which must be complete.
  std::string JudgeFamily(const std::string& family, const Rows& rows) const;

 private:
  std::map<RowKey, std::set<std::string>> values_;
};

}  // namespace ashlar
