// SPDX-License-Identifier: Apache-2.0
//
// One map from path to size, under one lock. The lock is taken per file, never per key.
#include "env/space/sst_file_manager_impl.h"

#include <cassert>
#include <unordered_set>
#include <utility>

#include "env/file_util.h"
#include "env/info_log.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kTrashEnding[] = ".trash";

// The existing managers of class SstFileManagerImpl. A program may also pass a manager of its own
// class, which must not be cast.
class Registry {
 public:
  void Add(SstFileManager* manager) {
    assert(manager != nullptr);
    MutexLock lock(&mutex_);
    managers_.insert(manager);
  }
  void Remove(SstFileManager* manager) {
    MutexLock lock(&mutex_);
    managers_.erase(manager);
  }
  bool Has(SstFileManager* manager) {
    MutexLock lock(&mutex_);
    return managers_.contains(manager);
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  std::unordered_set<SstFileManager*> managers_ GUARDED_BY(mutex_);
};

// Never destroyed: managers in static variables may outlive it otherwise.
Registry& Managers() {
  static auto* const registry = new Registry();
  return *registry;
}

}  // namespace

bool IsTrashName(const std::string& name) { return name.ends_with(kTrashEnding); }

SstFileManagerImpl::SstFileManagerImpl(PacedDeleterOptions deletions, const Settings& settings)
    : fs_(deletions.fs),
      info_log_(deletions.info_log),
      max_trash_ratio_(settings.max_trash_ratio),
      watch_(deletions.fs, settings.poll_micros),
      deleter_(std::move(deletions)) {
  Managers().Add(this);
}

SstFileManagerImpl::~SstFileManagerImpl() { Managers().Remove(this); }

// The pointer is looked up before it is cast, because a class of the program has another layout.
SstFileManagerImpl* SstFileManagerImpl::From(SstFileManager* manager) {
  return Managers().Has(manager) ? static_cast<SstFileManagerImpl*>(manager) : nullptr;
}

void SstFileManagerImpl::OnAddFile(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mutex_);
  uint64_t& known = files_[path];
  // Unsigned arithmetic wraps, so that a file that became smaller is subtracted.
  total_bytes_ += bytes - known;
  known = bytes;
}

void SstFileManagerImpl::OnDeleteFile(const std::string& path) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(path);
  // Not tracked, for instance because it was added by another name.
  if (found == files_.end()) return;
  assert(total_bytes_ >= found->second);
  total_bytes_ -= found->second;
  files_.erase(found);
}

void SstFileManagerImpl::Count(uint32_t ticker) const {
  // Copied, because the statistics object is code of the program and must not run under the mutex.
  std::shared_ptr<Statistics> statistics;
  {
    MutexLock lock(&mutex_);
    statistics = statistics_;
  }
  RecordTick(statistics.get(), ticker);
}

// Whether a new deletion is delayed. If there is more trash than its allowed share, files are
// deleted at once, so that the trash does not grow further.
bool SstFileManagerImpl::IsToBePaced() const {
  if (deleter_.rate() <= 0) return false;
  const auto trash_bytes = static_cast<double>(deleter_.waiting_bytes());
  MutexLock lock(&mutex_);
  return trash_bytes <= static_cast<double>(total_bytes_) * max_trash_ratio_;
}

Status SstFileManagerImpl::Delete(const std::string& path) {
  const bool is_paced = IsToBePaced();
  const bool was_trash = IsTrashName(path);
  const std::string trash = !is_paced ? "" : was_trash ? path : RenameToTrash(path);
  if (!trash.empty()) {
    // The size is needed for the rate; without it the file is deleted at once.
    Result<uint64_t> bytes = FileSizeOf(fs_.get(), trash);
    if (bytes.ok()) {
      // Tracked by the new name before the old one is forgotten: the sum may be too large for a
      // moment, but never too small.
      OnAddFile(trash, *bytes);
      OnDeleteFile(was_trash ? "" : path);
      // `this` outlives the call: the deleter is destroyed first.
      const bool is_taken = deleter_.Add(trash, *bytes, [this, trash](const Status& status) {
        // Called by the thread of the deleter, without a mutex of it.
        OnDeleteFile(trash);
        if (status.ok()) Count(FILES_DELETED_FROM_TRASH_QUEUE);
      });
      if (is_taken) {
        Count(FILES_MARKED_TRASH);
        return Status::OK();
      }
    }
  }
  // Not paced, or no thread could be started: the file is deleted at once under the name that it
  // has now.
  const std::string& now = trash.empty() ? path : trash;
  RETURN_IF_ERROR(DeleteFileIfExists(fs_.get(), now));
  OnDeleteFile(path);
  OnDeleteFile(now);
  Count(FILES_DELETED_IMMEDIATELY);
  return Status::OK();
}

// The trash name gets a number if a file of the same name is still waiting. That happens when a
// database was destroyed and created again.
std::string SstFileManagerImpl::RenameToTrash(const std::string& path) {
  std::string trash = path + kTrashEnding;
  {
    MutexLock lock(&mutex_);
    for (int i = 1; files_.contains(trash); i++) trash = StrCat(path, ".", i, kTrashEnding);
  }
  // Another thread may choose the same name at the same time only for the same path, which one
  // database does not delete twice.
  // Renamed first: after a crash the next opening knows by the name that the file is to be deleted.
  const IOStatus renamed = fs_->RenameFile(path, trash, IOOptions(), nullptr);
  if (renamed.ok()) return trash;
  if (!renamed.IsNotFound() && !renamed.IsPathNotFound()) {
    Warn(info_log_.get(), "cannot rename %s, so it is deleted at once: %s", path.c_str(),
         renamed.ToString().c_str());
  }
  return "";
}

