// SPDX-License-Identifier: Apache-2.0
//
// The list of links is written before the links are made. A crash in between leaves names in the
// list that have no link. An older list is read once, before the first links are made.
#include "db/files/follower_links.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether a follower may have made a link with this name.
bool IsNameOfLink(const std::string& name) {
  FileNumber number;
  FileType type;
  return ParseFileName(name, &number, &type) && (type == kTableFile || type == kBlobFile);
}

}  // namespace

std::string LevelDbPathOf(const std::string& path) {
  constexpr std::string_view kExtension = ".sst";
  if (!path.ends_with(kExtension)) return path;
  return path.substr(0, path.size() - kExtension.size()) + ".ldb";
}

FollowerLinks::FollowerLinks(FileSystem* fs, std::string source_dir, std::string dir)
    : fs_(fs), source_dir_(std::move(source_dir)), dir_(std::move(dir)) {
  assert(fs != nullptr);
}

Status FollowerLinks::Make(const std::vector<std::string>& names) {
  assert(std::all_of(names.begin(), names.end(), IsNameOfLink));
  if (!is_list_read_) RETURN_IF_ERROR(ReadList());
  is_list_read_ = true;
  RETURN_IF_ERROR(NoteNames(names));
  unused_.insert(names.begin(), names.end());
  for (const std::string& name : names) RETURN_IF_ERROR(LinkFile(name));
  return Status::OK();
}

// No list means that no link was ever made here. Lines that are not names of links are ignored: the
// list decides which files are deleted later, so it must never name any other file.
Status FollowerLinks::ReadList() {
  auto list = ReadWholeFile(fs_, PathOf(kFollowerLinksName));
  if (IsMissing(list.status())) return Status::OK();
  RETURN_IF_ERROR(list.status());
  for (size_t begin = 0, end = 0; (end = list->find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string name = list->substr(begin, end - begin);
    if (IsNameOfLink(name)) noted_.insert(std::move(name));
  }
  unused_ = noted_;
  return Status::OK();
}

// Names of links that are deleted leave the list when others enter it.
Status FollowerLinks::NoteNames(const std::vector<std::string>& names) {
  std::set<std::string> added;
  for (const std::string& name : names) {
    if (!noted_.contains(name)) added.insert(name);
  }
  if (added.empty()) return Status::OK();
  ASSIGN_OR_RETURN(const std::vector<std::string> existing, ListDirectory(fs_, dir_));
  std::string list;
  std::set<std::string> noted;
  for (const std::string& name : existing) {
    if (added.contains(name)) {
      return Status::IOError(PathOf(name),
                             "is not a link of this follower, which needs a link with this name: "
                             "give it a directory of its own");
    }
    if (noted_.contains(name)) noted.insert(name);
  }
  // Also names that were noted before and have no link now: theirs is made anew.
  noted.insert(names.begin(), names.end());
  for (const std::string& name : noted) StrAppend(&list, name, "\n");
  RETURN_IF_ERROR(WriteFileAtomically(fs_, dir_, kFollowerLinksTempName, kFollowerLinksName, list));
  noted_ = std::move(noted);
  std::erase_if(unused_, [this](const std::string& name) { return !noted_.contains(name); });
  return Status::OK();
}

// A link of an earlier process may be that of a file which the primary has replaced since.
Status FollowerLinks::LinkFile(const std::string& name) const {
  assert(noted_.contains(name));
  const std::string source = source_dir_ + "/" + name;
  const std::string link = PathOf(name);
  RETURN_IF_ERROR(DeleteFileIfExists(fs_, link));
  IOStatus linked = fs_->LinkFile(source, link, IOOptions(), nullptr);
  if (IsMissing(linked)) {
    linked = fs_->LinkFile(LevelDbPathOf(source), link, IOOptions(), nullptr);
  }
  if (linked.ok() || IsMissing(linked)) return linked;
  return Status::CopyAppendMessage(
      linked, "; a follower needs hard links: both directories must be on one file system: ", link);
}

void FollowerLinks::MarkInstalled(const std::vector<std::string>& names) {
  for (const std::string& name : names) unused_.erase(name);
}

// Only of the links that are in the list: the directory may hold other tables.
void FollowerLinks::DeleteUnused() {
  std::erase_if(unused_, [this](const std::string& name) {
    assert(noted_.contains(name));
    const Status deleted = DeleteFileIfExists(fs_, PathOf(name));
    return deleted.ok();  // else it stays until the next call
  });
}

}  // namespace ashlar
