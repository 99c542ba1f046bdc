// SPDX-License-Identifier: Apache-2.0
//
// A map from path to size under one lock: it is touched per file, never per key.
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

// Those that live: a program may hand in a manager that it wrote itself.
class Registry {
 public:
  void Add(SstFileManager* manager) {
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

SstFileManagerImpl* SstFileManagerImpl::From(SstFileManager* manager) {
  return Managers().Has(manager) ? static_cast<SstFileManagerImpl*>(manager) : nullptr;
}

void SstFileManagerImpl::OnAddFile(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mutex_);
  uint64_t& known = files_[path];
  total_bytes_ += bytes - known;
  known = bytes;
}

void SstFileManagerImpl::OnDeleteFile(const std::string& path) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  assert(total_bytes_ >= found->second);
  total_bytes_ -= found->second;
  files_.erase(found);
}

void SstFileManagerImpl::Count(uint32_t ticker) const {
  std::shared_ptr<Statistics> statistics;
  {
    MutexLock lock(&mutex_);
    statistics = statistics_;
  }
  RecordTick(statistics.get(), ticker);
}

// Trash beyond its share is hurried: what comes now is not added to it.
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
    Result<uint64_t> bytes = FileSizeOf(fs_.get(), trash);
    if (bytes.ok()) {
      OnAddFile(trash, *bytes);
      OnDeleteFile(was_trash ? "" : path);
      const bool is_taken = deleter_.Add(trash, *bytes, [this, trash](const Status& status) {
        OnDeleteFile(trash);
        if (status.ok()) Count(FILES_DELETED_FROM_TRASH_QUEUE);
      });
      if (is_taken) {
        Count(FILES_MARKED_TRASH);
        return Status::OK();
      }
    }
  }
  const std::string& now = trash.empty() ? path : trash;
  RETURN_IF_ERROR(DeleteFileIfExists(fs_.get(), now));
  OnDeleteFile(path);
  OnDeleteFile(now);
  Count(FILES_DELETED_IMMEDIATELY);
  return Status::OK();
}

// A file that has the same name as one that still waits: of a database that was made anew.
std::string SstFileManagerImpl::RenameToTrash(const std::string& path) {
  std::string trash = path + kTrashEnding;
  {
    MutexLock lock(&mutex_);
    for (int i = 1; files_.contains(trash); i++) trash = StrCat(path, ".", i, kTrashEnding);
  }
  const IOStatus renamed = fs_->RenameFile(path, trash, IOOptions(), nullptr);
  if (renamed.ok()) return trash;
  if (!renamed.IsNotFound() && !renamed.IsPathNotFound()) {
    Warn(info_log_.get(), "cannot rename %s, so it is deleted at once: %s", path.c_str(),
         renamed.ToString().c_str());
  }
  return "";
}

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

// The directory is a leftover of an older scheme: all in it is trash.
Status DeleteAllIn(FileSystem* fs, const std::string& dir) {
  Result<std::vector<std::string>> names = ListDirectory(fs, dir);
  if (!names.ok()) {
    const bool is_missing = names.status().IsNotFound() || names.status().IsPathNotFound();
    return is_missing ? Status::OK() : names.status();
  }
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
  if (fs == nullptr) fs = env->GetFileSystem();
  Status cleaned;
  if (delete_existing_trash && !trash_dir.empty()) cleaned = DeleteAllIn(fs.get(), trash_dir);
  if (status != nullptr) {
    *status = cleaned;
  } else {
    IgnoreError(cleaned, "the caller does not ask");
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
