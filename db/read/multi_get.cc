// SPDX-License-Identifier: Apache-2.0
//
// All keys see one state of all families: their super versions are loaded before the sequence
// number, and again if one of them was replaced meanwhile.
//
// The keys are sorted by family and key; each run of up to BatchSearch::kMaxKeys keys of one family
// is a batch that goes through memtables and levels as one (BatchRead). While nothing but memory is
// needed all of it happens inside one epoch. The first batch that needs a file pins all super
// versions for the rest of the call; then the epoch is left for each turn of reading.
//
// The order is for speed alone: neighbours share files and blocks. Keys that are promised to be
// sorted and are not are only found more slowly.
#include "db/read/multi_get.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/statistics.h"
#include "db/read/blob_lookups.h"
#include "db/read/perf_meter.h"
#include "db/read/point_read.h"
#include "db/search/batch_search.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/keys/key_order.h"
#include "util/keys/read_callback.h"
#include "util/memory/stack_array.h"
#include "util/statistics/perf_level_impl.h"
#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr size_t kMaxBatch = BatchSearch::kMaxKeys;

// The lookups of one batch, in memory of the stack that is not touched before it is used.
class BatchLookups {
 public:
  BatchLookups() = default;
  ~BatchLookups() { std::destroy_n(entries(), count_); }
  BatchLookups(const BatchLookups&) = delete;
  BatchLookups& operator=(const BatchLookups&) = delete;

  void Add(const LookupKey& key, PinnableSlice* value) {
    assert(count_ < kMaxBatch);
    Entry* const entry = new (memory_ + count_ * sizeof(Entry)) Entry(key, value);
    pointers_[count_++] = &entry->lookup;
  }
  std::span<PointLookup* const> pointers() const { return {pointers_.data(), count_}; }
  PointLookup& operator[](size_t i) { return *pointers_[i]; }
  size_t size() const { return count_; }

 private:
  struct Entry {
    Entry(const LookupKey& lookup_key, PinnableSlice* value)
        : key(lookup_key), lookup(key, value) {}
    const LookupKey key;
    PointLookup lookup;
  };
  Entry* entries() { return std::launder(reinterpret_cast<Entry*>(memory_)); }

  size_t count_ = 0;
  std::array<PointLookup*, kMaxBatch> pointers_;
  alignas(Entry) char memory_[kMaxBatch * sizeof(Entry)];
};

class MultiGetRun {
 public:
  explicit MultiGetRun(const MultiGetRequest& request);

  void LoadViews(const MomentSource& moment);
  // Returns the bytes of all values found.
  size_t ReadAll(Statistics* statistics);

 private:
  struct Family {
    ReadViewSource* source;
    SuperVersion* view;
  };

  void NoteFamilies();
  bool TryLoadViews(const VisibleSeqnoSource& seqnos);
  void LoadViewsLocked(const MomentSource& moment);
  void PinViews();
  void EnterEpoch() {
    if (!guard_.has_value()) guard_.emplace();
  }
  void LeaveEpoch() {
    if (pinned_.empty()) PinViews();
    guard_.reset();
  }
  void Sort(size_t begin, size_t end);
  bool ComesFirst(uint32_t a, uint32_t b);
  // Reads the keys at [begin, end) of order_.
  void ReadRange(size_t begin, size_t end);
  void ReadBatch(const SuperVersion& view, std::span<const uint32_t> keys);
  void ReadAroundWatched(const SuperVersion& view, std::span<const uint32_t> keys);
  void ReadTogether(const SuperVersion& view, BatchLookups* lookups);
  void ReadTables(const SuperVersion& view, BatchLookups* lookups);
  void ReadRows(const SuperVersion& view, BatchLookups* lookups);
  void ReadAlone(const SuperVersion& view, PointLookup* lookup);
  void Search(const SuperVersion& view, PointLookup* lookup);
  template <typename Read>
  void Measure(PointLookup* lookup, Read read);
  void ReadBlobsOf(const SuperVersion& view, BatchLookups* lookups);
  Status ResolveAlone(const SuperVersion& view, PointLookup* lookup);
  size_t ReadUpToLimit();
  KeyOrder OrderOf(const SuperVersion& view) const { return view.version()->comparator().order(); }
  SequenceNumber SeqnoFor(const VisibleSeqnoSource& seqnos) const {
    if (request_.callback != nullptr) return request_.callback->bound();
    const Snapshot* const snapshot = request_.options->snapshot;
    return snapshot != nullptr ? snapshot->GetSequenceNumber() : seqnos.VisibleSeqno();
  }
  size_t key_count() const { return request_.keys.size(); }

