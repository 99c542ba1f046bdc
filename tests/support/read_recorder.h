// SPDX-License-Identifier: Apache-2.0
//
// RecordingFileSystem records each open and each read of a table file, single or in a batch, and
// fails the reads that the test selects. Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"

namespace ashlar {

class ReadRecorder {
 public:
  struct Read {
    std::string path;
    uint64_t offset = 0;
    size_t n = 0;
    size_t batch = 1;  // the number of requests in the call
    std::chrono::microseconds timeout{0};
    bool is_prefetch = false;
    bool is_async = false;  // by ReadAsync()
  };

  std::vector<Read> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(reads_, {});
  }
  // Makes the file system claim support for asynchronous reads; they are done at once.
  void ClaimAsync() { claims_async_ = true; }
  bool claims_async() const { return claims_async_; }
  // Reads for which the function returns true fail from now on.
  void FailIf(std::function<bool(const Read&)> is_bad) {
    std::lock_guard<std::mutex> lock(mutex_);
    is_bad_ = std::move(is_bad);
  }
  void NoteOpen() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++opens_;
  }
  // The number of tables that were opened since the last call.
  int TakeOpens() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(opens_, 0);
  }
  IOStatus Note(const Read& read) {
    std::lock_guard<std::mutex> lock(mutex_);
    reads_.push_back(read);
    return is_bad_ && is_bad_(read) ? IOStatus::IOError("spoiled", read.path) : IOStatus::OK();
  }

 private:
  std::mutex mutex_;
  std::vector<Read> reads_;
  int opens_ = 0;
  std::function<bool(const Read&)> is_bad_;
  bool claims_async_ = false;  // set before threads are started
};

class RecordedFile : public FSRandomAccessFileOwnerWrapper {
 public:
  RecordedFile(std::unique_ptr<FSRandomAccessFile> file, std::string path, ReadRecorder* recorder)
      : FSRandomAccessFileOwnerWrapper(std::move(file)),
        path_(std::move(path)),
        recorder_(recorder) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    IOStatus status =
        recorder_->Note({.path = path_, .offset = offset, .n = n, .timeout = options.timeout});
    if (!status.ok()) return status;
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    for (FSReadRequest* request = requests; request != requests + count; ++request) {
      request->status = recorder_->Note({.path = path_,
                                         .offset = request->offset,
                                         .n = request->len,
                                         .batch = count,
                                         .timeout = options.timeout});
      if (!request->status.ok()) continue;
      const IOStatus status = FSRandomAccessFileOwnerWrapper::MultiRead(request, 1, options, dbg);
      if (!status.ok()) return status;
    }
    return IOStatus::OK();
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options, IODebugContext*) override {
    return recorder_->Note(
        {.path = path_, .offset = offset, .n = n, .timeout = options.timeout, .is_prefetch = true});
  }
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> done, void* argument, void** handle,
                     IOHandleDeleter* deleter, IODebugContext* dbg) override {
    request.status = recorder_->Note({.path = path_,
                                      .offset = request.offset,
                                      .n = request.len,
                                      .batch = 2,
                                      .timeout = options.timeout,
                                      .is_async = true});
    if (request.status.ok()) {
      return FSRandomAccessFileOwnerWrapper::ReadAsync(request, options, std::move(done), argument,
                                                       handle, deleter, dbg);
    }
    *handle = nullptr;
    done(request, argument);
    return IOStatus::OK();
  }

 private:
  const std::string path_;
  ReadRecorder* const recorder_;
};

class RecordingFileSystem : public FileSystemWrapper {
 public:
  RecordingFileSystem(const std::shared_ptr<FileSystem>& target, ReadRecorder* recorder)
      : FileSystemWrapper(target), recorder_(recorder) {}
  const char* Name() const override { return "RecordingFileSystem"; }
  void SupportedOps(int64_t& supported_ops) override {
    FileSystemWrapper::SupportedOps(supported_ops);
    if (recorder_->claims_async()) supported_ops |= int64_t{1} << FSSupportedOps::kAsyncIO;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, file, dbg);
    if (!status.ok() || !path.ends_with(".sst")) return status;
    recorder_->NoteOpen();
    file->reset(new RecordedFile(std::move(*file), path, recorder_));
    return status;
  }

 private:
  ReadRecorder* const recorder_;
};

}  // namespace ashlar
