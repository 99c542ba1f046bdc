// SPDX-License-Identifier: Apache-2.0
//
// The runs of a tree are the files of level 0 and the deeper levels.
#include "db/output/filter_bits.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "db/version/version.h"

namespace ashlar {
namespace {

constexpr double kLn2Squared = 0.4804530139182014;
// Bounds of the result. Beyond them one more bit has no measurable effect, and a misjudged tree
// whose shape is about to change loses little.
constexpr double kLowest = -1500, kHighest = 8000;

bool IsInput(std::span<const LevelFiles> inputs, const TableFile* file) {
  return std::any_of(inputs.begin(), inputs.end(), [file](const LevelFiles& input) {
    return std::find(input.files.begin(), input.files.end(), file) != input.files.end();
  });
}

uint64_t TotalBytes(const std::vector<TableFile*>& files) {
  uint64_t bytes = 0;
  for (const TableFile* file : files) bytes += file->meta.file_size;
  return bytes;
}

uint64_t TotalBytes(std::span<const LevelFiles> inputs, Level level) {
  uint64_t bytes = 0;
  for (const LevelFiles& input : inputs)
    bytes += input.level == level ? TotalBytes(input.files) : 0;
  return bytes;
}

// The sizes of the runs that a job leaves unchanged. Of a level from which it takes files, the rest
// counts.
std::vector<uint64_t> OtherRuns(const Version& version, std::span<const LevelFiles> inputs,
                                Level output_level) {
  std::vector<uint64_t> runs;
  for (const TableFile* file : version.files(0)) {
    if (!IsInput(inputs, file)) runs.push_back(file->meta.file_size);
  }
  for (Level level = 1; level <= version.deepest_level(); ++level) {
    assert(version.level_bytes(level) >= TotalBytes(inputs, level));
    const uint64_t rest = version.level_bytes(level) - TotalBytes(inputs, level);
    if (level != output_level && rest != 0) runs.push_back(rest);
  }
  return runs;
}

}  // namespace

// Small runs get more bits per key than large ones, because the bits cost little there and each run
// causes false positives of its own. The shift is relative to the average.
int32_t FilterShiftMillibits(uint64_t run_bytes, std::span<const uint64_t> others) {
  const auto size = [](uint64_t bytes) {
    return static_cast<double>(std::max<uint64_t>(bytes, 1));  // an empty run weighs nothing
  };
  double total = size(run_bytes);
  double weighted = total * std::log(total);
  for (const uint64_t bytes : others) {
    total += size(bytes);
    weighted += size(bytes) * std::log(size(bytes));
  }
  const double shift = 1000 * (weighted / total - std::log(size(run_bytes))) / kLn2Squared;
  assert(std::isfinite(shift));
  return static_cast<int32_t>(std::clamp(shift, kLowest, kHighest));
}

int32_t FilterShiftOfFlush(const Version& version, uint64_t memtable_bytes) {
  return FilterShiftMillibits(memtable_bytes, OtherRuns(version, {}, /*output_level=*/0));
}

int32_t FilterShiftOfCompaction(const Version& version, std::span<const LevelFiles> inputs,
                                Level output_level) {
  uint64_t bytes = output_level == 0 ? 0 : version.level_bytes(output_level);
  for (const LevelFiles& input : inputs) {
    if (input.level != output_level || output_level == 0) bytes += TotalBytes(input.files);
  }
  return FilterShiftMillibits(bytes, OtherRuns(version, inputs, output_level));
}

}  // namespace ashlar
