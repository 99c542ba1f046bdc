// SPDX-License-Identifier: Apache-2.0
//
// Env: the interface between the engine and the machine. All access to files, directories, locks,
// time and background threads goes through it, so that a program can run a database on something
// other than a POSIX system.
//
// Most programs use Env::Default(). To change only some functions, derive from EnvWrapper
// (ashlar/env_wrapper.h, included at the end). Newer code implements the two halves separately,
// FileSystem (ashlar/file_system.h) and SystemClock, and combines them with NewCompositeEnv().
//
// Threads: Env, Logger and RandomAccessFile may be used by many threads at the same time; all other
// objects by one thread at a time.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/functor_wrapper.h"
#include "ashlar/port_defs.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/thread_status.h"
#include "ashlar/types.h"

// Lets the compiler check the arguments of printf-style functions.
#if defined(__GNUC__) || defined(__clang__)
#define ASHLAR_PRINTF_FORMAT(format_parameter, first_argument) \
  __attribute__((__format__(__printf__, format_parameter, first_argument)))
#else
#define ASHLAR_PRINTF_FORMAT(format_parameter, first_argument)
#endif
#if !defined(ROCKSDB_PRINTF_FORMAT_ATTR)
#define ROCKSDB_PRINTF_FORMAT_ATTR(a, b) ASHLAR_PRINTF_FORMAT(a, b)
#endif

namespace ashlar {

class Directory;
class DynamicLibrary;
class FileLock;
class FileSystem;
class Logger;
class MemoryMappedFileBuffer;
class RandomAccessFile;
class RandomRWFile;
class RateLimiter;
class SequentialFile;
class SystemClock;
class ThreadStatusUpdater;
class WritableFile;
struct ConfigOptions;
struct DBOptions;
struct DataVerificationInfo;
struct IOOptions;
struct ImmutableDBOptions;
struct MutableDBOptions;

const size_t kDefaultPageSize = 4 * 1024;

// How a file is opened. Usually set from DBOptions.
struct ASHLAR_EXPORT EnvOptions {
  EnvOptions();
  explicit EnvOptions(const DBOptions& options);

  // Map files into memory instead of reading or writing them. The POSIX file system maps only
  // finished files for random reads; it never writes through a map.
  bool use_mmap_reads = false;
  bool use_mmap_writes = false;

  // Do not use the page cache (O_DIRECT).
  bool use_direct_reads = false;
  bool use_direct_writes = false;

  // If false, disk space is never reserved before it is written.
  bool allow_fallocate = true;

  // Close files in child processes.
  bool set_fd_cloexec = true;

  // Ask the kernel to write dirty pages to the device after each bytes_per_sync bytes; 0 = leave it
  // to the kernel. With strict_bytes_per_sync, wait for the previous request first, which limits
  // the number of dirty pages.
  uint64_t bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;

  // Reserving disk space does not change the file size.
  bool fallocate_with_keep_size = true;

  size_t compaction_readahead_size = 0;

  // Bytes that a writer may buffer before it makes a system call.
  size_t writable_file_max_buffer_size = 1024 * 1024;

  // Limits reads, and the writes of an SstFileWriter; nullptr = no limit. Not owned.
  RateLimiter* rate_limiter = nullptr;
};

// Access to files, time and threads of the machine.
class ASHLAR_EXPORT Env : public Customizable {
 public:
  static const char* kDefaultName() { return "DefaultEnv"; }

  struct FileAttributes {
    std::string name;     // without the directory
    uint64_t size_bytes;  // 0 for a directory
    Temperature temperature = Temperature::kUnknown;
  };

  // The first form creates a FileSystem and a SystemClock that call the functions of this object.
  Env();
  explicit Env(const std::shared_ptr<FileSystem>& fs);
  Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock);
  Env(const Env&) = delete;
  void operator=(const Env&) = delete;
  ~Env() override;

  static const char* Type() { return "Environment"; }
  const char* Name() const override { return ""; }

