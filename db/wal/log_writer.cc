// SPDX-License-Identifier: Apache-2.0
//
// Frames each record in a scratch string and appends it in one piece. The file writer remembers
// the first error.
#include "db/wal/log_writer.h"

#include <cassert>
#include <utility>

#include "util/result.h"

namespace ashlar {
namespace {

// A scratch buffer that one huge record has made larger than this is freed.
constexpr size_t kKeptScratchBytes = 1 << 20;

}  // namespace

LogWriter::LogWriter(std::unique_ptr<FileWriter> file, const LogFraming& framing)
    : file_(std::move(file)), framing_(framing) {
  assert(file_ != nullptr);
}

Status LogWriter::AddRecord(const Slice& payload) {
  assert(scratch_.empty());  // the previous record was appended
  AppendFramedRecord(framing_, file_->size(), payload, &scratch_);
  return AppendScratch();
}

Status LogWriter::AddSpecialRecord(LogRecordType legacy_type, const Slice& payload) {
  assert(scratch_.empty());
  assert(legacy_type >= LogRecordType::kSetCompression);
  AppendSpecialRecord(framing_, file_->size(), legacy_type, payload, &scratch_);
  return AppendScratch();
}

Status LogWriter::AppendScratch() {
  assert(!scratch_.empty());
  Status status = file_->Append(scratch_);
  scratch_.clear();
  if (scratch_.capacity() > kKeptScratchBytes) scratch_.shrink_to_fit();
  RETURN_IF_ERROR(status);
  return file_->Flush();
}

Status LogWriter::Sync() { return file_->Sync(); }
Status LogWriter::Close() { return file_->Close(); }

}  // namespace ashlar
