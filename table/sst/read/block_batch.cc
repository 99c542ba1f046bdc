// SPDX-License-Identifier: Apache-2.0
//
// The missing blocks are sorted by file and offset, and runs of neighbours become reads:
//
//   file:   ....[b0][b1].[b2]..............[b3]....
//   reads:      |------------|             |--|
//
// A small gap is read and thrown away, because that costs less than another request.
#include "table/sst/read/block_batch.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/statistics.h"
#include "env/read_together.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// A longer read gains nothing, and two shorter ones can run in parallel.
constexpr uint64_t kMaxReadBytes = 256 * 1024;

// The first offset behind a block and its trailer.
uint64_t EndOf(const BlockHandle& handle) {
  return handle.offset + handle.size + kBlockTrailerBytes;
}

// A run of neighbouring blocks of one file, which are read with one read.
struct BlockRun {
  std::span<MissingBlock*> blocks;  // in ascending order of offset
  uint64_t begin = 0;
  uint64_t end = 0;

  // True if `block`, the next one in the sorted order, can be added to this run.
  bool Takes(const MissingBlock& block, uint64_t max_gap_bytes) const {
    const BlockHandle handle = block.handle();
    return block.store == blocks.front()->store && handle.offset <= end + max_gap_bytes &&
           std::max(end, EndOf(handle)) - begin <= kMaxReadBytes;
  }
};

struct ByPlace {
  // Not inline, because std::sort would make a dozen copies of this code.
  [[gnu::noinline]] bool operator()(const MissingBlock* a, const MissingBlock* b) const {
    assert(a != nullptr);
    assert(b != nullptr);
    // Ordered by path and not by pointer, so that the order of reads is the same in every run of
    // the program.
    if (a->store != b->store) return a->store->fetcher().path() < b->store->fetcher().path();
    return a->handle().offset < b->handle().offset;
  }
};

// Divides `sorted`, which is ordered by file and offset, into runs.
std::vector<BlockRun> RunsOf(std::span<MissingBlock*> sorted, uint64_t max_gap_bytes) {
  std::vector<BlockRun> runs;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const BlockHandle handle = sorted[i]->handle();
    if (!runs.empty() && runs.back().Takes(*sorted[i], max_gap_bytes)) {
      BlockRun& run = runs.back();
      run.blocks = {run.blocks.data(), run.blocks.size() + 1};
      run.end = std::max(run.end, EndOf(handle));
    } else {
      runs.push_back(
          {.blocks = sorted.subspan(i, 1), .begin = handle.offset, .end = EndOf(handle)});
    }
  }
  return runs;
}

// Makes the object of a block from its stored bytes and gives it to the cache, or to `block->held`.
void Admit(MissingBlock* block, const char* stored, const BlockRead& how) {
  assert(block != nullptr);
  if (block->kind != TableObjectKind::kData) {
    block->status = block->store->AdmitPartition(block->kind, *block->index, block->entry, stored,
                                                 how.fill_cache, block->held);
    return;
  }
  auto admitted = block->store->AdmitData(*block->index, block->entry, stored, how);
  block->status = admitted.status();
  if (admitted.ok()) block->block = admitted.Take();
}

// Reads one block again after a read of several failed. A partition is not read again: the
// operation that needs it will read it and get the error.
void ReadAlone(MissingBlock* block, const BlockRead& how) {
  assert(block != nullptr);
  if (block->kind != TableObjectKind::kData) return;
  BlockRead read = how;
  auto loaded = block->store->Data(*block->index, block->entry, &read);
  block->status = loaded.status();
  if (loaded.ok()) block->block = loaded.Take();
}

// Reads all runs together into one piece of memory, then admits the blocks.
void ReadRuns(const std::vector<BlockRun>& runs, const BlockRead& how, const IOOptions& io) {
  uint64_t bytes = 0;
  assert(!runs.empty());
  for (const BlockRun& run : runs) bytes += run.end - run.begin;
  const auto memory = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
  std::vector<FileRead> reads;
  char* scratch = memory.get();
  for (const BlockRun& run : runs) {
    const auto n = static_cast<size_t>(run.end - run.begin);
    reads.push_back({.file = &run.blocks.front()->store->fetcher().file(),
                     .offset = run.begin,
                     .n = n,
                     .scratch = scratch});
    scratch += n;
  }
  {
    const PerfTimer timer(&PerfContextBase::block_read_time);
    const CpuTimer cpu_timer(&PerfContextBase::block_read_cpu_time);
    ReadTogether(reads, io);
  }
  if (io.io_activity == Env::IOActivity::kMultiGet) {
    RecordInHistogram(reads.front().file->statistics(), MULTIGET_IO_BATCH_SIZE, reads.size());
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    for (MissingBlock* block : runs[i].blocks) {
      if (reads[i].status.ok()) {
        const uint64_t place = block->handle().offset - runs[i].begin;
        Admit(block, reads[i].result.data() + place, how);
      } else if (runs[i].blocks.size() > 1) {
        ReadAlone(block, how);
      } else {
        block->status = reads[i].status;
      }
    }
  }
}

}  // namespace

void ReadMissingBlocks(std::span<MissingBlock> blocks, const BlockRead& how,
                       uint64_t max_gap_bytes) {
  assert(!InEpoch());
  assert(!how.in_epoch);
  assert(!how.cache_only);
  IOOptions io;
  io.io_activity = how.activity;
  const Status in_time = how.deadline == nullptr ? Status::OK() : how.deadline->Prepare(&io);
  std::vector<MissingBlock*> sorted;
  for (MissingBlock& block : blocks) {
    assert(!block.block);
    block.status = in_time.ok() ? block.store->fetcher().CheckData(block.handle()) : in_time;
    if (block.status.ok()) sorted.push_back(&block);
  }
  std::sort(sorted.begin(), sorted.end(), ByPlace());
  if (!sorted.empty()) ReadRuns(RunsOf(sorted, max_gap_bytes), how, io);
}

}  // namespace ashlar