  // Returns the Env with this name: Default() for an empty name or the name of the default. Other
  // names are NotSupported, or leave *result unchanged with OK if
  // config_options.ignore_unsupported_options is set, as it is by default. `guard` receives
  // ownership of the result, if it has an owner.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result);
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result, std::shared_ptr<Env>* guard);
  static Status CreateFromUri(const ConfigOptions& options, const std::string& env_uri,
                              const std::string& fs_uri, Env** result, std::shared_ptr<Env>* guard);

  // The environment of the machine. Always the same object, never deleted.
  static Env* Default();

  // Tell the Env which directories a database is about to use, or does not use any more. The engine
  // does not call them.
  virtual Status RegisterDbPaths(const std::vector<std::string>& /*paths*/) { return Status::OK(); }
  virtual Status UnregisterDbPaths(const std::vector<std::string>& /*paths*/) {
    return Status::OK();
  }

  // ---- Files. After an error *result is reset. The status is an IOError: IsPathNotFound() is true
  // for a missing file or directory, IsNoSpace() for a full disk.

  virtual Status NewSequentialFile(const std::string& fname,
                                   std::unique_ptr<SequentialFile>* result,
                                   const EnvOptions& options) = 0;
  virtual Status NewRandomAccessFile(const std::string& fname,
                                     std::unique_ptr<RandomAccessFile>* result,
                                     const EnvOptions& options) = 0;

  // How long the written data is expected to exist.
  enum WriteLifeTimeHint {
    WLTH_NOT_SET = 0,
    WLTH_NONE,
    WLTH_SHORT,
    WLTH_MEDIUM,
    WLTH_LONG,
    WLTH_EXTREME,
  };

  // Creates a file. If it exists, its contents are removed.
  virtual Status NewWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                 const EnvOptions& options) = 0;
  // Opens a file for appending; creates it if it does not exist.
  virtual Status ReopenWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                    const EnvOptions& options);
  // Renames `old_fname` to `fname` and opens it for overwriting from the beginning. The old
  // contents stay until they are overwritten.
  virtual Status ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                   std::unique_ptr<WritableFile>* result,
                                   const EnvOptions& options);
  virtual Status NewRandomRWFile(const std::string& fname, std::unique_ptr<RandomRWFile>* result,
                                 const EnvOptions& options);
  virtual Status NewMemoryMappedFileBuffer(const std::string& fname,
                                           std::unique_ptr<MemoryMappedFileBuffer>* result);

  // ---- Directories and file names.

  virtual Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* result) = 0;
  // OK if the file exists, NotFound if it does not, or an error if that is not known.
  virtual Status FileExists(const std::string& fname) = 0;
  // Returns the names of the files in `dir`, without "." and "..", in unspecified order.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;
  virtual Status GetChildrenFileAttributes(const std::string& dir,
                                           std::vector<FileAttributes>* result);
  virtual Status DeleteFile(const std::string& fname) = 0;
  virtual Status Truncate(const std::string& fname, size_t size);
  virtual Status CreateDir(const std::string& dirname) = 0;
  virtual Status CreateDirIfMissing(const std::string& dirname) = 0;
  virtual Status DeleteDir(const std::string& dirname) = 0;
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;
  // Returns the time in seconds since the Unix epoch.
  virtual Status GetFileModificationTime(const std::string& fname, uint64_t* file_mtime) = 0;
  // Replaces `target` atomically if it exists.
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;
  virtual Status LinkFile(const std::string& src, const std::string& target);
  virtual Status SyncFile(const std::string& fname, const EnvOptions& options, bool use_fsync);
  virtual Status NumFileLinks(const std::string& fname, uint64_t* count);
  virtual Status AreFilesSame(const std::string& first, const std::string& second, bool* result);

  // Locks a file against other processes and against this process; never waits. If it is locked,
  // the status is an IOError that names the holder. Creates the file if necessary; UnlockFile()
  // does not delete it.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;
  virtual Status UnlockFile(FileLock* lock) = 0;

  virtual Status LoadLibrary(const std::string& lib_name, const std::string& search_path,
                             std::shared_ptr<DynamicLibrary>* result);

  // ---- Threads.

  // Thread pools, lowest priority first. USER is for work on behalf of the program.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  static std::string PriorityToString(Priority priority);

  enum IOPriority { IO_LOW = 0, IO_MID = 1, IO_HIGH = 2, IO_USER = 3, IO_TOTAL = 4 };

  // The purpose of a read or write. Programs may use the custom values.
  enum class IOActivity : uint8_t {
    kFlush = 0,
    kCompaction,
    kDBOpen,
    kGet,
    kMultiGet,
    kDBIterator,
    kVerifyDBChecksum,
    kVerifyFileChecksums,
    kGetEntity,
    kMultiGetEntity,
    kGetFileChecksumsFromCurrentManifest,
    kLazyResolve,
    kFirstCustomIOActivity = 0x80,
    // clang-format off
    kCustomIOActivity80 = 0x80, kCustomIOActivity81 = 0x81, kCustomIOActivity82 = 0x82,
    kCustomIOActivity83 = 0x83, kCustomIOActivity84 = 0x84, kCustomIOActivity85 = 0x85,
    kCustomIOActivity86 = 0x86, kCustomIOActivity87 = 0x87, kCustomIOActivity88 = 0x88,
    kCustomIOActivity89 = 0x89, kCustomIOActivity8A = 0x8A, kCustomIOActivity8B = 0x8B,
    kCustomIOActivity8C = 0x8C, kCustomIOActivity8D = 0x8D, kCustomIOActivity8E = 0x8E,
    kCustomIOActivity8F = 0x8F, kCustomIOActivity90 = 0x90, kCustomIOActivity91 = 0x91,
    kCustomIOActivity92 = 0x92, kCustomIOActivity93 = 0x93, kCustomIOActivity94 = 0x94,
    kCustomIOActivity95 = 0x95, kCustomIOActivity96 = 0x96, kCustomIOActivity97 = 0x97,
    kCustomIOActivity98 = 0x98, kCustomIOActivity99 = 0x99, kCustomIOActivity9A = 0x9A,
    kCustomIOActivity9B = 0x9B, kCustomIOActivity9C = 0x9C, kCustomIOActivity9D = 0x9D,
    kCustomIOActivity9E = 0x9E, kCustomIOActivity9F = 0x9F, kCustomIOActivityA0 = 0xA0,
    kCustomIOActivityA1 = 0xA1, kCustomIOActivityA2 = 0xA2, kCustomIOActivityA3 = 0xA3,
    kCustomIOActivityA4 = 0xA4, kCustomIOActivityA5 = 0xA5, kCustomIOActivityA6 = 0xA6,
    kCustomIOActivityA7 = 0xA7, kCustomIOActivityA8 = 0xA8, kCustomIOActivityA9 = 0xA9,
    kCustomIOActivityAA = 0xAA, kCustomIOActivityAB = 0xAB, kCustomIOActivityAC = 0xAC,
    kCustomIOActivityAD = 0xAD, kCustomIOActivityAE = 0xAE, kCustomIOActivityAF = 0xAF,
    kCustomIOActivityB0 = 0xB0, kCustomIOActivityB1 = 0xB1, kCustomIOActivityB2 = 0xB2,
    kCustomIOActivityB3 = 0xB3, kCustomIOActivityB4 = 0xB4, kCustomIOActivityB5 = 0xB5,
    kCustomIOActivityB6 = 0xB6, kCustomIOActivityB7 = 0xB7, kCustomIOActivityB8 = 0xB8,
    kCustomIOActivityB9 = 0xB9, kCustomIOActivityBA = 0xBA, kCustomIOActivityBB = 0xBB,
    kCustomIOActivityBC = 0xBC, kCustomIOActivityBD = 0xBD, kCustomIOActivityBE = 0xBE,
    kCustomIOActivityBF = 0xBF, kCustomIOActivityC0 = 0xC0, kCustomIOActivityC1 = 0xC1,
    kCustomIOActivityC2 = 0xC2, kCustomIOActivityC3 = 0xC3, kCustomIOActivityC4 = 0xC4,
    kCustomIOActivityC5 = 0xC5, kCustomIOActivityC6 = 0xC6, kCustomIOActivityC7 = 0xC7,
    kCustomIOActivityC8 = 0xC8, kCustomIOActivityC9 = 0xC9, kCustomIOActivityCA = 0xCA,
    kCustomIOActivityCB = 0xCB, kCustomIOActivityCC = 0xCC, kCustomIOActivityCD = 0xCD,
    kCustomIOActivityCE = 0xCE, kCustomIOActivityCF = 0xCF, kCustomIOActivityD0 = 0xD0,
    kCustomIOActivityD1 = 0xD1, kCustomIOActivityD2 = 0xD2, kCustomIOActivityD3 = 0xD3,
    kCustomIOActivityD4 = 0xD4, kCustomIOActivityD5 = 0xD5, kCustomIOActivityD6 = 0xD6,
    kCustomIOActivityD7 = 0xD7, kCustomIOActivityD8 = 0xD8, kCustomIOActivityD9 = 0xD9,
    kCustomIOActivityDA = 0xDA, kCustomIOActivityDB = 0xDB, kCustomIOActivityDC = 0xDC,
    kCustomIOActivityDD = 0xDD, kCustomIOActivityDE = 0xDE, kCustomIOActivityDF = 0xDF,
    kCustomIOActivityE0 = 0xE0, kCustomIOActivityE1 = 0xE1, kCustomIOActivityE2 = 0xE2,
    kCustomIOActivityE3 = 0xE3, kCustomIOActivityE4 = 0xE4, kCustomIOActivityE5 = 0xE5,
    kCustomIOActivityE6 = 0xE6, kCustomIOActivityE7 = 0xE7, kCustomIOActivityE8 = 0xE8,
    kCustomIOActivityE9 = 0xE9, kCustomIOActivityEA = 0xEA, kCustomIOActivityEB = 0xEB,
    kCustomIOActivityEC = 0xEC, kCustomIOActivityED = 0xED, kCustomIOActivityEE = 0xEE,
    kCustomIOActivityEF = 0xEF, kCustomIOActivityF0 = 0xF0, kCustomIOActivityF1 = 0xF1,
    kCustomIOActivityF2 = 0xF2, kCustomIOActivityF3 = 0xF3, kCustomIOActivityF4 = 0xF4,
    kCustomIOActivityF5 = 0xF5, kCustomIOActivityF6 = 0xF6, kCustomIOActivityF7 = 0xF7,
    kCustomIOActivityF8 = 0xF8, kCustomIOActivityF9 = 0xF9, kCustomIOActivityFA = 0xFA,
    kCustomIOActivityFB = 0xFB, kCustomIOActivityFC = 0xFC, kCustomIOActivityFD = 0xFD,
    kCustomIOActivityFE = 0xFE,
    // clang-format on
    kLastCustomIOActivity = 0xFE,
    kUnknown = 0xFF,
  };
  static std::string IOActivityToString(IOActivity activity);

  // Runs function(arg) once in a thread of the pool. Until a job with a `tag` starts, UnSchedule()
  // can remove it; then `unschedFunction`, if not null, is called with the same `arg`.
  virtual void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW,
                        void* tag = nullptr, void (*unschedFunction)(void* arg) = nullptr) = 0;
  // Removes the jobs with this tag. Returns their number.
  virtual int UnSchedule(void* /*tag*/, Priority /*pri*/) { return 0; }

  // Starts a separate thread. WaitForJoin() waits for all threads that were started this way.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;
  template <typename FunctionT, typename... Args>
  void StartThreadTyped(FunctionT function, Args&&... args) {
    using Call = FunctorWrapper<Args...>;
    StartThread(
        [](void* arg) {
          std::unique_ptr<Call> call(static_cast<Call*>(arg));
          call->invoke();
        },
        new Call(std::function<void(Args...)>(function), std::forward<Args>(args)...));
  }
  virtual void WaitForJoin() {}

  virtual int ReserveThreads(int /*threads_to_be_reserved*/, Priority /*pri*/) { return 0; }
  virtual int ReleaseThreads(int /*threads_to_be_released*/, Priority /*pri*/) { return 0; }
  virtual unsigned int GetThreadPoolQueueLen(Priority /*pri*/ = LOW) const { return 0; }

  virtual void SetBackgroundThreads(int number, Priority pri = LOW) = 0;
  virtual int GetBackgroundThreads(Priority pri = LOW) = 0;
  virtual Status SetAllowNonOwnerAccess(bool allow_non_owner_access);
  // Increases the pool to `number` threads; never decreases it.
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;
  virtual void LowerThreadPoolIOPriority(Priority /*pool*/ = LOW) {}
  virtual Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri);
  virtual void LowerThreadPoolCPUPriority(Priority /*pool*/ = LOW) {}

  // Returns the threads of the pools and, for databases with enable_thread_tracking, the flushes
  // and compactions that they and other threads perform. NotSupported if there is no
  // ThreadStatusUpdater, for example in in-memory environments that have no threads of their own.
  virtual Status GetThreadList(std::vector<ThreadStatus>* thread_list);
  virtual ThreadStatusUpdater* GetThreadStatusUpdater() const { return thread_status_updater_; }
  virtual uint64_t GetThreadID() const;

  // ---- Time, host and ids.

  // Returns a directory for tests. Creates it if it does not exist.
  virtual Status GetTestDirectory(std::string* path) = 0;
  virtual Status NewLogger(const std::string& fname, std::shared_ptr<Logger>* result);

  // As for SystemClock.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }
  virtual uint64_t NowCPUNanos() { return 0; }
  virtual void SleepForMicroseconds(int micros) = 0;
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;
  virtual std::string TimeToString(uint64_t time) = 0;

  virtual Status GetHostName(char* name, uint64_t len) = 0;
  virtual Status GetHostNameString(std::string* result);
  virtual Status GetAbsolutePath(const std::string& db_path, std::string* output_path) = 0;
  // Returns 36 characters in the form of a UUID.
  virtual std::string GenerateUniqueId();

  // ---- Options for opening the kinds of files that a database has.

  virtual EnvOptions OptimizeForLogRead(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForManifestRead(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForLogWrite(const EnvOptions& env_options,
                                         const DBOptions& db_options) const;
  virtual EnvOptions OptimizeForManifestWrite(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& env_options,
                                                     const ImmutableDBOptions& immutable_ops) const;
  virtual EnvOptions OptimizeForCompactionTableRead(const EnvOptions& env_options,
                                                    const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForBlobFileRead(const EnvOptions& env_options,
                                             const ImmutableDBOptions& db_options) const;
  virtual void SanitizeEnvOptions(EnvOptions* /*env_opts*/) const {}

  virtual Status GetFreeSpace(const std::string& path, uint64_t* diskfree);
  virtual Status IsDirectory(const std::string& path, bool* is_dir);

  const std::shared_ptr<FileSystem>& GetFileSystem() const;
  const std::shared_ptr<SystemClock>& GetSystemClock() const;

 protected:
  ThreadStatusUpdater* thread_status_updater_ = nullptr;  // not owned
  std::shared_ptr<FileSystem> file_system_;
  std::shared_ptr<SystemClock> system_clock_;
};

ASHLAR_EXPORT ThreadStatusUpdater* CreateThreadStatusUpdater();

// Reads a file from its beginning. Threads: one at a time.
class ASHLAR_EXPORT SequentialFile {
 public:
  SequentialFile() = default;
  virtual ~SequentialFile();

  // Reads up to `n` bytes; fewer only at the end of the file. *result may point into `scratch`,
  // which must have room for `n` bytes and must live as long as *result is used.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  // Skips `n` bytes. It is not an error to skip beyond the end.
  virtual Status Skip(uint64_t n) = 0;
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Removes a range of the file from the page cache; length 0 = to the end.
  virtual Status InvalidateCache(size_t offset, size_t length);
  virtual Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch);
};

// One of the reads of a MultiRead() call.
struct ReadRequest {
  uint64_t offset;
  size_t len;
  char* scratch;
  Slice result;   // set by the file
  Status status;  // set by the file
};

// Reads a file at any offset. Threads: any number at the same time.
class ASHLAR_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;
  virtual ~RandomAccessFile();

  // The same as SequentialFile::Read(), but beginning at `offset`.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // Asks the file system to load a range, which will be read soon.
  virtual Status Prefetch(uint64_t offset, size_t n);
  virtual Status MultiRead(ReadRequest* reqs, size_t num_reqs);
  // Stores an id that stays the same as long as the file exists; returns its length, 0 = no id.
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }

  enum AccessPattern { NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED };
  virtual void Hint(AccessPattern /*pattern*/) {}

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual Status InvalidateCache(size_t offset, size_t length);
  virtual Status GetFileSize(uint64_t* size);
};

