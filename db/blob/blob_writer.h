// SPDX-License-Identifier: Apache-2.0
//
// BlobWriter writes the values of one job to blob files, one after the other: a new one begins when
// the one before has reached its size.
//
// Threads: one at a time. Crash: a file that is complete after Finish() is synced, but becomes part
// of the database only when a MANIFEST names it. An incomplete file is deleted, here or at the next
// open.
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

// Hears of the files of a job, from the thread that writes them. No lock is held.
class BlobFileObserver {
 public:
  virtual ~BlobFileObserver() = default;
  virtual void OnBlobFileBegun(FileNumber number) = 0;
  // Each that begins also ends; with an error it is not finished, and `finished` is null.
  virtual void OnBlobFileEnded(FileNumber number, const BlobFileAddition* finished,
                               const Status& status) = 0;
};

struct BlobWriterOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  FileWriterOptions writer;
  std::string dir;
  uint32_t family_id = 0;
  uint64_t file_bytes = 0;  // a file ends when its records have reached so many bytes
  CompressionType compression = kNoCompression;
  CompressionOptions compression_options;
  // Protected from deletion by the caller until the job is installed.
  std::function<FileNumber()> new_file_number;
  FileChecksumGenFactory* checksum_factory = nullptr;  // null: files have no checksums
  const BlobStore* prepopulated = nullptr;             // whose cache gets the values; null: none
  BlobFileObserver* observer = nullptr;                // null: nobody is told
  Statistics* statistics = nullptr;
  SstFileManagerImpl* space = nullptr;  // counts the files that are finished; null: nobody does
};

class BlobWriter {
 public:
  explicit BlobWriter(BlobWriterOptions options) : options_(std::move(options)) {}
  ~BlobWriter();
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;

  // Writes a value that is not empty; *index is where. *is_stored is false for one that cannot be
  // compressed as the file says it is: it stays in the table.
  Status Add(const Slice& user_key, const Slice& value, BlobIndex* index, bool* is_stored);
  // Ends the last file. None may be open after an error.
  Status Finish();

  // Those that are finished, also after an error.
  const std::vector<BlobFileAddition>& files() const { return files_; }
  std::vector<BlobFileAddition> TakeFiles() { return std::move(files_); }

 private:
  bool Compress(const Slice& value, Slice* stored);
  Status Begin();
  Status AppendRecord(const Slice& user_key, const Slice& stored, uint64_t* value_offset);
  Status End();
  Status WriteEnd();
  void Abandon(const Status& status);

  const BlobWriterOptions options_;
  std::unique_ptr<Compressor> compressor_;  // null: none needed yet
  PageString compressed_;
  std::string header_;
  std::unique_ptr<FileChecksumGenerator> checksum_;  // of the file as a whole; null: none
  std::unique_ptr<FileWriter> file_;                 // null: the next value begins one
  BlobFileAddition current_;                         // what is in file_
  std::vector<BlobFileAddition> files_;
};

}  // namespace ashlar
