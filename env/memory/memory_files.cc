// SPDX-License-Identifier: Apache-2.0
//
// A file in memory is a string. The file objects share it, and some keep a position in it.
#include "env/memory/memory_files.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "util/text/str_cat.h"

namespace ashlar {

MemoryFile::~MemoryFile() {
  assert(usage_->used_bytes.load(std::memory_order_relaxed) >= data_.size());
  MutexLock lock(&mutex_);
  usage_->used_bytes.fetch_sub(data_.size(), std::memory_order_relaxed);
}

// Copies, because the memory may move when another thread appends.
Slice MemoryFile::Read(uint64_t offset, size_t n, char* scratch) const {
  MutexLock lock(&mutex_);
  if (offset >= data_.size()) return Slice(scratch, 0);
  assert(n == 0 || scratch != nullptr);
  const size_t count = std::min(n, data_.size() - static_cast<size_t>(offset));
  memcpy(scratch, data_.data() + offset, count);
  return Slice(scratch, count);
}

// The exchange fails if another file took some of the quota meanwhile. Then the grant is computed
// anew, so that the files together never exceed it.
void MemoryFile::GrowLocked(uint64_t size) {
  if (size <= data_.size()) return;
  const uint64_t quota = usage_->quota_bytes.load(std::memory_order_relaxed);
  uint64_t used = usage_->used_bytes.load(std::memory_order_relaxed);
  uint64_t grant = 0;
  do {
    grant = std::min(size - data_.size(), quota > used ? quota - used : 0);
    assert(size > data_.size());
  } while (
      !usage_->used_bytes.compare_exchange_weak(used, used + grant, std::memory_order_relaxed));
  data_.resize(data_.size() + static_cast<size_t>(grant));
}

// A gap between the old end and `offset` is filled with zeros. False if the quota does not suffice:
// then as many bytes as fit are written.
bool MemoryFile::Write(uint64_t offset, const Slice& data, uint64_t now_micros) {
  MutexLock lock(&mutex_);
  modified_micros_ = now_micros;
  GrowLocked(offset + data.size());
  // The quota ended within the gap, so that no byte of `data` fits.
  if (offset > data_.size()) return false;
  const size_t count = std::min(data.size(), data_.size() - static_cast<size_t>(offset));
  memcpy(data_.data() + offset, data.data(), count);
  assert(count <= data.size());
  return count == data.size();
}

// False if the quota does not suffice for the larger size.
bool MemoryFile::Resize(uint64_t size, uint64_t now_micros) {
  MutexLock lock(&mutex_);
  modified_micros_ = now_micros;
  if (size < data_.size()) {
    usage_->used_bytes.fetch_sub(data_.size() - size, std::memory_order_relaxed);
    data_.resize(static_cast<size_t>(size));
  }
  GrowLocked(size);
  return data_.size() == size;
}

void MemoryFile::Fill(std::string contents, uint64_t now_micros) {
  MutexLock lock(&mutex_);
  // Added first: unsigned subtraction first could make other threads see a huge sum.
  usage_->used_bytes.fetch_add(contents.size(), std::memory_order_relaxed);
  usage_->used_bytes.fetch_sub(data_.size(), std::memory_order_relaxed);
  data_ = std::move(contents);
  modified_micros_ = now_micros;
}

uint64_t MemoryFile::size() const {
  MutexLock lock(&mutex_);
  return data_.size();
}
uint64_t MemoryFile::modified_micros() const {
  MutexLock lock(&mutex_);
  return modified_micros_;
}
std::string MemoryFile::Contents() const {
  MutexLock lock(&mutex_);
  return data_;
}

IOStatus MemoryFull(const char* what, const std::string& path) {
  return IOStatus::NoSpace(StrCat(what, ": ", path), "No space left on device");
}

namespace {

// Keeps a position. Two objects on one file are independent.
class MemorySequentialFile : public FSSequentialFile {
 public:
  explicit MemorySequentialFile(MemoryFilePtr file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    assert(result != nullptr);
    *result = file_->Read(offset_, n, scratch);
    offset_ += result->size();
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t n) override {
    offset_ += n;
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    assert(result != nullptr);
    *result = file_->Read(offset, n, scratch);
    return IOStatus::OK();
  }

