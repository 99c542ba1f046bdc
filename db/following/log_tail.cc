// SPDX-License-Identifier: Apache-2.0
//
// Bytes that were read at the end of a log may have been half written. So each call after an end
// reads the block of the next record again, with a new reader.
#include "db/following/log_tail.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Opens the log for buffered reads. A memory mapping, or a buffer of direct I/O, would not show
// what is appended later.
Status OpenBuffered(FileSystem* fs, const std::string& path,
                    std::unique_ptr<FSRandomAccessFile>* file) {
  FileOptions options;
  options.use_mmap_reads = options.use_direct_reads = false;
  return fs->NewRandomAccessFile(path, options, file, nullptr);
}

}  // namespace

// The bytes of the file from `offset` on. The pieces grow while there is much to read.
class LogTail::Source final : public LogSource {
 public:
  // *has_bytes is set when the file has something, perhaps what cannot be decrypted.
  Source(const FSRandomAccessFile* file, uint64_t offset, const std::string& name, bool* has_bytes)
      : file_(file), offset_(offset), name_(name), has_bytes_(has_bytes) {
    assert(file != nullptr);
    assert(has_bytes != nullptr);
  }

  Status Read(size_t n, char* scratch, Slice* result) override {
    assert(result != nullptr);
    if (rest_.empty()) RETURN_IF_ERROR(Fill());
    const size_t given = std::min(n, rest_.size());
    std::memcpy(scratch, rest_.data(), given);
    rest_.remove_prefix(given);
    *result = Slice(scratch, given);
    return Status::OK();
  }
  const std::string& name() const override { return name_; }

 private:
  static constexpr size_t kMostBytes = 512 << 10;

  Status Fill() {
    // Twice as many bytes as the last time, up to a limit.
    bytes_.resize(std::min(kMostBytes, std::max<size_t>(kLogBlockBytes, 2 * bytes_.size())));
    const Status status =
        file_->Read(offset_, bytes_.size(), IOOptions(), &rest_, bytes_.data(), nullptr);
    *has_bytes_ |= status.ok() ? !rest_.empty() : status.IsCorruption();
    if (!status.ok()) return Status::CopyAppendMessage(status, "; in ", name_);
    offset_ += rest_.size();
    return Status::OK();
  }

  const FSRandomAccessFile* const file_;
  uint64_t offset_;  // of the byte behind those that were read
  const std::string& name_;
  bool* const has_bytes_;
  std::vector<char> bytes_;
  Slice rest_;
};

Result<std::unique_ptr<LogTail>> LogTail::Open(FileSystem* fs, const std::string& path,
                                               FileNumber number) {
  assert(fs != nullptr);
  std::unique_ptr<FSRandomAccessFile> file;
  RETURN_IF_ERROR(OpenBuffered(fs, path, &file));
  return std::unique_ptr<LogTail>(new LogTail(fs, std::move(file), path, number));
}

LogTail::LogTail(FileSystem* fs, std::unique_ptr<FSRandomAccessFile> file, const std::string& path,
                 FileNumber number)
    : fs_(fs), file_(std::move(file)), path_(path), number_(number) {}

LogTail::~LogTail() = default;

bool LogTail::Peek(Slice* batch) {
  if (!has_record_ && !Read()) return false;
  *batch = record_;
  return true;
}

bool LogTail::Next(Slice* batch) {
  if (!Peek(batch)) return false;
  has_record_ = false;
  end_offset_ = next_offset_;
  return true;
}

// Reads the next record. If the file begins with something that cannot be read, it is tried once
// more with the file as it is opened now. A file that is empty so far costs no opening.
bool LogTail::Read() {
  has_bytes_ = false;
  if (ReadOnce()) return true;
  const bool is_at_begin = !has_read_record_ && next_offset_ == 0;
  return is_at_begin && has_bytes_ && OpenAgain() && ReadOnce();
}

// Returns false if there is no other file to read. A deleted log is read through the old object.
bool LogTail::OpenAgain() {
  std::unique_ptr<FSRandomAccessFile> file;
  if (!OpenBuffered(fs_, path_, &file).ok()) return false;
  file_ = std::move(file);
  return true;
}

// What a log says about itself is noted once, with its first record.
bool LogTail::ReadOnce() {
  assert(!has_record_);
  status_ = Status::OK();
  if (reader_ == nullptr) {
    LogReader::Options options;
    options.log_number = number_;
    options.is_wal = true;
    options.is_tailing = options.is_shared = true;
    options.start_offset = next_offset_;
    options.is_compressed = is_compressed_;
    const uint64_t block = LogReader::BlockOf(next_offset_);
    reader_ = std::make_unique<LogReader>(
        std::make_unique<Source>(file_.get(), block, path_, &has_bytes_), options, nullptr);
  }
  has_record_ = reader_->ReadRecord(&record_);
  is_compressed_ = reader_->is_compressed();
  if (has_record_) {
    record_offset_ = reader_->record_offset();
    next_offset_ = reader_->record_end();
    if (!has_read_record_) NotePredecessor();
    has_read_record_ = true;
    return true;
  }
  // The reader has stopped at the end of the written bytes; the next call starts again from here.
  next_offset_ = std::max(next_offset_, reader_->special_end());
  if (!reader_->timestamp_sizes().empty()) timestamp_sizes_ = reader_->timestamp_sizes();
  status_ = reader_->status();
  unreadable_ = reader_->unreadable();
  reader_.reset();
  return false;
}

// Notes which log came before this one, and where it ended. RocksDB's logs record this in another
// way.
void LogTail::NotePredecessor() {
  predecessor_ = DecodeLogBeginning(record_);
  timestamp_sizes_ = reader_->timestamp_sizes();
  const std::optional<PredecessorWalInfo>& theirs = reader_->predecessor();
  if (predecessor_.has_value() || !theirs.has_value()) return;
  predecessor_ = LogPredecessor{.number = theirs->log_number, .end_bytes = theirs->size_bytes};
}

}  // namespace ashlar
