// SPDX-License-Identifier: Apache-2.0
//
// DirectFiles: a file system whose files, if opened for direct I/O, require what a kernel requires:
// offsets, lengths and memory in whole pages. Other files behave as usual. Any thread.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system_wrapper.h"

namespace ashlar {

inline constexpr size_t kDirectPage = 4096;

inline void ExpectPages(const char* what, uint64_t offset, size_t bytes, const void* memory) {
  EXPECT_EQ(offset % kDirectPage, 0u) << what;
  EXPECT_EQ(bytes % kDirectPage, 0u) << what;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kDirectPage, 0u) << what;
}

class DirectTable final : public FSRandomAccessFileOwnerWrapper {
 public:
  DirectTable(std::unique_ptr<FSRandomAccessFile>&& file, std::atomic<int>* reads)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), reads_(reads) {}
  bool use_direct_io() const override { return true; }
  size_t GetRequiredBufferAlignment() const override { return kDirectPage; }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    reads_->fetch_add(1);
    ExpectPages("Read", offset, n, scratch);
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    return FSRandomAccessFile::MultiRead(requests, count, options, dbg);  // calls Read()
  }
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> done, void* argument, void** handle,
                     IOHandleDeleter* deleter, IODebugContext* dbg) override {
    return FSRandomAccessFile::ReadAsync(request, options, std::move(done), argument, handle,
                                         deleter, dbg);
  }

 private:
  std::atomic<int>* const reads_;
};

class DirectOutput final : public FSWritableFileOwnerWrapper {
 public:
  DirectOutput(std::unique_ptr<FSWritableFile>&& file, std::atomic<int>* writes)
      : FSWritableFileOwnerWrapper(std::move(file)), writes_(writes) {}
  bool use_direct_io() const override { return true; }
  size_t GetRequiredBufferAlignment() const override { return kDirectPage; }
  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::PositionedAppend;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    ADD_FAILURE() << "Append to a file for direct I/O";
    return IOStatus::IOError("EINVAL");
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    writes_->fetch_add(1);
    ExpectPages("PositionedAppend", offset, data.size(), data.data());
    return FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, dbg);
  }

 private:
  std::atomic<int>* const writes_;
};

class DirectFiles final : public FileSystemWrapper {
 public:
  explicit DirectFiles(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "DirectFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    if (status.ok() && options.use_direct_reads) {
      *file = std::make_unique<DirectTable>(std::move(*file), &reads);
    }
    return status;
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    if (options.use_direct_writes && refuses) {
      return IOStatus::NotSupported(name, "no direct I/O here");
    }
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, dbg);
    if (status.ok() && options.use_direct_writes) {
      *file = std::make_unique<DirectOutput>(std::move(*file), &writes);
    }
    return status;
  }

  std::atomic<int> reads{0};  // direct reads
  std::atomic<int> writes{0};
  std::atomic<bool> refuses{false};
};

}  // namespace ashlar
