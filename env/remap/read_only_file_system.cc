// SPDX-License-Identifier: Apache-2.0
//
// All refused calls return the status of RefuseChange().
#include "env/remap/read_only_file_system.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The error must not be NotSupported, because callers would then try another way to write.
IOStatus RefuseChange(const char* call, const std::string& path) {
  return IOStatus::IOError(StrCat(call, " ", path), "the file system is open for reading only");
}

}  // namespace

IOStatus ReadOnlyFileSystem::NewWritableFile(const std::string& f, const FileOptions&,
                                             std::unique_ptr<FSWritableFile>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("create", f);
}
IOStatus ReadOnlyFileSystem::ReopenWritableFile(const std::string& f, const FileOptions&,
                                                std::unique_ptr<FSWritableFile>* r,
                                                IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("open for writing", f);
}
IOStatus ReadOnlyFileSystem::ReuseWritableFile(const std::string& f, const std::string&,
                                               const FileOptions&,
                                               std::unique_ptr<FSWritableFile>* r,
                                               IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("create", f);
}
IOStatus ReadOnlyFileSystem::NewRandomRWFile(const std::string& f, const FileOptions&,
                                             std::unique_ptr<FSRandomRWFile>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("open for writing", f);
}
IOStatus ReadOnlyFileSystem::NewMemoryMappedFileBuffer(const std::string& f,
                                                       std::unique_ptr<MemoryMappedFileBuffer>* r) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("map for writing", f);
}
// A directory is opened only to sync it.
IOStatus ReadOnlyFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                          std::unique_ptr<FSDirectory>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("open for syncing", name);
}
IOStatus ReadOnlyFileSystem::DeleteFile(const std::string& f, const IOOptions&, IODebugContext*) {
  return RefuseChange("delete", f);
}
IOStatus ReadOnlyFileSystem::Truncate(const std::string& f, size_t, const IOOptions&,
                                      IODebugContext*) {
  return RefuseChange("truncate", f);
}
IOStatus ReadOnlyFileSystem::CreateDir(const std::string& d, const IOOptions&, IODebugContext*) {
  return RefuseChange("create directory", d);
}
// A program may ensure that a directory exists without changing anything.
IOStatus ReadOnlyFileSystem::CreateDirIfMissing(const std::string& d, const IOOptions& io,
                                                IODebugContext* dbg) {
  bool is_dir = false;
  if (IsDirectory(d, io, &is_dir, dbg).ok() && is_dir) return IOStatus::OK();
  return RefuseChange("create directory", d);
}
IOStatus ReadOnlyFileSystem::DeleteDir(const std::string& d, const IOOptions&, IODebugContext*) {
  return RefuseChange("delete directory", d);
}
IOStatus ReadOnlyFileSystem::RenameFile(const std::string& s, const std::string&, const IOOptions&,
                                        IODebugContext*) {
  return RefuseChange("rename", s);
}
IOStatus ReadOnlyFileSystem::LinkFile(const std::string& s, const std::string&, const IOOptions&,
                                      IODebugContext*) {
  return RefuseChange("link", s);
}
IOStatus ReadOnlyFileSystem::SyncFile(const std::string& f, const FileOptions&, const IOOptions&,
                                      bool, IODebugContext*) {
  return RefuseChange("sync", f);
}
IOStatus ReadOnlyFileSystem::LockFile(const std::string& f, const IOOptions&, FileLock** lock,
                                      IODebugContext*) {
  assert(lock != nullptr);
  *lock = nullptr;
  return RefuseChange("lock", f);
}
IOStatus ReadOnlyFileSystem::NewLogger(const std::string& f, const IOOptions&,
                                       std::shared_ptr<Logger>* r, IODebugContext*) {
  assert(r != nullptr);
  r->reset();
  return RefuseChange("create log", f);
}

}  // namespace ashlar
