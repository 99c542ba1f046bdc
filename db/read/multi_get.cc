// SPDX-License-Identifier: Apache-2.0
//
// All keys see one state of all families. To achieve this, the super versions are loaded before the
// sequence number, and loaded again if one of them was replaced in the meantime.
//
// The keys are sorted by family and key. Up to BatchSearch::kMaxKeys adjacent keys of one family
// form a batch, which goes through memtables and levels together (BatchSearch). While only memory
// is needed, everything happens inside one epoch. The first batch that needs a file takes
// references on all super versions for the rest of the call; then the epoch is left while files are
// read.
//
// The order only serves speed, because neighbouring keys share files and blocks. If the program
// promises sorted keys and they are not, the keys are still found, only more slowly.
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
#include "db/read/snapshot_list.h"
#include "db/search/batch_reads.h"
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

// The lookups of one batch. Their memory is on the stack, and it is only initialized where it is
// used.
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

// One call of MultiGet. Lives on the stack of the call.
class MultiGetRun {
 public:
  explicit MultiGetRun(const MultiGetRequest& request);

  // Loads the super versions of all families and the sequence number, as one consistent state.
  void LoadViews(const MomentSource& moment);
  // Reads all keys. Returns the sum of the sizes of all values found.
  size_t ReadAll(Statistics* statistics);

 private:
  // A column family of the request. `view` is valid inside the epoch, or once it is pinned.
  struct Family {
    ReadViewSource* source;
    SuperVersion* view;
  };

  void NoteFamilies();
  bool TryLoadViews(const MomentSource& moment);
  void LoadViewsLocked(const MomentSource& moment);
  void PinViews();
  void EnterEpoch() {
    if (!guard_.has_value()) guard_.emplace();
  }
  // Pins the super versions first, so that they stay valid outside of the epoch.
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
  // The trace that a key notifies; null: none.
  ReadTrace* TraceOf(uint32_t key) const;
  void ReadAlone(const SuperVersion& view, PointLookup* lookup);
  void Search(const SuperVersion& view, PointLookup* lookup);
  template <typename Read>
  void Measure(PointLookup* lookup, Read read);
  void ReadBlobsOf(const SuperVersion& view, BatchLookups* lookups);
  Status ResolveAlone(const SuperVersion& view, PointLookup* lookup);
  size_t ReadUpToLimit();
  KeyOrder OrderOf(const SuperVersion& view) const { return view.version()->comparator().order(); }
  SuperVersion* LoadView(const ReadViewSource* source) const {
    SuperVersion* const held = request_.held == nullptr ? nullptr : request_.held->HeldOf(source);
    return held != nullptr ? held : source->super_version();
  }
  // The number at which a view is read. A view that does not show everything has a limit of its own
  // (SuperVersion::newest_seqno).
  SequenceNumber SeqnoIn(const SuperVersion& view) const {
    return std::min(seqno_, view.newest_seqno());
  }
  SequenceNumber SeqnoFor(const VisibleSeqnoSource& seqnos) const {
    if (request_.callback != nullptr) return request_.callback->bound();
    const Snapshot* const snapshot = request_.options->snapshot;
    return snapshot != nullptr ? snapshot->GetSequenceNumber() : seqnos.VisibleSeqno();
  }
  size_t key_count() const { return request_.keys.size(); }

