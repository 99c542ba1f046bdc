// SPDX-License-Identifier: Apache-2.0
//
// Env: where the engine meets the machine. Files, directories, locks, time and background threads
// all come through it, so a program can run a database on something else than a POSIX system.
//
// Most programs use Env::Default(). To change a few calls, derive from EnvWrapper
// (ashlar/env_wrapper.h, included at the end). Newer code implements the two halves instead:
// FileSystem (ashlar/file_system.h) and SystemClock, and joins them with NewCompositeEnv().
//
// Env and Logger may be used by any number of threads at once. File objects may be read by many
// threads (RandomAccessFile), all others belong to one thread at a time.
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

// Lets the compiler check printf-style calls.
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

// How one file is to be opened; usually filled from DBOptions.
struct ASHLAR_EXPORT EnvOptions {
  EnvOptions();
  explicit EnvOptions(const DBOptions& options);

  // Map files instead of reading or writing them. The POSIX file system maps finished files that
  // are read at any place, and writes with write whatever this says.
  bool use_mmap_reads = false;
  bool use_mmap_writes = false;

  // Bypass the page cache (O_DIRECT).
  bool use_direct_reads = false;
  bool use_direct_writes = false;

  // If false, space is never allocated ahead of writes.
  bool allow_fallocate = true;

  // Close files in child processes.
  bool set_fd_cloexec = true;

  // Start writing dirty pages out each time this many bytes were appended; 0 = leave it to the
  // kernel. Strict: also wait for the write-out before, so dirty pages stay bounded.
  uint64_t bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;

  // Allocating ahead leaves the file size alone.
  bool fallocate_with_keep_size = true;

  size_t compaction_readahead_size = 0;

  // Bytes a writer may gather before it makes a system call.
  size_t writable_file_max_buffer_size = 1024 * 1024;

  // Paces background writes; not owned; null = no limit.
  RateLimiter* rate_limiter = nullptr;
};

class ASHLAR_EXPORT Env : public Customizable {
 public:
  static const char* kDefaultName() { return "DefaultEnv"; }

  struct FileAttributes {
    std::string name;     // within its directory
    uint64_t size_bytes;  // 0 for a directory
    Temperature temperature = Temperature::kUnknown;
  };

