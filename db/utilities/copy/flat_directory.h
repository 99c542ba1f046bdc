// SPDX-License-Identifier: Apache-2.0
//
// Directories that hold files alone, as copies of databases do. Any thread.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

// Deletes the directory with its files, if it is there.
Status DeleteFlatDirectory(FileSystem* fs, const std::string& dir);

// Whether both paths lead to one directory, as far as can be told. What is not there is nowhere.
bool IsSameDirectory(FileSystem* fs, const std::string& dir, FileSystem* other_fs,
                     const std::string& other_dir);

std::string WithoutTrailingSlashes(std::string dir);

// NotFound, in the forms in which file systems say it.
inline bool IsMissing(const Status& status) {
  return status.IsNotFound() || status.IsPathNotFound();
}

}  // namespace ashlar
