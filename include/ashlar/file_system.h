// SPDX-License-Identifier: Apache-2.0
//
// FileSystem: files, directories and locks; the half of Env that stores data. To change only some
// functions, derive from FileSystemWrapper (ashlar/file_system_wrapper.h, included at the end).
//
// Every call takes hints (IOOptions) and an object for tracing (IODebugContext, may be nullptr).
//
// Threads: a FileSystem and an FSRandomAccessFile may be used by many threads at the same time;
// other files by one thread at a time.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/io_status.h"
#include "ashlar/slice.h"
#include "ashlar/types.h"

namespace folly {
class IOExecutor;
}  // namespace folly

namespace ashlar {

class FSDirectory;
class FSRandomAccessFile;
class FSRandomRWFile;
class FSSequentialFile;
class FSWritableFile;
class FileSystem;
struct ConfigOptions;
struct DBOptions;
struct ImmutableDBOptions;
struct MutableDBOptions;
enum ChecksumType : char;

using AccessPattern = RandomAccessFile::AccessPattern;
using FileAttributes = Env::FileAttributes;

enum class IOPriority : uint8_t { kIOLow, kIOHigh, kIOTotal };

// The kind of file that a call reads or writes.
enum class IOType : uint8_t {
  kData,
  kFilter,
  kIndex,
  kMetadata,
  kWAL,
  kManifest,
  kLog,
  kUnknown,
  kInvalid,
};

// Bit numbers for FileSystem::SupportedOps().
enum FSSupportedOps {
  kAsyncIO,                   // ReadAsync() is asynchronous
  kFSBuffer,                  // reads can return a buffer of their own: FSReadRequest::fs_scratch
  kVerifyAndReconstructRead,  // can repair damaged data while reading
  kFSPrefetch,                // Prefetch() has an effect
};

// Hints for one call.
struct IOOptions {
  // Longest time that the call may take; 0 = no limit.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
  IOPriority prio = IOPriority::kIOLow;
  // Priority in the rate limiter; IO_TOTAL = not limited.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  IOType type = IOType::kUnknown;
  // Parameters for the file system; the engine only passes them on.
  std::unordered_map<std::string, std::string> property_bag;
  // Sync the directory even if the file system makes its entries durable by itself.
  bool force_dir_fsync = false;
  // GetChildren() need not visit subdirectories.
  bool do_not_recurse = false;
  bool verify_and_reconstruct_read = false;
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;

  IOOptions() : IOOptions(false) {}
  explicit IOOptions(bool force_dir_fsync_) : force_dir_fsync(force_dir_fsync_) {}
};

// Why a directory is synced.
struct DirFsyncOptions {
  enum FsyncReason : uint8_t {
    kNewFileSynced,
    kFileRenamed,
    kDirRenamed,
    kFileDeleted,
    kDefault,
  } reason;

  std::string renamed_new_name;  // for kFileRenamed

  DirFsyncOptions() : reason(kDefault) {}
  explicit DirFsyncOptions(std::string file_renamed_new_name)
      : reason(kFileRenamed), renamed_new_name(std::move(file_renamed_new_name)) {}
  explicit DirFsyncOptions(FsyncReason fsync_reason) : reason(fsync_reason) {}
};

// What the caller of an open guarantees about the file; a set of bits.
enum class FileOpenContract : uint8_t {
  kDefault = 0,
  kNoReopenForWrite = 1,
  kNoReadersWhileOpenForWrite = 2,
};
constexpr FileOpenContract operator|(FileOpenContract lhs, FileOpenContract rhs) {
  return static_cast<FileOpenContract>(static_cast<uint8_t>(lhs) | static_cast<uint8_t>(rhs));
}
inline FileOpenContract& operator|=(FileOpenContract& lhs, FileOpenContract rhs) {
  return lhs = lhs | rhs;
}
constexpr bool HasFileOpenContract(FileOpenContract contracts, FileOpenContract contract) {
  return (static_cast<uint8_t>(contracts) & static_cast<uint8_t>(contract)) ==
         static_cast<uint8_t>(contract);
}

// How a file is opened. EnvOptions has further fields.
struct ASHLAR_EXPORT FileOptions : public EnvOptions {
  IOOptions io_options;
  Temperature temperature = Temperature::kUnknown;
  FileOpenContract open_contract = FileOpenContract::kDefault;
  // Type of the checksum that is passed together with appended data; default: CRC32C.
  ChecksumType handoff_checksum_type;
  Env::WriteLifeTimeHint write_hint = Env::WLTH_NOT_SET;
  // Checksum of the whole file, empty if unknown, and the name of its function.
  std::string file_checksum;
  std::string file_checksum_func_name;
  // Receives metadata from file systems that support it. Not owned.
  std::string* file_metadata = nullptr;

