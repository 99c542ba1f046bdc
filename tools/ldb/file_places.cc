// SPDX-License-Identifier: Apache-2.0
//
// All directories are listed once, when the places are asked for.
#include "tools/ldb/file_places.h"

#include <algorithm>
#include <cstdio>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/str_cat.h"

namespace ashlar {

Result<FilePlaces> FilePlaces::Find(FileSystem* fs, const Invocation& call,
                                    const ManifestState& state) {
  FilePlaces places;
  places.dirs_.push_back(call.db);
  std::string list = call.line->Value("db_paths").value_or("");
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string dir = list.substr(0, end);
    list.erase(0, end + 1);
    while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
    if (dir.empty()) return Status::InvalidArgument("--db_paths: a directory has no name");
    // Twice would show its files twice.
    if (std::find(places.dirs_.begin(), places.dirs_.end(), dir) == places.dirs_.end()) {
      places.dirs_.push_back(dir);
    }
  }
  for (size_t i = 0; i < places.dirs_.size(); i++) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, places.dirs_[i]));
    for (const std::string& name : names) {
      FileNumber number = 0;
      FileType type = kTempFile;
      if (!ParseFileName(name, &number, &type)) continue;
      if (type == kTableFile || type == kBlobFile)
        places.found_.emplace(std::pair(type, number), i);
    }
  }
  places.NoteMissingTable(state);
  return places;
}

void FilePlaces::NoteMissingTable(const ManifestState& state) const {
  for (const auto& [id, family] : state.families()) {
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        if (found_.count({kTableFile, meta.number}) != 0) continue;
        std::string note = StrCat("table ", meta.number, " of column family ", family.name);
        if (meta.path_id == 0) {
          StrAppend(&note, " is missing; if the program sets db_paths or cf_paths,");
        } else {
          StrAppend(&note, " lies in directory ", meta.path_id,
                    " of db_paths or cf_paths, which no file names;");
        }
        std::fprintf(stderr, "ldb: %s give --db_paths=<dir>,<dir>..\n", note.c_str());
        return;
      }
    }
  }
}

Result<std::vector<std::string>> FilePlaces::DirsByPathId(const FamilyState& family) const {
  std::map<uint32_t, size_t> dir_of_path;
  const auto note = [&](FileType type, FileNumber number, uint32_t path_id) {
    const auto found = found_.find({type, number});
    if (found == found_.end()) return Status::OK();  // opening says so
    const size_t dir = dir_of_path.emplace(path_id, found->second).first->second;
    if (dir == found->second) return Status::OK();
    return Status::InvalidArgument(StrCat("column family ", family.name,
                                          ": files of its directory ", path_id, " lie in ",
                                          dirs_[dir], " and in ", dirs_[found->second]));
  };
  for (const std::vector<FileMetadata>& level : family.levels) {
    for (const FileMetadata& meta : level) {
      RETURN_IF_ERROR(note(kTableFile, meta.number, meta.path_id));
    }
  }
  for (const auto& [number, blob] : family.blobs) {
    RETURN_IF_ERROR(note(kBlobFile, number, /*path_id=*/0));
  }
  std::vector<std::string> dirs;
  const bool is_elsewhere = std::any_of(dir_of_path.begin(), dir_of_path.end(),
                                        [](const auto& entry) { return entry.second != 0; });
  if (!is_elsewhere) return dirs;
  dirs.resize(dir_of_path.rbegin()->first + 1, dirs_[0]);
  for (const auto& [path_id, dir] : dir_of_path) dirs[path_id] = dirs_[dir];
  return dirs;
}

const std::string& FilePlaces::DirOf(FileType type, FileNumber number) const {
  const auto found = found_.find({type, number});
  return dirs_[found == found_.end() ? 0 : found->second];
}

std::string FilePlaces::TablePath(FileNumber number) const {
  return TableFileName(DirOf(kTableFile, number), number);
}

std::string FilePlaces::BlobPath(FileNumber number) const {
  return BlobFileName(DirOf(kBlobFile, number), number);
}

}  // namespace ashlar
