// SPDX-License-Identifier: Apache-2.0
//
// The file objects of FaultFileSystem.
#include "env/fault/fault_files.h"

#include <cassert>
#include <utility>

namespace ashlar {

namespace {

// The call of an open file, with its identity.
FileCall CallOn(const FaultFileContext& context, CallKind kind, uint64_t offset = 0,
                uint64_t size = 0) {
  FileCall call;
  call.kind = kind;
  call.path = context.path;
  call.file_id = context.file_id;
  call.offset = offset;
  call.size = size;
  return call;
}

IOStatus RunWhole(const FaultFileContext& context, CallKind kind,
                  const std::function<IOStatus()>& action) {
  assert(context.fs != nullptr);
  return context.fs->RunWhole(CallOn(context, kind), action);
}

// Runs a read that may be cut short: `read(n)` reads up to n bytes, and a fault may pass half of
// the size.
IOStatus RunRead(const FaultFileContext& context, uint64_t offset, size_t n, Slice* result,
                 const std::function<IOStatus(size_t n)>& read) {
  assert(context.fs != nullptr);
  assert(result != nullptr);
  *result = Slice();
  const auto reading = [&](size_t count) {
    return [&read, result, count](size_t* applied_bytes) {
      IOStatus status = read(count);
      *applied_bytes = result->size();
      return status;
    };
  };
  IOStatus status = context.fs->Run(CallOn(context, CallKind::kRead, offset, n), Slice(),
                                    {reading(n), reading(n / 2)});
  if (!status.ok()) *result = Slice();
  return status;
}

// Counts the position itself, since calls are recorded with their offsets.
class FaultSequentialFile : public FSSequentialFileOwnerWrapper {
 public:
  FaultSequentialFile(const FaultFileContext& context, std::unique_ptr<FSSequentialFile> file)
      : FSSequentialFileOwnerWrapper(std::move(file)), context_(context) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    IOStatus status = RunRead(context_, offset_, n, result, [&](size_t count) {
      return target()->Read(count, options, result, scratch, dbg);
    });
    offset_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t n) override {
    offset_ += n;
    return target()->Skip(n);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return RunRead(context_, offset, n, result, [&](size_t count) {
      return target()->PositionedRead(offset, count, options, result, scratch, dbg);
    });
  }

 private:
  const FaultFileContext context_;
  uint64_t offset_ = 0;
};

// Asynchronous reads and multiple reads are carried out one by one, on the calling thread.
class FaultRandomAccessFile : public FSRandomAccessFileOwnerWrapper {
 public:
  FaultRandomAccessFile(const FaultFileContext& context, std::unique_ptr<FSRandomAccessFile> file)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), context_(context) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return RunRead(context_, offset, n, result, [&](size_t count) {
      return target()->Read(offset, count, options, result, scratch, dbg);
    });
  }
  // Each request is a call of its own, so that each can fail.
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    return FSRandomAccessFile::MultiRead(reqs, num_reqs, options, dbg);
  }
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return FSRandomAccessFile::ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }

 private:
  const FaultFileContext context_;
};

