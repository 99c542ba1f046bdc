// SPDX-License-Identifier: Apache-2.0
//
// All mutations with which the corruption test damages a sample. Their order and number depend only
// on the effort, never on time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/corruption/samples.h"

namespace ashlar {

struct Mutation {
  std::string name;
  std::string kind;  // for the figures
  std::string path;  // the damaged file, for the figures
  std::string part;  // of a forgery: the kind of block, "footer" or "record"
  Files files;
  std::vector<std::string> directories;
  // Checksums were updated, so the files may have other contents than the sample.
  bool is_forged = false;
  // The bytes are intact ones of another file, at the same position, and the format does not
  // identify their file: logs, and blocks of tables before format_version 6.
  bool is_twin = false;
};

// Selects positions. The first round is the fixed amount of work; later rounds select other
// positions.
class Effort {
 public:
  // A `scale` of 0.25 visits a quarter of the positions.
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
  static constexpr uint64_t kOtherPlaces = 7919;  // a prime, so that rounds rarely repeat positions
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
// Blocks within and between tables; whole files, in the first round only.
void SwapBlocks(const Sample& sample, const Effort& effort, const CheckMutation& check);
void MoveFiles(const Sample& sample, const CheckMutation& check);
void AddStrayFiles(const Sample& sample, const Sample& other, const CheckMutation& check);
// Changes with matching checksums (forgeries.cc).
void ForgeChecksums(const Sample& sample, const Effort& effort, const CheckMutation& check);

}  // namespace ashlar