  // The first form builds a FileSystem and a SystemClock that call back into this object.
  Env();
  explicit Env(const std::shared_ptr<FileSystem>& fs);
  Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock);
  Env(const Env&) = delete;
  void operator=(const Env&) = delete;
  ~Env() override;

  static const char* Type() { return "Environment"; }
  const char* Name() const override { return ""; }

  // Finds an Env by name: empty or the default's name gives Default(); others are unknown unless
  // `config_options.ignore_unknown_options`. `guard` takes ownership where there is any.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result);
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result, std::shared_ptr<Env>* guard);
  static Status CreateFromUri(const ConfigOptions& options, const std::string& env_uri,
                              const std::string& fs_uri, Env** result, std::shared_ptr<Env>* guard);

  // The machine's own environment; the same object for the whole process, never deleted.
  static Env* Default();

  // Directories a database is about to use, or has ceased to use.
  virtual Status RegisterDbPaths(const std::vector<std::string>& /*paths*/) { return Status::OK(); }
  virtual Status UnregisterDbPaths(const std::vector<std::string>& /*paths*/) {
    return Status::OK();
  }

  // ---- Files. On failure `*result` is reset and the status, an IOError, says why; a missing file
  // or directory answers true to IsPathNotFound(), a full disk to IsNoSpace().

  virtual Status NewSequentialFile(const std::string& fname,
                                   std::unique_ptr<SequentialFile>* result,
                                   const EnvOptions& options) = 0;
  virtual Status NewRandomAccessFile(const std::string& fname,
                                     std::unique_ptr<RandomAccessFile>* result,
                                     const EnvOptions& options) = 0;

  // How long the written data is expected to live.
  enum WriteLifeTimeHint {
    WLTH_NOT_SET = 0,
    WLTH_NONE,
    WLTH_SHORT,
    WLTH_MEDIUM,
    WLTH_LONG,
    WLTH_EXTREME,
  };

  // Creates the file, or empties an existing one of the name.
  virtual Status NewWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                 const EnvOptions& options) = 0;
  // Appends to an existing file, or creates it.
  virtual Status ReopenWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                    const EnvOptions& options);
  // Renames `old_fname` to `fname` and opens it for overwriting from the start; old bytes stay.
  virtual Status ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                   std::unique_ptr<WritableFile>* result,
                                   const EnvOptions& options);
  virtual Status NewRandomRWFile(const std::string& fname, std::unique_ptr<RandomRWFile>* result,
                                 const EnvOptions& options);
  virtual Status NewMemoryMappedFileBuffer(const std::string& fname,
                                           std::unique_ptr<MemoryMappedFileBuffer>* result);

  // ---- Directories and names.

  virtual Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* result) = 0;
  // OK, NotFound, or why it cannot be known.
  virtual Status FileExists(const std::string& fname) = 0;
  // Names within `dir`, without "." and "..", in no order.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;
  virtual Status GetChildrenFileAttributes(const std::string& dir,
                                           std::vector<FileAttributes>* result);
  virtual Status DeleteFile(const std::string& fname) = 0;
  virtual Status Truncate(const std::string& fname, size_t size);
  virtual Status CreateDir(const std::string& dirname) = 0;
  virtual Status CreateDirIfMissing(const std::string& dirname) = 0;
  virtual Status DeleteDir(const std::string& dirname) = 0;
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;
  // Seconds since the Unix epoch.
  virtual Status GetFileModificationTime(const std::string& fname, uint64_t* file_mtime) = 0;
  // Replaces `target` in one step if it exists.
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;
  virtual Status LinkFile(const std::string& src, const std::string& target);
  virtual Status SyncFile(const std::string& fname, const EnvOptions& options, bool use_fsync);
  virtual Status NumFileLinks(const std::string& fname, uint64_t* count);
  virtual Status AreFilesSame(const std::string& first, const std::string& second, bool* result);

  // Locks against other processes and against this one; never waits. A held lock gives an IOError
  // that names the holder. Creates the file if needed; UnlockFile() leaves it.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;
  virtual Status UnlockFile(FileLock* lock) = 0;

  virtual Status LoadLibrary(const std::string& lib_name, const std::string& search_path,
                             std::shared_ptr<DynamicLibrary>* result);

  // ---- Threads.

  // Pools, weakest first; USER is for work on behalf of the program.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  static std::string PriorityToString(Priority priority);

  enum IOPriority { IO_LOW = 0, IO_MID = 1, IO_HIGH = 2, IO_USER = 3, IO_TOTAL = 4 };

  // What a read or write is done for. The custom range is free for programs.
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

  // Runs function(arg) once on a thread of the pool. A job with a `tag` can be taken back by
  // UnSchedule() until it starts; `unschedFunction`, if any, is then called with the same `arg`.
  virtual void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW,
                        void* tag = nullptr, void (*unschedFunction)(void* arg) = nullptr) = 0;
  // Answers how many jobs were taken back.
  virtual int UnSchedule(void* /*tag*/, Priority /*pri*/) { return 0; }

  // Starts a thread of its own; WaitForJoin() joins all that were started.
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
  // Grows the pool to `number` threads, never shrinks it.
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;
  virtual void LowerThreadPoolIOPriority(Priority /*pool*/ = LOW) {}
  virtual Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri);
  virtual void LowerThreadPoolCPUPriority(Priority /*pool*/ = LOW) {}

  // The threads of the pools and, for those of databases with enable_thread_tracking, the flush or
  // compaction that they do; other threads while they do one. NotSupported without an updater, as
  // in environments over files in memory that bring no threads of their own.
  virtual Status GetThreadList(std::vector<ThreadStatus>* thread_list);
  virtual ThreadStatusUpdater* GetThreadStatusUpdater() const { return thread_status_updater_; }
  virtual uint64_t GetThreadID() const;

  // ---- Time and place.

  // A directory for tests; created if missing.
  virtual Status GetTestDirectory(std::string* path) = 0;
  virtual Status NewLogger(const std::string& fname, std::shared_ptr<Logger>* result);

  // See SystemClock.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }
  virtual uint64_t NowCPUNanos() { return 0; }
  virtual void SleepForMicroseconds(int micros) = 0;
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;
  virtual std::string TimeToString(uint64_t time) = 0;

  virtual Status GetHostName(char* name, uint64_t len) = 0;
  virtual Status GetHostNameString(std::string* result);
  virtual Status GetAbsolutePath(const std::string& db_path, std::string* output_path) = 0;
  // 36 characters in the form of a UUID.
  virtual std::string GenerateUniqueId();

  // ---- Options for the kinds of files a database has.

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

// Reads a file from its start. One thread at a time.
class ASHLAR_EXPORT SequentialFile {
 public:
  SequentialFile() = default;
  virtual ~SequentialFile();

  // Up to n bytes; less only at the end of the file. `*result` may point into `scratch`, which
  // must hold n bytes and live as long as `*result` is used.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  // Skipping past the end is no error.
  virtual Status Skip(uint64_t n) = 0;
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Drops the range from the page cache; length 0 = to the end.
  virtual Status InvalidateCache(size_t offset, size_t length);
  virtual Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch);
};

