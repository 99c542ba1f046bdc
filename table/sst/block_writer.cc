// SPDX-License-Identifier: Apache-2.0
//
// A block is stored compressed only if that saves the share the options ask for; the limit is given
// to the library, so that hopeless blocks end early.
#include "table/sst/block_writer.h"

#include <cassert>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/file_writer.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {

Status BlockWriter::Open() {
  assert(offset_ == 0);
  if (options_.compression == kNoCompression) return Status::OK();
  ASSIGN_OR_RETURN(compressor_,
                   Compressor::Create(options_.compression, options_.compression_opts));
  return Status::OK();
}

Status BlockWriter::Write(const Slice& block, Packing packing, BlockHandle* handle) {
  const StopWatch watch(SystemClock::Default().get(), options_.statistics, WRITE_RAW_BLOCK_MICROS);
  Slice stored = block;
  CompressionType type = kNoCompression;
  was_rejected_ = false;
  if (packing == Packing::kMayBeCompressed && compressor_ != nullptr) {
    if (TryCompress(block)) {
      if (options_.verify_compression) RETURN_IF_ERROR(CheckCompressed(block));
      stored = compressed_;
      type = compressor_->type();
      used_types_ |= uint32_t{1} << type;
    } else {
      was_rejected_ = true;
    }
  }
  CountCompression(block, type != kNoCompression);
  char trailer[kBlockTrailerBytes];
  EncodeBlockTrailer(options_.checksum, offset_, stored, type, trailer);
  *handle = {offset_, stored.size()};
  RETURN_IF_ERROR(Append(stored));
  return Append(Slice(trailer, sizeof(trailer)));
}

Status BlockWriter::Append(const Slice& bytes) {
  RETURN_IF_ERROR(file_->Append(bytes));
  offset_ += bytes.size();
  assert(offset_ == file_->size());  // handles are offsets in the file
  return Status::OK();
}

bool BlockWriter::TryCompress(const Slice& block) {
  assert(compressor_ != nullptr);
  const size_t limit = CompressedSizeLimit(block.size(), options_.compression_opts);
  if (options_.statistics == nullptr) return compressor_->Compress(block, limit, &compressed_);
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_nanos = WantsTimers(options_.statistics) ? clock->NowNanos() : 0;
  const bool is_smaller = compressor_->Compress(block, limit, &compressed_);
  if (start_nanos != 0) {
    RecordTime(options_.statistics, COMPRESSION_TIMES_NANOS, clock->NowNanos() - start_nanos);
  }
  return is_smaller;
}

// After a block that might be compressed: it was, or that did not pay, or nobody tried.
void BlockWriter::CountCompression(const Slice& block, bool is_compressed) const {
  Statistics* const statistics = options_.statistics;
  if (statistics == nullptr) return;
  if (is_compressed) {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSED, 1);
    statistics->recordTick(BYTES_COMPRESSED_FROM, block.size());
    statistics->recordTick(BYTES_COMPRESSED_TO, compressed_.size());
  } else if (was_rejected_) {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSION_REJECTED, 1);
    statistics->recordTick(BYTES_COMPRESSION_REJECTED, block.size());
  } else {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSION_BYPASSED, 1);
    statistics->recordTick(BYTES_COMPRESSION_BYPASSED, block.size());
  }
}

Status BlockWriter::CheckCompressed(const Slice& block) {
  std::string raw;
  RETURN_IF_ERROR(UncompressToString(compressor_->type(), compressed_, /*dict=*/nullptr, &raw));
  if (block == Slice(raw)) return Status::OK();
  return Status::Corruption(StrCat("verify_compression: ", file_->path(), ", offset ", offset_,
                                   ": a new block of ", block.size(),
                                   " bytes decompresses to other bytes; check the memory"));
}

std::string BlockWriter::DebugString() const {
  return StrCat("blocks written to ", offset_, compresses() ? ", compressed" : "",
                was_rejected_ ? ", but not the last" : "", ", kinds ", Hex(used_types_));
}

}  // namespace ashlar
