// SPDX-License-Identifier: Apache-2.0
//
// Calls run one at a time, under the mutex. Each call gets a number and is compared with the fault
// plans. Then it is carried out in full, in part or not at all, and reported to the subclass.
#include "env/fault/fault_file_system.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/fault/fault_files.h"
#include "env/info_log.h"
#include "util/hash/hash.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr std::array<const char*, static_cast<size_t>(CallKind::kCount)> kKindNames = {
    "create", "reopen", "reuse", "append",  "write", "truncate", "allocate", "sync", "range-sync",
    "close",  "rename", "link",  "unlink",  "mkdir", "rmdir",    "sync-dir", "grow", "store",
    "lock",   "unlock", "open",  "open-rw", "read",  "open-dir", "list",     "query"};

size_t IndexOf(CallKind kind) {
  assert(kind < CallKind::kCount);
  return static_cast<size_t>(kind);
}

// The number of the call in the message lets a test repeat exactly this fault.
IOStatus MakeError(FaultError error, const FileCall& call) {
  assert(error != FaultError::kLie);  // which returns OK
  const std::string what = StrCat(NameOf(call.kind), ": ", call.path);
  const std::string why = StrCat("injected at call ", call.index);
  IOStatus status =
      error == FaultError::kNoSpace ? IOStatus::NoSpace(what, why) : IOStatus::IOError(what, why);
  status.SetRetryable(error == FaultError::kNoSpace || error == FaultError::kTooManyFiles ||
                      error == FaultError::kInterrupted);
  return status;
}

// Whether a fault may report a success that did not happen. A sync may; other calls may not,
// because for example an open that reports success must return a file.
bool CanLie(CallKind kind) {
  return kind == CallKind::kSync || kind == CallKind::kRangeSync ||
         kind == CallKind::kSyncDirectory;
}

FileCall CallWith(CallKind kind, const std::string& path, const std::string& target = "") {
  FileCall call;
  call.kind = kind;
  call.path = path;
  call.target = target;
  return call;
}

}  // namespace

const char* NameOf(CallKind kind) {
  assert(kind < CallKind::kCount);
  return kKindNames[IndexOf(kind)];
}

uint64_t CallStats::TotalInjected() const {
  uint64_t total = 0;
  for (const uint64_t count : injected) total += count;
  return total;
}

// Kinds without a call are left out.
std::string CallStats::ToString() const {
  std::string text;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 0) continue;
    StrAppend(&text, kKindNames[i], ": ", calls[i], " calls, ", injected[i], " injected\n");
  }
  StrAppend(&text, "bytes: ", bytes_written, " written, ", bytes_read, " read\n");
  return text;
}

FaultFileSystem::FaultFileSystem(const std::shared_ptr<FileSystem>& target)
    : FileSystemWrapper(target) {
  assert(target != nullptr);
}
FaultFileSystem::~FaultFileSystem() = default;

void FaultFileSystem::FailAt(uint64_t index, FaultError error, FaultMode mode, FaultEffect effect) {
  AddFault({.first_call = index, .error = error, .mode = mode, .effect = effect, .path_part = ""});
}

// Plans are independent of each other: each counts its own calls.
void FaultFileSystem::AddFault(const FaultPlan& plan) {
  static constexpr int kCallsOf[] = {1, 5, -1};  // the number of calls that fail, by FaultMode
  MutexLock lock(&mutex_);
  assert(static_cast<size_t>(plan.mode) < std::size(kCallsOf));
  plans_.push_back({plan, kCallsOf[static_cast<size_t>(plan.mode)]});
}

void FaultFileSystem::ClearFaults() {
  MutexLock lock(&mutex_);
  plans_.clear();
}

