// SPDX-License-Identifier: Apache-2.0
//
// DirectoryNames: what lies in directories. Each is listed once, when somebody first asks: for an
// opening, which has them to itself and knows itself what it adds.
//
// Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "env/file_util.h"
#include "util/result.h"

namespace ashlar {

class DirectoryNames {
 public:
  explicit DirectoryNames(FileSystem* fs) : fs_(fs) {}  // outlives it

  // In no order; errors as ListDirectory().
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
