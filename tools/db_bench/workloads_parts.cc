// SPDX-License-Identifier: Apache-2.0
//
// Parts of the engine by themselves, over blocks of --block_size: checksums and compression. The
// database that is open meanwhile is not touched.
#include <cstdio>
#include <memory>
#include <string>

#include "ashlar/table.h"
#include "table/format/checksum.h"
#include "table/format/compression.h"
#include "tools/db_bench/blob_options.h"
#include "tools/db_bench/workloads.h"

DECLARE_int32(block_size);
DECLARE_string(compression_type);
DECLARE_int32(compression_level);

namespace ashlar {
namespace bench {
namespace {

template <ChecksumType kType>
void Sum(ThreadContext* thread) {
  constexpr uint64_t kBytes = uint64_t{500} << 20;  // enough to be measured
  const std::string block(static_cast<size_t>(FLAGS_block_size), 'x');
  uint32_t sum = 0;
  for (uint64_t done = 0; done < kBytes; done += block.size()) {
    sum ^= ComputeChecksum(kType, block.data(), block.size());
    thread->stats.Finished(Operation::kOther, 1, block.size());
  }
  // So that no compiler finds the sums to be of no use.
  std::fprintf(stderr, "... sums 0x%x\r", sum);
  thread->stats.AddMessage("(" + std::to_string(block.size()) + " per op)");
}

std::unique_ptr<Compressor> MakeCompressor() {
  CompressionType type = kNoCompression;
  RequireOk(ParseCompression("--compression_type", FLAGS_compression_type, &type), "flags");
  CompressionOptions options;
  options.level = FLAGS_compression_level;
  if (type == kNoCompression) {
    RequireOk(Status::InvalidArgument("there is none with --compression_type=none"), "compressor");
  }
  auto made = Compressor::Create(type, options);
  RequireOk(made.status(), "compressor");
  return made.Take();
}

constexpr uint64_t kCompressedBytes = uint64_t{1} << 30;

}  // namespace

void SumCrc32c(ThreadContext* thread) { Sum<kCRC32c>(thread); }
void SumXxHash(ThreadContext* thread) { Sum<kxxHash>(thread); }
void SumXxHash64(ThreadContext* thread) { Sum<kxxHash64>(thread); }
void SumXxh3(ThreadContext* thread) { Sum<kXXH3>(thread); }

void CompressBlocks(ThreadContext* thread) {
  const std::unique_ptr<Compressor> compressor = MakeCompressor();
  ValueSource blocks(thread->random(), FLAGS_compression_ratio, FLAGS_block_size);
  PageString output;
  uint64_t raw = 0, stored = 0;
  while (raw < kCompressedBytes) {
    const Slice block = blocks.Next();
    if (!compressor->Compress(block, 2 * block.size(), &output)) {
      RequireOk(Status::Aborted("a block is not compressed"), "compress");
    }
    raw += block.size();
    stored += output.size();
    thread->stats.Finished(Operation::kOther, 1, block.size());
  }
  char share[40];
  std::snprintf(share, sizeof(share), "(output: %.1f%%)",
                100.0 * static_cast<double>(stored) / static_cast<double>(raw));
  thread->stats.AddMessage(share);
}

void UncompressBlocks(ThreadContext* thread) {
  const std::unique_ptr<Compressor> compressor = MakeCompressor();
  ValueSource blocks(thread->random(), FLAGS_compression_ratio, FLAGS_block_size);
  PageString stored;
  std::string raw;
  const Slice block = blocks.Next();
  if (!compressor->Compress(block, 2 * block.size(), &stored)) {
    RequireOk(Status::Aborted("a block is not compressed"), "uncompress");
  }
  for (uint64_t done = 0; done < kCompressedBytes; done += raw.size()) {
    RequireOk(UncompressToString(compressor->type(), Slice(stored), nullptr, &raw), "uncompress");
    thread->stats.Finished(Operation::kOther, 1, raw.size());
  }
}

}  // namespace bench
}  // namespace ashlar
