// SPDX-License-Identifier: Apache-2.0
//
// DirectoryNames caches the names of the files in directories. Each directory is listed once, at
// the first request. Used by an open, which has the directories to itself and knows the files that
// it adds.
//
// Threads: one at a time.
#pragma once

#include <cassert>
#include <map>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "env/file_util.h"
#include "util/result.h"

namespace ashlar {

// Names that were added after the listing are missing, and deleted ones are still there.
class DirectoryNames {
 public:
  explicit DirectoryNames(FileSystem* fs) : fs_(fs) {
    assert(fs != nullptr);
  }  // `fs` outlives this object

  // The names in the directory, unordered, or the error of the first listing, which is not tried
  // again. The reference is valid as long as this object.
  const Result<std::vector<std::string>>& In(const std::string& dir) {
    const auto at = listed_.find(dir);
    if (at != listed_.end()) return at->second;
    return listed_.emplace(dir, ListDirectory(fs_, dir, NameOrder::kAny)).first->second;
  }

 private:
  FileSystem* const fs_;
  std::map<std::string, Result<std::vector<std::string>>> listed_;
};

}  // namespace ashlar
