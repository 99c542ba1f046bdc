// SPDX-License-Identifier: Apache-2.0
//
// OpenedDb opens a database with all column families that it has and reads all of its rows by
// iterators in both directions and by key. The suites of crashes, faults and damage check a
// directory with it. Threads: one at a time.
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

  // In a directory without a database it creates one if the options allow that.
  Status Open(const Options& options, const std::string& dir);
  // Adds the family to handles().
  Status CreateFamily(const Options& options, const std::string& name);
  Status ReadAll(Contents* contents) { return ReadAllFamilies(db(), handles_, contents); }
  Status Close();

  DB* db() { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// Independent of the order of rows.
uint64_t HashOf(const Rows& rows);
uint64_t HashOfRow(const std::string& key, const std::string& value);

}  // namespace ashlar