uint64_t FaultFileSystem::CallCount() const {
  MutexLock lock(&mutex_);
  return next_call_;
}
CallStats FaultFileSystem::Stats() const {
  MutexLock lock(&mutex_);
  return stats_;
}
uint64_t FaultFileSystem::CallLogHash() const {
  MutexLock lock(&mutex_);
  return hash_;
}
void FaultFileSystem::KeepCalls(bool keep) {
  MutexLock lock(&mutex_);
  keep_calls_ = keep;
}
std::vector<FileCall> FaultFileSystem::Calls() const {
  MutexLock lock(&mutex_);
  return calls_;
}
void FaultFileSystem::SetHook(std::function<void(const FileCall&, bool)> hook) {
  MutexLock lock(&mutex_);
  hook_ = std::move(hook);
}
uint64_t FaultFileSystem::NewFileId() {
  MutexLock lock(&mutex_);
  assert(next_file_id_ != 0);  // which means that no file is open
  return next_file_id_++;
}

// Runs one call. The hook and the actions run under the mutex too, so the calls of all threads have
// one order.
IOStatus FaultFileSystem::Run(FileCall call, const Slice& data, const Actions& actions) {
  assert(actions.full != nullptr);
  MutexLock lock(&mutex_);
  FindStoresLocked();
  call.index = next_call_++;
  NoteCallLocked(call, data);
  if (hook_) hook_(call, /*is_before=*/true);
  size_t applied_bytes = 0;
  bool is_applied = false;
  IOStatus status;
  const FaultPlan* plan = MatchLocked(call);
  if (plan != nullptr) {
    // The pointer to the plan stays valid: plans change only under the mutex.
    ++stats_.injected[IndexOf(call.kind)];
    status = RunFaulty(*plan, call, actions, &applied_bytes, &is_applied);
  } else {
    status = actions.full(&applied_bytes);
    is_applied = status.ok() || applied_bytes > 0;
  }
  if (call.kind == CallKind::kRead) {
    stats_.bytes_read += applied_bytes;
  } else {
    stats_.bytes_written += applied_bytes;
  }
  if (is_applied) {
    OnApplied(call, Slice(data.data(), std::min(applied_bytes, data.size())));
  } else if (!status.ok() &&
             (call.kind == CallKind::kSync || call.kind == CallKind::kSyncDirectory)) {
    // A sync that failed, by a fault or below, has lost the data that was not yet durable.
    OnSyncFailed(call);
  }
  if (hook_) hook_(call, /*is_before=*/false);
  return status;
}

void FaultFileSystem::ObserveStores() {
  MutexLock lock(&mutex_);
  FindStoresLocked();
}

// Finds stores into memory mappings. The hook is called before and after the search, because a
// store is not known before it.
void FaultFileSystem::FindStoresLocked() {
  // Without mappings there is nothing to compare, and most file systems have none.
  if (!HasMappings()) return;
  FileCall search;
  search.kind = CallKind::kStore;
  search.index = next_call_;
  if (hook_) hook_(search, /*is_before=*/true);
  FindStores();
  if (hook_) hook_(search, /*is_before=*/false);
}

// Gives a store into a mapping its number and records it like a call. Stores cannot fail, so no
// plan is asked.
void FaultFileSystem::NoteStore(FileCall call, const Slice& data) {
  assert(call.kind == CallKind::kStore);
  assert(call.size == data.size());
  call.index = next_call_++;
  NoteCallLocked(call, data);
  stats_.bytes_written += data.size();
  OnApplied(call, data);
}

IOStatus FaultFileSystem::RunWhole(FileCall call, const std::function<IOStatus()>& action) {
  // There is no half action, so a partial fault of this call does nothing.
  assert(action != nullptr);
  return Run(std::move(call), Slice(), {[&](size_t*) { return action(); }, nullptr});
}

void FaultFileSystem::NoteCallLocked(const FileCall& call, const Slice& data) {
  assert(call.index < next_call_);
  ++stats_.calls[IndexOf(call.kind)];
  // The old hash is part of the line, so the result depends on the order of the calls too.
  const std::string line =
      StrCat(NameOf(call.kind), "\n", call.path, "\n", call.target, "\n", call.offset, "\n",
             call.size, "\n", XxHash64(data.data(), data.size(), 0), "\n", hash_);
  hash_ = XxHash64(line.data(), line.size(), 0);
  if (keep_calls_) calls_.push_back(call);
}

