// SPDX-License-Identifier: Apache-2.0
//
// FaultFileSystem numbers every call that reaches a file system, can make any of them fail, and
// keeps counts and a running hash of the calls. It wraps any FileSystem; SimFS derives from it.
//
// One call = one number, starting with 0, in the order in which calls took effect: the wrapper
// runs them one at a time. The same program makes the same calls, so a test runs once, counts, and
// then runs again with FailAt(n, ...) for every n. A hook before and after each call serves as kill
// point. The file system outlives the files it opened. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/file_system.h"
#include "util/threads/mutex.h"

namespace ashlar {

enum class CallKind : uint8_t {
  // These may change what a crash leaves behind.
  kCreate,  // or empty an existing file
  kReopen,  // for appending; creates the file if missing
  kReuse,   // rename, and overwrite from the start
  kAppend,
  kPositionedWrite,
  kTruncate,
  kAllocate,
  kSync,
  kRangeSync,
  kClose,
  kRename,
  kLink,
  kUnlink,
  kMakeDirectory,
  kRemoveDirectory,
  kSyncDirectory,
  kGrow,   // a mapped log: allocated and extended
  kStore,  // bytes found changed in a mapping: no call, cannot fail, but takes a number
  kLock,   // creates the file if missing
  // These do not.
  kUnlock,
  kOpenRead,
  kOpenReadWrite,
  kRead,
  kOpenDirectory,
  kList,
  kQuery,  // existence, size, time, links, free space
  kCount,
};
inline constexpr CallKind kLastMutatingCall = CallKind::kLock;
inline bool IsMutating(CallKind kind) { return kind <= kLastMutatingCall; }
const char* NameOf(CallKind kind);

struct FileCall {
  CallKind kind;
  uint64_t index = 0;
  std::string path;
  std::string target;    // of a rename, link or reuse: the new name
  uint64_t file_id = 0;  // which open file; ids are never used again
  uint64_t offset = 0;
  uint64_t size = 0;  // bytes asked for, or the new size
};

enum class FaultError : uint8_t {
  kIO,            // IOError
  kNoSpace,       // IOError(NoSpace)
  kTooManyFiles,  // IOError, retryable; meant for opens
  kInterrupted,   // IOError, retryable
  kShort,         // reads answer half the bytes and OK; writes do half and fail
  kLie,           // OK is answered but nothing was done; meant for syncs
};
enum class FaultMode : uint8_t { kOnce, kNextFive, kSticky };
// What a failing call did nevertheless.
enum class FaultEffect : uint8_t { kNone, kPartial, kFull };

struct FaultPlan {
  uint64_t first_call = 0;  // the first call that may be hit
  FaultError error = FaultError::kIO;
  FaultMode mode = FaultMode::kOnce;
  FaultEffect effect = FaultEffect::kNone;
  uint64_t kinds = ~uint64_t{0};  // bit set of CallKind: which calls are hit and counted
  std::string path_part;          // only calls whose path or target contains it
};
inline uint64_t KindBit(CallKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }
// All kinds that may change what a crash leaves behind.
inline constexpr uint64_t kMutatingKinds =
    (uint64_t{1} << (static_cast<unsigned>(kLastMutatingCall) + 1)) - 1;

struct CallStats {
  std::array<uint64_t, static_cast<size_t>(CallKind::kCount)> calls{};
  std::array<uint64_t, static_cast<size_t>(CallKind::kCount)> injected{};
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  uint64_t TotalInjected() const;
  std::string ToString() const;  // one line per kind that occurred
};

class FaultFileSystem : public FileSystemWrapper {
 public:
  explicit FaultFileSystem(const std::shared_ptr<FileSystem>& target);
  ~FaultFileSystem() override;

  const char* Name() const override { return "FaultFileSystem"; }

  // The call with this number fails, and by the mode later ones too, whatever their kind.
  void FailAt(uint64_t index, FaultError error, FaultMode mode = FaultMode::kOnce,
              FaultEffect effect = FaultEffect::kNone);
  // Several plans may be active; the first added that matches a call decides.
  void AddFault(const FaultPlan& plan);
  void ClearFaults();

  // Number of the next call = calls so far.
  uint64_t CallCount() const;
  CallStats Stats() const;
  // What was stored into mappings since the last call takes a number now, not only with the next
  // call.
  void ObserveStores();
  // Of all calls so far, with the bytes written: equal for two runs that did the same.
  uint64_t CallLogHash() const;
  // Keeps the calls themselves from here on, for messages and for choosing where to fail.
  void KeepCalls(bool keep);
  std::vector<FileCall> Calls() const;

  // Called before (true) and after (false) each call. It may end the process; it may not call this
  // file system.
  void SetHook(std::function<void(const FileCall&, bool is_before)> hook);

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override;
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& f, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* r, IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& f, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& f, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& options, uint64_t* time,
                                   IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus SyncFile(const std::string& f, const FileOptions& file_opts, const IOOptions& options,
                    bool use_fsync, IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& f, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions& options,
                        bool* r, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& f, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus NewLogger(const std::string& f, const IOOptions& options, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* free_bytes,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override;

  // What a call can do. `half` may be empty: then a partial effect is none. A write action sets
  // *applied_bytes to what arrived, also when it fails.
  struct Actions {
    std::function<IOStatus(size_t* applied_bytes)> full;
    std::function<IOStatus(size_t* applied_bytes)> half;
  };
  // Runs one call under its number; `data` is what it writes. For the file objects.
  IOStatus Run(FileCall call, const Slice& data, const Actions& actions);
  // For calls whose effect is whole or nothing.
  IOStatus RunWhole(FileCall call, const std::function<IOStatus()>& action);
  uint64_t NewFileId();

 protected:
  // Whether anything may be stored without a call.
  virtual bool HasMappings() const REQUIRES(mutex_) { return false; }
  // Then called before each call takes its number: reports through NoteStore() what was stored into
  // mappings since the last time.
  virtual void FindStores() REQUIRES(mutex_) {}
  // Gives a store its number.
  void NoteStore(FileCall call, const Slice& data) REQUIRES(mutex_);
  // Called in call order for every call that took effect; `written` is what arrived of a write.
  virtual void OnApplied(const FileCall& /*call*/, const Slice& /*written*/) REQUIRES(mutex_) {}
  // Called when a sync of a file or directory failed without having made anything durable. SimFS
  // then drops what was dirty, as kernels do.
  virtual void OnSyncFailed(const FileCall& /*call*/) REQUIRES(mutex_) {}
  void FindStoresLocked() REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kFileSystem};

 private:
  struct ActivePlan {
    FaultPlan plan;
    int calls_left;  // -1 = no end
  };

  const FaultPlan* MatchLocked(const FileCall& call) REQUIRES(mutex_);
  IOStatus RunFaulty(const FaultPlan& plan, const FileCall& call, const Actions& actions,
                     size_t* applied_bytes, bool* is_applied);
  void NoteCallLocked(const FileCall& call, const Slice& data) REQUIRES(mutex_);

  uint64_t next_call_ GUARDED_BY(mutex_) = 0;
  uint64_t next_file_id_ GUARDED_BY(mutex_) = 1;
  uint64_t hash_ GUARDED_BY(mutex_) = 0;
  bool keep_calls_ GUARDED_BY(mutex_) = false;
  std::vector<FileCall> calls_ GUARDED_BY(mutex_);
  std::vector<ActivePlan> plans_ GUARDED_BY(mutex_);
  CallStats stats_ GUARDED_BY(mutex_);
  std::function<void(const FileCall&, bool)> hook_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