  FileOptions();
  FileOptions(const DBOptions& opts);   // NOLINT: implicit on purpose
  FileOptions(const EnvOptions& opts);  // NOLINT: implicit on purpose
  FileOptions(const FileOptions& opts);
  FileOptions& operator=(const FileOptions& opts);
};

// Filled in by the file system, for tracing.
struct ASHLAR_EXPORT IODebugContext {
  std::string file_path;
  std::map<std::string, uint64_t> counters;
  std::string msg;
  // Name of the request that led to this call; nullptr = none. Not owned.
  const std::string* request_id = nullptr;

  // Bit numbers for trace_data, which tells which fields are set.
  enum TraceData : char { kRequestID = 0 };
  uint64_t trace_data = 0;

  std::any cost_info;
  std::shared_mutex mutex;  // guards cost_info if calls run in parallel

  IODebugContext();
  IODebugContext(const IODebugContext& other);
  IODebugContext& operator=(const IODebugContext& other);
  ~IODebugContext();

  void AddCounter(std::string& name, uint64_t value) { counters.emplace(name, value); }
  void SetRequestId(const std::string* updated_request_id);
  std::string ToString();
};

// Releases the handle of an asynchronous call.
using IOHandleDeleter = std::function<void(void*)>;

// The functions mean the same as functions of the same name in Env.
class ASHLAR_EXPORT FileSystem : public Customizable {
 public:
  FileSystem();
  FileSystem(const FileSystem&) = delete;
  ~FileSystem() override;

  static const char* Type() { return "FileSystem"; }
  static const char* kDefaultName() { return "DefaultFileSystem"; }

  // Returns the built-in file system with this name.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<FileSystem>* result);

  // The file system of the machine. Never destroyed.
  static std::shared_ptr<FileSystem> Default();

  virtual Status RegisterDbPaths(const std::vector<std::string>& /*paths*/) { return Status::OK(); }
  virtual Status UnregisterDbPaths(const std::vector<std::string>& /*paths*/) {
    return Status::OK();
  }

  virtual folly::IOExecutor* GetReadExecutor() { return nullptr; }
  virtual void SetReadIOExecutorThreads(int /*threads*/) {}