// Finds the plan for this call. A plan that has no calls left stays in the list, and matches no
// more.
const FaultPlan* FaultFileSystem::MatchLocked(const FileCall& call) {
  // The first plan that fits decides; later ones are not asked.
  for (ActivePlan& active : plans_) {
    const FaultPlan& plan = active.plan;
    if (call.index < plan.first_call || active.calls_left == 0) continue;
    if (plan.error == FaultError::kLie && !CanLie(call.kind)) continue;
    if ((plan.kinds & KindBit(call.kind)) == 0) continue;
    if (!plan.path_part.empty() && call.path.find(plan.path_part) == std::string::npos &&
        call.target.find(plan.path_part) == std::string::npos) {
      continue;
    }
    // A negative number means that the plan holds for all calls.
    if (active.calls_left > 0) --active.calls_left;
    return &plan;
  }
  return nullptr;
}

// Carries out a call that must fail: nothing of it, half of it, or all of it, as the plan says, and
// then returns the injected error. *is_applied tells whether the call below succeeded.
IOStatus FaultFileSystem::RunFaulty(const FaultPlan& plan, const FileCall& call,
                                    const Actions& actions, size_t* applied_bytes,
                                    bool* is_applied) {
  assert(applied_bytes != nullptr);
  assert(is_applied != nullptr);
  assert(!*is_applied);
  assert(*applied_bytes == 0);
  // A lie: the caller is told that the call succeeded, and nothing was done.
  if (plan.error == FaultError::kLie) return IOStatus::OK();
  const bool is_read = call.kind == CallKind::kRead;
  FaultEffect effect = plan.effect;
  if (plan.error == FaultError::kShort) effect = FaultEffect::kPartial;
  // The caller would not try to unlock again.
  if (call.kind == CallKind::kUnlock) effect = FaultEffect::kFull;
  IOStatus done = IOStatus::IOError("nothing was done");
  if (effect == FaultEffect::kFull) done = actions.full(applied_bytes);
  if (effect == FaultEffect::kPartial && actions.half) done = actions.half(applied_bytes);
  *is_applied = done.ok() || *applied_bytes > 0;
  // A short read is not an error: the caller just sees fewer bytes.
  if (is_read && plan.error == FaultError::kShort) return done;
  return MakeError(plan.error, call);
}

namespace {

// Opens a file by calling `open` as one numbered call, and wraps the file. A reused file has its
// new name from now on. If a fault follows a successful open, the file is closed again.
template <typename File, typename Open>
IOStatus OpenThrough(FaultFileSystem* fs, FileCall call, std::unique_ptr<File>* r, Open open) {
  assert(r != nullptr);
  assert(fs != nullptr);
  r->reset();
  call.file_id = fs->NewFileId();
  const FaultFileContext context = {fs, call.target.empty() ? call.path : call.target,
                                    call.file_id};
  std::unique_ptr<File> file;
  IOStatus status = fs->RunWhole(std::move(call), [&] { return open(&file); });
  if (status.ok()) *r = NewFaultFile(context, std::move(file));
  return status;
}

}  // namespace

