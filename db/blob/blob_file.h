// SPDX-License-Identifier: Apache-2.0
//
// What the MANIFEST records of blob files, BlobFile, the shared object of one at run time, and
// BlobFiles, those that one version of a column family has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/blob/blob_format.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ObsoleteBlobFiles;
struct OpenBlobFile;

struct BlobFileAddition {
  FileNumber number = 0;
  uint64_t blob_count = 0;
  uint64_t blob_bytes = 0;  // of whole records
  std::string checksum_method;
  std::string checksum_value;

  uint64_t file_bytes() const { return kBlobHeaderBytes + blob_bytes + kBlobFooterBytes; }
  std::string DebugString() const;
};

struct BlobFileGarbage {
  FileNumber number = 0;
  uint64_t garbage_count = 0;  // increments since the record before
  uint64_t garbage_bytes = 0;
};

// Shared by all versions that have it, through shared pointers that New() makes: when the last of
// them goes, the file on disk is obsolete.
class BlobFile : public std::enable_shared_from_this<BlobFile> {
 public:
  static std::shared_ptr<BlobFile> New(BlobFileAddition addition, uint32_t family_id,
                                       std::string file_path);
  BlobFile(const BlobFile&) = delete;
  BlobFile& operator=(const BlobFile&) = delete;
  ~BlobFile() = default;  // closes the file: for who may do I/O

  // Called before the version that adds the file is visible, and again for each later version with
  // this file, always with the same argument. Registers the file in `obsolete`, which outlives it;
  // the file becomes obsolete there when no version has it any more.
  void SetInstalled(ObsoleteBlobFiles* obsolete);

  const BlobFileAddition meta;
  const uint32_t family_id;
  const std::string path;

  // The open file; null: not open. Any thread.
  std::shared_ptr<const OpenBlobFile> opened() const {
    MutexLock lock(&mutex_);
    return opened_;
  }
  // Returns what was there before.
  std::shared_ptr<const OpenBlobFile> SetOpened(std::shared_ptr<const OpenBlobFile> opened) {
    MutexLock lock(&mutex_);
    return std::exchange(opened_, std::move(opened));
  }

 private:
  friend class ObsoleteBlobFiles;

  BlobFile(BlobFileAddition addition, uint32_t family, std::string file_path)
      : meta(std::move(addition)), family_id(family), path(std::move(file_path)) {}

  mutable Mutex mutex_{LockRank::kLeaf};
  std::shared_ptr<const OpenBlobFile> opened_ GUARDED_BY(mutex_);
  ObsoleteBlobFiles* obsolete_ = nullptr;  // null: nobody has seen it
  // In the list of those held, or of obsolete ones, which has no use for `previous_`.
  BlobFile* next_ = nullptr;
  BlobFile* previous_ = nullptr;
};

// Blob files that no version has any more; the owner of this object deletes them from disk. And
// those that some version has, so that their bytes can be counted. Any thread; nothing is allocated
// for either, as versions are installed and destroyed where nothing may fail.
class ObsoleteBlobFiles {
 public:
  ObsoleteBlobFiles() = default;
  ~ObsoleteBlobFiles();
  ObsoleteBlobFiles(const ObsoleteBlobFiles&) = delete;
  ObsoleteBlobFiles& operator=(const ObsoleteBlobFiles&) = delete;

  // Of the files of a family that some version has, the newest or an older one.
  uint64_t HeldBytes(uint32_t family_id) const;

  // Whether none is obsolete.
  bool empty() const;
  // Empties the list of these. They may be open.
  std::vector<std::unique_ptr<BlobFile>> Take();

 private:
  friend class BlobFile;
  void Hold(BlobFile* file);
  void Add(BlobFile* file);  // that was held

  mutable Mutex mutex_{LockRank::kLeaf};
  BlobFile* first_ GUARDED_BY(mutex_) = nullptr;
  BlobFile* first_held_ GUARDED_BY(mutex_) = nullptr;
};

// Immutable once a version has it.
class BlobFiles {
 public:
  struct Live {
    std::shared_ptr<BlobFile> file;
    uint64_t garbage_count = 0;
    uint64_t garbage_bytes = 0;

    bool is_all_garbage() const { return garbage_count >= file->meta.blob_count; }
  };

  const std::vector<Live>& all() const { return all_; }  // ascending
  bool empty() const { return all_.empty(); }
  // Null: there is none of this number.
  const Live* Find(FileNumber number) const;
  // Tables whose oldest blob file it is.
  size_t LinkCount(FileNumber number) const;

  // Of all its files, see there.
  void SetInstalled(ObsoleteBlobFiles* obsolete) const {
    for (const Live& live : all_) live.file->SetInstalled(obsolete);
  }

  uint64_t total_file_bytes() const;
  uint64_t total_blob_bytes() const;
  uint64_t garbage_bytes() const;
  std::string DebugString() const;

 private:
  friend class BlobFilesBuilder;

  std::vector<Live> all_;
  std::map<FileNumber, size_t> links_;  // by number, of files that need not be there; none is 0
};

}  // namespace ashlar
