// SPDX-License-Identifier: Apache-2.0
//
// Without --histogram and --stats_interval_seconds an operation costs two additions and a
// comparison here; the clock is read only when progress is printed.
#include "tools/db_bench/stats.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "ashlar/db.h"
#include "tools/db_bench/flags.h"

namespace ashlar {
namespace bench {
// A steady clock, as the time of day may be changed while a benchmark runs.
uint64_t NowMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// Null if the file cannot be written; the reason is printed.
std::unique_ptr<Reporter> Reporter::Start(const std::string& path, int64_t interval_seconds) {
  assert(interval_seconds > 0);
  FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write --report_file %s: %s\n", path.c_str(), std::strerror(errno));
    return nullptr;
  }
  return std::unique_ptr<Reporter>(new Reporter(file, interval_seconds));
}

// The thread is the last member, so everything that it uses exists when it starts.
Reporter::Reporter(FILE* file, int64_t interval_seconds)
    : file_(file), interval_seconds_(interval_seconds), thread_([this] { Run(); }) {}

// The thread may be waiting for the end of an interval, so it is woken.
Reporter::~Reporter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  std::fclose(file_);
}

// Writes a line of CSV for each interval until the object is destroyed.
void Reporter::Run() {
  std::fprintf(file_, "secs_elapsed,interval_qps\n");
  const auto start = std::chrono::steady_clock::now();
  uint64_t last_total = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (int64_t elapsed = interval_seconds_;; elapsed += interval_seconds_) {
    // Absolute moments, so that delays of the thread do not add up.
    wake_.wait_until(lock, start + std::chrono::seconds(elapsed), [this] { return stop_; });
    if (stop_) return;
    // Relaxed: a count that is a little old only moves operations into the next interval.
    const uint64_t total = total_.load(std::memory_order_relaxed);
    std::fprintf(file_, "%lld,%.0f\n", static_cast<long long>(elapsed),
                 static_cast<double>(total - last_total) / static_cast<double>(interval_seconds_));
    std::fflush(file_);
    last_total = total;
  }
}

namespace {

const char* NameOf(Operation operation) {
  switch (operation) {
    case Operation::kRead: return "read";
    case Operation::kWrite: return "write";
    case Operation::kDelete: return "delete";
    case Operation::kSeek: return "seek";
    case Operation::kMerge: return "merge";
    case Operation::kUpdate: return "update";
    case Operation::kOther: break;
  }
  return "op";
}

// The number of operations at which PrintProgress() is called next. With --stats_interval_seconds
// it decides by the clock, and --stats_interval is ignored.
uint64_t NextProgress(uint64_t done) {
  constexpr uint64_t kOpsBetweenClockReads = 1000;
  if (FLAGS_stats_interval_seconds > 0) return done + kOpsBetweenClockReads;
  if (FLAGS_stats_interval < 0) return UINT64_MAX;
  if (FLAGS_stats_interval > 0) return done + static_cast<uint64_t>(FLAGS_stats_interval);
  // The steps grow with the number of operations, so that long runs do not fill the screen.
  uint64_t step = 100;
  if (done < step) return step;
  while (step * 10 <= done) step *= 10;
  return done + (done >= step * 5 ? step : step / 2);
}

}  // namespace

void Stats::Start(Reporter* reporter, DB* db) {
  // Called by the thread whose operations are counted; `reporter` is shared by all threads and may
  // be null.
  reporter_ = reporter;
  const bool has_interval = FLAGS_stats_interval > 0 || FLAGS_stats_interval_seconds > 0;
  // Only the first thread gets a database.
  db_ = FLAGS_stats_per_interval > 0 && has_interval ? db : nullptr;
  start_micros_ = NowMicros();
  last_op_micros_ = last_progress_micros_ = start_micros_;
  next_progress_ = NextProgress(done_);
}

