// SPDX-License-Identifier: Apache-2.0
//
// InvalidSyncs: a file system of which one sync of a MANIFEST returns InvalidArgument although it
// has taken effect. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system_wrapper.h"

namespace ashlar {

class InvalidSyncs final : public FileSystemWrapper {
 public:
  explicit InvalidSyncs(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "InvalidSyncs"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (!status.ok() || path.find("MANIFEST") == std::string::npos) return status;
    *file = std::make_unique<Manifest>(std::move(*file), &fails_next);
    return status;
  }

  std::atomic<bool> fails_next{false};

 private:
  class Manifest final : public FSWritableFileOwnerWrapper {
   public:
    Manifest(std::unique_ptr<FSWritableFile>&& file, std::atomic<bool>* fails_next)
        : FSWritableFileOwnerWrapper(std::move(file)), fails_next_(fails_next) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      return Outcome(FSWritableFileOwnerWrapper::Sync(options, debug));
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      return Outcome(FSWritableFileOwnerWrapper::Fsync(options, debug));
    }

   private:
    IOStatus Outcome(IOStatus synced) {
      if (!synced.ok() || !fails_next_->exchange(false)) return synced;
      return IOStatus::InvalidArgument("a sync that has taken effect");
    }

    std::atomic<bool>* const fails_next_;
  };
};

}  // namespace ashlar
