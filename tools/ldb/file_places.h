// SPDX-License-Identifier: Apache-2.0
//
// FilePlaces says where the tables and blob files of a database lie, to commands that read files
// without opening it.
//
// A MANIFEST has only the index of a table's directory; the list itself (db_paths, cf_paths) is the
// program's and stands in no file. So --db_paths=<dir>,<dir>.. names the directories, in any order
// and those of all families together: numbers are unique in a database, and a file is where its
// name is found.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"

namespace ashlar {

class FilePlaces {
 public:
  // A note on stderr if a table is in none of these.
  static Result<FilePlaces> Find(FileSystem* fs, const Invocation& call,
                                 const ManifestState& state);

  // The database's own, then those of --db_paths.
  const std::vector<std::string>& dirs() const { return dirs_; }
  // In the database's own directory if it is nowhere.
  std::string TablePath(FileNumber number) const;
  std::string BlobPath(FileNumber number) const;
  // The family's directories as its cf_paths would name them; those of which nothing is known are
  // the database's own. Empty if all of its files are there. InvalidArgument if files of one path
  // lie in two directories.
  Result<std::vector<std::string>> DirsByPathId(const FamilyState& family) const;

 private:
  const std::string& DirOf(FileType type, FileNumber number) const;
  void NoteMissingTable(const ManifestState& state) const;

  std::vector<std::string> dirs_;
  std::map<std::pair<FileType, FileNumber>, size_t> found_;  // an index of dirs_
};

}  // namespace ashlar
