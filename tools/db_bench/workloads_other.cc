// SPDX-License-Identifier: Apache-2.0
//
// Workloads that neither write nor read single pairs: work on the whole database (compaction,
// checks, estimates), and parts of the engine without the database (checksums, compression).
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "ashlar/table.h"
#include "table/format/checksum.h"
#include "table/format/compression.h"
#include "tools/db_bench/options.h"
#include "tools/db_bench/workloads.h"

DECLARE_int32(block_size);
DECLARE_string(compression_type);
DECLARE_int32(compression_level);

namespace ashlar {
namespace bench {
void CompactAll(ThreadContext* thread) {
  assert(thread != nullptr);
  for (ColumnFamilyHandle* const family : thread->families) {
    RequireOk(thread->db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr), "compact");
  }
  thread->stats.Finished(Operation::kOther, 1, 0);
}

// Compacts all files of one level into the next one or, from level 0, into the next one with files.
void CompactLevel(DB* db, size_t from) {
  assert(db != nullptr);
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> files;
  if (from < family.levels.size()) {
    for (const SstFileMetaData& file : family.levels[from].files) files.push_back(file.name);
  }
  // From level 0 the target is the first level with data, because levels are filled from the last
  // one up.
  size_t to = from + 1;
  while (from == 0 && to < family.levels.size() && family.levels[to].files.empty()) to++;
  if (files.empty()) {
    std::printf("compact%zu found 0 files to compact\n", from);
  } else if (to >= family.levels.size()) {
    std::printf("compact%zu found no data beyond L%zu\n", from, from);
  } else {
    std::printf("compact%zu found %zu files to compact into L%zu\n", from, files.size(), to);
    RequireOk(db->CompactFiles(CompactionOptions(), files, static_cast<int>(to)), "compact");
  }
}

void VerifyChecksums(ThreadContext* thread) {
  assert(thread != nullptr);
  RequireOk(thread->db->VerifyChecksum(MakeReadOptions()), "verifychecksum");
  thread->stats.Finished(Operation::kOther, 1, 0);
}

void VerifyFileChecksums(ThreadContext* thread) {
  assert(thread != nullptr);
  RequireOk(thread->db->VerifyFileChecksums(MakeReadOptions()), "verifyfilechecksums");
  thread->stats.Finished(Operation::kOther, 1, 0);
}

// Estimates the sizes of ranges between two random keys.
void EstimateSizes(ThreadContext* thread) {
  assert(thread != nullptr);
  const SizeApproximationOptions options;
  KeyBuffer begin(ShapeOfKeys()), end(ShapeOfKeys());
  const auto count = static_cast<uint64_t>(FLAGS_num);
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t a = thread->random() % count, b = thread->random() % count;
    // The order of the two does not matter to the caller, and a range must not be reversed.
    const Range range(begin.Set(std::min(a, b)), end.Set(std::max(a, b)));
    uint64_t bytes = 0;
    RequireOk(thread->db->GetApproximateSizes(options, thread->db->DefaultColumnFamily(), &range, 1,
                                              &bytes),
              "approximatesizerandom");
    thread->stats.Finished(Operation::kOther, 1, 0);
  }
}

namespace {

template <ChecksumType kType>
void Sum(ThreadContext* thread) {
  assert(thread != nullptr);
  // Each thread sums this many bytes.
  constexpr uint64_t kBytes = uint64_t{500} << 20;
  // The content does not matter: the speed of these sums does not depend on it.
  const std::string block(static_cast<size_t>(FLAGS_block_size), 'x');
  uint32_t sum = 0;
  for (uint64_t done = 0; done < kBytes; done += block.size()) {
    sum ^= ComputeChecksum(kType, block.data(), block.size());
    thread->stats.Finished(Operation::kOther, 1, block.size());
  }
  // The sum is printed so that the compiler cannot remove its computation.
  std::fprintf(stderr, "... sums 0x%x\r", sum);
  thread->stats.AddMessage("(" + std::to_string(block.size()) + " per op)");
}

// The compressor that tables would use with these flags. Ends the process if there is none.
std::unique_ptr<Compressor> MakeCompressor() {
  CompressionType type = kNoCompression;
  RequireOk(ParseCompression("--compression_type", FLAGS_compression_type, &type), "flags");
  CompressionOptions options;
  options.level = FLAGS_compression_level;
  // `none` has nothing to measure.
  if (type == kNoCompression) {
    RequireOk(Status::InvalidArgument("needs a --compression_type other than none"), "compressor");
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
  assert(thread != nullptr);
  const std::unique_ptr<Compressor> compressor = MakeCompressor();
  ValueSource blocks(thread->random(), FLAGS_compression_ratio, FLAGS_block_size);
  PageString output;
  uint64_t raw = 0, stored = 0;
  while (raw < kCompressedBytes) {
    const Slice block = blocks.Next();
    // The output may be larger than the input: the speed is measured, not the result.
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

// Decompresses the same block again and again, until kCompressedBytes uncompressed bytes were made.
// The block is compressed once, outside of the measured operations. A block that does not shrink
// enough is still compressed, since the limit is twice its size.
void UncompressBlocks(ThreadContext* thread) {
  assert(thread != nullptr);
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
