// SPDX-License-Identifier: Apache-2.0
//
// The process has one record of failed directory syncs. Syncs of the same directory run one after
// the other: if they ran at the same time, one that succeeds could not tell whether another, which
// fails, has made the system drop its entries.
#include "env/new_entries.h"

#include <cassert>
#include <map>
#include <memory>
#include <utility>

#include "env/fork_hook.h"
#include "util/result.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// How often the sync of a directory has failed in this process.
struct Failures {
  uint64_t count = 0;
  bool is_retryable = false;  // whether the last failure was of a kind that may pass
};

// The record of the process, by KeyOf() the path.
class DirectorySyncs {
 public:
  static DirectorySyncs& Get() {
    static auto* const syncs = new DirectorySyncs;
    return *syncs;
  }

  // The failures so far; none for a directory that is not in the map.
  Failures FailuresOf(const std::string& key) {
    MutexLock lock(&mutex_);
    const auto found = directories_.find(key);
    return found == directories_.end() ? Failures() : found->second.failures;
  }
  // Waits until no other thread syncs this directory, and takes its place.
  void Begin(const std::string& key) {
    MutexLock lock(&mutex_);
    while (directories_[key].is_running) changed_.Wait();
    directories_[key].is_running = true;
  }
  // Ends what Begin() began. Directories without failures leave the map, so that it stays small.
  void End(const std::string& key, bool has_failed, bool is_retryable) {
    MutexLock lock(&mutex_);
    const auto found = directories_.find(key);
    assert(found != directories_.end());
    assert(found->second.is_running);
    found->second.is_running = false;
    Failures& failures = found->second.failures;
    if (has_failed) failures = {failures.count + 1, is_retryable};
    if (failures.count == 0) directories_.erase(found);
    changed_.SignalAll();
  }

 private:
  struct Directory {
    Failures failures;
    bool is_running = false;
  };

  // The thread that was syncing does not exist in the child.
  void MendInChild() NO_THREAD_SAFETY_ANALYSIS {
    for (auto& [key, directory] : directories_) directory.is_running = false;
    changed_.ForgetWaiters();
  }

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  // The directories that are being synced now and those for which a sync has failed, by KeyOf()
  // their path.
  std::map<std::string, Directory> directories_ GUARDED_BY(mutex_);
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

// Two slashes in a row are one, and trailing slashes are dropped. Other spellings of the same
// directory, such as links, count as other directories.
std::string KeyOf(const std::string& dir) {
  std::string key;
  for (const char c : dir) {
    if (c != '/' || key.empty() || key.back() != '/') key.push_back(c);
  }
  if (key.size() > 1 && key.back() == '/') key.pop_back();
  return key;
}

}  // namespace

NewEntries::NewEntries(FileSystem* fs, std::string dir)
    : fs_(fs),
      dir_(std::move(dir)),
      key_(KeyOf(dir_)),
      failures_before_(DirectorySyncs::Get().FailuresOf(key_).count) {
  assert(fs_ != nullptr);
  assert(!dir_.empty());
}

Status NewEntries::Sync(const std::string& renamed_name) const {
  std::unique_ptr<FSDirectory> directory;
  RETURN_IF_ERROR(fs_->NewDirectory(dir_, IOOptions(), &directory, nullptr));
  const DirFsyncOptions reason = renamed_name.empty()
                                     ? DirFsyncOptions(DirFsyncOptions::kNewFileSynced)
                                     : DirFsyncOptions(renamed_name);
  RETURN_IF_ERROR(SyncThrough(directory.get(), reason));
  // The entries are durable already. Only the engine's rule that errors are not hidden makes this
  // one count.
  const IOStatus closed = directory->Close(IOOptions(), nullptr);
  if (closed.IsNotSupported()) return Status::OK();
  return closed;
}

// A sync that throws counts as a failed one.
Status NewEntries::SyncThrough(FSDirectory* directory, const DirFsyncOptions& reason) const {
  // The check comes before the sync: entries that are lost already must not count as durable.
  RETURN_IF_ERROR(Check());
  {
    bool has_failed = true;
    bool is_retryable = false;
    DirectorySyncs::Get().Begin(key_);
    const ScopeExit end([&] { DirectorySyncs::Get().End(key_, has_failed, is_retryable); });
    const IOStatus synced = directory->FsyncWithDirOptions(IOOptions(), nullptr, reason);
    has_failed = !synced.ok();
    is_retryable = synced.GetRetryable();
    RETURN_IF_ERROR(synced);
  }
  // After the sync: another one may have failed while this one waited for its turn.
  return Check();
}

Status NewEntries::Check() const {
  const Failures failures = DirectorySyncs::Get().FailuresOf(key_);
  if (failures.count == failures_before_) [[likely]]
    return Status::OK();
  IOStatus lost = IOStatus::IOError(
      StrCat("sync of directory ", dir_),
      "one that failed before may have lost its new entries: their files must be made anew");
  lost.SetRetryable(failures.is_retryable);
  return lost;
}

}  // namespace ashlar
