// SPDX-License-Identifier: Apache-2.0
//
// GatedFileSystem: while its gate is shut, every open and every read of a table file waits at the
// gate. So a test can act in the middle of an operation that reads, without depending on time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ashlar/file_system.h"

namespace ashlar {

class ReadGate {
 public:
  void Shut() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_shut_ = true;
    has_left_ = false;
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_shut_ = false;
    changed_.notify_all();
  }
  // Returns when a reader waits at the gate, or when it has left (see Leave).
  void AwaitReader() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0 || has_left_; });
  }
  // Called when the reader has ended without reaching the gate.
  void Leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    has_left_ = true;
    changed_.notify_all();
  }
  bool HasReader() {
    std::lock_guard<std::mutex> lock(mutex_);
    return waiting_ > 0;
  }
  // Called by the reader.
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!is_shut_) return;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_shut_; });
    --waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_shut_ = false;
  bool has_left_ = false;
  int waiting_ = 0;
};

class GatedFileSystem final : public FileSystemWrapper {
 public:
  GatedFileSystem(const std::shared_ptr<FileSystem>& base, ReadGate* gate)
      : FileSystemWrapper(base), gate_(gate) {}
  const char* Name() const override { return "GatedFileSystem"; }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    gate_->Pass();
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, &file, debug);
    if (status.ok()) *result = std::make_unique<File>(std::move(file), gate_);
    return status;
  }

 private:
  class File final : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile>&& file, ReadGate* gate)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), gate_(gate) {}
    IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* debug) const override {
      gate_->Pass();
      return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, debug);
    }

   private:
    ReadGate* const gate_;
  };

  ReadGate* const gate_;
};

}  // namespace ashlar