  const MultiGetRequest& request_;
  Statistics* statistics_ = nullptr;
  size_t family_count_ = 0;
  StackArray<Family, kMultiGetOnStack> families_;     // each once
  StackArray<uint32_t, kMultiGetOnStack> family_of_;  // by key
  StackArray<uint32_t, kMultiGetOnStack> order_;      // in which keys are read
  SequenceNumber seqno_ = 0;
  std::vector<ReadView> pinned_;  // once a file had to be read: of each family
  // Open while keys are read from memory. Destroyed before what is pinned, whose end may delete
  // files.
  std::optional<EpochGuard> guard_;
};

MultiGetRun::MultiGetRun(const MultiGetRequest& request)
    : request_(request),
      families_(request.keys.size()),
      family_of_(request.keys.size()),
      order_(request.keys.size()) {
  NoteFamilies();
  for (size_t i = 0; i < key_count(); ++i) order_[i] = static_cast<uint32_t>(i);
}

void MultiGetRun::NoteFamilies() {
  assert(family_count_ == 0);
  uint32_t family = 0;  // of the key before
  for (size_t i = 0; i < key_count(); ++i) {
    ReadViewSource* const source = request_.families[i];
    if (family_count_ == 0 || families_[family].source != source) {
      family = 0;
      while (family < family_count_ && families_[family].source != source) ++family;
      if (family == family_count_) families_[family_count_++] = {.source = source, .view = nullptr};
    }
    assert(family < family_count_);
    family_of_[i] = family;
  }
}

void MultiGetRun::LoadViews(const MomentSource& moment) {
  constexpr int kAttempts = 3;
  guard_.emplace();
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    if (TryLoadViews(*moment.seqnos)) return;
  }
  guard_.reset();
  LoadViewsLocked(moment);
}

// False if a super version was replaced before the number was read.
bool MultiGetRun::TryLoadViews(const VisibleSeqnoSource& seqnos) {
  for (size_t i = 0; i < family_count_; i++) {
    assert(InEpoch());  // else it may be freed before it is looked at
    families_[i].view = families_[i].source->super_version();
  }
  seqno_ = SeqnoFor(seqnos);
  if (family_count_ == 1) return true;  // a view that is older than the number can answer for it
  for (size_t i = 0; i < family_count_; i++) {
    if (families_[i].view != families_[i].source->super_version()) return false;
  }
  return true;
}

// A mutex is nothing to wait for inside an epoch. Under this one no super version is replaced.
void MultiGetRun::LoadViewsLocked(const MomentSource& moment) {
  MutexLock lock(moment.mutex);
  const EpochGuard guard;
  const bool is_consistent = TryLoadViews(*moment.seqnos);
  assert(is_consistent);
  (void)is_consistent;
  PinViews();
}

void MultiGetRun::PinViews() {
  assert(pinned_.empty());
  for (size_t i = 0; i < family_count_; i++) {
    pinned_.emplace_back(families_[i].source, SuperVersionRef(families_[i].view), seqno_);
  }
}

// Sorts what order_ holds there by family and key.
void MultiGetRun::Sort(size_t begin, size_t end) {
  if (request_.is_sorted || end - begin < 2) return;
  assert(begin < end && end <= key_count());
  const std::span<uint32_t> order(order_.data() + begin, end - begin);
  if (family_count_ == 1) {
    return SortKeys(families_[0].view->version()->comparator(), request_.keys, order);
  }
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return ComesFirst(a, b); });
}

// A sort has a dozen copies of what it can inline.
[[gnu::noinline]] bool MultiGetRun::ComesFirst(uint32_t a, uint32_t b) {
  if (family_of_[a] != family_of_[b]) return family_of_[a] < family_of_[b];
  const Family& family = families_[family_of_[a]];
  const int by_key = family.view->version()->comparator().OrderWithoutTimestamp(request_.keys[a],
                                                                                request_.keys[b]);
  return by_key != 0 ? by_key < 0 : a < b;
}

