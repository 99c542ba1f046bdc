// SPDX-License-Identifier: Apache-2.0
//
// OpenedDb opens a database with whatever column families it has and reads all of it, both ways and
// by key: what the suites do with an image, a damaged or a recovered directory. Threads: one at a
// time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"

namespace ashlar {

using Rows = std::map<std::string, std::string>;
using Contents = std::map<std::string, Rows>;  // by family

class OpenedDb {
 public:
  ~OpenedDb();

  // A directory without database gets a new one if the options say so.
  Status Open(const Options& options, const std::string& dir);
  // One more family, in handles() from here on.
  Status CreateFamily(const Options& options, const std::string& name);
  // Scans forward and backward and gets every key found, alone and in a batch; a disagreement
  // between these is Corruption with a message that begins with "DISAGREE".
  Status ReadAll(Contents* contents);
  Status Close();

  DB* db() { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  Status ReadFamily(ColumnFamilyHandle* handle, Rows* rows);
  Status CheckBatch(const Contents& contents);

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// Independent of the order of rows.
uint64_t HashOf(const Rows& rows);
uint64_t HashOfRow(const std::string& key, const std::string& value);

}  // namespace ashlar
