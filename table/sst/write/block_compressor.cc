// SPDX-License-Identifier: Apache-2.0
//
// A block is stored compressed only if compression saves at least the share that the options ask
// for. That limit is passed to the compression library, so that it gives up early on a block that
// does not compress.
#include "table/sst/write/block_compressor.h"

#include <cassert>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<std::unique_ptr<BlockCompressor>> BlockCompressor::Create(
    const BlockCompression& compression, const Slice& dictionary) {
  assert(compression.type != kNoCompression);
  ASSIGN_OR_RETURN(std::unique_ptr<Compressor> compressor,
                   Compressor::Create(compression.type, compression.options, dictionary));
  auto made = std::make_unique<BlockCompressor>(compression, std::move(compressor));
  // With `is_verified` and a dictionary, the compressor keeps its own decompression dictionary for
  // Check().
  if (compression.is_verified && !dictionary.empty()) {
    made->dictionary_ = std::make_unique<UncompressionDict>(dictionary);
  }
  return made;
}

// The result points into `raw` or into *output.
StoredBlock BlockCompressor::Compress(const Slice& raw, PageString* output) {
  assert(output != nullptr);
  StoredBlock block = StoredBlock::AsItIs(raw);
  if (!TryCompress(raw, output)) {
    block.was_rejected = true;
    return block;
  }
  block.bytes = Slice(*output);
  block.type = compression_.type;
  if (compression_.is_verified) block.status = Check(raw, block.bytes);
  return block;
}

// True if `output` holds a compressed form within the limit. The time is measured only if the
// statistics want timers.
bool BlockCompressor::TryCompress(const Slice& raw, PageString* output) {
  const size_t limit = CompressedSizeLimit(raw.size(), compression_.options);
  Statistics* const statistics = compression_.statistics;
  if (statistics == nullptr) return compressor_->Compress(raw, limit, output);
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_nanos = WantsTimers(statistics) ? clock->NowNanos() : 0;
  const bool is_smaller = compressor_->Compress(raw, limit, output);
  if (start_nanos != 0) {
    RecordTime(statistics, COMPRESSION_TIMES_NANOS, clock->NowNanos() - start_nanos);
  }
  return is_smaller;
}

// Decompresses the new block and compares: a difference means damaged memory or a bug in the
// library, and the block must not reach the file.
Status BlockCompressor::Check(const Slice& raw, const Slice& compressed) const {
  assert(compression_.is_verified);
  std::string again;
  RETURN_IF_ERROR(UncompressToString(compression_.type, compressed, dictionary_.get(), &again));
  if (raw == Slice(again)) return Status::OK();
  return Status::Corruption(StrCat("a new block of ", raw.size(),
                                   " bytes decompresses to other bytes; check the memory"));
}

}  // namespace ashlar