void MultiGetRun::ReadRange(size_t begin, size_t end) {
  Sort(begin, end);
  for (size_t next = begin; next < end; begin = next) {
    const uint32_t family = family_of_[order_[begin]];
    assert(family < family_count_ && families_[family].view != nullptr);
    while (next < end && next - begin < kMaxBatch && family_of_[order_[next]] == family) ++next;
    const std::span<const uint32_t> keys(order_.data() + begin, next - begin);
    if (request_.watch != nullptr) [[unlikely]] {
      ReadAroundWatched(*families_[family].view, keys);
    } else {
      ReadBatch(*families_[family].view, keys);
    }
  }
}

void MultiGetRun::ReadAroundWatched(const SuperVersion& view, std::span<const uint32_t> keys) {
  const auto watched = std::find(keys.begin(), keys.end(), request_.watched_key);
  const auto before = static_cast<size_t>(watched - keys.begin());
  if (before != 0) ReadBatch(view, keys.first(before));
  if (watched == keys.end()) return;
  ReadBatch(view, keys.subspan(before, 1));
  if (before + 1 != keys.size()) ReadBatch(view, keys.subspan(before + 1));
}

void MultiGetRun::ReadBatch(const SuperVersion& view, std::span<const uint32_t> keys) {
  assert(!keys.empty() && keys.size() <= kMaxBatch);
  BatchLookups lookups;
  const KeyOrder order = OrderOf(view);
  const bool ignores_tombstones =
      request_.options->ignore_range_deletions && view.MayIgnoreRangeTombstones();
  for (const uint32_t i : keys) {
    lookups.Add(LookupKey(request_.keys[i], seqno_, order), &request_.values[i]);
    if (ignores_tombstones) lookups[lookups.size() - 1].IgnoreTombstones();
  }
  if (request_.callback != nullptr) [[unlikely]] {
    for (PointLookup* lookup : lookups.pointers()) lookup->SetCallback(request_.callback);
  }
  if (request_.are_entities != nullptr) [[unlikely]] {
    for (PointLookup* lookup : lookups.pointers()) lookup->KeepEntities();
  }
  if (request_.watch != nullptr && keys.front() == request_.watched_key) [[unlikely]] {
    assert(keys.size() == 1);
    lookups[0].SetTrace(request_.watch);
    request_.watch->BeginLookup(lookups[0]);
  }
  EnterEpoch();
  if (keys.size() == 1) {
    ReadAlone(view, &lookups[0]);
  } else {
    ReadTogether(view, &lookups);
  }
  ReadBlobsOf(view, &lookups);
  PointReadCounts counts;
  for (size_t k = 0; k < keys.size(); ++k) {
    const uint32_t i = keys[k];
    request_.statuses[i] =
        lookups[k].operands() == nullptr ? StatusOf(lookups[k]) : ResolveAlone(view, &lookups[k]);
    if (request_.are_entities != nullptr) [[unlikely]]
      request_.are_entities[i] = lookups[k].is_entity();
    counts.Add(lookups[k]);
  }
  counts.Report(statistics_);
}

void MultiGetRun::ReadTogether(const SuperVersion& view, BatchLookups* lookups) {
  if (!request_.skips_memtables) {
    const PerfTimer timer(&PerfContextBase::get_from_memtable_time);
    SearchMemTables(view, lookups->pointers());
  }
  if (request_.options->read_tier == kMemtableTier) return;
  if (view.version()->tables()->rows() != nullptr) return ReadRows(view, lookups);
  const PerfTimer timer(&PerfContextBase::get_from_output_files_time);
  ReadTables(view, lookups);
}

void MultiGetRun::ReadBlobsOf(const SuperVersion& view, BatchLookups* lookups) {
  const auto all = lookups->pointers();
  const auto is_blob = [](const PointLookup* lookup) { return lookup->is_blob_index(); };
  if (std::none_of(all.begin(), all.end(), is_blob)) [[likely]]
    return;
  LeaveEpoch();
  ReadBlobs(view, *request_.options, all);
}

// Merge operators are users' code, which runs outside of epochs.
Status MultiGetRun::ResolveAlone(const SuperVersion& view, PointLookup* lookup) {
  LeaveEpoch();
  return FinishLookup(request_.merge, view, *request_.options, lookup);
}