IOStatus FaultFileSystem::NewSequentialFile(const std::string& f, const FileOptions& options,
                                            std::unique_ptr<FSSequentialFile>* r,
                                            IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kOpenRead, f), r,
                     [&](auto* file) { return target_->NewSequentialFile(f, options, file, dbg); });
}
IOStatus FaultFileSystem::NewRandomAccessFile(const std::string& f, const FileOptions& options,
                                              std::unique_ptr<FSRandomAccessFile>* r,
                                              IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kOpenRead, f), r, [&](auto* file) {
    return target_->NewRandomAccessFile(f, options, file, dbg);
  });
}
IOStatus FaultFileSystem::NewWritableFile(const std::string& f, const FileOptions& options,
                                          std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kCreate, f), r,
                     [&](auto* file) { return target_->NewWritableFile(f, options, file, dbg); });
}
IOStatus FaultFileSystem::ReopenWritableFile(const std::string& f, const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* r,
                                             IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kReopen, f), r, [&](auto* file) {
    return target_->ReopenWritableFile(f, options, file, dbg);
  });
}
IOStatus FaultFileSystem::ReuseWritableFile(const std::string& f, const std::string& old,
                                            const FileOptions& options,
                                            std::unique_ptr<FSWritableFile>* r,
                                            IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kReuse, old, f), r, [&](auto* file) {
    return target_->ReuseWritableFile(f, old, options, file, dbg);
  });
}
IOStatus FaultFileSystem::NewRandomRWFile(const std::string& f, const FileOptions& options,
                                          std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kOpenReadWrite, f), r,
                     [&](auto* file) { return target_->NewRandomRWFile(f, options, file, dbg); });
}
// Not supported, because a store into the mapping is not a call and could not get a number.
IOStatus FaultFileSystem::NewMemoryMappedFileBuffer(const std::string& f,
                                                    std::unique_ptr<MemoryMappedFileBuffer>* r) {
  assert(r != nullptr);
  r->reset();
  return IOStatus::NotSupported(StrCat("map ", f), "not through a FaultFileSystem");
}
IOStatus FaultFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) {
  return OpenThrough(this, CallWith(CallKind::kOpenDirectory, name), r, [&](auto* directory) {
    return target_->NewDirectory(name, options, directory, dbg);
  });
}

