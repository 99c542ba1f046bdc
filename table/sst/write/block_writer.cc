// SPDX-License-Identifier: Apache-2.0
//
// Writes blocks with their trailers. The checksum in a trailer depends on the offset of the block.
// So padding for alignment is written before the block, and the trailer is computed after that.
#include "table/sst/write/block_writer.h"

#include <algorithm>
#include <cassert>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/file_writer.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status BlockWriter::Open() {
  assert(offset_ == 0);
  if (options_.compression.type == kNoCompression) return Status::OK();
  ASSIGN_OR_RETURN(compressor_, BlockCompressor::Create(options_.compression));
  return Status::OK();
}

Status BlockWriter::SetDictionary(const Slice& dictionary) {
  assert(offset_ == 0);
  assert(compresses());
  assert(!dictionary.empty());
  ASSIGN_OR_RETURN(data_compressor_, BlockCompressor::Create(options_.compression, dictionary));
  return Status::OK();
}

Status BlockWriter::Write(const Slice& block, Packing packing, BlockHandle* handle) {
  const StopWatch watch(SystemClock::Default().get(), options_.compression.statistics,
                        WRITE_RAW_BLOCK_MICROS);
  const bool is_data = packing == Packing::kData;
  assert(handle != nullptr);
  if (packing == Packing::kStored || !compresses()) {
    return Store(StoredBlock::AsItIs(block), is_data, handle);
  }
  // Data blocks use the dictionary once there is one; all other blocks never do.
  const bool has_own = is_data && data_compressor_ != nullptr;
  BlockCompressor* const compressor = (has_own ? data_compressor_ : compressor_).get();
  return Store(compressor->Compress(block, &compressed_), is_data, handle);
}

Status BlockWriter::WriteData(const StoredBlock& block, BlockHandle* handle) {
  const StopWatch watch(SystemClock::Default().get(), options_.compression.statistics,
                        WRITE_RAW_BLOCK_MICROS);
  return Store(block, /*is_data=*/true, handle);
}

Status BlockWriter::Store(const StoredBlock& block, bool is_data, BlockHandle* handle) {
  assert(handle != nullptr);
  if (!block.status.ok()) [[unlikely]] {
    return Status::Corruption(StrCat("verify_compression: ", file_->path(), ", offset ", offset_,
                                     ": ", block.status.ToString()));
  }
  was_rejected_ = block.was_rejected;
  if (block.type != kNoCompression) used_types_ |= uint32_t{1} << block.type;
  CountCompression(block);
  if (is_data) RETURN_IF_ERROR(WriteZeros(GapInFrontOf(block.bytes.size())));
  char trailer[kBlockTrailerBytes];
  EncodeBlockTrailer(options_.checksum, offset_, block.bytes, block.type, trailer);
  *handle = {offset_, block.bytes.size()};
  RETURN_IF_ERROR(Append(block.bytes));
  RETURN_IF_ERROR(Append(Slice(trailer, sizeof(trailer))));
  if (!is_data || options_.alignment == 0) return Status::OK();
  return WriteZeros((options_.alignment - offset_ % options_.alignment) % options_.alignment);
}

// The number of zeros to write so that a block begins at the next super block. 0 if the block fits
// into the current one, is larger than any super block, or would need a larger gap than permitted.
size_t BlockWriter::GapInFrontOf(size_t stored_bytes) const {
  const size_t super_block = options_.super_block_bytes;
  const size_t bytes = stored_bytes + kBlockTrailerBytes;
  if (super_block == 0 || bytes > super_block) return 0;
  const size_t used = offset_ % super_block;
  if (used + bytes <= super_block) return 0;
  const size_t gap = super_block - used;
  return gap < options_.max_super_block_gap ? gap : 0;
}

Status BlockWriter::WriteZeros(size_t bytes) {
  static constexpr char kZeros[4096] = {};
  while (bytes > 0) {
    const size_t piece = std::min(bytes, sizeof(kZeros));
    RETURN_IF_ERROR(Append(Slice(kZeros, piece)));
    bytes -= piece;
  }
  return Status::OK();
}

Status BlockWriter::Append(const Slice& bytes) {
  RETURN_IF_ERROR(file_->Append(bytes));
  offset_ += bytes.size();
  assert(offset_ == file_->size());  // handles are offsets in the file
  return Status::OK();
}

// Counts a block in one of three ways: compressed, rejected (compression did not pay), or bypassed
// (not tried). A block that was copied from another table was counted when that table was written.
void BlockWriter::CountCompression(const StoredBlock& block) const {
  Statistics* const statistics = options_.compression.statistics;
  if (statistics == nullptr || block.was_passed) return;
  if (block.type != kNoCompression) {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSED, 1);
    statistics->recordTick(BYTES_COMPRESSED_FROM, block.raw_bytes);
    statistics->recordTick(BYTES_COMPRESSED_TO, block.bytes.size());
  } else if (block.was_rejected) {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSION_REJECTED, 1);
    statistics->recordTick(BYTES_COMPRESSION_REJECTED, block.raw_bytes);
  } else {
    statistics->recordTick(NUMBER_BLOCK_COMPRESSION_BYPASSED, 1);
    statistics->recordTick(BYTES_COMPRESSION_BYPASSED, block.raw_bytes);
  }
}

std::string BlockWriter::DebugString() const {
  return StrCat("blocks written to ", offset_, compresses() ? ", compressed" : "",
                was_rejected_ ? ", but not the last" : "", ", kinds ", Hex(used_types_));
}

}  // namespace ashlar
