// SPDX-License-Identifier: Apache-2.0
//
// One record for the process. Syncs of the same directory run one after the other: one that
// succeeds while another fails could not tell whether the other has dropped its entries.
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

struct Failures {
  uint64_t count = 0;
  bool is_retryable = false;  // the last of them may not come again
};

class DirectorySyncs {
 public:
  static DirectorySyncs& Get() {
    static auto* const syncs = new DirectorySyncs;
    return *syncs;
  }

  Failures FailuresOf(const std::string& key) {
    MutexLock lock(&mutex_);
    const auto found = directories_.find(key);
    return found == directories_.end() ? Failures() : found->second.failures;
  }
  void Begin(const std::string& key) {
    MutexLock lock(&mutex_);
    while (directories_[key].is_running) changed_.Wait();
    directories_[key].is_running = true;
  }
  void End(const std::string& key, bool has_failed, bool is_retryable) {
    MutexLock lock(&mutex_);
    const auto found = directories_.find(key);
    assert(found != directories_.end() && found->second.is_running);
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

  void MendInChild() NO_THREAD_SAFETY_ANALYSIS {
    for (auto& [key, directory] : directories_) directory.is_running = false;
    changed_.ForgetWaiters();
  }

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  // Those with a sync that runs, and those with one that has failed.
  std::map<std::string, Directory> directories_ GUARDED_BY(mutex_);
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

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
  assert(fs_ != nullptr && !dir_.empty());
}

Status NewEntries::Sync(const std::string& renamed_name) const {
  std::unique_ptr<FSDirectory> directory;
  RETURN_IF_ERROR(fs_->NewDirectory(dir_, IOOptions(), &directory, nullptr));
  const DirFsyncOptions reason = renamed_name.empty()
                                     ? DirFsyncOptions(DirFsyncOptions::kNewFileSynced)
                                     : DirFsyncOptions(renamed_name);
  RETURN_IF_ERROR(SyncThrough(directory.get(), reason));
  const IOStatus closed = directory->Close(IOOptions(), nullptr);
  if (closed.IsNotSupported()) return Status::OK();
  return closed;
}

// One that ends with an exception has failed too.
Status NewEntries::SyncThrough(FSDirectory* directory, const DirFsyncOptions& reason) const {
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
