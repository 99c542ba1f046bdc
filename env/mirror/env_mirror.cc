// SPDX-License-Identifier: Apache-2.0
//
// Every function calls both environments through MirroredEnvs and compares what they return.
#include "ashlar/utilities/env_mirror.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "env/mirror/mirrored_files.h"
#include "util/result.h"

namespace ashlar {

class [[gnu::visibility("hidden")]] EnvMirror::Pair : public MirroredEnvs {
 public:
  using MirroredEnvs::MirroredEnvs;
};

namespace {

// Results of the two sides.
template <typename T>
using Results = std::array<T, 2>;

// Opens a file in both environments with open(Env*, std::unique_ptr<File>*). If one side fails, the
// file of the other side is closed again.
template <typename File, typename Open>
Status OpenBoth(MirroredEnvs* envs, const char* name, const std::string& path,
                std::unique_ptr<File>* result, const Open& open) {
  assert(envs != nullptr);
  assert(result != nullptr);
  FilePair<File> files;
  result->reset();
  RETURN_IF_ERROR(envs->Both(name, path, [&](size_t i) { return open(envs->env(i), &files[i]); }));
  *result = NewMirroredFile(envs, path, std::move(files));
  return Status::OK();
}

// Direct I/O needs aligned memory, which the copies for the second side are not.
EnvOptions Buffered(const EnvOptions& options) {
  EnvOptions buffered = options;
  buffered.use_direct_reads = buffered.use_direct_writes = false;
  return buffered;
}

struct MirroredLock final : public FileLock {
  Results<FileLock*> locks{};
};

// Names in any order, without those of the directory itself and its parent.
void Normalize(std::vector<std::string>* names) {
  assert(names != nullptr);
  std::erase_if(*names, [](const std::string& name) { return name == "." || name == ".."; });
  std::sort(names->begin(), names->end());
}
void Normalize(std::vector<Env::FileAttributes>* files) {
  assert(files != nullptr);
  std::erase_if(*files, [](const auto& file) { return file.name == "." || file.name == ".."; });
  std::sort(files->begin(), files->end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

}  // namespace

EnvMirror::EnvMirror(Env* a, Env* b, bool free_a, bool free_b)
    : EnvWrapper(a),
      pair_(std::make_unique<Pair>(a, b)),
      owned_a_(free_a ? a : nullptr),
      owned_b_(free_b ? b : nullptr) {}

EnvMirror::~EnvMirror() = default;

Status EnvMirror::NewSequentialFile(const std::string& f, std::unique_ptr<SequentialFile>* r,
                                    const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "NewSequentialFile", f, r,
                  [&](Env* env, auto* file) { return env->NewSequentialFile(f, file, buffered); });
}
Status EnvMirror::NewRandomAccessFile(const std::string& f, std::unique_ptr<RandomAccessFile>* r,
                                      const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "NewRandomAccessFile", f, r, [&](Env* env, auto* file) {
    return env->NewRandomAccessFile(f, file, buffered);
  });
}
Status EnvMirror::NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                                  const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "NewWritableFile", f, r,
                  [&](Env* env, auto* file) { return env->NewWritableFile(f, file, buffered); });
}
Status EnvMirror::ReopenWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                                     const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "ReopenWritableFile", f, r,
                  [&](Env* env, auto* file) { return env->ReopenWritableFile(f, file, buffered); });
}
Status EnvMirror::ReuseWritableFile(const std::string& f, const std::string& old,
                                    std::unique_ptr<WritableFile>* r, const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "ReuseWritableFile", f, r, [&](Env* env, auto* file) {
    return env->ReuseWritableFile(f, old, file, buffered);
  });
}
Status EnvMirror::NewRandomRWFile(const std::string& f, std::unique_ptr<RandomRWFile>* r,
                                  const EnvOptions& options) {
  const EnvOptions buffered = Buffered(options);
  return OpenBoth(pair_.get(), "NewRandomRWFile", f, r,
                  [&](Env* env, auto* file) { return env->NewRandomRWFile(f, file, buffered); });
}
Status EnvMirror::NewMemoryMappedFileBuffer(const std::string& f,
                                            std::unique_ptr<MemoryMappedFileBuffer>* r) {
  return Env::NewMemoryMappedFileBuffer(f, r);  // NotSupported
}
Status EnvMirror::NewDirectory(const std::string& name, std::unique_ptr<Directory>* r) {
  return OpenBoth(pair_.get(), "NewDirectory", name, r,
                  [&](Env* env, auto* dir) { return env->NewDirectory(name, dir); });
}

