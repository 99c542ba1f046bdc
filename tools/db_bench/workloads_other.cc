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
// Also rewrites the tables of the last level, as the same benchmark of RocksDB does; the command
// compactall does not.
void CompactAll(ThreadContext* thread) {
  assert(thread != nullptr);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  for (ColumnFamilyHandle* const family : thread->families) {
    RequireOk(thread->db->CompactRange(options, family, nullptr, nullptr), "compact");
  }
  thread->stats.Finished(Operation::kOther, 1, 0);
}

namespace {

// The first level from `level` on that has files; the number of levels if there is none.
size_t FirstLevelWithFiles(const ColumnFamilyMetaData& family, size_t level) {
  while (level < family.levels.size() && family.levels[level].files.empty()) level++;
  return level;
}

// One attempt of CompactLevel().
Status TryToCompactLevel(DB* db, bool is_level0) {
  const int number = is_level0 ? 0 : 1;
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  const size_t level_count = family.levels.size();
  // With dynamic sizes of levels the levels after level 0 may be empty.
  const size_t from = is_level0 ? 0 : FirstLevelWithFiles(family, 1);
  std::vector<std::string> files;
  if (from < level_count) {
    for (const SstFileMetaData& file : family.levels[from].files) files.push_back(file.name);
  }
  if (files.empty()) {
    std::printf("compact%d found 0 files to compact\n", number);
    return Status::OK();
  }
  size_t to = FirstLevelWithFiles(family, from + 1);
  if (!is_level0 && to == level_count && from + 1 < level_count) to = from + 1;
  if (to == level_count) {
    std::printf("compact%d found no data beyond L%zu\n", number, from);
    return Status::OK();
  }
  std::printf("compact%d found %zu files to compact into L%zu\n", number, files.size(), to);
  CompactionOptions options;
  // Without a limit the output would be a single table.
  options.output_file_size_limit = db->GetOptions().target_file_size_base;
  return db->CompactFiles(options, files, static_cast<int>(to));
}

}  // namespace

void CompactLevel(DB* db, bool is_level0) {
  assert(db != nullptr);
  // An automatic compaction may take or replace the files after they were listed. When none runs,
  // they are listed again. Other reasons for these errors remain at the last attempt.
  constexpr int kMaxAttempts = 10;
  for (int attempt = 1;; attempt++) {
    const Status status = TryToCompactLevel(db, is_level0);
    const bool is_taken = status.IsAborted() || status.IsInvalidArgument();
    if (!is_taken || attempt == kMaxAttempts) return RequireOk(status, "compact");
    std::printf("compact%d: %s\n", is_level0 ? 0 : 1, status.ToString().c_str());
    RequireOk(db->WaitForCompact(WaitForCompactOptions()), "waitforcompaction");
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
