// SPDX-License-Identifier: Apache-2.0
//
// Find() lists every directory once; later calls only look up the result.
#include "tools/ldb/file_locations.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

#include "env/file_util.h"
#include "env/filename.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The directories that the program names for tables and blob files, of all families.
std::vector<std::string> ProgramDirs() {
  std::vector<std::string> dirs;
  const auto add = [&dirs](const std::vector<DbPath>& paths) {
    for (const DbPath& path : paths) dirs.push_back(path.path);
  };
  add(Program().options.db_paths);
  add(Program().options.cf_paths);
  for (const ColumnFamilyDescriptor& family : Program().families) add(family.options.cf_paths);
  return dirs;
}

// A directory that is given twice would show its files twice.
void AddDir(std::string dir, std::vector<std::string>* dirs) {
  assert(dirs != nullptr);
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  if (std::find(dirs->begin(), dirs->end(), dir) == dirs->end()) dirs->push_back(std::move(dir));
}

}  // namespace

Result<std::vector<std::string>> DirsOfFlag(const Invocation& call) {
  std::vector<std::string> dirs;
  std::string list = call.line->Value("db_paths").value_or("");
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string dir = list.substr(0, end);
    list.erase(0, end + 1);
    if (dir.empty()) return Status::InvalidArgument("--db_paths: a directory has no name");
    AddDir(std::move(dir), &dirs);
  }
  return dirs;
}

// Lists the database's own directory, those of --db_paths and those of the program. The MANIFEST
// records only numbers of paths, so each file is searched for.
Result<FileLocations> FileLocations::Find(FileSystem* fs, const Invocation& call,
                                          const ManifestState& state) {
  FileLocations locations;
  locations.dirs_.push_back(call.db);
  ASSIGN_OR_RETURN(std::vector<std::string> given, DirsOfFlag(call));
  for (std::string& dir : given) AddDir(std::move(dir), &locations.dirs_);
  const size_t asked_for = locations.dirs_.size();
  for (std::string& dir : ProgramDirs()) AddDir(std::move(dir), &locations.dirs_);
  for (size_t i = 0; i < locations.dirs_.size(); i++) {
    const Result<std::vector<std::string>> names = ListDirectory(fs, locations.dirs_[i]);
    // The next opening makes a directory that the program has added since the last one.
    if (i >= asked_for && IsMissing(names.status())) continue;
    RETURN_IF_ERROR(names.status());
    for (const std::string& name : names.value()) {
      FileNumber number = 0;
      FileType type = kTempFile;
      if (!ParseFileName(name, &number, &type)) continue;
      if (type == kTableFile || type == kBlobFile)
        locations.found_.emplace(std::pair(type, number), i);
    }
  }
  locations.NoteMissingTable(state);
  return locations;
}

// Prints a note for the first table that the MANIFEST names and that was not found. One note is
// enough: the cause is nearly always a directory that ldb does not know, and then many tables are
// missing.
void FileLocations::NoteMissingTable(const ManifestState& state) const {
  for (const auto& [id, family] : state.families()) {
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        if (found_.count({kTableFile, meta.number}) != 0) continue;
        std::string note = StrCat("table ", meta.number, " of column family ", family.name);
        if (meta.path_id == 0) {
          StrAppend(&note, " is missing; if the program sets db_paths or cf_paths,");
        } else {
          StrAppend(&note, " is in directory ", meta.path_id,
                    " of db_paths or cf_paths, which is not known;");
        }
        std::fprintf(stderr, "ldb: %s give --db_paths=<dir>,<dir>..\n", note.c_str());
        return;
      }
    }
  }
}

Result<std::vector<std::string>> FileLocations::DirsByPathId(const FamilyState& family) const {
  std::map<uint32_t, size_t> dir_of_path;
  const auto note = [&](FileType type, FileNumber number, uint32_t path_id) {
    const auto found = found_.find({type, number});
    if (found == found_.end()) return Status::OK();  // opening reports it
    // The first file of a path decides for its directory; all others must be in the same one.
    const size_t dir = dir_of_path.emplace(path_id, found->second).first->second;
    if (dir == found->second) return Status::OK();
    return Status::InvalidArgument(StrCat("column family ", family.name,
                                          ": files of its directory ", path_id, " are in ",
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

const std::string& FileLocations::DirOf(FileType type, FileNumber number) const {
  const auto found = found_.find({type, number});
  return dirs_[found == found_.end() ? 0 : found->second];
}

std::string FileLocations::TablePath(FileNumber number) const {
  return TableFileName(DirOf(kTableFile, number), number);
}

std::string FileLocations::BlobPath(FileNumber number) const {
  return BlobFileName(DirOf(kBlobFile, number), number);
}

}  // namespace ashlar
