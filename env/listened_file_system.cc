// SPDX-License-Identifier: Apache-2.0
//
// Each operation is bracketed by an object of class Operation: its constructor takes the time, and
// End() notifies the listeners. The length in a FileOperationInfo is the number of bytes that were
// read or written, the length in an IOErrorInfo is the number that was requested.
#include "env/listened_file_system.h"

#include <cassert>
#include <string>
#include <utility>

#include "env/filename.h"
#include "env/info_log.h"

namespace ashlar {
namespace {

using Callback = void (EventListener::*)(const FileOperationInfo&);

// The listeners that asked to be notified of file operations. The file system and its files share
// them.
class FileListeners {
 public:
  FileListeners(std::vector<std::shared_ptr<EventListener>> listeners,
                const std::shared_ptr<Logger>* info_log)
      : listeners_(std::move(listeners)), info_log_(info_log) {}

  // Calls code of the program. An exception ends here, because the thread may hold locks of the
  // engine.
  template <typename Call>
  void ForEach(const Call& call) const {
    for (const auto& listener : listeners_) {
      try {
        call(listener.get());
      } catch (...) {
        Error(*info_log_, "listener %s threw an exception", listener->Name());
      }
    }
  }

 private:
  const std::vector<std::shared_ptr<EventListener>> listeners_;
  const std::shared_ptr<Logger>* const info_log_;
};

// A file and the listeners to notify of its operations. A value: each file object has a copy, and
// `listeners` lives as long as any of them.
struct Told {
  std::shared_ptr<const FileListeners> listeners;
  std::string path;
};

// One operation, from its construction to End(). The name and listeners are not copied, so that the
// file must outlive it.
class Operation {
 public:
  Operation(const Told& told, FileOperationType type, Callback callback, uint64_t offset = 0,
            size_t length = 0)
      : told_(told), type_(type), callback_(callback), offset_(offset), length_(length) {}

  // For operations that are done completely or not at all.
  IOStatus End(const IOStatus& status) const { return End(status, length_); }
  // All listeners hear of the operation; of a failed one they hear a second time by OnIOError().
  // Returns the status unchanged.
  IOStatus End(const IOStatus& status, size_t done_bytes) const {
    FileOperationInfo info(FinishedType(), told_.path, start_, FileOperationInfo::FinishNow(),
                           status);
    info.offset = offset_;
    info.length = done_bytes;
    told_.listeners->ForEach([&](EventListener* listener) { (listener->*callback_)(info); });
    info.status.PermitUncheckedError();
    if (status.ok()) return status;
    const IOErrorInfo error(status, type_, told_.path, length_, offset_);
    told_.listeners->ForEach([&](EventListener* listener) { listener->OnIOError(error); });
    error.io_status.PermitUncheckedError();
    return status;
  }

 private:
  // As in RocksDB, only errors tell the two kinds of writes apart.
  FileOperationType FinishedType() const {
    const bool is_write =
        type_ == FileOperationType::kAppend || type_ == FileOperationType::kPositionedAppend;
    return is_write ? FileOperationType::kWrite : type_;
  }

  const Told& told_;
  const FileOperationType type_;
  const Callback callback_;
  const uint64_t offset_;
  const size_t length_;
  const FileOperationInfo::StartTimePoint start_ = FileOperationInfo::StartNow();
};

Operation Reading(const Told& told, uint64_t offset, size_t n) {
  return Operation(told, FileOperationType::kRead, &EventListener::OnFileReadFinish, offset, n);
}

class ListenedSequentialFile final : public FSSequentialFileOwnerWrapper {
 public:
  ListenedSequentialFile(std::unique_ptr<FSSequentialFile>&& file, Told told)
      : FSSequentialFileOwnerWrapper(std::move(file)), told_(std::move(told)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    assert(result != nullptr);
    const Operation read = Reading(told_, offset_, n);
    const IOStatus status = target()->Read(n, options, result, scratch, dbg);
    offset_ += result->size();
    return read.End(status, result->size());
  }
  IOStatus Skip(uint64_t n) override {
    offset_ += n;
    return target()->Skip(n);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    assert(result != nullptr);
    const Operation read = Reading(told_, offset, n);
    const IOStatus status = target()->PositionedRead(offset, n, options, result, scratch, dbg);
    return read.End(status, result->size());
  }

 private:
  const Told told_;
  uint64_t offset_ = 0;
};

class ListenedRandomAccessFile final : public FSRandomAccessFileOwnerWrapper {
 public:
  ListenedRandomAccessFile(std::unique_ptr<FSRandomAccessFile>&& file, Told told)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), told_(std::move(told)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    assert(result != nullptr);
    const Operation read = Reading(told_, offset, n);
    const IOStatus status = target()->Read(offset, n, options, result, scratch, dbg);
    return read.End(status, result->size());
  }
  // The requests of one call cannot be timed one by one, so that each is reported with the time of
  // the whole call.
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    std::vector<Operation> reads;
    reads.reserve(num_reqs);
    for (size_t i = 0; i < num_reqs; i++) {
      reads.push_back(Reading(told_, reqs[i].offset, reqs[i].len));
    }
    const IOStatus status = target()->MultiRead(reqs, num_reqs, options, dbg);
    for (size_t i = 0; i < num_reqs; i++) {
      IgnoreError(reads[i].End(status.ok() ? reqs[i].status : status, reqs[i].result.size()),
                  "the caller gets it");
    }
    return status;
  }
  // The read ends, and the listeners are notified, in the thread that polls for it. If the read
  // could not be started, they are notified here.
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    const Operation read = Reading(told_, req.offset, req.len);
    const IOStatus status = target()->ReadAsync(
        req, opts,
        [read, cb = std::move(cb)](FSReadRequest& done, void* argument) {
          IgnoreError(read.End(done.status, done.result.size()), "the caller gets it");
          cb(done, argument);
        },
        cb_arg, io_handle, del_fn, dbg);
    return status.ok() ? status : read.End(status, 0);
  }
  bool SubmitReadAsync(FSReadRequest& req, const IOOptions& opts,
                       std::function<void(FSReadRequest&)> cb, IODebugContext* dbg) override {
    const Operation read = Reading(told_, req.offset, req.len);
    return target()->SubmitReadAsync(
        req, opts,
        [read, cb = std::move(cb)](FSReadRequest& done) {
          IgnoreError(read.End(done.status, done.result.size()), "the caller gets it");
          cb(done);
        },
        dbg);
  }

 private:
  const Told told_;
};

