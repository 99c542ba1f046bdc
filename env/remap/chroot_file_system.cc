// SPDX-License-Identifier: Apache-2.0
//
// ChrootFileSystem replaces each path before it calls the base. The replacement is made of the text
// alone: "." and empty parts are dropped, and ".." drops the part before it.
#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/utilities/env_chroot.h"
#include "env/env_adaptors.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The same path without ".", ".." and repeated slashes. It begins with a slash and ends with none,
// unless it is "/" itself.
std::string PathWithoutDots(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) StrAppend(&result, "/", part);
  return result.empty() ? "/" : result;
}

// Any thread.
class ChrootFileSystem final : public FileSystemWrapper {
 public:
  // `root` is a directory, without a slash at its end.
  ChrootFileSystem(const std::shared_ptr<FileSystem>& base, std::string root)
      : FileSystemWrapper(base), root_(std::move(root)) {
    assert(base != nullptr);
    assert(!root_.ends_with('/'));
  }

  static const char* kClassName() { return "ChrootFS"; }
  const char* Name() const override { return kClassName(); }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    std::vector<std::string> real;
    for (const std::string& path : paths) real.push_back(root_ + PathWithoutDots(path));
    return target()->RegisterDbPaths(real);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    std::vector<std::string> real;
    for (const std::string& path : paths) real.push_back(root_ + PathWithoutDots(path));
    return target()->UnregisterDbPaths(real);
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NewSequentialFile(p, options, r, dbg); });
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NewRandomAccessFile(p, options, r, dbg); });
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NewWritableFile(p, options, r, dbg); });
  }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->ReopenWritableFile(p, options, r, dbg); });
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    return At(f, old, [&](const auto& p, const auto& q) {
      return target()->ReuseWritableFile(p, q, options, r, dbg);
    });
  }
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NewRandomRWFile(p, options, r, dbg); });
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return At(f, [&](const auto& p) { return target()->NewMemoryMappedFileBuffer(p, r); });
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& io,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override {
    return At(name, [&](const auto& p) { return target()->NewDirectory(p, io, r, dbg); });
  }

  IOStatus FileExists(const std::string& f, const IOOptions& io, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->FileExists(p, io, dbg); });
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& io, std::vector<std::string>* r,
                       IODebugContext* dbg) override {
    return At(dir, [&](const auto& p) { return target()->GetChildren(p, io, r, dbg); });
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& io,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override {
    return At(dir,
              [&](const auto& p) { return target()->GetChildrenFileAttributes(p, io, r, dbg); });
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& io, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->DeleteFile(p, io, dbg); });
  }
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& io,
                    IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->Truncate(p, size, io, dbg); });
  }
  IOStatus CreateDir(const std::string& d, const IOOptions& io, IODebugContext* dbg) override {
    return At(d, [&](const auto& p) { return target()->CreateDir(p, io, dbg); });
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& io,
                              IODebugContext* dbg) override {
    return At(d, [&](const auto& p) { return target()->CreateDirIfMissing(p, io, dbg); });
  }
  IOStatus DeleteDir(const std::string& d, const IOOptions& io, IODebugContext* dbg) override {
    return At(d, [&](const auto& p) { return target()->DeleteDir(p, io, dbg); });
  }
  IOStatus GetFileSize(const std::string& f, const IOOptions& io, uint64_t* size,
                       IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->GetFileSize(p, io, size, dbg); });
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& io, uint64_t* time,
                                   IODebugContext* dbg) override {
    return At(f,
              [&](const auto& p) { return target()->GetFileModificationTime(p, io, time, dbg); });
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& io,
                      IODebugContext* dbg) override {
    return At(s, t,
              [&](const auto& p, const auto& q) { return target()->RenameFile(p, q, io, dbg); });
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& io,
                    IODebugContext* dbg) override {
    return At(s, t,
              [&](const auto& p, const auto& q) { return target()->LinkFile(p, q, io, dbg); });
  }
  IOStatus SyncFile(const std::string& f, const FileOptions& options, const IOOptions& io,
                    bool use_fsync, IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->SyncFile(p, options, io, use_fsync, dbg); });
  }
  IOStatus NumFileLinks(const std::string& f, const IOOptions& io, uint64_t* count,
                        IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NumFileLinks(p, io, count, dbg); });
  }
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions& io, bool* r,
                        IODebugContext* dbg) override {
    return At(a, b, [&](const auto& p, const auto& q) {
      return target()->AreFilesSame(p, q, io, r, dbg);
    });
  }
  IOStatus LockFile(const std::string& f, const IOOptions& io, FileLock** lock,
                    IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->LockFile(p, io, lock, dbg); });
  }
  // Within the directory, which the base's own one need not be.
  IOStatus GetTestDirectory(const IOOptions& io, std::string* path, IODebugContext* dbg) override {
    assert(path != nullptr);
    *path = "/ashlartest";
    return CreateDirIfMissing(*path, io, dbg);
  }
  IOStatus NewLogger(const std::string& f, const IOOptions& io, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override {
    return At(f, [&](const auto& p) { return target()->NewLogger(p, io, r, dbg); });
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& /*io*/, std::string* result,
                           IODebugContext* /*dbg*/) override {
    assert(result != nullptr);
    if (!path.starts_with('/')) return NotAbsolute(path);
    *result = PathWithoutDots(path);
    return IOStatus::OK();
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& io, uint64_t* free_bytes,
                        IODebugContext* dbg) override {
    return At(path, [&](const auto& p) { return target()->GetFreeSpace(p, io, free_bytes, dbg); });
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& io, bool* is_dir,
                       IODebugContext* dbg) override {
    return At(path, [&](const auto& p) { return target()->IsDirectory(p, io, is_dir, dbg); });
  }
  void DiscardCacheForDirectory(const std::string& path) override {
    target()->DiscardCacheForDirectory(root_ + PathWithoutDots(path));
  }

 private:
  static IOStatus NotAbsolute(const std::string& path) {
    return IOStatus::InvalidArgument("chroot: the path is not absolute", path);
  }
  // Calls call(real path).
  template <typename Call>
  IOStatus At(const std::string& path, const Call& call) const {
    if (!path.starts_with('/')) return NotAbsolute(path);
    return call(root_ + PathWithoutDots(path));
  }
  // Calls call(real path, real path).
  template <typename Call>
  IOStatus At(const std::string& first, const std::string& second, const Call& call) const {
    return At(first,
              [&](const auto& p) { return At(second, [&](const auto& q) { return call(p, q); }); });
  }

  const std::string root_;
};

}  // namespace

std::shared_ptr<FileSystem> NewChrootFileSystem(const std::shared_ptr<FileSystem>& base,
                                                const std::string& chroot_dir) {
  assert(base != nullptr);
  bool is_dir = false;
  if (!base->IsDirectory(chroot_dir, IOOptions(), &is_dir, nullptr).ok() || !is_dir) return nullptr;
  // A later change of the working directory must not move the root.
  std::string root;
  if (!base->GetAbsolutePath(chroot_dir, IOOptions(), &root, nullptr).ok()) return nullptr;
  while (root.ends_with('/')) root.pop_back();
  return std::make_shared<ChrootFileSystem>(base, std::move(root));
}

Env* NewChrootEnv(Env* base_env, const std::string& chroot_dir) {
  assert(base_env != nullptr);
  auto fs = NewChrootFileSystem(base_env->GetFileSystem(), chroot_dir);
  if (fs == nullptr) return nullptr;
  return NewCompositeEnvOver(base_env, fs, base_env->GetSystemClock()).release();
}

}  // namespace ashlar