  virtual IOStatus NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                                     std::unique_ptr<FSSequentialFile>* result,
                                     IODebugContext* dbg) = 0;
  virtual IOStatus NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                                       std::unique_ptr<FSRandomAccessFile>* result,
                                       IODebugContext* dbg) = 0;
  virtual IOStatus NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                                   std::unique_ptr<FSWritableFile>* result,
                                   IODebugContext* dbg) = 0;
  virtual IOStatus ReopenWritableFile(const std::string& fname, const FileOptions& options,
                                      std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  virtual IOStatus ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                     const FileOptions& file_opts,
                                     std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  virtual IOStatus NewRandomRWFile(const std::string& fname, const FileOptions& options,
                                   std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg);
  virtual IOStatus NewMemoryMappedFileBuffer(const std::string& fname,
                                             std::unique_ptr<MemoryMappedFileBuffer>* result);
  virtual IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                                std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) = 0;

  virtual IOStatus FileExists(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                               std::vector<std::string>* result, IODebugContext* dbg) = 0;
  virtual IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                             std::vector<FileAttributes>* result,
                                             IODebugContext* dbg);
  virtual IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus CreateDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                                      IODebugContext* dbg) = 0;
  virtual IOStatus DeleteDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus GetFileSize(const std::string& fname, const IOOptions& options,
                               uint64_t* file_size, IODebugContext* dbg) = 0;
  virtual IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                           uint64_t* file_mtime, IODebugContext* dbg) = 0;
  virtual IOStatus RenameFile(const std::string& src, const std::string& target,
                              const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus LinkFile(const std::string& src, const std::string& target,
                            const IOOptions& options, IODebugContext* dbg);
  virtual IOStatus SyncFile(const std::string& fname, const FileOptions& file_opts,
                            const IOOptions& io_opts, bool use_fsync, IODebugContext* dbg);
  virtual IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                                IODebugContext* dbg);
  virtual IOStatus AreFilesSame(const std::string& first, const std::string& second,
                                const IOOptions& options, bool* result, IODebugContext* dbg);
  virtual IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                            IODebugContext* dbg) = 0;
  virtual IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                                    IODebugContext* dbg) = 0;
  // Called for the info log of a database, unless that is split by size or time (max_log_file_size,
  // log_file_time_to_roll). The default implementation writes to a file.
  virtual IOStatus NewLogger(const std::string& fname, const IOOptions& io_opts,
                             std::shared_ptr<Logger>* result, IODebugContext* dbg);
  virtual IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& options,
                                   std::string* output_path, IODebugContext* dbg) = 0;

  // Options for opening a kind of file. docs/compatibility.md says which of these are called, and
  // when.
  virtual void SanitizeFileOptions(FileOptions* /*opts*/) const {}
  virtual FileOptions OptimizeForLogRead(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForManifestRead(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForLogWrite(const FileOptions& file_options,
                                          const DBOptions& db_options) const;
  virtual FileOptions OptimizeForManifestWrite(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForCompactionTableWrite(
      const FileOptions& file_options, const ImmutableDBOptions& immutable_ops) const;
  virtual FileOptions OptimizeForCompactionTableRead(const FileOptions& file_options,
                                                     const ImmutableDBOptions& db_options) const;
  virtual FileOptions OptimizeForBlobFileRead(const FileOptions& file_options,
                                              const ImmutableDBOptions& db_options) const;

  virtual IOStatus GetFreeSpace(const std::string& path, const IOOptions& options,
                                uint64_t* diskfree, IODebugContext* dbg);
  virtual IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                               IODebugContext* dbg) = 0;

  // Waits until at least min_completions of the reads started by ReadAsync() are done. AbortIO()
  // ends them.
  virtual IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions);
  virtual IOStatus AbortIO(std::vector<void*>& io_handles);

  virtual void DiscardCacheForDirectory(const std::string& /*path*/) {}
  // Sets the bits of FSSupportedOps.
  virtual void SupportedOps(int64_t& supported_ops) { supported_ops = 0; }

 private:
  void operator=(const FileSystem&) = delete;
};

// Reads a file from its beginning. Threads: one at a time.
class ASHLAR_EXPORT FSSequentialFile {
 public:
  FSSequentialFile() = default;
  virtual ~FSSequentialFile();

  virtual IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                        IODebugContext* dbg) = 0;
  virtual IOStatus Skip(uint64_t n) = 0;
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options,
                                  Slice* result, char* scratch, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

using FSAllocationPtr = std::unique_ptr<void, std::function<void(void*)>>;

// One of several reads of a file.
struct FSReadRequest {
  uint64_t offset;
  size_t len;
  char* scratch;
  Slice result;     // set by the file system
  IOStatus status;  // set by the file system
  // With kFSBuffer: a buffer of the file system that `result` points to.
  FSAllocationPtr fs_scratch;
};

