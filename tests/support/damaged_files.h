// SPDX-License-Identifier: Apache-2.0
//
// DamagedFiles: a file system in which some reads of tables return a flipped bit, while the files
// themselves are intact. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system_wrapper.h"

namespace ashlar {

// Selects the damaged reads: `count` reads of tables from `first` on, counted from 0.
struct Damage {
  std::atomic<int> reads{0};
  int first = -1;
  int count = 0;
  std::atomic<uint64_t> forgotten_begin{
      UINT64_MAX};  // begin of the last range that was to be removed from the cache
  std::atomic<uint64_t> forgotten_end{0};

  bool IsNext() {
    const int read = reads.fetch_add(1);
    return first >= 0 && read >= first && read < first + count;
  }
};

class DamagedTable final : public FSRandomAccessFileOwnerWrapper {
 public:
  DamagedTable(std::unique_ptr<FSRandomAccessFile>&& file, Damage* damage)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), damage_(damage) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    IOStatus status =
        FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
    if (!status.ok() || !damage_->IsNext() || result->empty()) return status;
    std::copy(result->data(), result->data() + result->size(), scratch);
    scratch[result->size() / 2] = static_cast<char>(scratch[result->size() / 2] ^ 0x10);
    *result = Slice(scratch, result->size());
    return status;
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
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    damage_->forgotten_begin = offset;
    damage_->forgotten_end = offset + length;
    return IOStatus::OK();
  }

 private:
  Damage* const damage_;
};

class DamagedFiles final : public FileSystemWrapper {
 public:
  // `damage` outlives the file system.
  DamagedFiles(const std::shared_ptr<FileSystem>& target, Damage* damage)
      : FileSystemWrapper(target), damage_(damage) {}
  const char* Name() const override { return "DamagedFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    if (status.ok() && name.ends_with(".sst")) {
      *file = std::make_unique<DamagedTable>(std::move(*file), damage_);
    }
    return status;
  }

 private:
  Damage* const damage_;
};

}  // namespace ashlar
