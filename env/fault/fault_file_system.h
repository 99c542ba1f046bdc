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
  kCreate,  // creates a file, or empties an existing one
  kReopen,  // opens a file for appending, and creates it if it is missing
  kReuse,   // renames a file and opens it for overwriting from the start
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
  kGrow,   // allocates space for a mapped log and extends it
  kStore,  // a change found in a mapping; it is no call and cannot fail, but gets a number
  kLock,   // takes a file lock, and creates the file if it is missing
  // The calls below do not change what a crash leaves behind.
  kUnlock,
  kOpenRead,
  kOpenReadWrite,
  kRead,
  kOpenDirectory,
  kList,
  kQuery,  // asks for existence, size, time, links or free space
  kCount,
};
inline constexpr CallKind kLastMutatingCall = CallKind::kLock;
inline bool IsMutating(CallKind kind) { return kind <= kLastMutatingCall; }
const char* NameOf(CallKind kind);

// One numbered call, as hooks and records see it. Fields that do not apply to the kind are empty.
struct FileCall {
  CallKind kind;
  uint64_t index = 0;
  std::string path;
  std::string target;    // the new name, for a rename, link or reuse
  uint64_t file_id = 0;  // identifies the open file; ids are not reused
  uint64_t offset = 0;
  uint64_t size = 0;  // number of bytes requested, or the new size
};

enum class FaultError : uint8_t {
  kIO,            // IOError
  kNoSpace,       // IOError(NoSpace)
  kTooManyFiles,  // IOError, retryable; meant for opens
  kInterrupted,   // IOError, retryable
  kShort,         // a read returns half of the bytes and OK; a write does half and fails
  kLie,           // the call does nothing and returns OK; meant for syncs
};
// How many calls fail, counted from the first that a plan matches: one, five, or all from there on.
enum class FaultMode : uint8_t { kOnce, kNextFive, kSticky };
// How much of a failing call takes effect.
enum class FaultEffect : uint8_t { kNone, kPartial, kFull };

struct FaultPlan {
  uint64_t first_call = 0;  // the first call that may be hit
  FaultError error = FaultError::kIO;
  FaultMode mode = FaultMode::kOnce;
  FaultEffect effect = FaultEffect::kNone;
  // Bit set of CallKind: the calls that may fail and are counted for `mode`.
  uint64_t kinds = ~uint64_t{0};
  std::string path_part;  // only calls whose path or target contains this text may fail
};
inline uint64_t KindBit(CallKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }
// All kinds that may change what a crash leaves behind.
inline constexpr uint64_t kMutatingKinds =
    (uint64_t{1} << (static_cast<unsigned>(kLastMutatingCall) + 1)) - 1;

// Counts by CallKind since the file system was made. `injected` counts the calls that a plan hit.
struct CallStats {
  std::array<uint64_t, static_cast<size_t>(CallKind::kCount)> calls{};
  std::array<uint64_t, static_cast<size_t>(CallKind::kCount)> injected{};
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;

  uint64_t TotalInjected() const;
  std::string ToString() const;  // one line per kind that occurred
};

// See the head of this file. `target` is shared; files keep only a plain pointer to this object.
class FaultFileSystem : public FileSystemWrapper {
 public:
  explicit FaultFileSystem(const std::shared_ptr<FileSystem>& target);
  ~FaultFileSystem() override;

  const char* Name() const override { return "FaultFileSystem"; }

  // The call with this number fails, whatever its kind is. Depending on `mode`, later calls fail as
  // well.
  void FailAt(uint64_t index, FaultError error, FaultMode mode = FaultMode::kOnce,
              FaultEffect effect = FaultEffect::kNone);
  // Several plans may be active. The plan that was added first among those that match a call
  // decides.
  void AddFault(const FaultPlan& plan);
  void ClearFaults();

  // The number of the next call, which is also the number of calls so far.
  uint64_t CallCount() const;
  // A copy of the counts so far.
  CallStats Stats() const;
  // Gives numbers now to the stores into mappings since the last call. Otherwise they get them at
  // the next call. A test calls this after its last store, so that the store can be a kill point,
  // too.
  void ObserveStores();
  // A hash of all calls so far and of the bytes that they wrote. It is equal for two runs that made
  // the same calls.
  uint64_t CallLogHash() const;
  // Whether to record the calls from now on, for messages and for choosing where to fail.
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

  // The ways in which a call can be carried out. If `half` is empty, a partial effect is no effect.
  // The action of a write sets *applied_bytes to the bytes that were written, even if it fails.
  struct Actions {
    std::function<IOStatus(size_t* applied_bytes)> full;
    std::function<IOStatus(size_t* applied_bytes)> half;
  };
  // Carries out one call under its number; `data` is what the call writes. For the file objects.
  IOStatus Run(FileCall call, const Slice& data, const Actions& actions);
  // Runs a call that takes effect either completely or not at all.
  IOStatus RunWhole(FileCall call, const std::function<IOStatus()>& action);
  // An id for a file that is about to be opened.
  uint64_t NewFileId();

 protected:
  // Whether the program may store bytes into a mapping, without making a call.
  virtual bool HasMappings() const REQUIRES(mutex_) { return false; }
  // If so, this is called before each call gets its number. It reports through NoteStore() the
  // stores since the last time.
  virtual void FindStores() REQUIRES(mutex_) {}
  // Gives a number to a store.
  void NoteStore(FileCall call, const Slice& data) REQUIRES(mutex_);
  // Called for every call that took effect, in the order of the calls; `written` holds the bytes of
  // a write that were written.
  virtual void OnApplied(const FileCall& /*call*/, const Slice& /*written*/) REQUIRES(mutex_) {}
  // Called when a sync of a file or directory failed and made nothing durable. SimFS then drops the
  // unsynced changes, as kernels do.
  virtual void OnSyncFailed(const FileCall& /*call*/) REQUIRES(mutex_) {}
  // Calls FindStores() between two calls of the hook, if there are mappings.
  void FindStoresLocked() REQUIRES(mutex_);

  // Held during each call of the target file system, which makes the calls sequential.
  mutable Mutex mutex_{LockRank::kFileSystem};

 private:
  // A plan, and how many calls it may still hit.
  struct ActivePlan {
    FaultPlan plan;
    int calls_left;  // -1 = no limit
  };

  // The first plan that hits the call, and counts the hit; or null. The pointer is valid until
  // plans change.
  const FaultPlan* MatchLocked(const FileCall& call) REQUIRES(mutex_);
  // Carries out a call that a plan hits. Sets *is_applied if any part of it took effect.
  IOStatus RunFaulty(const FaultPlan& plan, const FileCall& call, const Actions& actions,
                     size_t* applied_bytes, bool* is_applied);
  // Counts the call and adds it to the hash and, if wanted, to the record.
  void NoteCallLocked(const FileCall& call, const Slice& data) REQUIRES(mutex_);

  uint64_t next_call_ GUARDED_BY(mutex_) = 0;
  // 0 means "no open file" in a FileCall.
  uint64_t next_file_id_ GUARDED_BY(mutex_) = 1;
  uint64_t hash_ GUARDED_BY(mutex_) = 0;
  bool keep_calls_ GUARDED_BY(mutex_) = false;
  std::vector<FileCall> calls_ GUARDED_BY(mutex_);
  std::vector<ActivePlan> plans_ GUARDED_BY(mutex_);
  CallStats stats_ GUARDED_BY(mutex_);
  std::function<void(const FileCall&, bool)> hook_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
