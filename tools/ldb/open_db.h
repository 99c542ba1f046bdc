// SPDX-License-Identifier: Apache-2.0
//
// Opens the database of an ldb call: all its column families, each with the comparator that the
// MANIFEST names.
//
// Commands that read take only the directories and the merge operators from the newest OPTIONS
// file, and they change nothing in the directory. Commands that write use all of that file, so that
// a put by ldb leaves the database with the options that it had.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "tools/ldb/command.h"
#include "util/result.h"

namespace ashlar {

class ManifestState;

class LdbDatabase {
 public:
  LdbDatabase(std::unique_ptr<DB> db, std::vector<ColumnFamilyHandle*> handles);
  // Closes the database and ignores errors; commands that write call Close().
  ~LdbDatabase();
  LdbDatabase(const LdbDatabase&) = delete;
  LdbDatabase& operator=(const LdbDatabase&) = delete;

  DB* operator->() const { return db_.get(); }
  DB* get() const { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // InvalidArgument if the database has no family of this name.
  Result<ColumnFamilyHandle*> Family(const std::string& name) const;
  // OK means that everything written since opening is safe.
  Status Close();

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

Result<std::unique_ptr<LdbDatabase>> OpenForReading(const Invocation& call);
Result<std::unique_ptr<LdbDatabase>> OpenForWriting(const Invocation& call);

// The directory of the WALs, for commands that read files without opening the database: its own
// directory, unless the newest OPTIONS file names another one. OpenForReading() uses the same rule.
Result<std::string> FindLogDirectory(const Invocation& call, const ManifestState& state);

// Corruption if a log that the MANIFEST tracks is missing, or shorter than its synced size.
Status CheckLogs(const Invocation& call, const ManifestState& state);

// The flags that OpenForWriting() uses. Commands that read accept them.
const std::vector<std::string_view>& OpenFlags();

// Options that a command sets for the duration of its own work and then restores. Threads: one.
class TemporaryOptions {
 public:
  using Texts = std::unordered_map<std::string, std::string>;

  TemporaryOptions(LdbDatabase* db, ColumnFamilyHandle* family) : db_(db), family_(family) {}
  // Sets options of the family. Each must be one that can change while the database is open.
  Status Set(const Texts& options);
  // Sets the former values again. If a command fails before this call, the OPTIONS file keeps the
  // temporary values.
  Status Restore();

 private:
  LdbDatabase* const db_;             // outlives this
  ColumnFamilyHandle* const family_;  // likewise
  Texts former_;
};

}  // namespace ashlar
