// SPDX-License-Identifier: Apache-2.0
//
// Directories that hold files alone, as copies of databases do. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

// Deletes the directory with its files, if it is there.
Status DeleteFlatDirectory(FileSystem* fs, const std::string& dir);

// Sizes of the files in the directory whose names are wanted. Those that vanish meanwhile are left
// out; NotFound if the directory is not there.
using FileSizes = std::map<std::string, uint64_t>;
Result<FileSizes> SizesOfFiles(FileSystem* fs, const std::string& dir,
                               const std::function<bool(const std::string&)>& is_wanted);

// Whether both paths lead to one directory, as far as can be told. What is not there is nowhere.
bool IsSameDirectory(FileSystem* fs, const std::string& dir, FileSystem* other_fs,
                     const std::string& other_dir);

std::string WithoutTrailingSlashes(std::string dir);

// NotFound, in the forms in which file systems say it.
inline bool IsMissing(const Status& status) {
  return status.IsNotFound() || status.IsPathNotFound();
}

}  // namespace ashlar
