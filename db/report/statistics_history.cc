// SPDX-License-Identifier: Apache-2.0
//
// The history is a map from seconds to slices. The oldest slice is dropped first. Iterators share
// the slices, so a dropped slice lives as long as an iterator shows it.
#include "db/report/statistics_history.h"

#include <cassert>
#include <utility>
#include <vector>

namespace ashlar {
namespace {

using Counters = StatisticsHistory::Counters;

// An estimate of the memory for the nodes of the map.
size_t BytesOf(const Counters& counters) {
  constexpr size_t kNodeBytes = 32;
  size_t bytes = sizeof(Counters);
  for (const auto& [name, count] : counters) {
    bytes += kNodeBytes + sizeof(std::pair<std::string, uint64_t>) + name.capacity();
  }
  return bytes;
}

// The gain of each counter since the sample before. The gain of a new counter is its whole value.
Counters GainsSince(const Counters& before, const Counters& now) {
  Counters gains;
  for (const auto& [name, count] : now) {
    // A smaller value than before means that the counter was reset.
    const auto old = before.find(name);
    const bool goes_on = old != before.end() && old->second <= count;
    gains.emplace_hint(gains.end(), name, goes_on ? count - old->second : count);
  }
  return gains;
}

// Shows the samples that existed when the iterator was made.
class HistoryIterator final : public StatsHistoryIterator {
 public:
  struct Entry {
    uint64_t seconds;
    std::shared_ptr<const Counters> gains;
  };
  explicit HistoryIterator(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  bool Valid() const override { return position_ < entries_.size(); }
  void Next() override {
    assert(Valid());
    position_++;
  }
  uint64_t GetStatsTime() const override { return entries_[position_].seconds; }
  const Counters& GetStatsMap() const override { return *entries_[position_].gains; }
  Status status() const override { return Status::OK(); }

 private:
  const std::vector<Entry> entries_;
  size_t position_ = 0;
};

}  // namespace

std::shared_ptr<const Counters> StatisticsHistory::AddSample(uint64_t seconds, Counters now,
                                                             size_t limit_bytes) {
  MutexLock lock(&mutex_);
  if (!has_sampled_) {
    has_sampled_ = true;
    last_ = std::move(now);
    return nullptr;
  }
  // The clock may have been set back, and each second has at most one sample.
  if (seconds == last_seconds_ || slices_.contains(seconds)) return nullptr;
  last_seconds_ = seconds;
  auto gains = std::make_shared<const Counters>(GainsSince(last_, now));
  last_ = std::move(now);
  const size_t bytes = BytesOf(*gains);
  slices_.emplace(seconds, Slice{gains, bytes});
  bytes_ += bytes;
  ForgetBeyondLocked(limit_bytes);
  return gains;
}

void StatisticsHistory::ForgetBeyondLocked(size_t limit_bytes) {
  while (bytes_ > limit_bytes && !slices_.empty()) {
    assert(bytes_ >= slices_.begin()->second.bytes);
    bytes_ -= slices_.begin()->second.bytes;
    slices_.erase(slices_.begin());
  }
}

std::unique_ptr<StatsHistoryIterator> StatisticsHistory::Between(uint64_t begin,
                                                                 uint64_t end) const {
  std::vector<HistoryIterator::Entry> entries;
  MutexLock lock(&mutex_);
  for (auto it = slices_.lower_bound(begin); it != slices_.end() && it->first < end; ++it) {
    entries.push_back({it->first, it->second.gains});
  }
  return std::make_unique<HistoryIterator>(std::move(entries));
}

size_t StatisticsHistory::bytes() const {
  MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace ashlar
