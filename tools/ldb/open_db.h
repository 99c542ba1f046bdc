// SPDX-License-Identifier: Apache-2.0
//
// Opens the database of an ldb call: all its column families, each with the comparator that the
// MANIFEST names.
//
// Commands that read take only the directory of the logs and the merge operators from the newest
// OPTIONS file, and they change nothing in the directory. Commands that write use all of that file,
// so that a put by ldb leaves the database with the options that it had (stored_options.h).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "tools/ldb/command.h"
#include "util/result.h"

namespace ashlar {

// An open database and the handles of all its column families; owns both. The handles are destroyed
// before the database. Threads: one at a time.
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

// Opens the database read-only or, with --secondary_path, as a secondary instance. No lock is
// taken, so the database may be open in another process.
Result<std::unique_ptr<LdbDatabase>> OpenForReading(const Invocation& call);
// Opens the database as its owner: recovery runs and the LOCK file is held, so this fails while
// another process has the database open. With --create_if_missing a database that does not exist is
// created. Flags that set options of a family apply to call.family; to none if that is empty.
Result<std::unique_ptr<LdbDatabase>> OpenForWriting(const Invocation& call);

// The options for reads of one family. Owns the timestamp to which they point.
struct FamilyReadOptions {
  std::string timestamp;  // empty in a family without timestamps
  Slice timestamp_slice;
  ReadOptions options;
};
// The options with the timestamp of --read_timestamp. InvalidArgument if a family with timestamps
// is read without it or one without timestamps with it, or if it is no timestamp of the family.
Result<std::unique_ptr<FamilyReadOptions>> ReadOptionsFor(const Invocation& call,
                                                          ColumnFamilyHandle* family);

// Options that a command sets for the duration of its own work and then restores. Threads: one.
class TemporaryOptions {
 public:
  // By name of the option, values in the form of an options string.
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
