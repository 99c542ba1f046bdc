// SPDX-License-Identifier: Apache-2.0
//
// See histogram.h. Bucket i holds values in (bounds[i-1], bounds[i]], the first one 0 and 1.
#include "tools/db_bench/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace ashlar {
namespace bench {
namespace {

// 1, then the powers of one and a half from 2 on, each cut to its two leading digits.
std::vector<uint64_t> MakeBounds() {
  std::vector<uint64_t> bounds = {1, 2};
  double exact = 2;
  while (bounds.back() < UINT64_MAX / 4) {
    exact *= 1.5;
    uint64_t rounded = static_cast<uint64_t>(exact);
    uint64_t scale = 1;
    while (rounded / 10 > 10) {
      rounded /= 10;
      scale *= 10;
    }
    bounds.push_back(rounded * scale);
  }
  bounds.push_back(UINT64_MAX);
  return bounds;
}

const std::vector<uint64_t>& Bounds() {
  static const std::vector<uint64_t> bounds = MakeBounds();
  return bounds;
}

void AppendFormat(std::string* out, const char* format, double a, double b, double c) {
  char line[256];
  std::snprintf(line, sizeof(line), format, a, b, c);
  out->append(line);
}

}  // namespace

Histogram::Histogram() { static_cast<void>(Bounds()); }

void Histogram::Add(uint64_t micros) {
  const auto& bounds = Bounds();
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), micros);
  bucket_counts_[static_cast<size_t>(at - bounds.begin())]++;
  count_++;
  min_ = std::min(min_, micros);
  max_ = std::max(max_, micros);
  const double value = static_cast<double>(micros);
  sum_ += value;
  sum_of_squares_ += value * value;
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kMaxBuckets; i++) bucket_counts_[i] += other.bucket_counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
}

double Histogram::Percentile(double percent) const {
  const double threshold = static_cast<double>(count_) * percent / 100;
  const auto& bounds = Bounds();
  double below = 0;
  for (size_t i = 0; i < bounds.size(); i++) {
    const double here = static_cast<double>(bucket_counts_[i]);
    if (below + here >= threshold && here > 0) {
      const double left = i == 0 ? 0 : static_cast<double>(bounds[i - 1]);
      const double right = static_cast<double>(bounds[i]);
      const double value = left + (right - left) * (threshold - below) / here;
      return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
    }
    below += here;
  }
  return static_cast<double>(max_);
}

double Histogram::StandardDeviation() const {
  if (count_ == 0) return 0;
  const double n = static_cast<double>(count_);
  return std::sqrt(std::max(0.0, (sum_of_squares_ * n - sum_ * sum_) / (n * n)));
}

std::string Histogram::ToString() const {
  const double n = static_cast<double>(count_);
  std::string out;
  AppendFormat(&out, "Count: %.0f Average: %.4f  StdDev: %.2f\n", n, count_ == 0 ? 0 : sum_ / n,
               StandardDeviation());
  AppendFormat(&out, "Min: %.0f  Median: %.4f  Max: %.0f\n",
               count_ == 0 ? 0 : static_cast<double>(min_), Percentile(50),
               static_cast<double>(max_));
  AppendFormat(&out, "Percentiles: P50: %.2f P75: %.2f P99: %.2f", Percentile(50), Percentile(75),
               Percentile(99));
  AppendFormat(&out, " P99.9: %.2f P99.99: %.2f\n", Percentile(99.9), Percentile(99.99), 0);
  out.append("------------------------------------------------------\n");
  const auto& bounds = Bounds();
  double cumulative = 0;
  for (size_t i = 0; i < bounds.size(); i++) {
    if (bucket_counts_[i] == 0) continue;
    const double here = static_cast<double>(bucket_counts_[i]);
    cumulative += here;
    out.append(i == 0 ? "[" : "(");
    AppendFormat(&out, " %7.0f, %7.0f ] %8.0f", i == 0 ? 0 : static_cast<double>(bounds[i - 1]),
                 static_cast<double>(bounds[i]), here);
    AppendFormat(&out, " %7.3f%% %7.3f%% ", 100 * here / n, 100 * cumulative / n, 0);
    out.append(static_cast<size_t>(20 * here / n + 0.5), '#');
    out.push_back('\n');
  }
  return out;
}

}  // namespace bench
}  // namespace ashlar
