// SPDX-License-Identifier: Apache-2.0
//
// BasicStatistics keeps the counters in shards with separate cache lines, so that threads do not
// compete for them. A thread always uses the same shard; a read adds up all shards.
#include "util/statistics/statistics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <thread>
#include <unordered_map>

#include "ashlar/convenience.h"
#include "util/interfaces/registered_objects.h"
#include "util/result.h"
#include "util/statistics/histogram.h"
#include "util/threads/mutex.h"
#include "util/threads/thread_number.h"

namespace ashlar {
namespace {

constexpr size_t kMaxShardCount = 64;

// A power of two, so that a mask chooses the shard.
size_t ShardCount() {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  size_t count = 1;
  while (count < cores && count < kMaxShardCount) count *= 2;
  return count;
}

// Recording takes no lock and touches only the shard of the thread.
class BasicStatistics final : public Statistics {
 public:
  BasicStatistics() : shard_mask_(ShardCount() - 1), shards_(new Shard[shard_mask_ + 1]) {}

  static const char* kClassName() { return "BasicStatistics"; }
  const char* Name() const override { return kClassName(); }

  uint64_t getTickerCount(uint32_t ticker) const override;
  void histogramData(uint32_t type, HistogramData* const data) const override;
  std::string getHistogramString(uint32_t type) const override;
  void recordTick(uint32_t ticker, uint64_t count) override;
  void setTickerCount(uint32_t ticker, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t ticker) override;
  void recordInHistogram(uint32_t type, uint64_t value) override;
  Status Reset() override;
  using Statistics::ToString;
  std::string ToString() const override;
  bool getTickerMap(std::map<std::string, uint64_t>* map) const override;

 private:
  // Aligned, so that two shards never share a cache line.
  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
    std::array<HistogramShard, HISTOGRAM_ENUM_MAX> histograms;
  };

  // Threads share a shard if there are more threads than shards.
  Shard& ThisShard() { return shards_[ThreadNumber() & shard_mask_]; }
  // The histogram over all shards; empty for an unknown type.
  Histogram Sum(uint32_t type) const;
  // Sets the ticker to 0 and returns its value.
  uint64_t TakeTickerLocked(uint32_t ticker) REQUIRES(reset_mutex_);

  const size_t shard_mask_;
  const std::unique_ptr<Shard[]> shards_;
  // Excludes concurrent setting and resetting. Recording does not take it: what is recorded
  // meanwhile is counted either before or after.
  Mutex reset_mutex_{LockRank::kStatistics};
};

uint64_t BasicStatistics::getTickerCount(uint32_t ticker) const {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  uint64_t total = 0;
  // Not a snapshot: threads may record during the sum.
  for (size_t i = 0; i <= shard_mask_; ++i) {
    total += shards_[i].tickers[ticker].load(std::memory_order_relaxed);
  }
  return total;
}

void BasicStatistics::recordTick(uint32_t ticker, uint64_t count) {
  // At the lowest level nothing is counted.
  if (ticker >= TICKER_ENUM_MAX || get_stats_level() <= StatsLevel::kExceptTickers) return;
  ThisShard().tickers[ticker].fetch_add(count, std::memory_order_relaxed);
}

// Sets the ticker to 0 and returns its sum. A count that is recorded meanwhile is in the result or
// stays for the next one; none is lost.
uint64_t BasicStatistics::TakeTickerLocked(uint32_t ticker) {
  uint64_t total = 0;
  for (size_t i = 0; i <= shard_mask_; ++i) {
    total += shards_[i].tickers[ticker].exchange(0, std::memory_order_relaxed);
  }
  return total;
}

void BasicStatistics::setTickerCount(uint32_t ticker, uint64_t count) {
  if (ticker >= TICKER_ENUM_MAX) return;
  MutexLock lock(&reset_mutex_);
  TakeTickerLocked(ticker);
  // In one shard, whichever: only sums are ever read.
  shards_[0].tickers[ticker].fetch_add(count, std::memory_order_relaxed);
}

uint64_t BasicStatistics::getAndResetTickerCount(uint32_t ticker) {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  MutexLock lock(&reset_mutex_);
  return TakeTickerLocked(ticker);
}

void BasicStatistics::recordInHistogram(uint32_t type, uint64_t value) {
  if (type >= HISTOGRAM_ENUM_MAX) return;
  if (get_stats_level() <= StatsLevel::kExceptHistogramOrTimers) return;
  ThisShard().histograms[type].Add(value);
}

Histogram BasicStatistics::Sum(uint32_t type) const {
  Histogram total;
  if (type >= HISTOGRAM_ENUM_MAX) return total;
  for (size_t i = 0; i <= shard_mask_; ++i) shards_[i].histograms[type].AddTo(&total);
  return total;
}

void BasicStatistics::histogramData(uint32_t type, HistogramData* const data) const {
  assert(data != nullptr);
  *data = Sum(type).Data();
}

std::string BasicStatistics::getHistogramString(uint32_t type) const {
  return Sum(type).ToString();
}

// Concurrent recording may leave values in some of the counters.
Status BasicStatistics::Reset() {
  MutexLock lock(&reset_mutex_);
  for (uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ++ticker) TakeTickerLocked(ticker);
  for (size_t i = 0; i <= shard_mask_; ++i) {
    for (HistogramShard& histogram : shards_[i].histograms) histogram.Clear();
  }
  return Status::OK();
}

// The lines have RocksDB's form, which scripts parse.
[[gnu::cold]] std::string BasicStatistics::ToString() const {
  char line[400];
  std::string text;
  for (const auto& [ticker, name] : TickersNameMap) {
    snprintf(line, sizeof(line), "%s COUNT : %" PRIu64 "\n", name.c_str(), getTickerCount(ticker));
    text += line;
  }
  for (const auto& [type, name] : HistogramsNameMap) {
    const HistogramData data = Sum(type).Data();
    snprintf(line, sizeof(line),
             "%s P50 : %f P95 : %f P99 : %f P100 : %f COUNT : %" PRIu64 " SUM : %" PRIu64 "\n",
             name.c_str(), data.median, data.percentile95, data.percentile99, data.max, data.count,
             data.sum);
    text += line;
  }
  return text;
}

bool BasicStatistics::getTickerMap(std::map<std::string, uint64_t>* map) const {
  assert(map != nullptr);
  for (const auto& [ticker, name] : TickersNameMap) (*map)[name] = getTickerCount(ticker);
  return true;
}

}  // namespace

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<BasicStatistics>(); }

// An empty text also means the built-in class; only "nullptr" means none.
Status Statistics::CreateFromString(const ConfigOptions& opts, const std::string& value,
                                    std::shared_ptr<Statistics>* result) {
  Status registered;
  if (MakeRegistered<Statistics>(opts, value, result, &registered)) return registered;
  if (value == "nullptr") {
    result->reset();
    return Status::OK();
  }
  std::string name;
  std::unordered_map<std::string, std::string> options;
  RETURN_IF_ERROR(
      Configurable::GetOptionsMap(value, BasicStatistics::kClassName(), &name, &options));
  if (name.empty() || name == BasicStatistics::kClassName()) {
    std::shared_ptr<Statistics> made = CreateDBStatistics();
    RETURN_IF_ERROR(made->ConfigureFromMap(opts, options));
    *result = std::move(made);
    return Status::OK();
  }
  if (opts.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported("Statistics: no built-in class of that name; use BasicStatistics",
                              value);
}

}  // namespace ashlar