// Writes a file, mostly by appending. Threads: one at a time.
class ASHLAR_EXPORT WritableFile {
 public:
  WritableFile() = default;
  explicit WritableFile(const EnvOptions& options)
      : strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  WritableFile(const WritableFile&) = delete;
  void operator=(const WritableFile&) = delete;
  virtual ~WritableFile();

  virtual Status Append(const Slice& data) = 0;
  virtual Status Append(const Slice& data, const DataVerificationInfo& /*verification_info*/) {
    return Append(data);
  }
  virtual Status PositionedAppend(const Slice& data, uint64_t offset);
  virtual Status PositionedAppend(const Slice& data, uint64_t offset,
                                  const DataVerificationInfo& verification_info);
  virtual Status Truncate(uint64_t size);
  virtual Status Close() = 0;
  // Passes buffered data to the operating system.
  virtual Status Flush() = 0;
  // Make the data durable; Fsync() also makes all metadata durable.
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  // Whether Sync() may run at the same time as Append() and Flush().
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }

  virtual uint64_t GetFileSize() = 0;

  // Sets the block size for reserving disk space, in bytes; 0 = no space is reserved.
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *last_allocated_block = last_preallocated_block_;
    *block_size = preallocation_block_size_;
  }

  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Starts writing a range to the device. Does not make it durable.
  virtual Status RangeSync(uint64_t offset, uint64_t nbytes);
  // Reserves disk space for [offset, offset + len), in multiples of the preallocation block size.
  virtual void PrepareWrite(size_t offset, size_t len);
  virtual Status Allocate(uint64_t offset, uint64_t len);

 protected:
  size_t preallocation_block_size() { return preallocation_block_size_; }

 private:
  size_t last_preallocated_block_ = 0;  // number of blocks that have been allocated
  size_t preallocation_block_size_ = 0;
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  bool strict_bytes_per_sync_ = false;
};