  const MultiGetRequest& request_;
  Statistics* statistics_ = nullptr;
  size_t family_count_ = 0;
  StackArray<Family, kMultiGetOnStack> families_;     // each family of the request once
  StackArray<uint32_t, kMultiGetOnStack> family_of_;  // index in families_, by key
  StackArray<uint32_t, kMultiGetOnStack> order_;      // indexes of keys in the order of reading
  SequenceNumber seqno_ = 0;
  bool skips_memtables_ = false;
  std::vector<ReadView> pinned_;  // empty until a file must be read; then a view of each family
  // Open while keys are read from memory. Destroyed before pinned_, whose destruction may delete
  // files, which is not allowed inside an epoch.
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

// Collects the families of the request. Most keys belong to the same family as the key before.
void MultiGetRun::NoteFamilies() {
  assert(family_count_ == 0);
  uint32_t family = 0;  // of the previous key
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
  if (moment.is_mutex_needed && family_count_ > 1) return LoadViewsLocked(moment);
  constexpr int kAttempts = 3;
  guard_.emplace();
  // Super versions are replaced seldom, so a few attempts nearly always suffice.
  for (int attempt = 0; attempt < kAttempts; attempt++) {
    if (TryLoadViews(moment)) return;
  }
  guard_.reset();
  LoadViewsLocked(moment);
}

// Returns false if a super version was replaced before the sequence number was read.
bool MultiGetRun::TryLoadViews(const MomentSource& moment) {
  for (size_t i = 0; i < family_count_; i++) {
    assert(InEpoch());  // else the super version may be freed before it is used
    families_[i].view = LoadView(families_[i].source);
  }
  seqno_ = SeqnoFor(*moment.seqnos);
  // Asked after the number was read: if it shows an unlogged write, the flag is set by now.
  skips_memtables_ = moment.has_unlogged_writes != nullptr &&
                     moment.has_unlogged_writes->load(std::memory_order_relaxed);
  if (family_count_ == 1) return true;  // a view older than the number has all that it sees
  if (request_.held != nullptr) return true;
  for (size_t i = 0; i < family_count_; i++) {
    if (families_[i].view != LoadView(families_[i].source)) return false;
  }
  return true;
}

// The mutex is taken outside of the epoch, because waiting inside one is not allowed. While it is
// held, no super version is replaced.
void MultiGetRun::LoadViewsLocked(const MomentSource& moment) {
  MutexLock lock(moment.mutex);
  const EpochGuard guard;
  const bool is_consistent = TryLoadViews(moment);
  assert(is_consistent);
  (void)is_consistent;
  PinViews();
}

// Takes a reference on each super version. Called inside the epoch in which the pointers were
// loaded, or under the mutex.
void MultiGetRun::PinViews() {
  assert(pinned_.empty());
  for (size_t i = 0; i < family_count_; i++) {
    const SequenceNumber seqno = SeqnoIn(*families_[i].view);
    pinned_.emplace_back(families_[i].source, SuperVersionRef(families_[i].view), seqno);
  }
}

// Sorts the indexes in the range [begin, end) of order_ by family and key.
void MultiGetRun::Sort(size_t begin, size_t end) {
  if (request_.is_sorted || end - begin < 2) return;
  assert(begin < end);
  assert(end <= key_count());
  const std::span<uint32_t> order(order_.data() + begin, end - begin);
  if (family_count_ == 1) {
    return SortKeys(families_[0].view->version()->comparator(), request_.keys, order);
  }
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return ComesFirst(a, b); });
}

// Not inlined: std::sort would contain a dozen copies of it.
[[gnu::noinline]] bool MultiGetRun::ComesFirst(uint32_t a, uint32_t b) {
  if (family_of_[a] != family_of_[b]) return family_of_[a] < family_of_[b];
  const Family& family = families_[family_of_[a]];
  const int by_key = family.view->version()->comparator().OrderWithoutTimestamp(request_.keys[a],
                                                                                request_.keys[b]);
  return by_key != 0 ? by_key < 0 : a < b;
}

// Sorts the keys, and cuts them into batches of one family.
void MultiGetRun::ReadRange(size_t begin, size_t end) {
  Sort(begin, end);
  for (size_t next = begin; next < end; begin = next) {
    const uint32_t family = family_of_[order_[begin]];
    assert(family < family_count_);
    assert(families_[family].view != nullptr);
    const size_t max_batch = request_.watches.empty() ? kMaxBatch : 1;
    while (next < end && next - begin < max_batch && family_of_[order_[next]] == family) ++next;
    const std::span<const uint32_t> keys(order_.data() + begin, next - begin);
    if (request_.watch != nullptr) [[unlikely]] {
      ReadAroundWatched(*families_[family].view, keys);
    } else {
      ReadBatch(*families_[family].view, keys);
    }
  }
}

// Reads the watched key in a batch of its own, because only it has a trace.
void MultiGetRun::ReadAroundWatched(const SuperVersion& view, std::span<const uint32_t> keys) {
  const auto watched = std::find(keys.begin(), keys.end(), request_.watched_key);
  const auto before = static_cast<size_t>(watched - keys.begin());
  if (before != 0) ReadBatch(view, keys.first(before));
  if (watched == keys.end()) return;
  ReadBatch(view, keys.subspan(before, 1));
  if (before + 1 != keys.size()) ReadBatch(view, keys.subspan(before + 1));
}

ReadTrace* MultiGetRun::TraceOf(uint32_t key) const {
  if (!request_.watches.empty()) [[unlikely]]
    return request_.watches[key];
  return key == request_.watched_key ? request_.watch : nullptr;
}

