// SPDX-License-Identifier: Apache-2.0
//
// BlobWriter writes the values of one job to blob files, one after the other. A new file begins
// when the previous one has reached the target size.
//
// Threads: one at a time. Crash: files are synced when they are complete, but belong to no version
// until the MANIFEST names them. An incomplete file is deleted, here or at the next open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "env/file_writer.h"
#include "table/format/compression.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

class BlobStore;
class SstFileManagerImpl;
class Statistics;

// Notified of the blob files of a job, by the thread that writes them. No lock is held.
class BlobFileObserver {
 public:
  virtual ~BlobFileObserver() = default;
  // A file with this number is about to be created.
  virtual void OnBlobFileBegun(FileNumber number) = 0;
  // Follows each OnBlobFileBegun(). If the file was not finished, `status` is the error and
  // `finished` is null.
  virtual void OnBlobFileEnded(FileNumber number, const BlobFileAddition* finished,
                               const Status& status) = 0;
};

// Pointers outlive the writer.
struct BlobWriterOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  FileWriterOptions writer;
  std::string dir;
  uint32_t family_id = 0;
  uint64_t file_bytes = 0;  // a file ends when it has this size
  CompressionType compression = kNoCompression;
  CompressionOptions compression_options;
  // Returns the number of the next file. The caller protects it from deletion until the job is
  // installed.
  std::function<FileNumber()> new_file_number;
  FileChecksumGenFactory* checksum_factory = nullptr;  // null: files have no checksums
  const BlobStore* prepopulated = nullptr;             // its cache gets the values; null: none
  BlobFileObserver* observer = nullptr;                // null: none
  Statistics* statistics = nullptr;
  SstFileManagerImpl* space = nullptr;  // counts the finished files; null: files are not counted
};

// Owned by one flush or compaction. After an error of Add() or Finish() only the finished files may
// be used.
class BlobWriter {
 public:
  explicit BlobWriter(BlobWriterOptions options) : options_(std::move(options)) {}
  ~BlobWriter();
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;

  // Writes a value, which is not empty, and sets *index to its location. If the value cannot be
  // compressed as the file's header promises, *is_stored becomes false and the value stays in the
  // table.
  Status Add(const Slice& user_key, const Slice& value, BlobIndex* index, bool* is_stored);
  // Completes the current file, if there is one.
  Status Finish();

  // The finished files, also after an error.
  const std::vector<BlobFileAddition>& files() const { return files_; }
  std::vector<BlobFileAddition> TakeFiles() { return std::move(files_); }

 private:
  // False if the library cannot compress the value. `*stored` points into compressed_.
  bool Compress(const Slice& value, Slice* stored);
  // Creates the next file.
  Status Begin();
  // Writes one record, and returns the offset of its value.
  Status AppendRecord(const Slice& user_key, const Slice& stored, uint64_t* value_offset);
  // Completes the current file.
  Status End();
  // The writes of End(): footer, sync, close, checksum.
  Status WriteEnd();
  // Deletes the current file after an error.
  void Abandon(const Status& status);

  const BlobWriterOptions options_;
  std::unique_ptr<Compressor> compressor_;  // null: no value was compressed yet
  PageString compressed_;
  std::string header_;
  std::unique_ptr<FileChecksumGenerator> checksum_;  // of the whole current file; null: none
  std::unique_ptr<FileWriter> file_;                 // null: the next value begins a file
  BlobFileAddition current_;                         // the metadata of file_ so far
  std::vector<BlobFileAddition> files_;
};

}  // namespace ashlar