// Reads and writes a file at any offset. Threads: one at a time when writing.
class ASHLAR_EXPORT RandomRWFile {
 public:
  RandomRWFile() = default;
  RandomRWFile(const RandomRWFile&) = delete;
  RandomRWFile& operator=(const RandomRWFile&) = delete;
  virtual ~RandomRWFile();

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual Status Write(uint64_t offset, const Slice& data) = 0;
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  virtual Status Close() = 0;
};

// A file that is mapped into memory for reading and writing. The destructor unmaps it.
class ASHLAR_EXPORT MemoryMappedFileBuffer {
 public:
  MemoryMappedFileBuffer(void* _base, size_t _length) : base_(_base), length_(_length) {}
  MemoryMappedFileBuffer(const MemoryMappedFileBuffer&) = delete;
  MemoryMappedFileBuffer& operator=(const MemoryMappedFileBuffer&) = delete;
  virtual ~MemoryMappedFileBuffer() = 0;

  void* GetBase() const { return base_; }
  size_t GetLen() const { return length_; }

 protected:
  void* base_;
  const size_t length_;
};

// An open directory, with which its entries can be synced.
class ASHLAR_EXPORT Directory {
 public:
  virtual ~Directory();
  virtual Status Fsync() = 0;
  virtual Status Close();
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
};