// The destructor closes a file that is still open. Otherwise the destructor of the target would
// close it, without a number.
class FaultWritableFile : public FSWritableFileOwnerWrapper {
 public:
  FaultWritableFile(const FaultFileContext& context, std::unique_ptr<FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)), context_(context) {}
  ~FaultWritableFile() override {
    if (!is_closed_) IgnoreStatus(Close(IOOptions(), nullptr));
  }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    // The difference in size shows how many bytes were written by an append that failed halfway.
    const uint64_t offset = target()->GetFileSize(options, dbg);
    const auto appending = [&](size_t count) {
      return [&, count](size_t* applied_bytes) {
        assert(count <= data.size());
        IOStatus status = target()->Append(Slice(data.data(), count), options, dbg);
        *applied_bytes = static_cast<size_t>(target()->GetFileSize(options, dbg) - offset);
        return status;
      };
    };
    return context_.fs->Run(CallOn(context_, CallKind::kAppend, offset, data.size()), data,
                            {appending(data.size()), appending(data.size() / 2)});
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    const auto writing = [&](size_t count) {
      return [&, count](size_t* applied_bytes) {
        assert(count <= data.size());
        IOStatus status =
            target()->PositionedAppend(Slice(data.data(), count), offset, options, dbg);
        // A positioned write that failed does not tell how much it wrote, so no byte counts as
        // written.
        *applied_bytes = status.ok() ? count : 0;
        return status;
      };
    };
    return context_.fs->Run(CallOn(context_, CallKind::kPositionedWrite, offset, data.size()), data,
                            {writing(data.size()), writing(data.size() / 2)});
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo&, IODebugContext* dbg) override {
    return PositionedAppend(data, offset, options, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return context_.fs->RunWhole(CallOn(context_, CallKind::kTruncate, 0, size),
                                 [&] { return target()->Truncate(size, options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    is_closed_ = true;
    return RunWhole(context_, CallKind::kClose, [&] { return target()->Close(options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kSync, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kSync, [&] { return target()->Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return context_.fs->RunWhole(CallOn(context_, CallKind::kRangeSync, offset, nbytes),
                                 [&] { return target()->RangeSync(offset, nbytes, options, dbg); });
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    return context_.fs->RunWhole(CallOn(context_, CallKind::kAllocate, offset, len),
                                 [&] { return target()->Allocate(offset, len, options, dbg); });
  }
  // Calls Allocate() of this object, so that the allocation gets a number.
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    FSWritableFile::PrepareWrite(offset, len, options, dbg);
  }
  void SetPreallocationBlockSize(size_t size) override {
    FSWritableFile::SetPreallocationBlockSize(size);
  }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    FSWritableFile::GetPreallocationStatus(block_size, last_allocated_block);
  }

 private:
  static void IgnoreStatus(const IOStatus&) {}

  const FaultFileContext context_;
  bool is_closed_ = false;
};

// Files that are read and written in place.
class FaultRandomRWFile : public FSRandomRWFileOwnerWrapper {
 public:
  FaultRandomRWFile(const FaultFileContext& context, std::unique_ptr<FSRandomRWFile> file)
      : FSRandomRWFileOwnerWrapper(std::move(file)), context_(context) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    const auto writing = [&](size_t count) {
      return [&, count](size_t* applied_bytes) {
        assert(count <= data.size());
        IOStatus status = target()->Write(offset, Slice(data.data(), count), options, dbg);
        *applied_bytes = status.ok() ? count : 0;
        return status;
      };
    };
    return context_.fs->Run(CallOn(context_, CallKind::kPositionedWrite, offset, data.size()), data,
                            {writing(data.size()), writing(data.size() / 2)});
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return RunRead(context_, offset, n, result, [&](size_t count) {
      return target()->Read(offset, count, options, result, scratch, dbg);
    });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kSync, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kSync, [&] { return target()->Fsync(options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kClose, [&] { return target()->Close(options, dbg); });
  }

 private:
  const FaultFileContext context_;
};

// Only a sync of the directory makes the names of files durable, so tests let these syncs fail.
class FaultDirectory : public FSDirectoryWrapper {
 public:
  FaultDirectory(const FaultFileContext& context, std::unique_ptr<FSDirectory> directory)
      : FSDirectoryWrapper(directory.get()), guard_(std::move(directory)), context_(context) {
    assert(guard_ != nullptr);
  }

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return RunWhole(context_, CallKind::kSyncDirectory,
                    [&] { return guard_->Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& reason) override {
    return RunWhole(context_, CallKind::kSyncDirectory,
                    [&] { return guard_->FsyncWithDirOptions(options, dbg, reason); });
  }

 private:
  const std::unique_ptr<FSDirectory> guard_;
  const FaultFileContext context_;
};

}  // namespace

std::unique_ptr<FSSequentialFile> NewFaultFile(const FaultFileContext& context,
                                               std::unique_ptr<FSSequentialFile> file) {
  assert(file != nullptr);
  return std::make_unique<FaultSequentialFile>(context, std::move(file));
}
std::unique_ptr<FSRandomAccessFile> NewFaultFile(const FaultFileContext& context,
                                                 std::unique_ptr<FSRandomAccessFile> file) {
  assert(file != nullptr);
  return std::make_unique<FaultRandomAccessFile>(context, std::move(file));
}
std::unique_ptr<FSWritableFile> NewFaultFile(const FaultFileContext& context,
                                             std::unique_ptr<FSWritableFile> file) {
  assert(file != nullptr);
  return std::make_unique<FaultWritableFile>(context, std::move(file));
}
std::unique_ptr<FSRandomRWFile> NewFaultFile(const FaultFileContext& context,
                                             std::unique_ptr<FSRandomRWFile> file) {
  assert(file != nullptr);
  return std::make_unique<FaultRandomRWFile>(context, std::move(file));
}
std::unique_ptr<FSDirectory> NewFaultFile(const FaultFileContext& context,
                                          std::unique_ptr<FSDirectory> directory) {
  return std::make_unique<FaultDirectory>(context, std::move(directory));
}

}  // namespace ashlar