// The sum cannot overflow: sizes of files and inputs are far below 2^63.
bool SstFileManagerImpl::FitsLocked(uint64_t bytes) const {
  const uint64_t needed = total_bytes_ + reserved_bytes_ + compaction_buffer_bytes_ + bytes;
  return max_bytes_ == 0 || needed <= max_bytes_;
}

bool SstFileManagerImpl::ReserveForCompaction(uint64_t bytes) {
  MutexLock lock(&mutex_);
  if (!FitsLocked(bytes)) return false;
  reserved_bytes_ += bytes;
  return true;
}

void SstFileManagerImpl::ReleaseReserved(uint64_t bytes) {
  MutexLock lock(&mutex_);
  assert(reserved_bytes_ >= bytes);
  reserved_bytes_ -= bytes;
}

bool SstFileManagerImpl::HasRoomFor(uint64_t bytes) const {
  MutexLock lock(&mutex_);
  return FitsLocked(bytes);
}

void SstFileManagerImpl::SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) {
  {
    MutexLock lock(&mutex_);
    max_bytes_ = max_allowed_space;
  }
  // There may be room now for those who wait. The watch is told without the mutex held.
  watch_.LookAgain();
}

void SstFileManagerImpl::SetCompactionBufferSize(uint64_t compaction_buffer_size) {
  {
    MutexLock lock(&mutex_);
    compaction_buffer_bytes_ = compaction_buffer_size;
  }
  watch_.LookAgain();
}

bool SstFileManagerImpl::IsMaxAllowedSpaceReached() {
  MutexLock lock(&mutex_);
  return max_bytes_ > 0 && total_bytes_ >= max_bytes_;
}

bool SstFileManagerImpl::IsMaxAllowedSpaceReachedIncludingCompactions() {
  MutexLock lock(&mutex_);
  return max_bytes_ > 0 && total_bytes_ + reserved_bytes_ >= max_bytes_;
}

uint64_t SstFileManagerImpl::GetTotalSize() {
  MutexLock lock(&mutex_);
  return total_bytes_;
}

std::unordered_map<std::string, uint64_t> SstFileManagerImpl::GetTrackedFiles() {
  MutexLock lock(&mutex_);
  return files_;
}

double SstFileManagerImpl::GetMaxTrashDBRatio() {
  MutexLock lock(&mutex_);
  return max_trash_ratio_;
}

void SstFileManagerImpl::SetMaxTrashDBRatio(double ratio) {
  MutexLock lock(&mutex_);
  max_trash_ratio_ = ratio;
}

void SstFileManagerImpl::SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) {
  MutexLock lock(&mutex_);
  statistics_ = stats;
}

namespace {

// `dir` was used for trash by an older scheme: all files in it are trash.
Status DeleteAllIn(FileSystem* fs, const std::string& dir) {
  assert(fs != nullptr);
  Result<std::vector<std::string>> names = ListDirectory(fs, dir);
  if (!names.ok()) {
    const bool is_missing = IsMissing(names.status());
    return is_missing ? Status::OK() : names.status();
  }
  // The other files are deleted even if one fails; the first error is returned.
  Status first;
  for (const std::string& name : *names) {
    const Status status = DeleteFileIfExists(fs, StrCat(dir, "/", name));
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<FileSystem> fs,
                                  std::shared_ptr<Logger> info_log, const std::string& trash_dir,
                                  int64_t rate_bytes_per_sec, bool delete_existing_trash,
                                  Status* status, double max_trash_db_ratio,
                                  uint64_t bytes_max_delete_chunk) {
  assert(env != nullptr);
  if (fs == nullptr) fs = env->GetFileSystem();
  Status cleaned;
  if (delete_existing_trash && !trash_dir.empty()) cleaned = DeleteAllIn(fs.get(), trash_dir);
  if (status != nullptr) {
    *status = cleaned;
  } else {
    IgnoreError(cleaned, "the caller does not want the status");
  }
  return new SstFileManagerImpl({.fs = std::move(fs),
                                 .clock = env->GetSystemClock(),
                                 .info_log = std::move(info_log),
                                 .bytes_per_second = rate_bytes_per_sec,
                                 .most_chunk_bytes = bytes_max_delete_chunk},
                                {.max_trash_ratio = max_trash_db_ratio});
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<Logger> info_log, std::string trash_dir,
                                  int64_t rate_bytes_per_sec, bool delete_existing_trash,
                                  Status* status, double max_trash_db_ratio,
                                  uint64_t bytes_max_delete_chunk) {
  return NewSstFileManager(env, std::shared_ptr<FileSystem>(), std::move(info_log), trash_dir,
                           rate_bytes_per_sec, delete_existing_trash, status, max_trash_db_ratio,
                           bytes_max_delete_chunk);
}

}  // namespace ashlar
