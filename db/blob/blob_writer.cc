// SPDX-License-Identifier: Apache-2.0
//
// A record is written by two appends: its header with the key, and its value.
#include "db/blob/blob_writer.h"

#include <cassert>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/blob/blob_store.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/statistics/statistics.h"

namespace ashlar {
namespace {

SystemClock* Clock() { return SystemClock::Default().get(); }

// A generous limit that no compression library exceeds.
size_t MostCompressedBytes(size_t bytes) { return bytes + bytes / 8 + 1024; }

}  // namespace

BlobWriter::~BlobWriter() {
  if (file_ != nullptr) Abandon(Status::Aborted("the job has ended"));
}

bool BlobWriter::Compress(const Slice& value, Slice* stored) {
  assert(options_.compression != kNoCompression);
  assert(compressor_ != nullptr);
  const StopWatch watch(Clock(), options_.statistics, BLOB_DB_COMPRESSION_MICROS);
  if (!compressor_->Compress(value, MostCompressedBytes(value.size()), &compressed_)) return false;
  *stored = Slice(compressed_);
  return true;
}

Status BlobWriter::Add(const Slice& user_key, const Slice& value, BlobIndex* index,
                       bool* is_stored) {
  assert(!value.empty());
  Slice stored = value;
  // Made once; it keeps the library's state for all values of the job.
  if (options_.compression != kNoCompression) {
    if (compressor_ == nullptr) {
      ASSIGN_OR_RETURN(compressor_,
                       Compressor::Create(options_.compression, options_.compression_options));
    }
    *is_stored = Compress(value, &stored);
    // The value stays in the table, uncompressed.
    if (!*is_stored) return Status::OK();
  }
  *is_stored = true;
  if (file_ == nullptr) RETURN_IF_ERROR(Begin());
  index->file = current_.number;
  index->size = stored.size();
  index->compression = options_.compression;
  Status status = AppendRecord(user_key, stored, &index->offset);
  if (!status.ok()) {
    Abandon(status);
    return status;
  }
  // The uncompressed value, as readers get it.
  if (options_.prepopulated != nullptr) {
    options_.prepopulated->Prepopulate(index->file, index->offset, value);
  }
  // The size counts whole records, so that a file may be larger by one record.
  return current_.blob_bytes + kBlobHeaderBytes >= options_.file_bytes ? End() : Status::OK();
}

// Creates a file and writes its header. The observer gets an end for each file that begins.
Status BlobWriter::Begin() {
  assert(file_ == nullptr);
  current_ = BlobFileAddition();
  current_.number = options_.new_file_number();
  if (options_.observer != nullptr) options_.observer->OnBlobFileBegun(current_.number);
  const std::string path = BlobFileName(options_.dir, current_.number);
  FileWriterOptions writer = options_.writer;
  checksum_.reset();
  if (options_.checksum_factory != nullptr) {
    checksum_ = NewChecksumGenerator(options_.checksum_factory, path);
  }
  writer.checksum = checksum_.get();
  Result<std::unique_ptr<FileWriter>> created =
      FileWriter::Create(options_.fs, path, options_.file_options, writer);
  Status status = created.status();
  if (status.ok()) {
    file_ = created.Take();
    header_.clear();
    BlobFileHeader{.family_id = options_.family_id, .compression = options_.compression}.AppendTo(
        &header_);
    status = file_->Append(header_);
  }
  if (!status.ok()) Abandon(status);
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, kBlobHeaderBytes);
  return status;
}

// The value begins behind the header and the key; its offset goes into the blob index.
Status BlobWriter::AppendRecord(const Slice& user_key, const Slice& stored,
                                uint64_t* value_offset) {
  assert(file_ != nullptr);
  assert(file_->size() == kBlobHeaderBytes + current_.blob_bytes);
  const StopWatch watch(Clock(), options_.statistics, BLOB_DB_BLOB_FILE_WRITE_MICROS);
  header_.clear();
  BlobRecordHeader{.key_bytes = user_key.size(),
                   .value_bytes = stored.size(),
                   .masked_body_crc = MaskedBodyCrc(user_key, stored)}
      .AppendTo(&header_);
  header_.append(user_key.data(), user_key.size());
  // Two appends instead of one copy of the value.
  RETURN_IF_ERROR(file_->Append(header_));
  *value_offset = file_->size();
  RETURN_IF_ERROR(file_->Append(stored));
  const uint64_t bytes = BlobRecordBytes(user_key.size(), stored.size());
  current_.blob_count++;
  current_.blob_bytes += bytes;
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, bytes);
  return Status::OK();
}

// Writes the footer, syncs and closes the file. The file is durable afterwards, apart from its
// directory entry.
Status BlobWriter::WriteEnd() {
  assert(file_ != nullptr);
  header_.clear();
  BlobFileFooter{.blob_count = current_.blob_count}.AppendTo(&header_);
  RETURN_IF_ERROR(file_->Append(header_));
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_WRITTEN, kBlobFooterBytes);
  {
    const StopWatch watch(Clock(), options_.statistics, BLOB_DB_BLOB_FILE_SYNC_MICROS);
    RETURN_IF_ERROR(file_->Sync());
  }
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_SYNCED);
  // Closing may report an error of a network file system.
  RETURN_IF_ERROR(file_->Close());
  if (checksum_ == nullptr) return Status::OK();
  checksum_->Finalize();
  current_.checksum_method = checksum_->Name();
  current_.checksum_value = checksum_->GetChecksum();
  return Status::OK();
}

// Completes the current file and adds it to files().
Status BlobWriter::End() {
  assert(file_ != nullptr);
  assert(current_.blob_count > 0);
  Status status = WriteEnd();
  if (!status.ok()) {
    Abandon(status);
    return status;
  }
  file_.reset();
  // Counted only when it is complete: an abandoned file is deleted at once.
  files_.push_back(std::move(current_));
  if (options_.space != nullptr) {
    options_.space->OnAddFile(BlobFileName(options_.dir, files_.back().number),
                              files_.back().file_bytes());
  }
  if (options_.observer != nullptr) {
    options_.observer->OnBlobFileEnded(files_.back().number, &files_.back(), status);
  }
  return status;
}

Status BlobWriter::Finish() { return file_ == nullptr ? Status::OK() : End(); }

void BlobWriter::Abandon(const Status& status) {
  assert(!status.ok());
  // The writer is closed before the file is deleted.
  file_.reset();
  IgnoreError(DeleteFileIfExists(options_.fs, BlobFileName(options_.dir, current_.number)),
              "an unfinished blob file that stays is deleted at the next open");
  if (options_.observer != nullptr) {
    options_.observer->OnBlobFileEnded(current_.number, nullptr, status);
  }
}

}  // namespace ashlar
