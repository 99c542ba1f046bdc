// SPDX-License-Identifier: Apache-2.0
//
// DeleteFlatDirectory() fails if there is a subdirectory, because copies of databases have none.
#include "db/utilities/copy/flat_directory.h"

#include <cassert>
#include <vector>

#include "env/file_util.h"
#include "util/text/str_cat.h"

namespace ashlar {

// "Flat": the directory contains no other directories.
Status DeleteFlatDirectory(FileSystem* fs, const std::string& dir) {
  assert(fs != nullptr);
  // A missing directory is what the caller wants.
  const IOStatus found = fs->FileExists(dir, IOOptions(), nullptr);
  if (IsMissing(found)) return Status::OK();
  RETURN_IF_ERROR(found);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  for (const std::string& name : names) {
    RETURN_IF_ERROR(DeleteFileIfExists(fs, StrCat(dir, "/", name)));
  }
  return fs->DeleteDir(dir, IOOptions(), nullptr);
}

Result<FileSizes> SizesOfFiles(FileSystem* fs, const std::string& dir,
                               const std::function<bool(const std::string&)>& is_wanted) {
  assert(fs != nullptr);
  assert(is_wanted != nullptr);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  FileSizes sizes;
  for (const std::string& name : names) {
    if (!is_wanted(name)) continue;
    // The file may have been deleted since the listing.
    Result<uint64_t> bytes = FileSizeOf(fs, StrCat(dir, "/", name));
    if (IsMissing(bytes.status())) continue;
    if (!bytes.ok()) return bytes.status();
    sizes.emplace_hint(sizes.end(), name, *bytes);
  }
  return sizes;
}

bool IsSameDirectory(FileSystem* fs, const std::string& dir, FileSystem* other_fs,
                     const std::string& other_dir) {
  assert(fs != nullptr);
  if (fs != other_fs) return false;
  bool is_same = false;
  // Some file systems cannot compare files; then their absolute paths decide.
  if (fs->AreFilesSame(dir, other_dir, IOOptions(), &is_same, nullptr).ok()) return is_same;
  std::string path, other_path;
  const bool are_known = fs->GetAbsolutePath(dir, IOOptions(), &path, nullptr).ok() &&
                         fs->GetAbsolutePath(other_dir, IOOptions(), &other_path, nullptr).ok();
  return are_known && WithoutTrailingSlashes(path) == WithoutTrailingSlashes(other_path);
}

std::string WithoutTrailingSlashes(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

}  // namespace ashlar
