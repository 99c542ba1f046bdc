// SPDX-License-Identifier: Apache-2.0
//
// LostFiles manages the directory `lost`, which is next to the files that repair cannot use.
// Nothing in it is ever deleted or overwritten: a second file with the same name gets the suffix
// ".1", and so on.
#pragma once

#include <cassert>
#include <set>
#include <string>

#include "ashlar/file_system.h"
#include "util/result.h"

namespace ashlar {

class LostFiles {
 public:
  explicit LostFiles(FileSystem* fs) : fs_(fs) { assert(fs != nullptr); }  // outlives this

  // Moves the file; returns its new path.
  Result<std::string> Move(const std::string& path);
  // Keeps the contents under a second name in `lost`, before the caller replaces the file. Uses a
  // link, or a copy if the file system has no links. Returns the second name.
  Result<std::string> Keep(const std::string& path);
  // Makes the new names, and the removal of the old ones, durable.
  Status Sync();

 private:
  // A free name in the directory `lost` next to the file. Creates the directory if necessary.
  Result<std::string> PlaceFor(const std::string& path);

  FileSystem* const fs_;
  // The directories that Sync() must sync.
  std::set<std::string> changed_dirs_;
};

}  // namespace ashlar
