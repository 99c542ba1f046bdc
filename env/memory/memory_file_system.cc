// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem has two sorted tables of paths under one mutex, one for files and one for
// directories. The contents of files are in memory_files.cc.
#include "env/memory/memory_file_system.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/env_adaptors.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

IOStatus NotThere(const char* what, const std::string& path) {
  assert(what != nullptr);
  return IOStatus::PathNotFound(StrCat(what, ": ", path), "No such file or directory");
}
IOStatus Refused(const char* what, const std::string& path, const char* why) {
  assert(what != nullptr && why != nullptr);
  return IOStatus::IOError(StrCat(what, ": ", path), why);
}

// Remembers the clean path until UnlockFile() frees it.
class MemoryLock : public FileLock {
 public:
  explicit MemoryLock(std::string path) : path(std::move(path)) {}
  const std::string path;
};

// The parent directory of a clean path: "/a" -> "/"; "/a/b" -> "/a".
std::string ParentOf(const std::string& path) {
  assert(!path.empty() && path[0] == '/');
  const size_t slash = path.rfind('/');
  assert(slash != std::string::npos);
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The prefix that the paths of all children of a directory have.
// The root already ends with the slash that other directories lack.
std::string ChildPrefix(const std::string& dir) { return dir == "/" ? dir : dir + "/"; }

}  // namespace

MemoryFileSystem::MemoryFileSystem(std::shared_ptr<SystemClock> clock)
    : clock_(std::move(clock)), usage_(std::make_shared<MemoryUsage>()), directories_{"/"} {}

MemoryFileSystem::~MemoryFileSystem() = default;

void MemoryFileSystem::SetByteQuota(uint64_t bytes) {
  // Files that are larger already stay as they are; only growth is refused.
  usage_->quota_bytes.store(bytes, std::memory_order_relaxed);
}
uint64_t MemoryFileSystem::UsedBytes() const {
  return usage_->used_bytes.load(std::memory_order_relaxed);
}

// ".." at the root stays at the root, as in POSIX. Symbolic links do not exist, so that the text
// alone decides.
std::string MemoryFileSystem::CleanPath(const std::string& path) {
  std::string clean;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part(path.data() + begin, end - begin);
    if (part == "..") {
      // A clean prefix either is empty or begins with '/', so that rfind() finds one.
      clean.resize(clean.empty() ? 0 : clean.rfind('/'));
    } else if (!part.empty() && part != ".") {
      StrAppend(&clean, "/", part);
    }
    begin = end + 1;
  }
  return clean.empty() ? "/" : clean;
}

// The quota does not limit this call, so that a test can prepare a full disk.
void MemoryFileSystem::PutFile(const std::string& path, std::string contents) {
  const std::string clean = CleanPath(path);
  auto file = std::make_shared<MemoryFile>(usage_);
  // Filled before it gets a name, so nobody sees it half written.
  file->Fill(std::move(contents), clock_->NowMicros());
  MutexLock lock(&mutex_);
  AddDirectoriesLocked(ParentOf(clean));
  files_[clean] = std::move(file);
}

// A copy of all contents, as of one moment for each file.
std::map<std::string, std::string> MemoryFileSystem::AllFiles() const {
  MutexLock lock(&mutex_);
  std::map<std::string, std::string> result;
  for (const auto& [path, file] : files_) result[path] = file->Contents();
  return result;
}

void MemoryFileSystem::AddDirectoriesLocked(const std::string& dir) {
  assert(!dir.empty() && dir[0] == '/');
  // Ends at the first directory that exists: its parents exist then, too.
  if (!directories_.insert(dir).second || dir == "/") return;
  AddDirectoriesLocked(ParentOf(dir));
}

IOStatus MemoryFileSystem::CheckParentLocked(const char* what, const std::string& path) const {
  assert(!path.empty() && path[0] == '/');
  return directories_.contains(ParentOf(path)) ? IOStatus::OK() : NotThere(what, path);
}

bool MemoryFileSystem::HasChildrenLocked(const std::string& dir) const {
  assert(!dir.empty());
  const std::string prefix = ChildPrefix(dir);
  // All children are neighbours in the sorted tables, so one look in each of them is enough.
  // A path that equals the prefix cannot exist, except "/" itself, which upper_bound() skips.
  const auto file = files_.lower_bound(prefix);
  if (file != files_.end() && file->first.starts_with(prefix)) return true;
  const auto child = directories_.upper_bound(prefix);
  return child != directories_.end() && child->starts_with(prefix);
}

