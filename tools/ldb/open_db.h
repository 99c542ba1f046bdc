// SPDX-License-Identifier: Apache-2.0
//
// Opening the database of an ldb call: all its families, each with the comparator that the MANIFEST
// names.
//
// Reading needs little more: from the newest OPTIONS file read commands take where logs and tables
// lie and how operands merge, and they open without changing a byte of the directory. Writing goes
// by all of that file, so that a put by ldb leaves the database with the options it had.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tools/ldb/command.h"
#include "util/result.h"

namespace ashlar {

class ManifestState;

class OpenedDb {
 public:
  OpenedDb(std::unique_ptr<DB> db, std::vector<ColumnFamilyHandle*> handles);
  // Closes; errors are lost then.
  ~OpenedDb();
  OpenedDb(const OpenedDb&) = delete;
  OpenedDb& operator=(const OpenedDb&) = delete;

  DB* operator->() const { return db_.get(); }
  DB* get() const { return db_.get(); }
  // InvalidArgument if there is no such family.
  Result<ColumnFamilyHandle*> Family(const std::string& name) const;
  // Of what was written since opening, this reports whether it is safe.
  Status Close();

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

Result<std::unique_ptr<OpenedDb>> OpenForReading(const Invocation& call);
Result<std::unique_ptr<OpenedDb>> OpenForWriting(const Invocation& call);

// Where the database has its logs, for those that read files without opening it: its own directory,
// unless the newest OPTIONS file names another one, as OpenForReading() understands it.
Result<std::string> FindLogDirectory(const Invocation& call, const ManifestState& state);

// The flags that OpenForWriting() looks at.
const std::vector<std::string_view>& OpenFlags();

}  // namespace ashlar
