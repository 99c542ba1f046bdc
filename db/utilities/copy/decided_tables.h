// SPDX-License-Identifier: Apache-2.0
//
// DecidedTables is for copies of tables without the logs. Under the policies write-prepared and
// write-unprepared a table may hold data of transactions that are not decided, which only their
// prepare sections in the logs hide: in such a copy everybody would see it. Threads: one at a time.
#pragma once

#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

class DB;
class DBImpl;

class DecidedTables {
 public:
  // To be made before the files are listed. The database outlives the object.
  explicit DecidedTables(DB* db);

  // Once they are listed: Busy if a transaction was undecided meanwhile. Its data may be in other
  // files than those of the list, or in none; that is not distinguished.
  Status Check(const char* what) const;

 private:
  const DBImpl* const db_;
  const SequenceNumber visible_;  // when the object was made
};

}  // namespace ashlar