IOStatus FaultFileSystem::FileExists(const std::string& f, const IOOptions& options,
                                     IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kQuery, f),
                  [&] { return target_->FileExists(f, options, dbg); });
}
IOStatus FaultFileSystem::GetChildren(const std::string& dir, const IOOptions& options,
                                      std::vector<std::string>* r, IODebugContext* dbg) {
  assert(r != nullptr);
  return RunWhole(CallWith(CallKind::kList, dir),
                  [&] { return target_->GetChildren(dir, options, r, dbg); });
}
IOStatus FaultFileSystem::GetChildrenFileAttributes(const std::string& dir,
                                                    const IOOptions& options,
                                                    std::vector<FileAttributes>* r,
                                                    IODebugContext* dbg) {
  assert(r != nullptr);
  return RunWhole(CallWith(CallKind::kList, dir),
                  [&] { return target_->GetChildrenFileAttributes(dir, options, r, dbg); });
}
IOStatus FaultFileSystem::DeleteFile(const std::string& f, const IOOptions& options,
                                     IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kUnlink, f),
                  [&] { return target_->DeleteFile(f, options, dbg); });
}
IOStatus FaultFileSystem::Truncate(const std::string& f, size_t size, const IOOptions& options,
                                   IODebugContext* dbg) {
  // The new size is part of the record of the call, so two runs can be compared.
  FileCall call = CallWith(CallKind::kTruncate, f);
  call.size = size;
  return RunWhole(std::move(call), [&] { return target_->Truncate(f, size, options, dbg); });
}
IOStatus FaultFileSystem::CreateDir(const std::string& d, const IOOptions& options,
                                    IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kMakeDirectory, d),
                  [&] { return target_->CreateDir(d, options, dbg); });
}
IOStatus FaultFileSystem::CreateDirIfMissing(const std::string& d, const IOOptions& options,
                                             IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kMakeDirectory, d),
                  [&] { return target_->CreateDirIfMissing(d, options, dbg); });
}
IOStatus FaultFileSystem::DeleteDir(const std::string& d, const IOOptions& options,
                                    IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kRemoveDirectory, d),
                  [&] { return target_->DeleteDir(d, options, dbg); });
}
IOStatus FaultFileSystem::GetFileSize(const std::string& f, const IOOptions& options,
                                      uint64_t* size, IODebugContext* dbg) {
  assert(size != nullptr);
  return RunWhole(CallWith(CallKind::kQuery, f),
                  [&] { return target_->GetFileSize(f, options, size, dbg); });
}
IOStatus FaultFileSystem::GetFileModificationTime(const std::string& f, const IOOptions& options,
                                                  uint64_t* time, IODebugContext* dbg) {
  assert(time != nullptr);
  return RunWhole(CallWith(CallKind::kQuery, f),
                  [&] { return target_->GetFileModificationTime(f, options, time, dbg); });
}
IOStatus FaultFileSystem::RenameFile(const std::string& s, const std::string& t,
                                     const IOOptions& options, IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kRename, s, t),
                  [&] { return target_->RenameFile(s, t, options, dbg); });
}
IOStatus FaultFileSystem::LinkFile(const std::string& s, const std::string& t,
                                   const IOOptions& options, IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kLink, s, t),
                  [&] { return target_->LinkFile(s, t, options, dbg); });
}
// Composed of its steps, so each of them has a number and can fail.
IOStatus FaultFileSystem::SyncFile(const std::string& f, const FileOptions& file_opts,
                                   const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  return FileSystem::SyncFile(f, file_opts, options, use_fsync, dbg);
}
IOStatus FaultFileSystem::NumFileLinks(const std::string& f, const IOOptions& options,
                                       uint64_t* count, IODebugContext* dbg) {
  assert(count != nullptr);
  return RunWhole(CallWith(CallKind::kQuery, f),
                  [&] { return target_->NumFileLinks(f, options, count, dbg); });
}
IOStatus FaultFileSystem::AreFilesSame(const std::string& a, const std::string& b,
                                       const IOOptions& options, bool* r, IODebugContext* dbg) {
  assert(r != nullptr);
  return RunWhole(CallWith(CallKind::kQuery, a, b),
                  [&] { return target_->AreFilesSame(a, b, options, r, dbg); });
}
IOStatus FaultFileSystem::LockFile(const std::string& f, const IOOptions& options, FileLock** lock,
                                   IODebugContext* dbg) {
  // The result is only set on success, even if the call below succeeded and the error was injected.
  assert(lock != nullptr);
  *lock = nullptr;
  FileLock* held = nullptr;
  IOStatus status = RunWhole(CallWith(CallKind::kLock, f),
                             [&] { return target_->LockFile(f, options, &held, dbg); });
  if (status.ok()) {
    *lock = held;
  } else if (held != nullptr) {
    // The lock was taken, but the caller will get an error and cannot release it later.
    IgnoreError(target_->UnlockFile(held, options, dbg), "the injected error is returned");
  }
  return status;
}
IOStatus FaultFileSystem::UnlockFile(FileLock* lock, const IOOptions& options,
                                     IODebugContext* dbg) {
  assert(lock != nullptr);
  return RunWhole(CallWith(CallKind::kUnlock, ""),
                  [&] { return target_->UnlockFile(lock, options, dbg); });
}
// The calls that write the log go through this object, so each of them has a number.
IOStatus FaultFileSystem::NewLogger(const std::string& f, const IOOptions& options,
                                    std::shared_ptr<Logger>* r, IODebugContext* dbg) {
  return FileSystem::NewLogger(f, options, r, dbg);
}
IOStatus FaultFileSystem::GetFreeSpace(const std::string& path, const IOOptions& options,
                                       uint64_t* free_bytes, IODebugContext* dbg) {
  assert(free_bytes != nullptr);
  return RunWhole(CallWith(CallKind::kQuery, path),
                  [&] { return target_->GetFreeSpace(path, options, free_bytes, dbg); });
}
IOStatus FaultFileSystem::IsDirectory(const std::string& path, const IOOptions& options,
                                      bool* is_dir, IODebugContext* dbg) {
  return RunWhole(CallWith(CallKind::kQuery, path),
                  [&] { return target_->IsDirectory(path, options, is_dir, dbg); });
}

}  // namespace ashlar