// `what` is the operation, for the message. The result keeps the file alive, also after it is
// unlinked.
IOStatus MemoryFileSystem::FindFile(const char* what, const std::string& path,
                                    FilePtr* file) const {
  assert(what != nullptr);
  assert(file != nullptr);
  const std::string clean = CleanPath(path);
  MutexLock lock(&mutex_);
  const auto found = files_.find(clean);
  if (found == files_.end()) {
    return directories_.contains(clean) ? Refused(what, path, "Is a directory")
                                        : NotThere(what, path);
  }
  *file = found->second;
  return IOStatus::OK();
}

// The directory must exist, as with a real file system.
IOStatus MemoryFileSystem::FindOrCreateFile(const std::string& path, FilePtr* file) {
  assert(file != nullptr);
  const std::string clean = CleanPath(path);
  MutexLock lock(&mutex_);
  // An existing file is opened as it is; the callers decide what happens to its contents.
  if (directories_.contains(clean)) return Refused("open for writing", path, "Is a directory");
  RETURN_IF_ERROR(CheckParentLocked("open for writing", clean));
  FilePtr& entry = files_[clean];
  if (entry == nullptr) entry = std::make_shared<MemoryFile>(usage_);
  *file = entry;
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NewSequentialFile(const std::string& f, const FileOptions&,
                                             std::unique_ptr<FSSequentialFile>* r,
                                             IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  FilePtr file;
  RETURN_IF_ERROR(FindFile("open for reading", f, &file));
  assert(file != nullptr);
  *r = NewMemorySequentialFile(std::move(file));
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NewRandomAccessFile(const std::string& f, const FileOptions&,
                                               std::unique_ptr<FSRandomAccessFile>* r,
                                               IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  FilePtr file;
  RETURN_IF_ERROR(FindFile("open for reading", f, &file));
  assert(file != nullptr);
  *r = NewMemoryRandomAccessFile(std::move(file));
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NewWritableFile(const std::string& f, const FileOptions&,
                                           std::unique_ptr<FSWritableFile>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  FilePtr file;
  RETURN_IF_ERROR(FindOrCreateFile(f, &file));
  // Emptied as O_TRUNC does; readers that have the file open see it become empty.
  file->Resize(0, clock_->NowMicros());
  *r = NewMemoryWritableFile(std::move(file), f, 0, clock_);
  return IOStatus::OK();
}

// Appends continue at the present end of the file.
IOStatus MemoryFileSystem::ReopenWritableFile(const std::string& f, const FileOptions&,
                                              std::unique_ptr<FSWritableFile>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  FilePtr file;
  RETURN_IF_ERROR(FindOrCreateFile(f, &file));
  assert(file != nullptr);
  const uint64_t size = file->size();
  *r = NewMemoryWritableFile(std::move(file), f, size, clock_);
  return IOStatus::OK();
}

// The old contents stay and are overwritten from the start, as with a recycled log on a disk.
IOStatus MemoryFileSystem::ReuseWritableFile(const std::string& f, const std::string& old,
                                             const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* r,
                                             IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RenameFile(old, f, options.io_options, dbg));
  FilePtr file;
  RETURN_IF_ERROR(FindFile("open for reuse", f, &file));
  assert(file != nullptr);
  *r = NewMemoryWritableFile(std::move(file), f, 0, clock_);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NewRandomRWFile(const std::string& f, const FileOptions&,
                                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  FilePtr file;
  RETURN_IF_ERROR(FindFile("open for reading and writing", f, &file));
  *r = NewMemoryRandomRWFile(std::move(file), f, clock_);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                        std::unique_ptr<FSDirectory>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  MutexLock lock(&mutex_);
  if (!directories_.contains(CleanPath(name))) return NotThere("open directory", name);
  *r = NewMemoryDirectory();
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::FileExists(const std::string& f, const IOOptions&, IODebugContext*) {
  const std::string clean = CleanPath(f);
  MutexLock lock(&mutex_);
  if (files_.contains(clean) || directories_.contains(clean)) return IOStatus::OK();
  return IOStatus::NotFound(f, "no such file");
}

IOStatus MemoryFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                       std::vector<std::string>* r, IODebugContext*) {
  assert(r != nullptr);
  r->clear();
  const std::string clean = CleanPath(dir);
  const std::string prefix = ChildPrefix(clean);
  MutexLock lock(&mutex_);
  // A directory that does not exist and one without files must be told apart.
  if (!directories_.contains(clean)) return IOStatus::NotFound(dir, "no such directory");
  // Paths below a subdirectory also begin with the prefix; they contain another '/'.
  const auto add_if_child = [&](const std::string& path) {
    if (path.find('/', prefix.size()) == std::string::npos)
      r->push_back(path.substr(prefix.size()));
  };
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);
       ++it) {
    add_if_child(it->first);
  }
  for (auto it = directories_.upper_bound(prefix);
       it != directories_.end() && it->starts_with(prefix); ++it) {
    add_if_child(*it);
  }
  return IOStatus::OK();
}

// Open files keep a reference, so they can still be read.
IOStatus MemoryFileSystem::DeleteFile(const std::string& f, const IOOptions&, IODebugContext*) {
  FilePtr last_reference;  // frees the file after the lock is released
  // The name goes at once; the contents go with the last reader.
  MutexLock lock(&mutex_);
  const auto found = files_.find(CleanPath(f));
  if (found == files_.end()) return NotThere("unlink", f);
  last_reference = std::move(found->second);
  files_.erase(found);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::Truncate(const std::string& f, size_t size, const IOOptions&,
                                    IODebugContext*) {
  FilePtr file;
  RETURN_IF_ERROR(FindFile("truncate", f, &file));
  // Truncation may also make a file longer, which the quota can refuse.
  return file->Resize(size, clock_->NowMicros()) ? IOStatus::OK() : MemoryFull("truncate", f);
}

// Parents that are missing are created, too; a test need not do that.
IOStatus MemoryFileSystem::CreateDir(const std::string& d, const IOOptions&, IODebugContext*) {
  const std::string clean = CleanPath(d);
  MutexLock lock(&mutex_);
  if (files_.contains(clean) || directories_.contains(clean)) {
    return Refused("mkdir", d, "File exists");
  }
  AddDirectoriesLocked(clean);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::CreateDirIfMissing(const std::string& d, const IOOptions&,
                                              IODebugContext*) {
  const std::string clean = CleanPath(d);
  MutexLock lock(&mutex_);
  if (files_.contains(clean)) return Refused("mkdir", d, "File exists");
  AddDirectoriesLocked(clean);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::DeleteDir(const std::string& d, const IOOptions&, IODebugContext*) {
  const std::string clean = CleanPath(d);
  MutexLock lock(&mutex_);
  if (!directories_.contains(clean)) return NotThere("rmdir", d);
  // As in POSIX, only an empty directory can be removed.
  if (HasChildrenLocked(clean)) return Refused("rmdir", d, "Directory not empty");
  if (clean == "/") return Refused("rmdir", d, "Device or resource busy");
  directories_.erase(clean);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::GetFileSize(const std::string& f, const IOOptions&, uint64_t* size,
                                       IODebugContext*) {
  assert(size != nullptr);
  FilePtr file;
  RETURN_IF_ERROR(FindFile("stat", f, &file));
  *size = file->size();
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::GetFileModificationTime(const std::string& f, const IOOptions&,
                                                   uint64_t* time, IODebugContext*) {
  assert(time != nullptr);
  FilePtr file;
  RETURN_IF_ERROR(FindFile("stat", f, &file));
  // In seconds, as file systems of machines report it.
  *time = file->modified_micros() / 1000000;
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::RenameFile(const std::string& s, const std::string& t, const IOOptions&,
                                      IODebugContext*) {
  const std::string from = CleanPath(s);
  const std::string to = CleanPath(t);
  FilePtr replaced;  // frees the file after the lock is released
  // Nobody sees a state between: both names change under one hold of the mutex.
  MutexLock lock(&mutex_);
  // Checked first, so that nothing has changed if the rename fails.
  RETURN_IF_ERROR(CheckParentLocked("rename", to));
  const auto found = files_.find(from);
  if (found == files_.end()) return RenameDirectoryLocked(from, to);
  if (directories_.contains(to)) return Refused("rename", t, "Is a directory");
  if (from == to) return IOStatus::OK();
  FilePtr file = std::move(found->second);
  files_.erase(found);
  FilePtr& entry = files_[to];
  // The file that had the target name loses it, and lives on for those who have it open.
  replaced = std::move(entry);
  entry = std::move(file);
  return IOStatus::OK();
}

// Renames everything below the directory as well. The paths were cleaned by the caller.
IOStatus MemoryFileSystem::RenameDirectoryLocked(const std::string& s, const std::string& t) {
  assert(!s.empty());
  assert(!t.empty());
  if (!directories_.contains(s)) return NotThere("rename", s);
  if (files_.contains(t) || (directories_.contains(t) && HasChildrenLocked(t))) {
    return Refused("rename", t, "File exists");
  }
  const std::string prefix = ChildPrefix(s);
  // A directory cannot be moved into itself.
  if (t.starts_with(prefix)) return Refused("rename", t, "Invalid argument");
  // The set must not change while it is iterated.
  std::vector<std::string> moved_directories = {s};
  for (const std::string& dir : directories_) {
    if (dir.starts_with(prefix)) moved_directories.push_back(dir);
  }
  for (const std::string& dir : moved_directories) {
    directories_.erase(dir);
    directories_.insert(t + dir.substr(s.size()));
  }
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);) {
    auto node = files_.extract(it++);
    // The keys in front of the iterator may be inserted again: the new keys begin with `t`, which
    // is not below `s`.
    node.key() = t + node.key().substr(s.size());
    files_.insert(std::move(node));
  }
  return IOStatus::OK();
}

// Both names refer to the same object, like two directory entries of one inode.
IOStatus MemoryFileSystem::LinkFile(const std::string& s, const std::string& t, const IOOptions&,
                                    IODebugContext*) {
  FilePtr file;
  RETURN_IF_ERROR(FindFile("link", s, &file));
  const std::string to = CleanPath(t);
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CheckParentLocked("link", to));
  if (directories_.contains(to) || !files_.emplace(to, std::move(file)).second) {
    return Refused("link", t, "File exists");
  }
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::NumFileLinks(const std::string& f, const IOOptions&, uint64_t* count,
                                        IODebugContext*) {
  assert(count != nullptr);
  FilePtr file;
  RETURN_IF_ERROR(FindFile("stat", f, &file));
  MutexLock lock(&mutex_);
  // Linear in the number of files. Only tests and backups ask.
  *count = static_cast<uint64_t>(std::count_if(
      files_.begin(), files_.end(), [&](const auto& entry) { return entry.second == file; }));
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::AreFilesSame(const std::string& a, const std::string& b,
                                        const IOOptions&, bool* r, IODebugContext*) {
  assert(r != nullptr);
  FilePtr first, second;
  RETURN_IF_ERROR(FindFile("stat", a, &first));
  RETURN_IF_ERROR(FindFile("stat", b, &second));
  *r = first == second;
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::LockFile(const std::string& f, const IOOptions&, FileLock** lock,
                                    IODebugContext*) {
  assert(lock != nullptr);
  *lock = nullptr;
  FilePtr file;
  // As in POSIX, the lock file is created and stays after the unlock.
  RETURN_IF_ERROR(FindOrCreateFile(f, &file));
  const std::string clean = CleanPath(f);
  MutexLock guard(&mutex_);
  // A second lock is refused even within the process, as the engine's lock file needs it.
  if (!locked_.insert(clean).second) {
    return IOStatus::IOError(StrCat("lock ", f), "already held by this process");
  }
  *lock = new MemoryLock(clean);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  assert(lock != nullptr);
  const std::unique_ptr<MemoryLock> held(static_cast<MemoryLock*>(lock));
  MutexLock guard(&mutex_);
  assert(locked_.contains(held->path));
  locked_.erase(held->path);
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::GetTestDirectory(const IOOptions& options, std::string* path,
                                            IODebugContext* dbg) {
  assert(path != nullptr);
  *path = "/test";
  return CreateDirIfMissing(*path, options, dbg);
}

IOStatus MemoryFileSystem::GetAbsolutePath(const std::string& path, const IOOptions&,
                                           std::string* result, IODebugContext*) {
  assert(result != nullptr);
  *result = CleanPath(path);
  return IOStatus::OK();
}

// Without a quota the number is practically unlimited.
IOStatus MemoryFileSystem::GetFreeSpace(const std::string&, const IOOptions&, uint64_t* free_bytes,
                                        IODebugContext*) {
  assert(free_bytes != nullptr);
  const uint64_t quota = usage_->quota_bytes.load(std::memory_order_relaxed);
  // More may be used than the quota allows, because PutFile() ignores it.
  *free_bytes = quota - std::min(quota, UsedBytes());
  return IOStatus::OK();
}

IOStatus MemoryFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                                       IODebugContext*) {
  assert(is_dir != nullptr);
  const std::string clean = CleanPath(path);
  MutexLock lock(&mutex_);
  *is_dir = directories_.contains(clean);
  return *is_dir || files_.contains(clean) ? IOStatus::OK() : NotThere("stat", path);
}

Env* NewMemEnv(Env* base_env) {
  assert(base_env != nullptr);
  const auto& clock = base_env->GetSystemClock();
  // The caller owns the environment, which uses the threads of `base_env`; that one must outlive
  // it.
  return NewCompositeEnvOver(base_env, std::make_shared<MemoryFileSystem>(clock), clock).release();
}

}  // namespace ashlar
