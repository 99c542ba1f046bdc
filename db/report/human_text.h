// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers for the statistics texts. Programs parse these texts, so the formats are fixed.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

// For sizes in texts; counts use powers of 1000.
inline constexpr double kMebibyte = 1048576.0;
inline constexpr double kGibibyte = 1073741824.0;

// Examples: 9999, 10K, 9999K, 10M, 10G.
std::string HumanCount(uint64_t count);
// Examples: 0.09 KB, 7.97 MB, 3.00 GB.
std::string HumanBytes(uint64_t bytes);
// Hours, minutes, seconds, for example 00:01:2.345.
std::string HumanMicros(uint64_t micros);
// The amount per second of this time; 0 if `micros` is 0.
double PerSecond(double amount, uint64_t micros);
// Like std::printf, into a string of at most 1023 bytes.
std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace ashlar
