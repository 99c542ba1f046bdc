// SPDX-License-Identifier: Apache-2.0
//
// The version yields the files of a range, and the index of each file yields the blocks.
#include "db/search/scanned_blocks.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "env/io_deadline.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Default limit of held bytes: enough to keep a device busy for some time, and small compared with
// a block cache.
constexpr uint64_t kDefaultHeldBytes = uint64_t{32} << 20;

// Bytes to read of each run for a range without an end; readahead continues from there.
constexpr size_t kOpenEndBytes = 64 << 10;

// Adds the counts of one preparation to the statistics.
void Count(const ScanBlocks::Counts& counts, Statistics* statistics) {
  AddPerfCount(&PerfContextBase::multiscan_prepare_count);
  AddPerfCount(&PerfContextBase::multiscan_blocks_from_cache, counts.found);
  AddPerfCount(&PerfContextBase::multiscan_blocks_prefetched, counts.read);
  AddPerfCount(&PerfContextBase::multiscan_prefetch_bytes, counts.read_bytes);
  if (statistics == nullptr) return;
  statistics->recordTick(MULTISCAN_PREPARE_CALLS, 1);
  statistics->recordTick(MULTISCAN_BLOCKS_FROM_CACHE, counts.found);
  statistics->recordTick(MULTISCAN_BLOCKS_PREFETCHED, counts.read);
  statistics->recordTick(MULTISCAN_PREFETCH_BYTES, counts.read_bytes);
  statistics->recordInHistogram(MULTISCAN_BLOCKS_PER_PREPARE, counts.found + counts.read);
}

}  // namespace

ScannedBlocks::ScannedBlocks(const MultiScanArgs& args, const ReadOptions* options)
    : options_(options),
      max_gap_bytes_(args.io_coalesce_threshold),
      max_held_bytes_(static_cast<size_t>(args.max_prefetch_size == 0 ? kDefaultHeldBytes
                                                                      : args.max_prefetch_size)) {
  assert(options != nullptr);
  for (const ScanOptions& scan : args.GetScanRanges()) {
    ScanRange& range = ranges_.emplace_back();
    if (scan.range.start.has_value()) range.start = scan.range.start->ToString();
    if (scan.range.limit.has_value()) range.limit = scan.range.limit->ToString();
  }
}

void ScannedBlocks::Forget() {
  read_until_ = range_;
  for (auto& [number, blocks] : files_) blocks.Clear();
}

size_t ScannedBlocks::FindRange(const InternalKeyComparator& comparator,
                                const Slice& target) const {
  const auto found = std::find_if(
      ranges_.begin() + static_cast<ptrdiff_t>(range_), ranges_.end(), [&](const ScanRange& range) {
        return (range.start.empty() ||
                comparator.OrderWithoutTimestamp(range.start, target) <= 0) &&
               (!range.limit.has_value() ||
                comparator.OrderWithoutTimestamp(target, *range.limit) < 0);
      });
  return static_cast<size_t>(found - ranges_.begin());
}

void ScannedBlocks::Approach(const Version& version, const Slice& target) {
  const size_t range = FindRange(version.comparator(), target);
  if (range == ranges_.size()) return;
  range_ = range;
  if (range >= read_until_) ReadFrom(version, range);
}

// Pins the tables while their blocks are read; the blocks that are held need no open table.
void ScannedBlocks::ReadFrom(const Version& version, size_t range) {
  assert(!InEpoch());
  assert(range < ranges_.size());
  Forget();
  if (options_->read_tier == kBlockCacheTier || options_->read_tier == kMemtableTier) return;
  TableCache* const tables = version.tables();
  Statistics* const statistics = tables->options().statistics;
  const StopWatch watch(SystemClock::Default().get(), statistics, MULTISCAN_PREPARE_MICROS);
  const IoDeadline deadline(*options_, tables->options().clock);
  BlockRead how;
  how.fill_cache = options_->fill_cache;
  how.deadline = &deadline;
  ScanBlocks batch(how, max_gap_bytes_);
  std::vector<TableHandle> handles;  // keep the tables open while their blocks are read
  Status status;
  for (; range < ranges_.size() && status.ok() && batch.noted_bytes() < max_held_bytes_; ++range) {
    status = Note(version, ranges_[range], &handles, &batch);
  }
  read_until_ = range;
  batch.Read();
  Count(batch.counts(), statistics);
  if (!status.ok()) RecordTick(statistics, MULTISCAN_PREPARE_ERRORS);
  IgnoreError(status, "the iterator meets the error again and reports it");
}

// Adds the blocks of a range, in all tables that overlap it, to the batch of blocks to read.
Status ScannedBlocks::Note(const Version& version, const ScanRange& range,
                           std::vector<TableHandle>* tables, ScanBlocks* batch) {
  const bool has_end = range.limit.has_value();
  const Slice start(range.start), limit(has_end ? *range.limit : Slice());
  for (Level level = 0; level <= version.deepest_level(); ++level) {
    const Slice* const begin = range.start.empty() ? nullptr : &start;
    for (TableFile* file : version.Overlapping(level, begin, has_end ? &limit : nullptr).files) {
      // The limit is exclusive.
      const Slice smallest = file->meta.smallest_user_key();
      if (has_end && version.comparator().OrderWithoutTimestamp(smallest, limit) >= 0) continue;
      ASSIGN_OR_RETURN(TableHandle table, version.tables()->PinFor(*options_, file));
      const auto* const filter = options_->table_filter;
      if (filter != nullptr && !(*filter)(table->properties())) continue;
      tables->push_back(std::move(table));
      const size_t most = has_end ? max_held_bytes_
                                  : std::min(max_held_bytes_, batch->noted_bytes() + kOpenEndBytes);
      RETURN_IF_ERROR(batch->Note(*tables->back(), begin == nullptr ? smallest : start,
                                  has_end ? limit : file->meta.largest_user_key(), most,
                                  &files_[file->meta.number]));
      if (!has_end && level > 0) break;
    }
  }
  return Status::OK();
}

std::string ScannedBlocks::DebugString() const {
  std::string text =
      StrCat("at range ", range_, " of ", ranges_.size(), ", read until ", read_until_, "\n");
  for (const auto& [number, blocks] : files_) {
    StrAppend(&text, "#", number, ": ", blocks.count(), " blocks\n");
  }
  return text;
}

}  // namespace ashlar
