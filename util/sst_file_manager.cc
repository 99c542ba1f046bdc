// SPDX-License-Identifier: Apache-2.0
//
// A map from path to size under one lock: it is touched per file, never per key.
#include "util/sst_file_manager_impl.h"

namespace ashlar {

void SstFileTracker::OnAddFile(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mutex_);
  uint64_t& known = files_[path];
  total_bytes_ += bytes - known;
  known = bytes;
}

void SstFileTracker::OnDeleteFile(const std::string& path) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  total_bytes_ -= found->second;
  files_.erase(found);
}

void SstFileTracker::OnCompactionStart(uint64_t bytes) {
  MutexLock lock(&mutex_);
  compaction_reserved_bytes_ += bytes;
}

void SstFileTracker::OnCompactionEnd(uint64_t bytes) {
  MutexLock lock(&mutex_);
  compaction_reserved_bytes_ -= bytes;
}

void SstFileTracker::SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) {
  MutexLock lock(&mutex_);
  max_bytes_ = max_allowed_space;
}

void SstFileTracker::SetCompactionBufferSize(uint64_t compaction_buffer_size) {
  MutexLock lock(&mutex_);
  compaction_buffer_bytes_ = compaction_buffer_size;
}

bool SstFileTracker::IsMaxAllowedSpaceReached() {
  MutexLock lock(&mutex_);
  return max_bytes_ > 0 && total_bytes_ >= max_bytes_;
}

bool SstFileTracker::IsMaxAllowedSpaceReachedIncludingCompactions() {
  MutexLock lock(&mutex_);
  const uint64_t needed = total_bytes_ + compaction_reserved_bytes_ + compaction_buffer_bytes_;
  return max_bytes_ > 0 && needed >= max_bytes_;
}

uint64_t SstFileTracker::GetTotalSize() {
  MutexLock lock(&mutex_);
  return total_bytes_;
}

std::unordered_map<std::string, uint64_t> SstFileTracker::GetTrackedFiles() {
  MutexLock lock(&mutex_);
  return files_;
}

int64_t SstFileTracker::GetDeleteRateBytesPerSecond() {
  MutexLock lock(&mutex_);
  return delete_rate_;
}

void SstFileTracker::SetDeleteRateBytesPerSecond(int64_t delete_rate) {
  MutexLock lock(&mutex_);
  delete_rate_ = delete_rate;
}

double SstFileTracker::GetMaxTrashDBRatio() {
  MutexLock lock(&mutex_);
  return max_trash_ratio_;
}

void SstFileTracker::SetMaxTrashDBRatio(double ratio) {
  MutexLock lock(&mutex_);
  max_trash_ratio_ = ratio;
}

void SstFileTracker::SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) {
  MutexLock lock(&mutex_);
  statistics_ = stats;
}

SstFileManager* NewSstFileManager(Env* /*env*/, std::shared_ptr<FileSystem> /*fs*/,
                                  std::shared_ptr<Logger> /*info_log*/,
                                  const std::string& /*trash_dir*/, int64_t rate_bytes_per_sec,
                                  bool /*delete_existing_trash*/, Status* status,
                                  double max_trash_db_ratio, uint64_t /*bytes_max_delete_chunk*/) {
  if (status != nullptr) *status = Status::OK();
  return new SstFileTracker(rate_bytes_per_sec, max_trash_db_ratio);
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