// Severity of messages in the info log.
enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

// Receives the messages of the engine. Must be thread safe.
class ASHLAR_EXPORT Logger {
 public:
  static constexpr size_t kDoNotSupportGetLogFileSize = (std::numeric_limits<size_t>::max)();

  // Depends on the build of the library: INFO_LEVEL in release builds, DEBUG_LEVEL otherwise.
  static const InfoLogLevel kDefaultLogLevel;

  explicit Logger(const InfoLogLevel log_level = InfoLogLevel::INFO_LEVEL)
      : closed_(false), log_level_(log_level) {}
  Logger(const Logger&) = delete;
  void operator=(const Logger&) = delete;
  virtual ~Logger();

  // After this call nothing may be logged. It may be called twice.
  virtual Status Close();

  // Logs a message that should be repeated at the beginning of each new log file. Ignores the
  // level.
  virtual void LogHeader(const char* format, va_list ap);
  // Logs a message. Override this function or the next; by default the message is dropped.
  virtual void Logv(const char* format, va_list ap);
  // Logs a message with a level. The default implementation drops messages below the current level,
  // and writes the level before the message unless it is INFO.
  virtual void Logv(const InfoLogLevel log_level, const char* format, va_list ap);

  virtual size_t GetLogFileSize() const { return kDoNotSupportGetLogFileSize; }
  virtual void Flush() {}
  virtual InfoLogLevel GetInfoLogLevel() const {
    return log_level_.load(std::memory_order_relaxed);
  }
  virtual void SetInfoLogLevel(const InfoLogLevel log_level) {
    log_level_.store(log_level, std::memory_order_relaxed);
  }

