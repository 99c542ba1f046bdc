// SPDX-License-Identifier: Apache-2.0
//
// The last reference to a blob file may be released in a destructor, where nothing may fail. So the
// object itself is the entry in the list of obsolete files.
#include "db/blob/blob_file.h"

#include <algorithm>
#include <cassert>

#include "ashlar/slice.h"
#include "util/text/str_cat.h"

namespace ashlar {

std::string BlobFileAddition::DebugString() const {
  return StrCat("blob_file_number: ", number, " total_blob_count: ", blob_count,
                " total_blob_bytes: ", blob_bytes, " checksum_method: ", checksum_method,
                " checksum_value: ", Slice(checksum_value).ToString(/*hex=*/true));
}

std::shared_ptr<BlobFile> BlobFile::New(BlobFileAddition addition, uint32_t family_id,
                                        std::string file_path) {
  // The deleter of the shared pointer. An installed file is handed over to the list, where no
  // memory is needed.
  const auto end = [](BlobFile* file) {
    file->obsolete_ == nullptr ? delete file : file->obsolete_->Add(file);
  };
  return {new BlobFile(std::move(addition), family_id, std::move(file_path)), end};
}

void BlobFile::SetInstalled(ObsoleteBlobFiles* obsolete) {
  assert(obsolete_ == nullptr || obsolete_ == obsolete);
  if (obsolete_ != nullptr) return;  // registered by an earlier version
  obsolete_ = obsolete;
  obsolete->Hold(this);
}

// A file that is open is closed, which may take locks of its file system.
ObsoleteBlobFiles::~ObsoleteBlobFiles() {
  BlobFile* file = nullptr;
  {
    MutexLock lock(&mutex_);
    file = std::exchange(first_, nullptr);
  }
  // Deleted without the mutex, because closing a file may take other locks.
  while (file != nullptr) delete std::exchange(file, file->next_);
}

bool ObsoleteBlobFiles::empty() const {
  MutexLock lock(&mutex_);
  return first_ == nullptr;
}

void ObsoleteBlobFiles::Hold(BlobFile* file) {
  assert(file != nullptr);
  assert(file->next_ == nullptr);
  assert(file->previous_ == nullptr);
  MutexLock lock(&mutex_);
  if (first_held_ != nullptr) first_held_->previous_ = file;
  file->next_ = std::exchange(first_held_, file);
}

void ObsoleteBlobFiles::Add(BlobFile* file) {
  MutexLock lock(&mutex_);
  assert(file == first_held_ || file->previous_ != nullptr);
  // Unlinks the file from the doubly linked list of held files.
  if (file->next_ != nullptr) file->next_->previous_ = file->previous_;
  (file->previous_ == nullptr ? first_held_ : file->previous_->next_) = file->next_;
  file->next_ = std::exchange(first_, file);
}

uint64_t ObsoleteBlobFiles::HeldBytes(uint32_t family_id) const {
  // Linear in the number of files; asked by properties only.
  uint64_t bytes = 0;
  MutexLock lock(&mutex_);
  for (const BlobFile* file = first_held_; file != nullptr; file = file->next_) {
    if (file->family_id == family_id) bytes += file->meta.file_bytes();
  }
  return bytes;
}

std::vector<std::string> ObsoleteBlobFiles::HeldPaths() const {
  std::vector<std::string> paths;
  MutexLock lock(&mutex_);
  for (const BlobFile* file = first_held_; file != nullptr; file = file->next_) {
    paths.push_back(file->path);
  }
  return paths;
}

std::vector<std::unique_ptr<BlobFile>> ObsoleteBlobFiles::Take() {
  std::vector<std::unique_ptr<BlobFile>> files;
  MutexLock lock(&mutex_);
  while (first_ != nullptr) {
    files.emplace_back();  // if this throws, the remaining files stay in the list
    files.back().reset(std::exchange(first_, first_->next_));
  }
  return files;
}

const BlobFiles::Live* BlobFiles::Find(FileNumber number) const {
  const auto found = std::lower_bound(
      all_.begin(), all_.end(), number,
      [](const Live& live, FileNumber wanted) { return live.file->meta.number < wanted; });
  return found == all_.end() || found->file->meta.number != number ? nullptr : &*found;
}

size_t BlobFiles::LinkCount(FileNumber number) const {
  const auto found = links_.find(number);
  assert(found == links_.end() || found->second > 0);
  return found == links_.end() ? 0 : found->second;
}

uint64_t BlobFiles::total_file_bytes() const {
  uint64_t bytes = 0;
  for (const Live& live : all_) bytes += live.file->meta.file_bytes();
  return bytes;
}

uint64_t BlobFiles::total_blob_bytes() const {
  uint64_t bytes = 0;
  for (const Live& live : all_) bytes += live.file->meta.blob_bytes;
  return bytes;
}

uint64_t BlobFiles::garbage_bytes() const {
  uint64_t bytes = 0;
  for (const Live& live : all_) bytes += live.garbage_bytes;
  return bytes;
}

std::string BlobFiles::DebugString() const {
  std::string text;
  for (const Live& live : all_) {
    StrAppend(&text, "blob file ", live.file->meta.number, ": ", live.file->meta.blob_count,
              " values, ", live.file->meta.blob_bytes, " bytes, of which garbage ",
              live.garbage_count, " and ", live.garbage_bytes, ", oldest one of ",
              LinkCount(live.file->meta.number), " tables\n");
  }
  return text;
}

}  // namespace ashlar