Status EnvMirror::FileExists(const std::string& f) {
  return pair_->Both("FileExists", f, [&](size_t i) { return pair_->env(i)->FileExists(f); });
}
Status EnvMirror::GetChildren(const std::string& dir, std::vector<std::string>* r) {
  assert(r != nullptr);
  Results<std::vector<std::string>> names;
  const auto list = [&](size_t i) {
    Status status = pair_->env(i)->GetChildren(dir, &names[i]);
    Normalize(&names[i]);
    return status;
  };
  Status status = pair_->Both("GetChildren", dir, list, [&] { return names[0] == names[1]; });
  *r = std::move(names[0]);
  return status;
}
Status EnvMirror::GetChildrenFileAttributes(const std::string& dir,
                                            std::vector<FileAttributes>* r) {
  assert(r != nullptr);
  Results<std::vector<FileAttributes>> files;
  const auto list = [&](size_t i) {
    Status status = pair_->env(i)->GetChildrenFileAttributes(dir, &files[i]);
    Normalize(&files[i]);
    return status;
  };
  // The size of a directory is a matter of its file system.
  const auto is_same = [&] {
    return std::equal(files[0].begin(), files[0].end(), files[1].begin(), files[1].end(),
                      [](const auto& a, const auto& b) { return a.name == b.name; });
  };
  Status status = pair_->Both("GetChildrenFileAttributes", dir, list, is_same);
  *r = std::move(files[0]);
  return status;
}
Status EnvMirror::DeleteFile(const std::string& f) {
  return pair_->Both("DeleteFile", f, [&](size_t i) { return pair_->env(i)->DeleteFile(f); });
}
Status EnvMirror::Truncate(const std::string& f, size_t size) {
  return pair_->Both("Truncate", f, [&](size_t i) { return pair_->env(i)->Truncate(f, size); });
}
Status EnvMirror::CreateDir(const std::string& d) {
  return pair_->Both("CreateDir", d, [&](size_t i) { return pair_->env(i)->CreateDir(d); });
}
Status EnvMirror::CreateDirIfMissing(const std::string& d) {
  return pair_->Both("CreateDirIfMissing", d,
                     [&](size_t i) { return pair_->env(i)->CreateDirIfMissing(d); });
}
Status EnvMirror::DeleteDir(const std::string& d) {
  return pair_->Both("DeleteDir", d, [&](size_t i) { return pair_->env(i)->DeleteDir(d); });
}
Status EnvMirror::GetFileSize(const std::string& f, uint64_t* size) {
  assert(size != nullptr);
  Results<uint64_t> sizes{};
  Status status = pair_->Both(
      "GetFileSize", f, [&](size_t i) { return pair_->env(i)->GetFileSize(f, &sizes[i]); },
      [&] { return sizes[0] == sizes[1]; });
  *size = sizes[0];
  return status;
}
Status EnvMirror::GetFileModificationTime(const std::string& f, uint64_t* time) {
  assert(time != nullptr);
  Results<uint64_t> times{};  // the two files are written at different times
  Status status = pair_->Both("GetFileModificationTime", f, [&](size_t i) {
    return pair_->env(i)->GetFileModificationTime(f, &times[i]);
  });
  *time = times[0];
  return status;
}
Status EnvMirror::RenameFile(const std::string& s, const std::string& t) {
  return pair_->Both("RenameFile", s, [&](size_t i) { return pair_->env(i)->RenameFile(s, t); });
}
Status EnvMirror::LinkFile(const std::string& s, const std::string& t) {
  return pair_->Both("LinkFile", s, [&](size_t i) { return pair_->env(i)->LinkFile(s, t); });
}
Status EnvMirror::SyncFile(const std::string& f, const EnvOptions& options, bool use_fsync) {
  return pair_->Both("SyncFile", f,
                     [&](size_t i) { return pair_->env(i)->SyncFile(f, options, use_fsync); });
}
Status EnvMirror::NumFileLinks(const std::string& f, uint64_t* count) {
  assert(count != nullptr);
  Results<uint64_t> counts{};
  Status status = pair_->Both(
      "NumFileLinks", f, [&](size_t i) { return pair_->env(i)->NumFileLinks(f, &counts[i]); },
      [&] { return counts[0] == counts[1]; });
  *count = counts[0];
  return status;
}
Status EnvMirror::AreFilesSame(const std::string& first, const std::string& second, bool* r) {
  assert(r != nullptr);
  Results<bool> same{};
  Status status = pair_->Both(
      "AreFilesSame", first,
      [&](size_t i) { return pair_->env(i)->AreFilesSame(first, second, &same[i]); },
      [&] { return same[0] == same[1]; });
  *r = same[0];
  return status;
}
Status EnvMirror::LockFile(const std::string& f, FileLock** lock) {
  assert(lock != nullptr);
  auto both = std::make_unique<MirroredLock>();
  *lock = nullptr;
  Status status = pair_->Both(
      "LockFile", f, [&](size_t i) { return pair_->env(i)->LockFile(f, &both->locks[i]); });
  if (status.ok()) {
    *lock = both.release();
    return status;
  }
  for (size_t i = 0; i < 2; i++) {
    if (both->locks[i] == nullptr) continue;
    IgnoreError(pair_->env(i)->UnlockFile(both->locks[i]), "the first error says more");
  }
  return status;
}
Status EnvMirror::UnlockFile(FileLock* lock) {
  assert(lock != nullptr);
  const std::unique_ptr<MirroredLock> both(static_cast<MirroredLock*>(lock));
  return pair_->Both("UnlockFile", "",
                     [&](size_t i) { return pair_->env(i)->UnlockFile(both->locks[i]); });
}
Status EnvMirror::NewLogger(const std::string& f, std::shared_ptr<Logger>* r) {
  return Env::NewLogger(f, r);  // writes to a file of this environment
}
Status EnvMirror::IsDirectory(const std::string& path, bool* is_dir) {
  Results<bool> found{};
  Status status = pair_->Both(
      "IsDirectory", path, [&](size_t i) { return pair_->env(i)->IsDirectory(path, &found[i]); },
      [&] { return found[0] == found[1]; });
  if (is_dir != nullptr) *is_dir = found[0];
  return status;
}

}  // namespace ashlar
