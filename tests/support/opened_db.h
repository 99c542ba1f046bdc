// SPDX-License-Identifier: Apache-2.0
//
// OpenedDb opens a database with all its column families and reads all of it, in both directions
// and by key. Suites use it for crash images, damaged and recovered directories. Threads: one at a
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

// Reads all rows of these families, forwards, backwards, with Get() and with MultiGet(); if these
// disagree, the result is Corruption with a message that begins with "DISAGREE".
Status ReadAllFamilies(DB* db, const std::vector<ColumnFamilyHandle*>& handles, Contents* contents);

class OpenedDb {
 public:
  ~OpenedDb();

  // Creates the database if the directory has none and the options allow that.
  Status Open(const Options& options, const std::string& dir);
  // Creates one more family, which handles() then contains.
  Status CreateFamily(const Options& options, const std::string& name);
  // Scans forward and backward, and reads every key found, alone and in a batch. If the results
  // disagree, Corruption with a message that begins with "DISAGREE".
  Status ReadAll(Contents* contents) { return ReadAllFamilies(db(), handles(), contents); }
  Status Close();

  DB* db() { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// Does not depend on the order of rows.
uint64_t HashOf(const Rows& rows);
uint64_t HashOfRow(const std::string& key, const std::string& value);

}  // namespace ashlar