// Reads up to kMaxBatch keys of one family: from memtables and tables, then from blob files, and
// merges operands at the end.
void MultiGetRun::ReadBatch(const SuperVersion& view, std::span<const uint32_t> keys) {
  assert(!keys.empty());
  assert(keys.size() <= kMaxBatch);
  BatchLookups lookups;
  const KeyOrder order = OrderOf(view);
  const SequenceNumber seqno = SeqnoIn(view);
  const bool ignores_tombstones =
      request_.options->ignore_range_deletions && view.MayIgnoreRangeTombstones();
  for (const uint32_t i : keys) {
    lookups.Add(LookupKey(request_.keys[i], seqno, order), &request_.values[i]);
    if (ignores_tombstones) lookups[lookups.size() - 1].IgnoreTombstones();
  }
  if (request_.callback != nullptr) [[unlikely]] {
    for (PointLookup* lookup : lookups.pointers()) lookup->SetCallback(request_.callback);
  }
  if (request_.are_entities != nullptr) [[unlikely]] {
    for (PointLookup* lookup : lookups.pointers()) lookup->KeepEntities();
  }
  if (ReadTrace* const trace = TraceOf(keys.front())) [[unlikely]] {
    assert(keys.size() == 1);
    lookups[0].SetTrace(trace);
    trace->BeginLookup(lookups[0]);
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
  if (!skips_memtables_) {
    const PerfTimer timer(&PerfContextBase::get_from_memtable_time);
    SearchMemTables(view, lookups->pointers());
  }
  if (request_.options->read_tier == kMemtableTier) return;
  if (view.version()->tables()->rows() != nullptr) return ReadRows(view, lookups);
  const PerfTimer timer(&PerfContextBase::get_from_output_files_time);
  ReadTables(view, lookups);
}

void MultiGetRun::ReadBlobsOf(const SuperVersion& view, BatchLookups* lookups) {
  assert(lookups != nullptr);
  const auto all = lookups->pointers();
  const auto is_blob = [](const PointLookup* lookup) { return lookup->is_blob_index(); };
  if (std::none_of(all.begin(), all.end(), is_blob)) [[likely]]
    return;
  LeaveEpoch();
  ReadBlobs(view, *request_.options, all);
}

// Merge operators are code of the program and may take long, so they are called outside of epochs.
Status MultiGetRun::ResolveAlone(const SuperVersion& view, PointLookup* lookup) {
  LeaveEpoch();
  return FinishLookup(request_.merge, view, *request_.options, lookup);
}

// Reads one key with a PerfMeter, as Get does when the thread measures its reads.
template <typename Read>
void MultiGetRun::Measure(PointLookup* lookup, Read read) {
  assert(lookup != nullptr);
  PerfMeter meter;
  lookup->SetTrace(&meter);
  meter.BeginLookup(*lookup);
  read();
  meter.EndLookup(*lookup);
  lookup->SetTrace(nullptr);
}

// A batch of one key is read in the same way as by Get.
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
  const bool is_over = read.RunInEpoch(skips_memtables_);
  if (!is_over) {
    LeaveEpoch();
    read.Finish();
  }
}

// Searches the tables for all keys of a batch. The search alternates between steps in memory,
// inside the epoch, and reads of files, outside of it.
void MultiGetRun::ReadTables(const SuperVersion& view, BatchLookups* lookups) {
  assert(lookups != nullptr);
  assert(InEpoch());
  std::optional<BatchReads> reads;
  if (statistics_ != nullptr) reads.emplace();
  BatchSearch search(*view.version(), *request_.options, lookups->pointers(),
                     reads.has_value() ? &*reads : nullptr);
  while (!search.RunInEpoch()) {
    LeaveEpoch();
    search.ReadMissing();
    EnterEpoch();
  }
  if (reads.has_value()) reads->Report(statistics_);
}

// A row cache has an entry for each key, so nothing would be gained by reading the keys together.
void MultiGetRun::ReadRows(const SuperVersion& view, BatchLookups* lookups) {
  assert(lookups != nullptr);
  LeaveEpoch();
  for (PointLookup* const lookup : lookups->pointers()) {
    if (lookup->decided()) continue;
    const auto read = [&] { PointSearch(*view.version(), *request_.options, lookup).Finish(); };
    PerfMeter::IsWanted() ? Measure(lookup, read) : read();
  }
}

// Reads batch by batch in the order of the program, because this order decides which keys come
// after the limit. A batch that has begun is completed, so the sum may exceed the limit.
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

// Returns the sum of the bytes of the values.
size_t MultiGetRun::ReadAll(Statistics* statistics) {
  statistics_ = statistics;
  if (request_.options->value_size_soft_limit != UINT64_MAX) return ReadUpToLimit();
  ReadRange(0, key_count());
  size_t found_bytes = 0;
  for (size_t i = 0; i < key_count(); i++) found_bytes += request_.values[i].size();
  return found_bytes;
}

// Counts the call as a whole. The lookups were counted batch by batch.
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