 protected:
  virtual Status CloseImpl();
  bool closed_;

 private:
  // Written by any thread and read by threads that log; no other data depends on it.
  std::atomic<InfoLogLevel> log_level_;
};

// A lock from LockFile(); released by UnlockFile().
class ASHLAR_EXPORT FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  void operator=(const FileLock&) = delete;
  virtual ~FileLock();
};

class ASHLAR_EXPORT DynamicLibrary {
 public:
  virtual ~DynamicLibrary();
  virtual const char* Name() const = 0;
  template <typename T>
  Status LoadFunction(const std::string& sym_name, std::function<T>* function) {
    void* address = nullptr;
    Status s = LoadSymbol(sym_name, &address);
    *function = reinterpret_cast<T*>(address);
    return s;
  }
  virtual Status LoadSymbol(const std::string& sym_name, void** func) = 0;
};

// ---- printf-style logging. If the logger is nullptr, the message is dropped.

ASHLAR_EXPORT void LogFlush(const std::shared_ptr<Logger>& info_log);
ASHLAR_EXPORT void Log(const InfoLogLevel log_level, const std::shared_ptr<Logger>& info_log,
                       const char* format, ...) ASHLAR_PRINTF_FORMAT(3, 4);
ASHLAR_EXPORT void Header(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Debug(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Info(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Warn(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Error(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Fatal(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);
// Log with INFO_LEVEL.
ASHLAR_EXPORT void Log(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(2, 3);

ASHLAR_EXPORT void LogFlush(Logger* info_log);
ASHLAR_EXPORT void Log(const InfoLogLevel log_level, Logger* info_log, const char* format, ...)
    ASHLAR_PRINTF_FORMAT(3, 4);
ASHLAR_EXPORT void Log(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Header(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Debug(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Info(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Warn(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Error(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);
ASHLAR_EXPORT void Fatal(Logger* info_log, const char* format, ...) ASHLAR_PRINTF_FORMAT(2, 3);

// ---- Whole files.

// Replaces the contents of the file. If that fails, the file is deleted.
ASHLAR_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname,
                                       bool should_sync = false,
                                       const IOOptions* io_options = nullptr);
ASHLAR_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// ---- Environments. The caller deletes them. `base_env` must outlive them.

// Files are in memory and exist as long as the Env. Time and threads are those of `base_env`.
ASHLAR_EXPORT Env* NewMemEnv(Env* base_env);
// Measures the time of file operations in the PerfContext.
ASHLAR_EXPORT Env* NewTimedEnv(Env* base_env);
// Combines `fs` with the time and the threads of the default environment.
ASHLAR_EXPORT std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs);

// Creates a logger that writes to one file, without a limit on its size.
ASHLAR_EXPORT Status NewEnvLogger(const std::string& fname, Env* env,
                                  std::shared_ptr<Logger>* result);

}  // namespace ashlar

#include "ashlar/env_wrapper.h"  // IWYU pragma: export
