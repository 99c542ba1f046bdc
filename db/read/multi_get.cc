// SPDX-License-Identifier: Apache-2.0
//
// All keys see one state of all families: their super versions are loaded before the sequence
// number, and again if one of them was replaced meanwhile.
//
// Keys are read one after the other, inside one epoch. The first one that needs a file pins all
// super versions for the rest of the call; then the epoch is left for each read of a file.
#include "db/read/multi_get.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/statistics.h"
#include "db/read/point_read.h"
#include "db/version/version.h"
#include "table/iterator/point_lookup.h"
#include "util/epoch.h"
#include "util/mutex.h"

namespace ashlar {
namespace {

class MultiGetRun {
 public:
  explicit MultiGetRun(const MultiGetRequest& request)
      : request_(request), views_(request.keys.size()) {}

  void LoadViews(const MomentSource& moment);
  // Returns the bytes of all values found.
  size_t ReadAll(Statistics* statistics);

 private:
  bool TryLoadViews(const VisibleSeqnoSource& seqnos);
  void LoadViewsLocked(const MomentSource& moment);
  void PinViews();
  void ReadKey(size_t i, Statistics* statistics);
  SequenceNumber SeqnoFor(const VisibleSeqnoSource& seqnos) const {
    const Snapshot* const snapshot = request_.options->snapshot;
    return snapshot != nullptr ? snapshot->GetSequenceNumber() : seqnos.VisibleSeqno();
  }

  const MultiGetRequest& request_;
  std::vector<SuperVersion*> views_;  // by key
  SequenceNumber seqno_ = 0;
  std::vector<ReadView> pinned_;  // once a file had to be read: each of views_, once
  // Open while keys are read from memory. Destroyed before what is pinned, whose end may delete
  // files.
  std::optional<EpochGuard> guard_;
};

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
  for (size_t i = 0; i < views_.size(); i++) views_[i] = request_.families[i]->super_version();
  seqno_ = SeqnoFor(seqnos);
  for (size_t i = 0; i < views_.size(); i++) {
    if (views_[i] != request_.families[i]->super_version()) return false;
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
  const auto is_pinned = [this](const SuperVersion* view) {
    return std::any_of(pinned_.begin(), pinned_.end(),
                       [view](const ReadView& pin) { return pin.super_version() == view; });
  };
  for (size_t i = 0; i < views_.size(); i++) {
    if (is_pinned(views_[i])) continue;
    pinned_.emplace_back(request_.families[i], SuperVersionRef(views_[i]), seqno_);
  }
}

void MultiGetRun::ReadKey(size_t i, Statistics* statistics) {
  const SuperVersion& view = *views_[i];
  const LookupKey key(request_.keys[i], seqno_, view.version()->comparator().order());
  PointLookup lookup(key, &request_.values[i]);
  PointRead read(view, *request_.options, &lookup);
  if (!guard_.has_value()) guard_.emplace();
  if (!read.RunInEpoch(request_.skips_memtables)) {
    if (pinned_.empty()) PinViews();
    guard_.reset();
    read.Finish();
  }
  CountPointRead(lookup, request_.values[i].size(), statistics);
  request_.statuses[i] = StatusOf(lookup);
}

size_t MultiGetRun::ReadAll(Statistics* statistics) {
  size_t found_bytes = 0;
  for (size_t i = 0; i < request_.keys.size(); i++) {
    if (found_bytes > request_.options->value_size_soft_limit) {
      request_.statuses[i] = Status::Aborted("value_size_soft_limit reached");
      continue;
    }
    ReadKey(i, statistics);
    found_bytes += request_.values[i].size();
  }
  return found_bytes;
}

void Count(const MultiGetRequest& request, size_t value_bytes, Statistics* statistics) {
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
