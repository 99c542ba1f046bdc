// SPDX-License-Identifier: Apache-2.0
//
// Each operation goes through Traced(), which measures it if a trace is running.
#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "env/trace/io_trace.h"
#include "util/result.h"

namespace ashlar {

namespace {

// A file, or a directory for operations without a file, and the trace. A value.
struct Place {
  std::shared_ptr<IoTrace> trace;
  std::string path;
};

// Runs the operation, and records its name, its duration and its status if a trace is running.
template <typename Run>
IOStatus Traced(IoTrace* trace, const std::string& path, const IoOperation& operation,
                const IODebugContext* dbg, const Run& run) {
  assert(trace != nullptr);
  if (!trace->is_on()) [[likely]]
    return run();
  const uint64_t begin = trace->NowNanos();
  const IOStatus status = run();
  trace->Record(operation, trace->NowNanos() - begin, status, path, dbg);
  return status;
}
template <typename Run>
IOStatus Traced(const Place& place, const IoOperation& operation, const IODebugContext* dbg,
                const Run& run) {
  return Traced(place.trace.get(), place.path, operation, dbg, run);
}

IoOperation Named(const char* name) { return {.name = name}; }
IoOperation OfLength(const char* name, uint64_t length) {
  return {.name = name, .fields = IoOperation::kLength, .length = length};
}
IoOperation OfRange(const char* name, uint64_t offset, uint64_t length) {
  return {.name = name,
          .fields = IoOperation::kLength | IoOperation::kOffset,
          .length = length,
          .offset = offset};
}
IoOperation OfSize(const char* name, uint64_t size) {
  return {.name = name, .fields = IoOperation::kFileSize, .file_size = size};
}

// The wrappers of files: each records its reads or writes under the path with which it was opened.
class TracedSequentialFile final : public FSSequentialFileOwnerWrapper {
 public:
  TracedSequentialFile(std::unique_ptr<FSSequentialFile>&& file, Place place)
      : FSSequentialFileOwnerWrapper(std::move(file)), place_(std::move(place)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return Traced(place_, OfLength("Read", n), dbg,
                  [&] { return target()->Read(n, options, result, scratch, dbg); });
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return Traced(place_, OfRange("InvalidateCache", offset, length), nullptr,
                  [&] { return target()->InvalidateCache(offset, length); });
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return Traced(place_, OfRange("PositionedRead", offset, n), dbg, [&] {
      return target()->PositionedRead(offset, n, options, result, scratch, dbg);
    });
  }

 private:
  const Place place_;
};

class TracedRandomAccessFile final : public FSRandomAccessFileOwnerWrapper {
 public:
  TracedRandomAccessFile(std::unique_ptr<FSRandomAccessFile>&& file, Place place)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), place_(std::move(place)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return Traced(place_, OfRange("Read", offset, n), dbg,
                  [&] { return target()->Read(offset, n, options, result, scratch, dbg); });
  }
  // The requests of one call cannot be timed one by one: each is recorded with the time of the
  // call.
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    if (!place_.trace->is_on()) [[likely]]
      return target()->MultiRead(reqs, num_reqs, options, dbg);
    const uint64_t begin = place_.trace->NowNanos();
    const IOStatus status = target()->MultiRead(reqs, num_reqs, options, dbg);
    const uint64_t nanos = place_.trace->NowNanos() - begin;
    for (size_t i = 0; i < num_reqs; i++) {
      place_.trace->Record(OfRange("MultiRead", reqs[i].offset, reqs[i].len), nanos,
                           status.ok() ? reqs[i].status : status, place_.path, dbg);
    }
    return status;
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override {
    return Traced(place_, OfRange("Prefetch", offset, n), dbg,
                  [&] { return target()->Prefetch(offset, n, options, dbg); });
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return Traced(place_, OfRange("InvalidateCache", offset, length), nullptr,
                  [&] { return target()->InvalidateCache(offset, length); });
  }
  // Of an asynchronous read the time until it was submitted is recorded.
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return Traced(place_, OfRange("ReadAsync", req.offset, req.len), dbg, [&] {
      return target()->ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
    });
  }
  bool SubmitReadAsync(FSReadRequest& req, const IOOptions& opts,
                       std::function<void(FSReadRequest&)> cb, IODebugContext* dbg) override {
    bool is_submitted = false;
    IgnoreError(Traced(place_, OfRange("ReadAsync", req.offset, req.len), dbg,
                       [&] {
                         is_submitted = target()->SubmitReadAsync(req, opts, std::move(cb), dbg);
                         return IOStatus::OK();
                       }),
                "the read reports its own status");
    return is_submitted;
  }

