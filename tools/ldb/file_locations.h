// SPDX-License-Identifier: Apache-2.0
//
// FileLocations finds the directories of a database's tables and blob files, for commands that read
// files without opening the database.
//
// A MANIFEST has only the index of a table's directory in db_paths or cf_paths, lists that the
// program sets and that may be in no file. So --db_paths=<dir>,<dir>.. names the directories of all
// families, in any order: file numbers are unique in a database, so a file is identified by its
// name. A program that calls LDBTool gives them with its options.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"

namespace ashlar {

// The directories of --db_paths as they are given; empty without the flag.
Result<std::vector<std::string>> DirsOfFlag(const Invocation& call);

class FileLocations {
 public:
  // Lists all directories. Prints a note on stderr if a table is in none of them.
  static Result<FileLocations> Find(FileSystem* fs, const Invocation& call,
                                    const ManifestState& state);

  // The database's own directory, then those of --db_paths and of the program.
  const std::vector<std::string>& dirs() const { return dirs_; }
  // Paths in the database's own directory if the file was not found.
  std::string TablePath(FileNumber number) const;
  std::string BlobPath(FileNumber number) const;
  // The directories of a family by path id, as its cf_paths would name them; the database's own
  // directory for ids without a file. Empty if all files are in the database's own directory.
  // InvalidArgument if files of one path id are in two directories.
  Result<std::vector<std::string>> DirsByPathId(const FamilyState& family) const;

 private:
  const std::string& DirOf(FileType type, FileNumber number) const;
  void NoteMissingTable(const ManifestState& state) const;

  std::vector<std::string> dirs_;
  std::map<std::pair<FileType, FileNumber>, size_t> found_;  // index in dirs_
};

}  // namespace ashlar