// Adds the time since the last operation of this thread, so the time between operations counts too.
void Stats::AddTime(Operation operation) {
  assert(static_cast<size_t>(operation) < std::size(histograms_));
  const uint64_t now = NowMicros();
  auto& histogram = histograms_[static_cast<int>(operation)];
  // Made on first use, because most threads have one kind of operation.
  if (histogram == nullptr) histogram = std::make_unique<Histogram>();
  histogram->Add(now - last_op_micros_);
  last_op_micros_ = now;
}

void Stats::Finished(Operation operation, uint64_t count, uint64_t bytes) {
  // The reporter is the only part that other threads see, and its counter is atomic.
  if (reporter_ != nullptr) reporter_->Count(count);
  if (FLAGS_histogram) AddTime(operation);
  done_ += count;
  bytes_ += bytes;
  if (done_ >= next_progress_) PrintProgress();
}

void Stats::PrintProgress() {
  // The next moment is set first, so that an early return does not lead to a call for each
  // operation.
  next_progress_ = NextProgress(done_);
  if (FLAGS_stats_interval_seconds > 0) {
    const uint64_t now = NowMicros();
    if (now - last_progress_micros_ < FLAGS_stats_interval_seconds * 1000000ull) return;
    last_progress_micros_ = now;
  }
  // The carriage return lets the next line replace this one on a terminal.
  std::fprintf(stderr, "... finished %llu ops%30s\r", static_cast<unsigned long long>(done_), "");
  if (db_ != nullptr) PrintDbStats();
  std::fflush(stderr);
}

void Stats::PrintDbStats() const {
  std::string text;
  assert(db_ != nullptr);
  if (db_->GetProperty(DB::Properties::kStats, &text)) std::fprintf(stderr, "\n%s\n", text.c_str());
}

void Stats::AddMessage(const std::string& message) {
  if (!message.empty() && !message_.empty()) message_ += ' ';
  message_ += message;
}

// Adds the result of another thread. Threads that are excluded, such as background writers, do not
// count.
void Stats::Merge(const Stats& other) {
  if (other.excluded_) return;
  assert(!other.is_merged_);
  // From the first start to the last end, over all threads.
  start_micros_ = is_merged_ ? std::min(start_micros_, other.start_micros_) : other.start_micros_;
  finish_micros_ = std::max(finish_micros_, other.finish_micros_);
  thread_micros_ += other.finish_micros_ - other.start_micros_;
  done_ += other.done_;
  bytes_ += other.bytes_;
  // Threads of one workload have the same kind of message; the first one stands for all.
  if (message_.empty()) message_ = other.message_;
  for (size_t i = 0; i < std::size(histograms_); i++) {
    if (other.histograms_[i] == nullptr) continue;
    if (histograms_[i] == nullptr) histograms_[i] = std::make_unique<Histogram>();
    histograms_[i]->Merge(*other.histograms_[i]);
  }
  is_merged_ = true;
}

// At least a microsecond, because other numbers are divided by it.
double Stats::Seconds() const {
  return static_cast<double>(std::max<uint64_t>(1, finish_micros_ - start_micros_)) / 1e6;
}

// The line has the form of RocksDB's db_bench, which scripts parse.
void Stats::PrintResult(const std::string& name) const {
  const uint64_t operations = Operations();
  std::string extra;
  if (bytes_ > 0) {
    char rate[64];
    std::snprintf(rate, sizeof(rate), "%6.1f MB/s", MbPerSecond());
    extra = rate;
  }
  if (!message_.empty()) extra += (extra.empty() ? "" : " ") + message_;
  std::printf("%-12s : %11.3f micros/op %ld ops/sec %.3f seconds %llu operations;%s%s\n",
              // The first number is the time of all threads together, for each operation; the
              // second one comes from the time that passed.
              name.c_str(), static_cast<double>(thread_micros_) / static_cast<double>(operations),
              static_cast<long>(OperationsPerSecond()), Seconds(),
              static_cast<unsigned long long>(operations), extra.empty() ? "" : " ", extra.c_str());
  for (size_t i = 0; i < std::size(histograms_); i++) {
    if (histograms_[i] == nullptr) continue;
    std::printf("Microseconds per %s:\n%s\n", NameOf(static_cast<Operation>(i)),
                histograms_[i]->ToString().c_str());
  }
  std::fflush(stdout);
}