// One key that goes the way of Get, also in what is told about it.
template <typename Read>
void MultiGetRun::Measure(PointLookup* lookup, Read read) {
  PerfMeter meter;
  lookup->SetTrace(&meter);
  meter.BeginLookup(*lookup);
  read();
  meter.EndLookup(*lookup);
  lookup->SetTrace(nullptr);
}

// A batch of one goes the way of Get.
void MultiGetRun::ReadAlone(const SuperVersion& view, PointLookup* lookup) {
  const auto search = [&] { Search(view, lookup); };
  if (PerfMeter::IsWanted() && lookup->trace() == nullptr) [[unlikely]]
    return Measure(lookup, search);
  search();
  if (lookup->trace() != nullptr) [[unlikely]]
    lookup->trace()->EndLookup(*lookup);
}

void MultiGetRun::Search(const SuperVersion& view, PointLookup* lookup) {
  PointRead read(view, *request_.options, lookup);
  const bool is_over = read.RunInEpoch(request_.skips_memtables);
  if (!is_over) {
    LeaveEpoch();
    read.Finish();
  }
}

void MultiGetRun::ReadTables(const SuperVersion& view, BatchLookups* lookups) {
  assert(InEpoch());
  BatchSearch search(*view.version(), *request_.options, lookups->pointers());
  while (!search.RunInEpoch()) {
    LeaveEpoch();
    search.ReadMissing();
    EnterEpoch();
  }
}

// A row cache has one row a key: nothing is gained by reading them together.
void MultiGetRun::ReadRows(const SuperVersion& view, BatchLookups* lookups) {
  LeaveEpoch();
  for (PointLookup* const lookup : lookups->pointers()) {
    if (lookup->decided()) continue;
    const auto read = [&] { PointSearch(*view.version(), *request_.options, lookup).Finish(); };
    PerfMeter::IsWanted() ? Measure(lookup, read) : read();
  }
}

// Batch by batch in the order of the caller, which says who comes after the limit.
size_t MultiGetRun::ReadUpToLimit() {
  const uint64_t limit = request_.options->value_size_soft_limit;
  size_t found_bytes = 0;
  for (size_t begin = 0; begin < key_count(); begin += kMaxBatch) {
    const size_t end = std::min(key_count(), begin + kMaxBatch);
    if (found_bytes <= limit) ReadRange(begin, end);
    for (size_t i = begin; i < end; ++i) {
      if (found_bytes > limit) {
        request_.values[i].Reset();
        request_.statuses[i] = Status::Aborted("value_size_soft_limit reached");
      }
      found_bytes += request_.values[i].size();
    }
  }
  return found_bytes;
}

size_t MultiGetRun::ReadAll(Statistics* statistics) {
  statistics_ = statistics;
  if (request_.options->value_size_soft_limit != UINT64_MAX) return ReadUpToLimit();
  ReadRange(0, key_count());
  size_t found_bytes = 0;
  for (size_t i = 0; i < key_count(); i++) found_bytes += request_.values[i].size();
  return found_bytes;
}

void Count(const MultiGetRequest& request, size_t value_bytes, Statistics* statistics) {
  AddPerfCount(&PerfContextBase::multiget_read_bytes, value_bytes);
  if (statistics == nullptr) return;
  const size_t key_count = request.keys.size();
  const auto found = std::count_if(request.statuses, request.statuses + key_count,
                                   [](const Status& status) { return status.ok(); });
  statistics->recordTick(NUMBER_MULTIGET_CALLS, 1);
  statistics->recordTick(NUMBER_MULTIGET_KEYS_READ, key_count);
  statistics->recordTick(NUMBER_MULTIGET_KEYS_FOUND, static_cast<uint64_t>(found));
  statistics->recordTick(NUMBER_MULTIGET_BYTES_READ, value_bytes);
  statistics->recordInHistogram(BYTES_PER_MULTIGET, value_bytes);
}

}  // namespace

void MultiGet(const MultiGetRequest& request, const MomentSource& moment, Statistics* statistics) {
  assert(!InEpoch());
  assert(request.families.size() == request.keys.size());
  MultiGetRun run(request);
  run.LoadViews(moment);
  Count(request, run.ReadAll(statistics), statistics);
}

}  // namespace ashlar
