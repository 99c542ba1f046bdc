// SPDX-License-Identifier: Apache-2.0
//
// The metadata of blob files in the MANIFEST; BlobFile, the shared object of one file at run time;
// and BlobFiles, the blob files of one version of a column family.
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

// The MANIFEST's record of a new blob file.
// A plain value. Once in the MANIFEST it never changes.
struct BlobFileAddition {
  FileNumber number = 0;
  uint64_t blob_count = 0;
  uint64_t blob_bytes = 0;  // of complete records, without the header and footer of the file
  std::string checksum_method;
  std::string checksum_value;

  uint64_t file_bytes() const { return kBlobHeaderBytes + blob_bytes + kBlobFooterBytes; }
  std::string DebugString() const;
};

// The MANIFEST's record of garbage in a blob file. Both numbers are increments.
struct BlobFileGarbage {
  FileNumber number = 0;
  uint64_t garbage_count = 0;  // values to which no table refers any more
  uint64_t garbage_bytes = 0;
};

// Shared by all versions with this file, through shared pointers that New() makes. When the last of
// them is released, the file on disk becomes obsolete.
class BlobFile : public std::enable_shared_from_this<BlobFile> {
 public:
  // Shared ownership from the start: the last reference decides whether the file is deleted on
  // disk.
  static std::shared_ptr<BlobFile> New(BlobFileAddition addition, uint32_t family_id,
                                       std::string file_path);
  BlobFile(const BlobFile&) = delete;
  BlobFile& operator=(const BlobFile&) = delete;
  ~BlobFile() = default;  // closes the file, so it runs only where I/O is allowed

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
  // Replaces the open file, and returns the previous one.
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
  ObsoleteBlobFiles* obsolete_ = nullptr;  // null: no version has the file yet
  // Links in one of the two lists of obsolete_. The list of obsolete files is singly linked and
  // does not use previous_.
  BlobFile* next_ = nullptr;
  BlobFile* previous_ = nullptr;
};

// Two lists: the blob files that no version has any more, which the owner of this object deletes
// from disk; and the files that some version has, whose bytes can be counted. Neither list
// allocates memory, because versions are installed and destroyed where nothing may fail. Threads:
// any.
class ObsoleteBlobFiles {
 public:
  ObsoleteBlobFiles() = default;
  ~ObsoleteBlobFiles();
  ObsoleteBlobFiles(const ObsoleteBlobFiles&) = delete;
  ObsoleteBlobFiles& operator=(const ObsoleteBlobFiles&) = delete;

  // The bytes of a family's files that some version has, including older versions.
  uint64_t HeldBytes(uint32_t family_id) const;
  // The paths of all files that some version has.
  std::vector<std::string> HeldPaths() const;

  // Whether no file is obsolete.
  bool empty() const;
  // Removes all obsolete files from the list and returns them. Their files may still be open.
  std::vector<std::unique_ptr<BlobFile>> Take();

 private:
  // Adds a file to the list of files that some version has.
  friend class BlobFile;
  void Hold(BlobFile* file);
  // Moves a held file to the list of obsolete files.
  void Add(BlobFile* file);

  mutable Mutex mutex_{LockRank::kLeaf};
  BlobFile* first_ GUARDED_BY(mutex_) = nullptr;
  BlobFile* first_held_ GUARDED_BY(mutex_) = nullptr;
};

// The blob files of one version. Immutable once a version has it.
class BlobFiles {
 public:
  // A blob file of the version, and its garbage so far.
  struct Live {
    std::shared_ptr<BlobFile> file;
    uint64_t garbage_count = 0;
    uint64_t garbage_bytes = 0;

    bool is_all_garbage() const { return garbage_count >= file->meta.blob_count; }
  };

  const std::vector<Live>& all() const { return all_; }  // ascending by number
  bool empty() const { return all_.empty(); }
  // The file with this number; null if there is none.
  // The pointer is valid as long as this object. Binary search.
  const Live* Find(FileNumber number) const;
  // The number of tables whose oldest blob file is this one.
  size_t LinkCount(FileNumber number) const;

  // Calls SetInstalled() of each file.
  void SetInstalled(ObsoleteBlobFiles* obsolete) const {
    for (const Live& live : all_) live.file->SetInstalled(obsolete);
  }

  // Sums over all files, in bytes: whole files, complete records, and garbage.
  uint64_t total_file_bytes() const;
  uint64_t total_blob_bytes() const;
  uint64_t garbage_bytes() const;
  std::string DebugString() const;

 private:
  friend class BlobFilesBuilder;

  std::vector<Live> all_;
  // The number of tables linked to each file, by number. Numbers of files that are gone may occur;
  // counts are above 0.
  std::map<FileNumber, size_t> links_;
};

}  // namespace ashlar
