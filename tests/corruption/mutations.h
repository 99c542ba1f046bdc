// SPDX-License-Identifier: Apache-2.0
//
// All the ways in which the corruption test damages a sample. The order of the mutations and their
// number depend on the effort alone, never on time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/corruption/samples.h"

namespace ashlar {

struct Mutation {
  std::string name;
  std::string kind;  // of the figures
  std::string path;  // the file that suffers, for the figures
  std::string part;  // of a lie: which kind of block, "footer" or "record"
  Files files;
  std::vector<std::string> directories;
  // Checksums were made to fit: the files may well say something else than the sample.
  bool is_lie = false;
  // The bytes are intact ones of another file, in the place where they were there, and the format
  // does not say whose they are: logs, and blocks of tables before format_version 6.
  bool is_twin = false;
};

// Which of many positions are visited. The first round is the fixed amount of work; later ones
// visit other positions.
class Effort {
 public:
  // A `scale` of 0.25 visits every fourth of what 1 visits.
  Effort(double scale, uint64_t seed, uint64_t round) : scale_(scale), seed_(seed), round_(round) {}

  // Calls visit(i) for one in `stride` of the numbers below n.
  template <typename Visit>
  void Each(uint64_t n, uint64_t stride, const Visit& visit) const {
    const uint64_t step = Scaled(stride);
    if (step == 1 && round_ > 0) return;  // all were visited
    for (uint64_t i = (seed_ + round_ * kOtherPlaces) % step; i < n; i += step) visit(i);
  }
  bool is_first() const { return round_ == 0; }
  uint64_t random_seed() const { return seed_ * kOtherPlaces + round_; }

 private:
  static constexpr uint64_t kOtherPlaces = 7919;  // a prime: rounds do not meet again soon
  uint64_t Scaled(uint64_t stride) const {
    const auto scaled = static_cast<uint64_t>(static_cast<double>(stride) / scale_ + 0.5);
    return scaled == 0 ? 1 : scaled;
  }

  const double scale_;
  const uint64_t seed_;
  const uint64_t round_;
};

using CheckMutation = std::function<void(const Mutation&)>;

// Bits, lengths, pieces and runs of bytes of single files.
void DamageBytes(const Sample& sample, const Effort& effort, const CheckMutation& check);
// Blocks inside and between tables; whole files, in the first round only.
void SwapBlocks(const Sample& sample, const Effort& effort, const CheckMutation& check);
void MoveFiles(const Sample& sample, const CheckMutation& check);
void AddStrayFiles(const Sample& sample, const Sample& other, const CheckMutation& check);
// Changes under right checksums (lies.cc).
void TellLies(const Sample& sample, const Effort& effort, const CheckMutation& check);

}  // namespace ashlar
