// SPDX-License-Identifier: Apache-2.0
//
// Bytes that were read once may have been half written, so each call that follows an end reads the
// block of the next record again, with a reader of its own.
#include "db/following/log_tail.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/text/str_cat.h"

namespace ashlar {

// The bytes of the file from `offset` on, in pieces that are large where there is much to read.
class LogTail::Source final : public LogSource {
 public:
  Source(const FSRandomAccessFile* file, uint64_t offset, const std::string& name)
      : file_(file), offset_(offset), name_(name) {
    assert(file != nullptr);
  }

  Status Read(size_t n, char* scratch, Slice* result) override {
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
    bytes_.resize(std::min(kMostBytes, std::max<size_t>(kLogBlockBytes, 2 * bytes_.size())));
    const Status status =
        file_->Read(offset_, bytes_.size(), IOOptions(), &rest_, bytes_.data(), nullptr);
    if (!status.ok()) return Status::CopyAppendMessage(status, "; in ", name_);
    offset_ += rest_.size();
    return Status::OK();
  }

  const FSRandomAccessFile* const file_;
  uint64_t offset_;  // of the byte behind those that were read
  const std::string& name_;
  std::vector<char> bytes_;
  Slice rest_;
};

// A mapping of the file, or a buffer that must be aligned, would not show what is appended.
Result<std::unique_ptr<LogTail>> LogTail::Open(FileSystem* fs, const std::string& path,
                                               FileNumber number) {
  FileOptions options;
  options.use_mmap_reads = options.use_direct_reads = false;
  std::unique_ptr<FSRandomAccessFile> file;
  RETURN_IF_ERROR(fs->NewRandomAccessFile(path, options, &file, nullptr));
  return std::unique_ptr<LogTail>(new LogTail(std::move(file), path, number));
}

LogTail::LogTail(std::unique_ptr<FSRandomAccessFile> file, const std::string& path,
                 FileNumber number)
    : file_(std::move(file)), path_(path), number_(number) {}

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

// A log says of itself what it has to say in front of its records, and once.
bool LogTail::Read() {
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
    reader_ = std::make_unique<LogReader>(std::make_unique<Source>(file_.get(), block, path_),
                                          options, nullptr);
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
  next_offset_ = std::max(next_offset_, reader_->special_end());
  if (!reader_->timestamp_sizes().empty()) timestamp_sizes_ = reader_->timestamp_sizes();
  status_ = reader_->status();
  unreadable_ = reader_->unreadable();
  reader_.reset();
  return false;
}

void LogTail::NotePredecessor() {
  predecessor_ = DecodeLogBeginning(record_);
  timestamp_sizes_ = reader_->timestamp_sizes();
  const std::optional<PredecessorWalInfo>& theirs = reader_->predecessor();
  if (predecessor_.has_value() || !theirs.has_value()) return;
  predecessor_ = LogPredecessor{.number = theirs->log_number, .end_bytes = theirs->size_bytes};
}

}  // namespace ashlar
