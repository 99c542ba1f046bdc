// SPDX-License-Identifier: Apache-2.0
//
// Options that a command needs for its own work, and that the database must not keep. Threads: one.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/db.h"
#include "tools/ldb/open_db.h"
#include "util/result.h"

namespace ashlar {

class OptionsForAWhile {
 public:
  using Texts = std::unordered_map<std::string, std::string>;

  OptionsForAWhile(OpenedDb* db, ColumnFamilyHandle* family) : db_(db), family_(family) {}
  // Sets options of the family, all of which can change while the database is open.
  Status Set(const Texts& options);
  // As they were. A command that fails before this leaves them in the OPTIONS file.
  Status PutBack();

 private:
  OpenedDb* const db_;                // outlives this
  ColumnFamilyHandle* const family_;  // likewise
  Texts former_;
};

}  // namespace ashlar
