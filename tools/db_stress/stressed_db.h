// SPDX-License-Identifier: Apache-2.0
//
// StressedDb: the open database and its families. The last family, the volatile one, is dropped and
// made again while others work: who uses it holds it by FamilyUse.
//
// Threads: any number, between Open() and Close().
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tools/db_stress/option_draw.h"
#include "util/result.h"

namespace ashlar::stress {

// A family's handle, which stays as long as this lives.
class FamilyUse {
 public:
  ColumnFamilyHandle* get() const { return handle_; }

 private:
  friend class StressedDb;
  FamilyUse(std::shared_lock<std::shared_mutex> lock, ColumnFamilyHandle* handle)
      : lock_(std::move(lock)), handle_(handle) {}

  std::shared_lock<std::shared_mutex> lock_;  // of the volatile family
  ColumnFamilyHandle* handle_;
};

class StressedDb {
 public:
  // With families that were made by an earlier run, or new ones. Takes what a killed run has left
  // beside the database away.
  static Result<std::unique_ptr<StressedDb>> Open(const std::string& path, DrawnOptions options);

  DB* operator->() const { return db_.get(); }
  DB* get() const { return db_.get(); }
  const std::string& path() const { return path_; }
  const DrawnOptions& options() const { return options_; }
  int families() const { return static_cast<int>(options_.families.size()); }
  int volatile_family() const { return families() - 1; }
  FamilyUse Use(int family);
  // With no user of the volatile family: `before` is called, the family dropped and made again,
  // and `after` called.
  template <typename Before, typename After>
  Status Recreate(Before before, After after) {
    const std::unique_lock<std::shared_mutex> alone(volatile_mutex_);
    before();
    RETURN_IF_ERROR(DropAndCreate());
    after();
    return Status::OK();
  }
  // What of a name lies beside the database, and goes when it is opened anew.
  std::string BesidePath(const std::string& name) const { return path_ + kBeside + name; }
  // Descriptors of all families, for a copy of the database.
  std::vector<ColumnFamilyDescriptor> Descriptors() const;
  Status Close();

 private:
  static constexpr char kBeside[] = ".beside.";

  StressedDb(std::string path, DrawnOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}
  Status RemoveWhatIsBeside() const;
  Status DropAndCreate();

  const std::string path_;
  const DrawnOptions options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;  // the last one: guarded by volatile_mutex_
  std::shared_mutex volatile_mutex_;
};

}  // namespace ashlar::stress
