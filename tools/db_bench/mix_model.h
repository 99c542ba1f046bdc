// SPDX-License-Identifier: Apache-2.0
//
// The model behind mixgraph: which keys are asked for, how long values and scans are, how the rate
// goes up and down over a day. It is that of Cao, Dong, Vemuri and Du, "Characterizing, Modeling,
// and Benchmarking RocksDB Key-Value Workloads at Facebook" (FAST 2020).
//
// Immutable after construction; any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/db_bench/generators.h"

namespace ashlar {
namespace bench {

// x with F(x) = 1 - u of the generalized Pareto distribution: location, shape, scale.
double ParetoAt(double u, double theta, double k, double sigma);
// x with a * x^b = u.
double PowerAt(double u, double a, double b);

struct MixParameters {
  uint64_t keys = 1;
  uint64_t ranges = 1;
  // Hotness of range x: a e^(b x) + c e^(d x). All 0: every range is as hot.
  double range_a = 0, range_b = 0, range_c = 0, range_d = 0;
  // Keys within a range: a x^b. One of them 0: evenly.
  double key_a = 0, key_b = 0;
};

class MixModel {
 public:
  explicit MixModel(const MixParameters& parameters);

  // The key that a random number stands for.
  uint64_t KeyOf(uint64_t drawn) const;

 private:
  bool HasRanges() const { return !ends_.empty(); }

  struct Range {
    uint64_t end;    // of its share in what is drawn
    uint64_t place;  // among the keys
  };
  const MixParameters parameters_;
  const uint64_t range_keys_;
  std::vector<Range> ends_;  // ascending by end
};

}  // namespace bench
}  // namespace ashlar
