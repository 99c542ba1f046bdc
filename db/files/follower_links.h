// SPDX-License-Identifier: Apache-2.0
//
// FollowerLinks makes and deletes the hard links of a follower: those of the primary's tables and
// blob files, in the follower's own directory.
//
// The file LINKS in that directory has the names of the links, a line each. A name is in it, and
// durable, before its link is made. So the follower knows after a crash which files are its own,
// and replaces and deletes no others: the directory may hold tables of another database, or be one
// of the primary's. LINKS may name links that were deleted or never made.
//
// Threads: one call at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

// The list, and its name while it is being written.
inline constexpr char kFollowerLinksName[] = "LINKS";
inline constexpr char kFollowerLinksTempName[] = "LINKS.tmp";

// The path of the same table if LevelDB has written it: "<dir>/000009.ldb". Other paths stay.
std::string LevelDbPathOf(const std::string& path);

class FollowerLinks {
 public:
  // Links of files in `source_dir` are made in `dir`. `fs` outlives the object.
  FollowerLinks(FileSystem* fs, std::string source_dir, std::string dir);

  // Makes links with these base names; own ones are replaced. Until MarkInstalled() they are taken
  // for those of a version that failed. NotFound or PathNotFound: a file of the primary is missing.
  // IOError: a file has the name of a link, and is none.
  Status Make(const std::vector<std::string>& names);
  // A version that is installed has these files: they are deleted with its last reader
  // (DeleteObsolete()).
  void MarkInstalled(const std::vector<std::string>& names);
  // Deletes the links that no version ever had: those of an earlier process, and of rounds that
  // failed between linking files and installing the versions that name them.
  void DeleteUnused();

 private:
  Status ReadList();
  Status NoteNames(const std::vector<std::string>& names);
  Status LinkFile(const std::string& name) const;
  std::string PathOf(const std::string& name) const { return dir_ + "/" + name; }

  FileSystem* const fs_;
  const std::string source_dir_;
  const std::string dir_;
  bool is_list_read_ = false;
  std::set<std::string> noted_;   // the names in LINKS
  std::set<std::string> unused_;  // of these: the names that no installed version has had
};

}  // namespace ashlar
