// SPDX-License-Identifier: Apache-2.0
//
// Memtables and tables are searched from new to old. The first one that decides the lookup ends it.
#include "db/read/point_read.h"

#include <algorithm>
#include <cassert>

#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "db/read/blob_lookups.h"
#include "db/read/operand_limits.h"
#include "db/read/super_version.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/statistics/perf_level_impl.h"
#include "util/threads/epoch.h"

namespace ashlar {

PointRead::PointRead(const SuperVersion& super_version, const ReadOptions& options,
                     PointLookup* lookup)
    : super_version_(super_version),
      options_(options),
      lookup_(lookup),
      tables_(*super_version.version(), options, lookup) {
  if (options.ignore_range_deletions && super_version.MayIgnoreRangeTombstones()) [[unlikely]]
    lookup->IgnoreTombstones();
}

bool PointRead::RunInEpoch(bool skips_memtables) {
  assert(InEpoch());
  if (!skips_memtables && SearchMemTables()) return true;
  return options_.read_tier == kMemtableTier || tables_.RunInEpoch();
}

// Returns true if the lookup is decided.
bool PointRead::SearchMemTables() {
  assert(!lookup_->decided());
  if (SearchMemTable(*super_version_.mem(), /*is_immutable=*/false)) return true;
  for (const MemTable* memtable : super_version_.immutables()) {
    if (SearchMemTable(*memtable, /*is_immutable=*/true)) return true;
  }
  return false;
}

inline bool PointRead::SearchMemTable(const MemTable& memtable, bool is_immutable) {
  if (ReadTrace* const trace = lookup_->trace(); trace != nullptr) [[unlikely]] {
    trace->EnterMemTable({.id = memtable.id(), .is_immutable = is_immutable});
  }
  return memtable.Get(lookup_->key(), lookup_);
}

void SearchMemTables(const SuperVersion& super_version, std::span<PointLookup* const> lookups) {
  assert(InEpoch());
  super_version.mem()->GetMany(lookups.data(), lookups.size());
  for (const MemTable* memtable : super_version.immutables()) {
    memtable->GetMany(lookups.data(), lookups.size());
  }
}

namespace {

// The tools, with the merge operator of the family of this super version.
MergeTools With(MergeTools tools, const SuperVersion& super_version) {
  tools.merge_operator = super_version.options().merge_operator.get();
  return tools;
}

}  // namespace

// A whole read: inside an epoch as far as memory suffices. The epoch is left before a file is read.
Status ReadWholly(const MergeTools& tools, const SuperVersion& super_version,
                  const ReadOptions& options, PointLookup* lookup) {
  assert(!InEpoch());
  PointRead read(super_version, options, lookup);
  bool is_over = false;
  {
    const EpochGuard guard;
    is_over = read.RunInEpoch(/*skips_memtables=*/false);
  }
  return FinishPointRead(tools, is_over, &read);
}

Status ReadValueBefore(const MergeTools& tools, const SuperVersion& super_version,
                       const Slice& user_key, SequenceNumber seqno,
                       std::optional<std::string>* value) {
  assert(value != nullptr);
  assert(seqno > 0);
  const LookupKey key(user_key, seqno - 1, super_version.version()->comparator().order());
  PinnableSlice found;
  PointLookup lookup(key, &found);
  value->reset();
  const Status status = ReadWholly(tools, super_version, ReadOptions(), &lookup);
  if (status.IsNotFound()) return Status::OK();
  if (status.ok()) *value = found.ToString();
  return status;
}

// The limit calls the merge operator of the program, so that it is set only for the search outside
// of the epoch and lives only here.
Status FinishPointRead(const MergeTools& tools, bool is_over, PointRead* read) {
  assert(read != nullptr);
  assert(!InEpoch());
  PointLookup* const lookup = read->lookup();
  if (!is_over) {
    ShouldMergeLimit limit(With(tools, read->super_version()).merge_operator);
    lookup->SetOperandLimit(&limit);
    read->Finish();
    lookup->SetOperandLimit(nullptr);
  }
  if (lookup->trace() != nullptr) lookup->trace()->EndLookup(*lookup);
  return FinishLookup(tools, read->super_version(), read->options(), lookup);
}

// The steps after the search: the value of a blob file, then the merge of the operands.
Status FinishLookup(const MergeTools& tools, const SuperVersion& super_version,
                    const ReadOptions& options, PointLookup* lookup) {
  assert(lookup != nullptr);
  if (lookup->is_blob_index()) ReadBlob(super_version, options, lookup);
  if (lookup->operands() == nullptr) return StatusOf(*lookup);
  const MergeTools with_operator = With(tools, super_version);
  ShouldMergeLimit limit(with_operator.merge_operator);
  lookup->SetOperandLimit(&limit);
  Status status = ResolveMerge(with_operator, options, lookup);
  lookup->SetOperandLimit(nullptr);
  return status;
}

Status StatusOf(const PointLookup& lookup) {
  switch (lookup.outcome()) {
    case PointLookup::Outcome::kFound: return Status::OK();
    case PointLookup::Outcome::kFailed: return lookup.status();
    default: return Status::NotFound();
  }
}

namespace {

void TellThread(uint64_t lookups, const PointLookup::Counters& counters, PerfContext* context) {
  assert(context != nullptr);
  context->get_from_memtable_count += lookups;
  context->block_cache_hit_count += counters.block_hits;
  context->block_cache_read_byte += counters.block_hit_bytes;
  context->bloom_sst_hit_count += counters.filter_positive + counters.prefix_filter_positive;
  context->bloom_sst_miss_count += counters.filter_useful + counters.prefix_filter_useful;
  context->bloom_memtable_hit_count += counters.memtable_filter_positive;
  context->bloom_memtable_miss_count += counters.memtable_filter_useful;
}

}  // namespace

// Counts a lookup. Memtables have answered it if it was decided without a search in a table.
void PointReadCounts::Add(const PointLookup& lookup) {
  const PointLookup::Counters& counters = lookup.counters;
  ++lookups_;
  const bool has_failed = lookup.outcome() == PointLookup::Outcome::kFailed;
  const bool is_from_memory = counters.tables_probed == 0 && lookup.decided() && !has_failed;
  memtable_hits_ += is_from_memory ? 1 : 0;
  if (lookup.outcome() == PointLookup::Outcome::kFound && !is_from_memory) {
    ++hits_by_level_[std::clamp(counters.level, 0, 2)];
  }
  sum_.filter_useful += counters.filter_useful;
  sum_.filter_positive += counters.filter_positive;
  sum_.filter_true_positive += counters.filter_true_positive;
  sum_.prefix_filter_useful += counters.prefix_filter_useful;
  sum_.prefix_filter_positive += counters.prefix_filter_positive;
  sum_.prefix_filter_true_positive += counters.prefix_filter_true_positive;
  sum_.memtable_filter_useful += counters.memtable_filter_useful;
  sum_.memtable_filter_positive += counters.memtable_filter_positive;
  sum_.block_hits += counters.block_hits;
  sum_.block_misses += counters.block_misses;
  sum_.block_hit_bytes += counters.block_hit_bytes;
}

void PointReadCounts::Report(Statistics* statistics) const {
  if (CountsPerf()) TellThread(lookups_, sum_, get_perf_context());
  if (statistics != nullptr) Tell(statistics);
}

void PointReadCounts::Tell(Statistics* statistics) const {
  assert(statistics != nullptr);
  const auto add = [statistics](Tickers ticker, uint64_t count) {
    if (count > 0) statistics->recordTick(ticker, count);
  };
  add(MEMTABLE_HIT, memtable_hits_);
  add(MEMTABLE_MISS, lookups_ - memtable_hits_);
  add(GET_HIT_L0, hits_by_level_[0]);
  add(GET_HIT_L1, hits_by_level_[1]);
  add(GET_HIT_L2_AND_UP, hits_by_level_[2]);
  add(BLOOM_FILTER_USEFUL, sum_.filter_useful);
  add(BLOOM_FILTER_FULL_POSITIVE, sum_.filter_positive);
  add(BLOOM_FILTER_FULL_TRUE_POSITIVE, sum_.filter_true_positive);
  add(BLOOM_FILTER_PREFIX_CHECKED, sum_.prefix_filter_positive + sum_.prefix_filter_useful);
  add(BLOOM_FILTER_PREFIX_USEFUL, sum_.prefix_filter_useful);
  add(BLOOM_FILTER_PREFIX_TRUE_POSITIVE, sum_.prefix_filter_true_positive);
  add(BLOCK_CACHE_DATA_HIT, sum_.block_hits);
  add(BLOCK_CACHE_HIT, sum_.block_hits);
  add(BLOCK_CACHE_DATA_MISS, sum_.block_misses);
  add(BLOCK_CACHE_MISS, sum_.block_misses);
  add(BLOCK_CACHE_BYTES_READ, sum_.block_hit_bytes);
}

// The counters of the thread (PerfContext) and those of the database are independent: either may be
// off.
void CountPointRead(const PointLookup& lookup, size_t value_bytes, Statistics* statistics) {
  if (CountsPerf()) {
    PerfContext* const context = get_perf_context();
    TellThread(1, lookup.counters, context);
    context->get_read_bytes += value_bytes;
  }
  if (statistics == nullptr) [[likely]]
    return;
  PointReadCounts counts;
  counts.Add(lookup);
  counts.Tell(statistics);
}

}  // namespace ashlar