// Counts the offset itself, because FSWritableFile::Append() does not report it.
class ListenedWritableFile final : public FSWritableFileOwnerWrapper {
 public:
  ListenedWritableFile(std::unique_ptr<FSWritableFile>&& file, Told told)
      : FSWritableFileOwnerWrapper(std::move(file)), told_(std::move(told)) {
    end_ = target()->GetFileSize(IOOptions(), nullptr);
  }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    const Operation write = Appending(data);
    return Appended(write, data, target()->Append(data, options, dbg));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    const Operation write = Appending(data);
    return Appended(write, data, target()->Append(data, options, info, dbg));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    const Operation write = WritingAt(data, offset);
    return write.End(target()->PositionedAppend(data, offset, options, dbg));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    const Operation write = WritingAt(data, offset);
    return write.End(target()->PositionedAppend(data, offset, options, info, dbg));
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    const Operation cut(told_, FileOperationType::kTruncate, &EventListener::OnFileTruncateFinish);
    // Also after an error, when the size is not known for sure.
    end_ = size;
    return cut.End(target()->Truncate(size, options, dbg));
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    const Operation close(told_, FileOperationType::kClose, &EventListener::OnFileCloseFinish);
    return close.End(target()->Close(options, dbg));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    const Operation flush(told_, FileOperationType::kFlush, &EventListener::OnFileFlushFinish);
    return flush.End(target()->Flush(options, dbg));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    const Operation sync(told_, FileOperationType::kSync, &EventListener::OnFileSyncFinish);
    return sync.End(target()->Sync(options, dbg));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    const Operation sync(told_, FileOperationType::kFsync, &EventListener::OnFileSyncFinish);
    return sync.End(target()->Fsync(options, dbg));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    const Operation sync(told_, FileOperationType::kRangeSync,
                         &EventListener::OnFileRangeSyncFinish, offset, nbytes);
    return sync.End(target()->RangeSync(offset, nbytes, options, dbg));
  }

 private:
  Operation Appending(const Slice& data) const {
    return Operation(told_, FileOperationType::kAppend, &EventListener::OnFileWriteFinish, end_,
                     data.size());
  }
  // A failed append may have written a part, which the offset does not count: the file is given up
  // then.
  IOStatus Appended(const Operation& write, const Slice& data, const IOStatus& status) {
    if (status.ok()) end_ += data.size();
    return write.End(status);
  }
  Operation WritingAt(const Slice& data, uint64_t offset) const {
    return Operation(told_, FileOperationType::kPositionedAppend, &EventListener::OnFileWriteFinish,
                     offset, data.size());
  }

  const Told told_;
  uint64_t end_;  // offset of the next append
};

class ListenedFileSystem final : public FileSystemWrapper {
 public:
  ListenedFileSystem(const std::shared_ptr<FileSystem>& fs,
                     std::shared_ptr<const FileListeners> listeners)
      : FileSystemWrapper(fs), listeners_(std::move(listeners)) {}

  const char* Name() const override { return "ListenedFS"; }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    return Listened<ListenedSequentialFile>(f, target_->NewSequentialFile(f, options, r, dbg), r);
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    return Listened<ListenedRandomAccessFile>(f, target_->NewRandomAccessFile(f, options, r, dbg),
                                              r);
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return Listened<ListenedWritableFile>(f, target_->NewWritableFile(f, options, r, dbg), r);
  }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return Listened<ListenedWritableFile>(f, target_->ReopenWritableFile(f, options, r, dbg), r);
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    return Listened<ListenedWritableFile>(f, target_->ReuseWritableFile(f, old, options, r, dbg),
                                          r);
  }

 private:
  // The four kinds of files whose operations are reported.
  static bool IsTold(const std::string& path) {
    FileNumber number;
    FileType type;
    return ParseFileName(BaseNameOf(path), &number, &type) &&
           (type == kWalFile || type == kTableFile || type == kDescriptorFile || type == kBlobFile);
  }

  // Wraps an opened file, if it is of such a kind.
  template <typename Wrapper, typename File>
  IOStatus Listened(const std::string& path, const IOStatus& opened, std::unique_ptr<File>* file) {
    if (!opened.ok() || !IsTold(path)) return opened;
    assert(*file != nullptr);
    *file = std::make_unique<Wrapper>(std::move(*file), Told{listeners_, path});
    return opened;
  }

  const std::shared_ptr<const FileListeners> listeners_;
};

}  // namespace

std::shared_ptr<FileSystem> WithFileListeners(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners,
    const std::shared_ptr<Logger>* info_log) {
  assert(fs != nullptr);
  assert(info_log != nullptr);
  std::vector<std::shared_ptr<EventListener>> asking;
  for (const auto& listener : listeners) {
    if (listener->ShouldBeNotifiedOnFileIO()) asking.push_back(listener);
  }
  if (asking.empty()) return fs;
  return std::make_shared<ListenedFileSystem>(
      fs, std::make_shared<const FileListeners>(std::move(asking), info_log));
}

}  // namespace ashlar