 private:
  const MemoryFilePtr file_;
  uint64_t offset_ = 0;
};

// Has no state but the content, so that any thread may read.
class MemoryRandomAccessFile : public FSRandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(MemoryFilePtr file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    assert(result != nullptr);
    *result = file_->Read(offset, n, scratch);
    return IOStatus::OK();
  }
  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
  IOStatus GetFileSize(uint64_t* result) override {
    assert(result != nullptr);
    *result = file_->size();
    return IOStatus::OK();
  }

 private:
  const MemoryFilePtr file_;
};

// One thread at a time. Memory is never lost before the process ends, so that syncs do nothing;
// SimFS adds crashes on top of this.
class MemoryWritableFile : public FSWritableFile {
 public:
  MemoryWritableFile(MemoryFilePtr file, std::string path, uint64_t position,
                     std::shared_ptr<SystemClock> clock)
      : file_(std::move(file)), path_(std::move(path)), size_(position), clock_(std::move(clock)) {
    assert(clock_ != nullptr);
  }

  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const bool is_complete = file_->Write(size_, data, clock_->NowMicros());
    // After a full quota the position is the end of the part that was written.
    size_ = std::min(size_ + data.size(), file_->size());
    return is_complete ? IOStatus::OK() : MemoryFull("append", path_);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    const bool is_complete = file_->Write(offset, data, clock_->NowMicros());
    size_ = std::max(size_, std::min(offset + data.size(), file_->size()));
    return is_complete ? IOStatus::OK() : MemoryFull("write", path_);
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    const bool is_complete = file_->Resize(size, clock_->NowMicros());
    size_ = file_->size();
    return is_complete ? IOStatus::OK() : MemoryFull("truncate", path_);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  const MemoryFilePtr file_;
  const std::string path_;
  uint64_t size_;  // offset of the next append
  const std::shared_ptr<SystemClock> clock_;
};

// Writes in place; a gap before `offset` becomes zeros.
class MemoryRandomRWFile : public FSRandomRWFile {
 public:
  MemoryRandomRWFile(MemoryFilePtr file, std::string path, std::shared_ptr<SystemClock> clock)
      : file_(std::move(file)), path_(std::move(path)), clock_(std::move(clock)) {
    assert(clock_ != nullptr);
  }

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return file_->Write(offset, data, clock_->NowMicros()) ? IOStatus::OK()
                                                           : MemoryFull("write", path_);
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    assert(result != nullptr);
    *result = file_->Read(offset, n, scratch);
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const MemoryFilePtr file_;
  const std::string path_;
  const std::shared_ptr<SystemClock> clock_;
};

// Names are in memory, so that there is nothing to sync.
class MemoryDirectory : public FSDirectory {
 public:
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

}  // namespace

std::unique_ptr<FSSequentialFile> NewMemorySequentialFile(MemoryFilePtr file) {
  return std::make_unique<MemorySequentialFile>(std::move(file));
}
std::unique_ptr<FSRandomAccessFile> NewMemoryRandomAccessFile(MemoryFilePtr file) {
  return std::make_unique<MemoryRandomAccessFile>(std::move(file));
}
std::unique_ptr<FSWritableFile> NewMemoryWritableFile(MemoryFilePtr file, const std::string& path,
                                                      uint64_t position,
                                                      const std::shared_ptr<SystemClock>& clock) {
  return std::make_unique<MemoryWritableFile>(std::move(file), path, position, clock);
}
std::unique_ptr<FSRandomRWFile> NewMemoryRandomRWFile(MemoryFilePtr file, const std::string& path,
                                                      const std::shared_ptr<SystemClock>& clock) {
  return std::make_unique<MemoryRandomRWFile>(std::move(file), path, clock);
}
std::unique_ptr<FSDirectory> NewMemoryDirectory() { return std::make_unique<MemoryDirectory>(); }

}  // namespace ashlar