namespace {

double AverageOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Half the width of the 95 % confidence interval of the average, for a normal distribution.
double ConfidenceOf(const std::vector<double>& values) {
  assert(values.size() > 1);
  const double average = AverageOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - average) * (value - average);
  const auto count = static_cast<double>(values.size());
  return 1.959964 * std::sqrt(squares / (count - 1) / count);
}

double MedianOf(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

void Repetitions::Add(const Stats& result) {
  ops_per_second_.push_back(result.OperationsPerSecond());
  if (result.MbPerSecond() > 0) mb_per_second_.push_back(result.MbPerSecond());
}

void Repetitions::PrintAverage(const char* kind) const {
  if (ops_per_second_.size() < 2) return;
  std::printf("%s [%s %zu runs] : %ld (\xC2\xB1 %ld) ops/sec", name_.c_str(), kind,
              ops_per_second_.size(), static_cast<long>(AverageOf(ops_per_second_)),
              static_cast<long>(ConfidenceOf(ops_per_second_)));
  if (HasBytes()) {
    std::printf("; %6.1f (\xC2\xB1 %.1f) MB/sec", AverageOf(mb_per_second_),
                ConfidenceOf(mb_per_second_));
  }
  std::printf("\n");
}

void Repetitions::PrintEnd() const {
  PrintAverage("AVG   ");
  if (ops_per_second_.size() < 2) return;
  std::printf("%s [MEDIAN %zu runs] : %ld ops/sec", name_.c_str(), ops_per_second_.size(),
              static_cast<long>(MedianOf(ops_per_second_)));
  if (HasBytes()) std::printf("; %6.1f MB/sec", MedianOf(mb_per_second_));
  std::printf("\n");
  std::fflush(stdout);
}

Duration::Duration(int64_t seconds, int64_t operations)
    : seconds_(seconds), operations_(operations), start_micros_(NowMicros()) {}

// With a time limit the clock is read only once in many operations, because that costs as much as a
// fast read.
bool Duration::Done(int64_t increment) {
  constexpr int64_t kOpsBetweenChecks = 1000;
  // An increment of 0 would never end the loop of a workload.
  done_ += std::max<int64_t>(increment, 1);
  if (seconds_ <= 0) return done_ > operations_;
  if (done_ < next_check_) return false;
  next_check_ = done_ + kOpsBetweenChecks;
  return NowMicros() - start_micros_ >= static_cast<uint64_t>(seconds_) * 1000000;
}

Pace::Pace(RateAt rate_at, uint64_t interval_micros)
    : rate_at_(std::move(rate_at)),
      interval_micros_(static_cast<double>(interval_micros)),
      start_micros_(static_cast<double>(NowMicros())),
      per_second_(1) {}

// Each amount delays the moment at which the next one may be used.
void Pace::Take(double amount) {
  constexpr double kMaxSavedMicros = 100'000;
  assert(amount >= 0);
  double turn = 0;
  const auto now = static_cast<double>(NowMicros());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rate_at_ && now >= next_rate_micros_) UpdateRate(now);
    // The place of this amount in the order of all threads. Time without use is saved up to the
    // limit.
    assert(per_second_ > 0);
    turn = std::max(next_micros_, now - kMaxSavedMicros);
    next_micros_ = turn + amount / per_second_ * 1e6;
  }
  if (turn <= now) return;
  // Without the mutex held, so that other threads can take their turns.
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(turn - now)));
}

void Pace::UpdateRate(double now_micros) {
  assert(rate_at_ != nullptr);
  // At least 1, because the amounts are divided by the rate, and a sine goes below 0.
  per_second_ = std::max(rate_at_((now_micros - start_micros_) / 1e6), 1.0);
  next_rate_micros_ = now_micros + interval_micros_;
}

}  // namespace bench
}  // namespace ashlar
