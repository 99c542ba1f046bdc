// SPDX-License-Identifier: Apache-2.0
//
// Two environments whose operations are compared, and the pairs of files that EnvMirror makes. The
// file objects must not outlive their MirroredEnvs.
#pragma once

#include <array>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/env.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Performs operations in both environments, one after the other, so that no difference is seen that
// is only one of time. The environments are called without a lock, because they may take any. Any
// thread.
class MirroredEnvs {
 public:
  MirroredEnvs(Env* a, Env* b) : envs_{a, b} {
    assert(a != nullptr);
    assert(b != nullptr);
  }

  Env* env(size_t side) const {
    assert(side < envs_.size());
    return envs_[side];
  }

  // Calls `call(0)` for the first environment and `call(1)` for the second, and returns the first
  // status, or Corruption if the codes differ. `is_same()` is asked if both calls succeeded.
  template <typename Call, typename IsSame>
  Status Both(const char* name, const std::string& path, const Call& call, const IsSame& is_same) {
    const Turn turn(this);
    const Status first = call(size_t{0});
    const Status second = call(size_t{1});
    if (first.code() != second.code()) {
      return Differ(name, path, first.ToString(), second.ToString());
    }
    if (!first.ok() || is_same()) return first;
    return Differ(name, path, "one result", "another");
  }
  template <typename Call>
  Status Both(const char* name, const std::string& path, const Call& call) {
    return Both(name, path, call, [] { return true; });
  }

  static Status Differ(const char* name, const std::string& path, const std::string& first,
                       const std::string& second) {
    return Status::Corruption(
        StrCat("EnvMirror: ", name, " ", path),
        StrCat("the first environment answers '", first, "', the second '", second, "'"));
  }

 private:
  // Waits until no other operation runs, and lets the next one begin when it is destroyed.
  class Turn {
   public:
    explicit Turn(MirroredEnvs* envs) : envs_(envs) {
      assert(envs != nullptr);
      MutexLock lock(&envs_->mutex_);
      while (envs_->is_busy_) envs_->is_free_.Wait();
      envs_->is_busy_ = true;
    }
    ~Turn() {
      MutexLock lock(&envs_->mutex_);
      assert(envs_->is_busy_);
      envs_->is_busy_ = false;
      envs_->is_free_.Signal();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    MirroredEnvs* const envs_;
  };

  const std::array<Env*, 2> envs_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar is_free_{&mutex_};
  bool is_busy_ GUARDED_BY(mutex_) = false;  // an operation runs
};

template <typename File>
using FilePair = std::array<std::unique_ptr<File>, 2>;

// `files` are open in both environments under this path.
std::unique_ptr<SequentialFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                                FilePair<SequentialFile> files);
std::unique_ptr<RandomAccessFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                                  FilePair<RandomAccessFile> files);
std::unique_ptr<WritableFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                              FilePair<WritableFile> files);
std::unique_ptr<RandomRWFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                              FilePair<RandomRWFile> files);
std::unique_ptr<Directory> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                           FilePair<Directory> files);

}  // namespace ashlar
