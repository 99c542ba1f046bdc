// SPDX-License-Identifier: Apache-2.0
//
// All directories are listed once, when the places are asked for.
#include "tools/ldb/file_places.h"

#include <algorithm>
#include <cstdio>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

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
  places.NoteUnlistedDirectory(state);
  return places;
}

void FilePlaces::NoteUnlistedDirectory(const ManifestState& state) const {
  for (const auto& [id, family] : state.families()) {
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        if (meta.path_id == 0 || found_.count({kTableFile, meta.number}) != 0) continue;
        const std::string note =
            StrCat("table ", meta.number, " of column family ", family.name, " lies in directory ",
                   meta.path_id, " of db_paths or cf_paths, which no file names");
        std::fprintf(stderr, "ldb: %s; give --db_paths=<dir>,<dir>..\n", note.c_str());
        return;
      }
    }
  }
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
