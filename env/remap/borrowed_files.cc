// SPDX-License-Identifier: Apache-2.0
//
// Calls are forwarded to the base file system with the real paths.
#include "env/remap/borrowed_files.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The path of the stored file if the path is that of a borrowed file, else the path itself.
const std::string& BorrowedFiles::RealPathOf(const std::string& path) const {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || !IsTheDirectory(path.substr(0, slash))) return path;
  const auto file = files_.find(path.substr(slash + 1));
  return file == files_.end() ? path : file->second;
}

// Slashes at the end do not matter.
bool BorrowedFiles::IsTheDirectory(const std::string& dir) const {
  const size_t end = dir.find_last_not_of('/');
  return end != std::string::npos && std::string_view(dir).substr(0, end + 1) == dir_;
}

IOStatus BorrowedFiles::NewSequentialFile(const std::string& f, const FileOptions& options,
                                          std::unique_ptr<FSSequentialFile>* r,
                                          IODebugContext* dbg) {
  return target_->NewSequentialFile(RealPathOf(f), options, r, dbg);
}
IOStatus BorrowedFiles::NewRandomAccessFile(const std::string& f, const FileOptions& options,
                                            std::unique_ptr<FSRandomAccessFile>* r,
                                            IODebugContext* dbg) {
  return target_->NewRandomAccessFile(RealPathOf(f), options, r, dbg);
}
IOStatus BorrowedFiles::FileExists(const std::string& f, const IOOptions& io, IODebugContext* dbg) {
  return target_->FileExists(RealPathOf(f), io, dbg);
}

IOStatus BorrowedFiles::GetChildren(const std::string& dir, const IOOptions& io,
                                    std::vector<std::string>* r, IODebugContext* dbg) {
  assert(r != nullptr);
  RETURN_IF_ERROR(target_->GetChildren(dir, io, r, dbg));
  if (!IsTheDirectory(dir)) return IOStatus::OK();
  // A borrowed file hides one of the same name, which the base has listed.
  std::erase_if(*r, [this](const std::string& name) { return files_.contains(name); });
  for (const auto& [name, path] : files_) r->push_back(name);
  return IOStatus::OK();
}

IOStatus BorrowedFiles::GetChildrenFileAttributes(const std::string& dir, const IOOptions& io,
                                                  std::vector<FileAttributes>* r,
                                                  IODebugContext* dbg) {
  assert(r != nullptr);
  RETURN_IF_ERROR(target_->GetChildrenFileAttributes(dir, io, r, dbg));
  if (!IsTheDirectory(dir)) return IOStatus::OK();
  std::erase_if(*r, [this](const FileAttributes& file) { return files_.contains(file.name); });
  for (const auto& [name, path] : files_) {
    FileAttributes file{name, 0, Temperature::kUnknown};
    // The size is that of the stored file; an error of one file fails the whole call, because a
    // list without the file would look complete.
    RETURN_IF_ERROR(target_->GetFileSize(path, io, &file.size_bytes, dbg));
    r->push_back(std::move(file));
  }
  return IOStatus::OK();
}

IOStatus BorrowedFiles::GetFileSize(const std::string& f, const IOOptions& io, uint64_t* size,
                                    IODebugContext* dbg) {
  return target_->GetFileSize(RealPathOf(f), io, size, dbg);
}
IOStatus BorrowedFiles::GetFileModificationTime(const std::string& f, const IOOptions& io,
                                                uint64_t* time, IODebugContext* dbg) {
  return target_->GetFileModificationTime(RealPathOf(f), io, time, dbg);
}
IOStatus BorrowedFiles::NumFileLinks(const std::string& f, const IOOptions& io, uint64_t* count,
                                     IODebugContext* dbg) {
  return target_->NumFileLinks(RealPathOf(f), io, count, dbg);
}
IOStatus BorrowedFiles::AreFilesSame(const std::string& a, const std::string& b,
                                     const IOOptions& io, bool* r, IODebugContext* dbg) {
  return target_->AreFilesSame(RealPathOf(a), RealPathOf(b), io, r, dbg);
}
IOStatus BorrowedFiles::IsDirectory(const std::string& path, const IOOptions& io, bool* is_dir,
                                    IODebugContext* dbg) {
  return target_->IsDirectory(RealPathOf(path), io, is_dir, dbg);
}

}  // namespace ashlar
