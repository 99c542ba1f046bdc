// SPDX-License-Identifier: Apache-2.0
//
// Helpers for directories without subdirectories, such as copies of databases. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "env/file_util.h"
#include "util/result.h"

namespace ashlar {

// Deletes the directory and its files. OK if it does not exist.
Status DeleteFlatDirectory(FileSystem* fs, const std::string& dir);

// Sizes, by name, of the files in the directory for whose names is_wanted() is true. Files that are
// deleted meanwhile are omitted. NotFound if the directory does not exist.
using FileSizes = std::map<std::string, uint64_t>;
Result<FileSizes> SizesOfFiles(FileSystem* fs, const std::string& dir,
                               const std::function<bool(const std::string&)>& is_wanted);

// Whether both paths lead to the same directory. False if one of them does not exist.
bool IsSameDirectory(FileSystem* fs, const std::string& dir, FileSystem* other_fs,
                     const std::string& other_dir);

// The path without slashes at its end, so that names can be appended to it. "/" remains "/".
std::string WithoutTrailingSlashes(std::string dir);

}  // namespace ashlar
