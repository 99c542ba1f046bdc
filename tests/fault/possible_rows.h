// SPDX-License-Identifier: Apache-2.0
//
// What the keys of a database may hold after calls of which some failed: one value if the last
// write was acknowledged, more after failed ones. An empty string stands for no value. Threads: one
// at a time.
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
  // A write of `value`. One that was acknowledged decides; one that failed leaves the key
  // undecided.
  void Write(const RowKey& row, const std::string& value, bool is_acknowledged);
  // A merge of `operand`, by an operator that puts commas between operands.
  void Append(const RowKey& row, const std::string& operand, bool is_acknowledged);
  // It was seen, so it stays.
  void Settle(const RowKey& row, const std::string& value) { values_[row] = {value}; }
  // The same for all rows; what is missing has no value.
  void SettleAll(const Contents& contents);

  // What is wrong; empty = nothing.
  std::string Judge(const RowKey& row, const std::string& value) const;
  std::string JudgeAll(const Contents& contents) const;
  // The rows of one family, of which all are there.
  std::string JudgeFamily(const std::string& family, const Rows& rows) const;

 private:
  std::map<RowKey, std::set<std::string>> values_;
};

}  // namespace ashlar