// Reads a file at any offset. Threads: any number at the same time.
class ASHLAR_EXPORT FSRandomAccessFile {
 public:
  FSRandomAccessFile() = default;
  virtual ~FSRandomAccessFile();

  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  virtual IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                            IODebugContext* dbg);
  // Performs several reads. Each request has its own status; the result is OK if all could be
  // tried.
  virtual IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                             IODebugContext* dbg);
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }

  enum AccessPattern { kNormal, kRandom, kSequential, kWillNeed, kWontNeed };
  virtual void Hint(AccessPattern /*pattern*/) {}

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  // Starts a read; `cb` is called with the request when it is done. The default implementation
  // reads immediately, calls back, and sets *io_handle to nullptr.
  virtual IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                             std::function<void(FSReadRequest&, void*)> cb, void* cb_arg,
                             void** io_handle, IOHandleDeleter* del_fn, IODebugContext* dbg);
  // Returns false if the read was not accepted; then the caller reads the data itself.
  virtual bool SubmitReadAsync(FSReadRequest& req, const IOOptions& opts,
                               std::function<void(FSReadRequest&)> cb, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
  virtual IOStatus GetFileSize(uint64_t* result);

  static constexpr size_t kMaxFileOpenMetadataSize = 8 * 1024;
  virtual IOStatus GetFileOpenMetadata(std::string* metadata);
};

// Checksum of appended data, of the type FileOptions::handoff_checksum_type.
struct DataVerificationInfo {
  Slice checksum;
};

// Writes a file, mostly by appending. Threads: one at a time.
class ASHLAR_EXPORT FSWritableFile {
 public:
  FSWritableFile() = default;
  explicit FSWritableFile(const FileOptions& options)
      : strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  FSWritableFile(const FSWritableFile&) = delete;
  void operator=(const FSWritableFile&) = delete;
  virtual ~FSWritableFile();

  virtual IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Append(const Slice& data, const IOOptions& options,
                          const DataVerificationInfo& /*verification_info*/, IODebugContext* dbg) {
    return Append(data, options, dbg);
  }
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    const DataVerificationInfo& verification_info,
                                    IODebugContext* dbg);
  virtual IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg);
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }

  virtual uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *last_allocated_block = last_preallocated_block_;
    *block_size = preallocation_block_size_;
  }
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                             IODebugContext* dbg);
  virtual void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                            IODebugContext* dbg);

 protected:
  size_t preallocation_block_size() { return preallocation_block_size_; }

 private:
  size_t last_preallocated_block_ = 0;  // number of blocks that have been allocated
  size_t preallocation_block_size_ = 0;
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  bool strict_bytes_per_sync_ = false;
};

// Reads and writes a file at any offset. Threads: one at a time.
class ASHLAR_EXPORT FSRandomRWFile {
 public:
  FSRandomRWFile() = default;
  FSRandomRWFile(const FSRandomRWFile&) = delete;
  FSRandomRWFile& operator=(const FSRandomRWFile&) = delete;
  virtual ~FSRandomRWFile();

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                         IODebugContext* dbg) = 0;
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

// A file that is mapped into memory for reading and writing.
class ASHLAR_EXPORT FSMemoryMappedFileBuffer {
 public:
  FSMemoryMappedFileBuffer(void* _base, size_t _length) : base_(_base), length_(_length) {}
  FSMemoryMappedFileBuffer(const FSMemoryMappedFileBuffer&) = delete;
  FSMemoryMappedFileBuffer& operator=(const FSMemoryMappedFileBuffer&) = delete;
  virtual ~FSMemoryMappedFileBuffer() = 0;

  void* GetBase() const { return base_; }
  size_t GetLen() const { return length_; }

 protected:
  void* base_;
  const size_t length_;
};

// An open directory, with which its entries can be synced.
class ASHLAR_EXPORT FSDirectory {
 public:
  virtual ~FSDirectory();
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                       const DirFsyncOptions& /*dir_fsync_options*/) {
    return Fsync(options, dbg);
  }
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg);
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
};

// Replaces the contents of the file. If that fails, the file is deleted.
ASHLAR_EXPORT IOStatus WriteStringToFile(FileSystem* fs, const Slice& data,
                                         const std::string& fname, bool should_sync = false,
                                         const IOOptions& io_options = IOOptions(),
                                         const FileOptions& file_options = FileOptions());
ASHLAR_EXPORT IOStatus ReadFileToString(FileSystem* fs, const std::string& fname,
                                        std::string* data);
ASHLAR_EXPORT IOStatus ReadFileToString(FileSystem* fs, const std::string& fname,
                                        const IOOptions& opts, std::string* data);

}  // namespace ashlar

#include "ashlar/file_system_wrapper.h"  // IWYU pragma: export
