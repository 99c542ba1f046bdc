// SPDX-License-Identifier: Apache-2.0
//
// A copy has one buffer: each piece is read into it, added to the CRC, and appended to the target.
#include "db/utilities/copy/file_copier.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "ashlar/rate_limiter.h"
#include "db/utilities/copy/copy_progress.h"
#include "env/file_writer.h"
#include "env/rate_limiter.h"
#include "env/sequential_reader.h"
#include "util/hash/crc32c.h"
#include "util/memory/page_allocator.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Copies must not take the bandwidth of flushes, which have a higher priority at the limiter.
constexpr Env::IOPriority kPriority = Env::IO_LOW;

// With a very small burst size, pieces are larger than the burst and wait for several tokens,
// because one system call per few bytes would be too expensive.
uint64_t BufferBytesOf(const CopySettings& settings) {
  constexpr uint64_t kUsual = 5 << 20, kLeast = 4 << 10;
  if (settings.buffer_bytes != 0) return settings.buffer_bytes;
  if (settings.limiter == nullptr) return kUsual;
  return std::max(kLeast, static_cast<uint64_t>(settings.limiter->GetSingleBurstBytes()));
}

Status WrongSize(const CopySource& source, uint64_t found, bool has_more) {
  return Status::Corruption(StrCat(source.path, ": expected ", source.bytes, " bytes, found ",
                                   has_more ? "more than " : "", found));
}

}  // namespace

// An open source and the facts about the part that has been read.
struct FileCopier::Reading {
  const CopySource* source;
  std::unique_ptr<SequentialReader> reader;
  CopiedFile file;
};

FileCopier::FileCopier(const CopySettings& settings)
    : settings_(settings), buffer_bytes_(BufferBytesOf(settings)) {
  assert(buffer_bytes_ > 0);
}

// The checksum is computed while the bytes pass, so the source is read once.
Result<CopiedFile> FileCopier::Copy(const CopySource& source, const CopyTarget& target) const {
  ASSIGN_OR_RETURN(Reading reading, Open(source));
  RETURN_IF_ERROR(WriteFile(target, reading.file.temperature, [&](FileWriter* writer) {
    const auto append = [&](const Slice& piece) {
      RETURN_IF_ERROR(writer->Append(piece));
      return Passed(piece.size());
    };
    RETURN_IF_ERROR(ReadAll(&reading, append));
    return source.tail.empty() ? Status::OK() : append(source.tail);
  }));
  CopiedFile& copied = reading.file;
  // The size and the CRC are those of the target, with the tail.
  copied.bytes += source.tail.size();
  copied.crc = crc32c::Extend(copied.crc, source.tail.data(), source.tail.size());
  return copied;
}

// Writes a small file whose content is in memory.
Result<CopiedFile> FileCopier::Write(const Slice& contents, const CopyTarget& target) const {
  RETURN_IF_ERROR(CheckNotStopped());
  RETURN_IF_ERROR(WriteFile(target, Temperature::kUnknown, [&](FileWriter* writer) {
    RETURN_IF_ERROR(writer->Append(contents));
    return Passed(contents.size());
  }));
  return CopiedFile{.bytes = contents.size(),
                    .crc = crc32c::Value(contents.data(), contents.size())};
}

Result<CopiedFile> FileCopier::Read(const CopySource& source) const {
  ASSIGN_OR_RETURN(Reading reading, Open(source));
  RETURN_IF_ERROR(ReadAll(&reading, [](const Slice&) { return Status::OK(); }));
  return reading.file;
}

// The temperature in the file system may differ from the recorded one; the setting decides which of
// the two the copy gets.
Result<FileCopier::Reading> FileCopier::Open(const CopySource& source) const {
  assert(source.fs != nullptr);
  RETURN_IF_ERROR(CheckNotStopped());
  FileOptions options;
  options.temperature = source.temperature;
  ASSIGN_OR_RETURN(auto reader, SequentialReader::Open(source.fs, source.path, options));
  Reading reading{.source = &source, .reader = std::move(reader), .file = {}};
  const Temperature reported = reading.reader->temperature();
  const Temperature first = source.prefers_reported_temperature ? reported : source.temperature;
  const Temperature second = source.prefers_reported_temperature ? source.temperature : reported;
  reading.file.temperature = first != Temperature::kUnknown ? first : second;
  return reading;
}

// Creates the file, lets `fill` write it, and syncs it if the settings ask for that.
template <typename Fill>
Status FileCopier::WriteFile(const CopyTarget& target, Temperature temperature,
                             const Fill& fill) const {
  assert(target.fs != nullptr);
  FileOptions options;
  options.temperature = temperature;
  ASSIGN_OR_RETURN(const auto writer, FileWriter::Create(target.fs, target.path, options,
                                                         {.buffer_bytes = 0,
                                                          .rate_limiter = settings_.limiter,
                                                          .priority = kPriority}));
  RETURN_IF_ERROR(fill(writer.get()));
  if (settings_.sync) RETURN_IF_ERROR(writer->Sync());
  return writer->Close();
}

// Passes the source to `sink` piece by piece. A source that is shorter than expected is Corruption.
template <typename Sink>
Status FileCopier::ReadAll(Reading* reading, const Sink& sink) const {
  assert(reading != nullptr);
  assert(reading->source != nullptr && reading->reader != nullptr);
  const CopySource& source = *reading->source;
  CopiedFile& file = reading->file;
  const uint64_t most = std::clamp<uint64_t>(source.bytes, 1, buffer_bytes_);
  const PageArray buffer = MakePageArray(static_cast<size_t>(most));
  for (;;) {
    // After the expected size one more byte is requested, to check that the file ends there.
    const uint64_t left = source.bytes - file.bytes;
    // The source is still being written. Only the part that was listed is copied.
    if (left == 0 && source.may_be_longer) return Status::OK();
    const auto wanted = static_cast<size_t>(std::clamp<uint64_t>(left, 1, most));
    // Waits without any lock held.
    AwaitTokens(settings_.limiter, wanted, kPriority, nullptr, RateLimiter::OpType::kRead);
    Slice piece;
    RETURN_IF_ERROR(reading->reader->Read(wanted, buffer.get(), &piece));
    // The file ends.
    if (piece.empty()) break;
    if (left == 0) return WrongSize(source, file.bytes, /*has_more=*/true);
    file.bytes += piece.size();
    file.crc = crc32c::Extend(file.crc, piece.data(), piece.size());
    RecordTick(settings_.statistics, settings_.read_ticker, piece.size());
    RETURN_IF_ERROR(sink(piece));
    RETURN_IF_ERROR(CheckNotStopped());
  }
  if (source.bytes == UINT64_MAX || file.bytes == source.bytes) return Status::OK();
  return WrongSize(source, file.bytes, /*has_more=*/false);
}

Status FileCopier::CheckNotStopped() const {
  if (settings_.is_stopped == nullptr) return Status::OK();
  if (!settings_.is_stopped->load(std::memory_order_relaxed)) return Status::OK();
  return Status::Incomplete("stopped");
}

Status FileCopier::Passed(uint64_t bytes) const {
  RecordTick(settings_.statistics, settings_.write_ticker, bytes);
  return settings_.progress == nullptr ? Status::OK() : settings_.progress->Add(bytes);
}

Status CheckCrc(const std::string& path, uint32_t expected, uint32_t found) {
  if (expected == found) return Status::OK();
  return Status::Corruption(
      StrCat(path, ": crc32c of the file expected ", expected, ", found ", found));
}

}  // namespace ashlar