 private:
  const Place place_;
};

class TracedWritableFile final : public FSWritableFileOwnerWrapper {
 public:
  TracedWritableFile(std::unique_ptr<FSWritableFile>&& file, Place place)
      : FSWritableFileOwnerWrapper(std::move(file)), place_(std::move(place)) {}

  // Logs are appended to and flushed by each write: without a trace only the call is passed on.
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    if (!place_.trace->is_on()) [[likely]]
      return target()->Append(data, options, dbg);
    return Traced(place_, OfLength("Append", data.size()), dbg,
                  [&] { return target()->Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    return Traced(place_, OfLength("Append", data.size()), dbg,
                  [&] { return target()->Append(data, options, info, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return Traced(place_, OfRange("PositionedAppend", offset, data.size()), dbg,
                  [&] { return target()->PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    return Traced(place_, OfRange("PositionedAppend", offset, data.size()), dbg,
                  [&] { return target()->PositionedAppend(data, offset, options, info, dbg); });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return Traced(place_, OfLength("Truncate", size), dbg,
                  [&] { return target()->Truncate(size, options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return Traced(place_, Named("Close"), dbg, [&] { return target()->Close(options, dbg); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    if (!place_.trace->is_on()) [[likely]]
      return target()->Flush(options, dbg);
    return Traced(place_, Named("Flush"), dbg, [&] { return target()->Flush(options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Traced(place_, Named("Sync"), dbg, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Traced(place_, Named("Fsync"), dbg, [&] { return target()->Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return Traced(place_, OfRange("RangeSync", offset, nbytes), dbg,
                  [&] { return target()->RangeSync(offset, nbytes, options, dbg); });
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return Traced(place_, OfRange("InvalidateCache", offset, length), nullptr,
                  [&] { return target()->InvalidateCache(offset, length); });
  }

 private:
  const Place place_;
};

// Closing a directory is not recorded.
class TracedDirectory final : public FSDirectoryWrapper {
 public:
  TracedDirectory(std::unique_ptr<FSDirectory>&& directory, Place place)
      : FSDirectoryWrapper(directory.get()),
        owned_(std::move(directory)),
        place_(std::move(place)) {
    assert(owned_ != nullptr);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Traced(place_, Named("Fsync"), dbg, [&] { return owned_->Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& dir_fsync_options) override {
    return Traced(place_, Named("FsyncWithDirOptions"), dbg,
                  [&] { return owned_->FsyncWithDirOptions(options, dbg, dir_fsync_options); });
  }

 private:
  const std::unique_ptr<FSDirectory> owned_;
  const Place place_;
};

// Lives between the engine and the file system of the program. Calls that are not listed here are
// forwarded without a record.
class TracedFileSystem final : public FileSystemWrapper {
 public:
  TracedFileSystem(const std::shared_ptr<FileSystem>& fs, std::shared_ptr<IoTrace> trace)
      : FileSystemWrapper(fs), trace_(std::move(trace)) {}

  static const char* kClassName() { return "IoTracedFileSystem"; }
  const char* Name() const override { return kClassName(); }
  // Finds the factory of mapped logs, so that a trace does not change how logs are written.
  const void* GetOptionsPtr(const std::string& name) const override {
    return std::as_const(*target_).GetOptions<char>(name);
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    return Opened<TracedSequentialFile>("NewSequentialFile", f, dbg, r, [&] {
      return target_->NewSequentialFile(f, options, r, dbg);
    });
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    return Opened<TracedRandomAccessFile>("NewRandomAccessFile", f, dbg, r, [&] {
      return target_->NewRandomAccessFile(f, options, r, dbg);
    });
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return Opened<TracedWritableFile>("NewWritableFile", f, dbg, r,
                                      [&] { return target_->NewWritableFile(f, options, r, dbg); });
  }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return Opened<TracedWritableFile>("ReopenWritableFile", f, dbg, r, [&] {
      return target_->ReopenWritableFile(f, options, r, dbg);
    });
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    return Opened<TracedWritableFile>("ReuseWritableFile", f, dbg, r, [&] {
      return target_->ReuseWritableFile(f, old, options, r, dbg);
    });
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override {
    return Opened<TracedDirectory>("NewDirectory", name, dbg, r,
                                   [&] { return target_->NewDirectory(name, options, r, dbg); });
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* r, IODebugContext* dbg) override {
    return Of(Named("GetChildren"), dir, dbg,
              [&] { return target_->GetChildren(dir, options, r, dbg); });
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    return Of(Named("DeleteFile"), f, dbg, [&] { return target_->DeleteFile(f, options, dbg); });
  }
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override {
    return Of(OfSize("Truncate", size), f, dbg,
              [&] { return target_->Truncate(f, size, options, dbg); });
  }
  IOStatus CreateDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override {
    return Of(Named("CreateDir"), d, dbg, [&] { return target_->CreateDir(d, options, dbg); });
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override {
    return Of(Named("CreateDirIfMissing"), d, dbg,
              [&] { return target_->CreateDirIfMissing(d, options, dbg); });
  }
  IOStatus DeleteDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override {
    return Of(Named("DeleteDir"), d, dbg, [&] { return target_->DeleteDir(d, options, dbg); });
  }
  // The record of this call also contains the size that was found.
  IOStatus GetFileSize(const std::string& f, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    if (!trace_->is_on()) [[likely]]
      return target_->GetFileSize(f, options, size, dbg);
    const uint64_t begin = trace_->NowNanos();
    const IOStatus status = target_->GetFileSize(f, options, size, dbg);
    trace_->Record(OfSize("GetFileSize", status.ok() ? *size : 0), trace_->NowNanos() - begin,
                   status, f, dbg);
    return status;
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& options,
                      IODebugContext* dbg) override {
    return Of(Named("RenameFile"), t, dbg, [&] { return target_->RenameFile(s, t, options, dbg); });
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& options,
                    IODebugContext* dbg) override {
    return Of(Named("LinkFile"), t, dbg, [&] { return target_->LinkFile(s, t, options, dbg); });
  }
  IOStatus SyncFile(const std::string& f, const FileOptions& file_options, const IOOptions& options,
                    bool use_fsync, IODebugContext* dbg) override {
    return Of(Named("SyncFile"), f, dbg,
              [&] { return target_->SyncFile(f, file_options, options, use_fsync, dbg); });
  }

 private:
  // Runs one operation of the file system and records it.
  template <typename Run>
  IOStatus Of(const IoOperation& operation, const std::string& path, const IODebugContext* dbg,
              const Run& run) const {
    return Traced(trace_.get(), path, operation, dbg, run);
  }
  // Opens a file and wraps it. The wrapper is used even if no trace runs now, because one may start
  // while the file is open.
  template <typename Wrapper, typename File, typename Run>
  IOStatus Opened(const char* name, const std::string& path, const IODebugContext* dbg,
                  std::unique_ptr<File>* file, const Run& run) const {
    const IOStatus opened = Of(Named(name), path, dbg, run);
    if (!opened.ok()) return opened;
    assert(*file != nullptr);
    *file = std::make_unique<Wrapper>(std::move(*file), Place{trace_, path});
    return opened;
  }

  const std::shared_ptr<IoTrace> trace_;
};

}  // namespace

std::shared_ptr<FileSystem> WithIoTrace(const std::shared_ptr<FileSystem>& fs,
                                        std::shared_ptr<IoTrace> trace) {
  assert(fs != nullptr);
  assert(trace != nullptr);
  return std::make_shared<TracedFileSystem>(fs, std::move(trace));
}

const FileSystem* WithoutIoTrace(const FileSystem* fs) {
  if (fs == nullptr || !fs->IsInstanceOf(TracedFileSystem::kClassName())) return fs;
  return static_cast<const TracedFileSystem*>(fs)->target();
}

}  // namespace ashlar
