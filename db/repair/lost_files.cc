// SPDX-License-Identifier: Apache-2.0
//
// Names are chosen by asking for each candidate whether it exists.
#include "db/repair/lost_files.h"

#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<std::string> LostFiles::PlaceFor(const std::string& path) {
  const std::string dir = DirectoryOf(path), lost = StrCat(dir, "/lost");
  RETURN_IF_ERROR(CreateDirectories(fs_, lost));
  // Both directories change if a file is moved.
  changed_dirs_.insert({dir, lost});
  const std::string name = StrCat(lost, "/", BaseNameOf(path));
  std::string place = name;
  for (int i = 1;; i++) {
    const IOStatus exists = fs_->FileExists(place, IOOptions(), nullptr);
    if (IsMissing(exists)) return place;
    if (!exists.ok()) return Status(exists);
    place = StrCat(name, ".", i);
  }
}

Result<std::string> LostFiles::Move(const std::string& path) {
  ASSIGN_OR_RETURN(std::string place, PlaceFor(path));
  // A rename within one file system: the directory `lost` is next to the file.
  RETURN_IF_ERROR(fs_->RenameFile(path, place, IOOptions(), nullptr));
  return place;
}

Result<std::string> LostFiles::Keep(const std::string& path) {
  ASSIGN_OR_RETURN(std::string place, PlaceFor(path));
  const Status linked = fs_->LinkFile(path, place, IOOptions(), nullptr);
  if (linked.ok()) return place;
  // Other errors are not repaired by a copy.
  if (!linked.IsNotSupported()) return linked;
  RETURN_IF_ERROR(CopyFileTo(fs_, path, place));
  return place;
}

Status LostFiles::Sync() {
  for (const std::string& dir : changed_dirs_) RETURN_IF_ERROR(SyncDirectory(fs_, dir));
  changed_dirs_.clear();
  return Status::OK();
}

}  // namespace ashlar
