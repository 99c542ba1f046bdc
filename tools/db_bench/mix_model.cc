// SPDX-License-Identifier: Apache-2.0
//
// Shares of ranges are whole numbers, their sum the number of keys: a number below that is drawn
// and belongs to a range. Which range lies where is mixed, so hot ones are not neighbours.
#include "tools/db_bench/mix_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ashlar {
namespace bench {

double ParetoAt(double u, double theta, double k, double sigma) {
  if (k == 0) return theta - sigma * std::log(u);
  return theta + sigma * (std::pow(u, -k) - 1) / k;
}

double PowerAt(double u, double a, double b) { return std::pow(u / a, 1 / b); }

MixModel::MixModel(const MixParameters& parameters)
    : parameters_(parameters),
      range_keys_(
          std::max<uint64_t>(1, parameters.keys / std::max<uint64_t>(1, parameters.ranges))) {
  const bool is_even = parameters.range_a == 0 && parameters.range_b == 0 &&
                       parameters.range_c == 0 && parameters.range_d == 0;
  if (is_even || parameters.ranges < 2) return;
  std::vector<double> hotness;
  double sum = 0;
  for (uint64_t i = 1; i <= parameters.ranges; i++) {
    const auto x = static_cast<double>(i);
    const double hot = parameters.range_a * std::exp(parameters.range_b * x) +
                       parameters.range_c * std::exp(parameters.range_d * x);
    hotness.push_back(std::max(hot, 0.0));
    sum += hotness.back();
  }
  std::vector<uint64_t> places(parameters.ranges);
  for (uint64_t i = 0; i < places.size(); i++) places[i] = i;
  Random mixed(parameters.ranges);  // the same in every thread and run
  std::shuffle(places.begin(), places.end(), mixed);
  double before = 0;
  for (size_t i = 0; i < hotness.size(); i++) {
    before += sum > 0 ? hotness[i] / sum : 1.0 / static_cast<double>(hotness.size());
    const double end = before * static_cast<double>(parameters.keys);
    ends_.push_back({std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(end))), places[i]});
  }
  ends_.back().end = parameters.keys;
}

uint64_t MixModel::KeyOf(uint64_t drawn) const {
  uint64_t first = 0, size = parameters_.keys;
  if (HasRanges()) {
    const uint64_t share = drawn % parameters_.keys;
    const auto range = std::upper_bound(ends_.begin(), ends_.end(), share,
                                        [](uint64_t at, const Range& r) { return at < r.end; });
    assert(range != ends_.end());
    first = range->place * range_keys_;
    size = range_keys_;
  }
  uint64_t offset = drawn % size;
  if (parameters_.key_a != 0 && parameters_.key_b != 0) {
    const double u = (static_cast<double>(offset) + 1) / static_cast<double>(size);
    const double rank = std::ceil(PowerAt(u, parameters_.key_a, parameters_.key_b));
    // Which key has this rank: any, but always the same.
    const double most = 9e18;
    Random of_rank(static_cast<uint64_t>(std::min(rank, most)));
    offset = of_rank() % size;
  }
  return std::min(first + offset, parameters_.keys - 1);
}

}  // namespace bench
}  // namespace ashlar