// One of several reads given to MultiRead().
struct ReadRequest {
  uint64_t offset;
  size_t len;
  char* scratch;
  Slice result;   // set by the file
  Status status;  // set by the file
};

// Reads at any place. Any number of threads.
class ASHLAR_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;
  virtual ~RandomAccessFile();

  // As SequentialFile::Read, but from `offset`.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // Asks the file system to load the range soon.
  virtual Status Prefetch(uint64_t offset, size_t n);
  virtual Status MultiRead(ReadRequest* reqs, size_t num_reqs);
  // An id that is the same for the same file as long as it lives; answers its length, 0 = none.
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }

  enum AccessPattern { NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED };
  virtual void Hint(AccessPattern /*pattern*/) {}

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual Status InvalidateCache(size_t offset, size_t length);
  virtual Status GetFileSize(uint64_t* size);
};

// Writes a file, mostly by appending. One thread at a time.
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
  // Hands what is buffered to the operating system.
  virtual Status Flush() = 0;
  // Makes the data (Fsync: and all metadata) durable.
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  // Whether Sync() may run beside Append() and Flush().
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }

  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }

  virtual uint64_t GetFileSize() = 0;

  // Space is allocated ahead in blocks of `size` bytes; 0 = never.
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *last_allocated_block = last_preallocated_block_;
    *block_size = preallocation_block_size_;
  }

  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Starts writing out the range; says nothing about durability.
  virtual Status RangeSync(uint64_t offset, uint64_t nbytes);
  // Allocates whole blocks, by the preallocation block size, so that [offset, offset + len) fits.
  virtual void PrepareWrite(size_t offset, size_t len);
  virtual Status Allocate(uint64_t offset, uint64_t len);

 protected:
  size_t preallocation_block_size() { return preallocation_block_size_; }

 private:
  size_t last_preallocated_block_ = 0;  // count of blocks allocated so far
  size_t preallocation_block_size_ = 0;
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  bool strict_bytes_per_sync_ = false;
};

// Reads and writes at any place. Writing needs one thread at a time.
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

// A file mapped into memory for reading and writing; unmapped by the destructor.
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

// An open directory, to make its entries durable.
class ASHLAR_EXPORT Directory {
 public:
  virtual ~Directory();
  virtual Status Fsync() = 0;
  virtual Status Close();
  virtual size_t GetUniqueId(char* /*id*/, size_t /*max_size*/) const { return 0; }
};

enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

// Takes the engine's messages; any thread may log at any time.
class ASHLAR_EXPORT Logger {
 public:
  static constexpr size_t kDoNotSupportGetLogFileSize = (std::numeric_limits<size_t>::max)();

  // Of the build of the library: INFO_LEVEL in release builds, DEBUG_LEVEL otherwise.
  static const InfoLogLevel kDefaultLogLevel;

  explicit Logger(const InfoLogLevel log_level = InfoLogLevel::INFO_LEVEL)
      : closed_(false), log_level_(log_level) {}
  Logger(const Logger&) = delete;
  void operator=(const Logger&) = delete;
  virtual ~Logger();

  // Nothing may be logged afterwards. Closing twice is fine.
  virtual Status Close();

  // A message that is wanted again at the start of each new log file; never filtered by level.
  virtual void LogHeader(const char* format, va_list ap);
  // Drops the message: override it, or the form below, to see messages.
  virtual void Logv(const char* format, va_list ap);
  // Drops messages below the level; names levels other than INFO in front of the message.
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
  // Set by any thread and read by all that log; nothing else hangs on it.
  std::atomic<InfoLogLevel> log_level_;
};

// Held from LockFile() to UnlockFile().
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

// ---- printf-style logging; a null logger is fine and drops the message.

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
// INFO_LEVEL.
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

// Replaces the file's content; on failure the file is deleted.
ASHLAR_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname,
                                       bool should_sync = false,
                                       const IOOptions* io_options = nullptr);
ASHLAR_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// ---- Environments. The caller deletes them; `base_env` must live longer.

// Files live in memory and vanish with the Env; time and threads are those of `base_env`.
ASHLAR_EXPORT Env* NewMemEnv(Env* base_env);
// Adds the time spent in file calls to the perf context.
ASHLAR_EXPORT Env* NewTimedEnv(Env* base_env);
// An Env over `fs`, with the default environment's time and threads.
ASHLAR_EXPORT std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs);

// A plain log file, without rotation.
ASHLAR_EXPORT Status NewEnvLogger(const std::string& fname, Env* env,
                                  std::shared_ptr<Logger>* result);

}  // namespace ashlar

#include "ashlar/env_wrapper.h"  // IWYU pragma: export
